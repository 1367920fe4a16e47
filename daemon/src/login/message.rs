//! Messages of D-Bus (specification 0.43), as far as a listener needs them: calls with texts and
//! numbers out, and of what comes in the header, texts, numbers and flags.
//!
//! What comes in is untrusted: any program of the machine may send anything to a connection. What
//! cannot be read is `None`, and no length in it is believed before it is compared with what is there.

/// Bytes before the header's fields, which tell how long the message is.
pub(super) const START: usize = 16;
/// Largest message that is kept. Those that are waited for have some hundred bytes.
pub(super) const MAX_MESSAGE: usize = 8 * 1024;
/// Largest message of the specification.
const MAX_LENGTH: usize = 128 * 1024 * 1024;

const LITTLE_ENDIAN: u8 = b'l';
const BIG_ENDIAN: u8 = b'B';
const VERSION: u8 = 1;
/// Never start a program for it.
const NO_AUTO_START: u8 = 2;

mod field {
    pub(super) const PATH: u8 = 1;
    pub(super) const INTERFACE: u8 = 2;
    pub(super) const MEMBER: u8 = 3;
    pub(super) const REPLY_SERIAL: u8 = 5;
    pub(super) const DESTINATION: u8 = 6;
    pub(super) const SENDER: u8 = 7;
    pub(super) const SIGNATURE: u8 = 8;
}

/// A method call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) destination: &'a str,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) member: &'a str,
    pub(super) args: &'a [Arg<'a>],
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg<'a> {
    Text(&'a str),
    Number(u32),
}

impl Call<'_> {
    /// As it goes over the wire, in little-endian order. `serial` must not be 0.
    pub(super) fn to_bytes(self, serial: u32) -> Vec<u8> {
        let (mut body, mut signature) = (Writer::default(), String::new());
        for arg in self.args {
            match arg {
                Arg::Text(text) => {
                    signature.push('s');
                    body.text(text);
                }
                Arg::Number(number) => {
                    signature.push('u');
                    body.number(*number);
                }
            }
        }
        let mut fields = Writer::default();
        for (code, kind, text) in [
            (field::PATH, "o", self.path),
            (field::INTERFACE, "s", self.interface),
            (field::MEMBER, "s", self.member),
            (field::DESTINATION, "s", self.destination),
        ] {
            fields.field(code, kind);
            fields.text(text);
        }
        if !signature.is_empty() {
            fields.field(field::SIGNATURE, "g");
            fields.signature(&signature);
        }
        let mut message = Writer::default();
        message.0.extend([LITTLE_ENDIAN, Kind::Call as u8, NO_AUTO_START, VERSION]);
        message.number(length(&body.0));
        message.number(serial);
        message.number(length(&fields.0));
        message.0.append(&mut fields.0);
        message.align(8);
        message.0.append(&mut body.0);
        message.0
    }
}

/// Ours are short.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, number: u32) {
        self.align(4);
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(length(text.as_bytes()));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn signature(&mut self, signature: &str) {
        self.0.push(u8::try_from(signature.len()).unwrap_or(u8::MAX));
        self.0.extend(signature.as_bytes());
        self.0.push(0);
    }

    fn field(&mut self, code: u8, kind: &str) {
        self.align(8);
        self.0.push(code);
        self.signature(kind);
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Call = 1,
    Return = 2,
    Error = 3,
    Signal = 4,
}

/// A message that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) kind: Kind,
    /// The serial of the call that this answers; 0 for none.
    pub(super) answers: u32,
    /// What the bus says who sent it: a unique name, or the bus itself.
    pub(super) sender: &'a str,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) member: &'a str,
    pub(super) args: Args<'a>,
}

impl<'a> Message<'a> {
    /// Reads a whole message.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let big = is_big(*bytes.first()?)?;
        let kind = match bytes.get(1)? {
            1 => Kind::Call,
            2 => Kind::Return,
            3 => Kind::Error,
            4 => Kind::Signal,
            _ => return None,
        };
        let mut start = Reader { bytes, at: 4, big };
        let (body_len, _serial, fields_len) = (start.number()?, start.number()?, start.number()?);
        let end = START.checked_add(usize::try_from(fields_len).ok()?)?;
        let mut fields = Reader { bytes: bytes.get(..end)?, at: START, big };
        let mut message = Self {
            kind,
            answers: 0,
            sender: "",
            path: "",
            interface: "",
            member: "",
            args: Args { signature: "", values: Reader { bytes: &[], at: 0, big } },
        };
        while fields.at < end {
            fields.align(8)?;
            let code = fields.byte()?;
            let kind = fields.signature()?;
            match (code, kind) {
                (field::PATH, "o") => message.path = fields.text()?,
                (field::INTERFACE, "s") => message.interface = fields.text()?,
                (field::MEMBER, "s") => message.member = fields.text()?,
                (field::SENDER, "s") => message.sender = fields.text()?,
                (field::REPLY_SERIAL, "u") => message.answers = fields.number()?,
                (field::SIGNATURE, "g") => message.args.signature = fields.signature()?,
                // those that are not needed, and those of later versions
                (_, kind) => fields.skip(kind)?,
            }
        }
        let body = bytes.get(end.next_multiple_of(8)..)?;
        message.args.values.bytes = body.get(..usize::try_from(body_len).ok()?)?;
        Some(message)
    }
}

/// How long the message is that begins so; `None` when it is none.
pub(super) fn message_length(start: &[u8; START]) -> Option<usize> {
    let big = is_big(start[0])?;
    let mut reader = Reader { bytes: start, at: 4, big };
    let (body, _serial, fields) = (reader.number()?, reader.number()?, reader.number()?);
    let header = START.checked_add(usize::try_from(fields).ok()?)?.checked_next_multiple_of(8)?;
    let length = header.checked_add(usize::try_from(body).ok()?)?;
    (start[3] == VERSION && length <= MAX_LENGTH).then_some(length)
}

fn is_big(order: u8) -> Option<bool> {
    match order {
        LITTLE_ENDIAN => Some(false),
        BIG_ENDIAN => Some(true),
        _ => None,
    }
}

/// What is left of a body's values, to be taken one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Args<'a> {
    signature: &'a str,
    values: Reader<'a>,
}

impl<'a> Args<'a> {
    /// A string or an object path.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        self.next("s").or_else(|| self.next("o"))?;
        self.values.text()
    }

    /// A boolean.
    pub(super) fn flag(&mut self) -> Option<bool> {
        self.next("b")?;
        match self.values.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// What is in a variant.
    pub(super) fn variant(&mut self) -> Option<Self> {
        self.next("v")?;
        let signature = self.values.signature()?;
        Some(Self { signature, values: self.values.clone() })
    }

    fn next(&mut self, kind: &str) -> Option<()> {
        self.signature = self.signature.strip_prefix(kind)?;
        Some(())
    }
}

/// Takes values off a part of a message that begins at a multiple of eight.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    big: bool,
}

impl<'a> Reader<'a> {
    fn align(&mut self, to: usize) -> Option<()> {
        self.at = self.at.checked_next_multiple_of(to)?;
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn number(&mut self) -> Option<u32> {
        self.align(4)?;
        let bytes = self.take(4)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        self.ended(length)
    }

    fn signature(&mut self) -> Option<&'a str> {
        let length = usize::from(self.byte()?);
        self.ended(length)
    }

    /// So many bytes of text, and the NUL after them.
    fn ended(&mut self, length: usize) -> Option<&'a str> {
        let text = str::from_utf8(self.take(length)?).ok()?;
        (self.byte()? == 0).then_some(text)
    }

    /// Passes over one value of a type that is not a container.
    fn skip(&mut self, kind: &str) -> Option<()> {
        let size = match kind {
            "s" | "o" => return self.text().map(drop),
            "g" => return self.signature().map(drop),
            "y" => 1,
            "n" | "q" => 2,
            "b" | "i" | "u" | "h" => 4,
            "x" | "t" | "d" => 8,
            _ => return None,
        };
        self.align(size)?;
        self.take(size).map(drop)
    }
}

#[cfg(test)]
mod tests;

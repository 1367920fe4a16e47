//! Property bytes to text.
//!
//! The type on a property says how it is encoded, not the property's name: `WM_NAME` comes as
//! `STRING`, `COMPOUND_TEXT` or `UTF8_STRING` (ICCCM 2.7.1, EWMH `UTF8_STRING`). Pure, total, and
//! bounded: any bytes give a string of at most the size asked for.

use antidrift_protocol::cut;

use super::charsets::PARTS;

const ESC: u8 = 0x1b;
const CSI: u8 = 0x9b;
/// Separates the name of an extended segment's encoding from its text.
const STX: u8 = 0x02;

/// How a text property is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `UTF8_STRING`, and every type that is not known.
    Utf8,
    /// `STRING` and `C_STRING`: ISO 8859-1. Bytes 0x80 to 0x9F become the C1 characters of the same
    /// number; what is shown is cleaned elsewhere.
    Latin1,
    /// `COMPOUND_TEXT`: ISO 2022 with a fixed beginning.
    CompoundText,
}

/// The text of a property that holds one string. NULs separate or end strings and need not be
/// there, so the first piece that is not empty counts.
pub fn single(encoding: Encoding, bytes: &[u8], cap: usize) -> String {
    let piece = bytes.split(|byte| *byte == 0).find(|piece| !piece.is_empty());
    piece.map(|piece| decode(encoding, piece, cap)).unwrap_or_default()
}

/// Both strings of `WM_CLASS` (ICCCM 4.1.2.5): the instance, then the class. A missing one is
/// empty.
pub fn pair(encoding: Encoding, bytes: &[u8], cap: usize) -> (String, String) {
    let mut pieces = bytes.split(|byte| *byte == 0);
    let mut next = || decode(encoding, pieces.next().unwrap_or_default(), cap);
    (next(), next())
}

/// Decodes to at most `cap` bytes, cut on a character boundary.
pub fn decode(encoding: Encoding, bytes: &[u8], cap: usize) -> String {
    let mut text = String::with_capacity(bytes.len().min(cap));
    match encoding {
        Encoding::Utf8 => push_utf8(&mut text, bytes, cap),
        // one byte gives one byte at least, so what lies beyond the cap cannot be part of the result
        Encoding::Latin1 => text.extend(bytes.iter().take(cap).copied().map(char::from)),
        Encoding::CompoundText => CompoundText::default().push(&mut text, bytes, cap),
    }
    text.truncate(cut(&text, cap).len());
    text
}

fn push_utf8(text: &mut String, bytes: &[u8], cap: usize) {
    for chunk in bytes.utf8_chunks() {
        if text.len() > cap {
            return;
        }
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// A character set designated to one half of the code table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charset {
    Ascii,
    Latin1,
    /// JIS X 0201, left half: ASCII but for two characters.
    JisRoman,
    /// JIS X 0201, right half: half-width katakana.
    Katakana,
    /// The right half of another part of ISO 8859.
    Part(&'static str),
    /// One whose table is not carried here, such as the two-byte sets of East Asia.
    Unknown,
}

impl Charset {
    /// `None`: not to be decoded. `byte` is without its eighth bit, 0x20 to 0x7F.
    fn decode(self, byte: u8) -> Option<char> {
        match self {
            Self::JisRoman if byte == 0x5c => Some('¥'),
            Self::JisRoman if byte == 0x7e => Some('‾'),
            Self::Ascii | Self::JisRoman => Some(char::from(byte)),
            Self::Latin1 => Some(char::from(byte | 0x80)),
            Self::Katakana => match byte {
                0x21..=0x5f => char::from_u32(0xff61 + u32::from(byte - 0x21)),
                _ => None,
            },
            Self::Part(table) => table.chars().nth(usize::from(byte.saturating_sub(0x20))),
            // a space is a space in every set of 94 characters
            Self::Unknown => (byte == 0x20).then_some(' '),
        }
    }

    fn of_96(final_byte: u8) -> Self {
        match final_byte {
            b'A' => Self::Latin1,
            _ => PARTS
                .iter()
                .find(|(name, ..)| *name == final_byte)
                .map_or(Self::Unknown, |(_, _, table)| Self::Part(table)),
        }
    }

    fn of_94(final_byte: u8) -> Self {
        match final_byte {
            b'B' => Self::Ascii,
            b'J' => Self::JisRoman,
            b'I' => Self::Katakana,
            _ => Self::Unknown,
        }
    }
}

/// The decoder's state: what is designated to the left (0x20 to 0x7F) and to the right half (0xA0
/// to 0xFF). See Compound Text Encoding, sections 4 to 6.
struct CompoundText {
    left: Charset,
    right: Charset,
    /// U+FFFD already stands for the segment being read.
    replaced: bool,
}

impl Default for CompoundText {
    /// The text begins in ISO 8859-1.
    fn default() -> Self {
        Self { left: Charset::Ascii, right: Charset::Latin1, replaced: false }
    }
}

impl CompoundText {
    fn push(mut self, text: &mut String, bytes: &[u8], cap: usize) {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            if text.len() > cap {
                return;
            }
            rest = after;
            match *byte {
                ESC => rest = self.escape(text, rest, cap),
                CSI => rest = skip_direction(rest),
                0x20..=0x7f => self.push_char(text, self.left.decode(*byte)),
                0xa0..=0xff => self.push_char(text, self.right.decode(*byte & 0x7f)),
                control => text.push(char::from(control)),
            }
        }
    }

    fn push_char(&mut self, text: &mut String, decoded: Option<char>) {
        match decoded {
            Some(c) => text.push(c),
            None if self.replaced => {}
            None => {
                text.push(char::REPLACEMENT_CHARACTER);
                self.replaced = true;
            }
        }
    }

    /// Takes an escape sequence (its ESC is gone already) and gives what follows it.
    fn escape<'a>(&mut self, text: &mut String, bytes: &'a [u8], cap: usize) -> &'a [u8] {
        self.replaced = false;
        match bytes {
            [b'%', b'G', rest @ ..] => {
                let end = rest.windows(3).position(|w| w == [ESC, b'%', b'@']);
                let (segment, rest) = match end {
                    Some(end) => (&rest[..end], &rest[end + 3..]),
                    None => (rest, &[][..]),
                };
                push_utf8(text, segment, cap);
                rest
            }
            [b'%', b'/', b'0'..=b'4', high, low, rest @ ..] => {
                let len = usize::from(high & 0x7f) * 128 + usize::from(low & 0x7f);
                let (segment, rest) = rest.split_at(len.min(rest.len()));
                push_extended(text, segment, cap);
                rest
            }
            [b'(', last, rest @ ..] => {
                self.left = Charset::of_94(*last);
                rest
            }
            [b')', last, rest @ ..] => {
                self.right = Charset::of_94(*last);
                rest
            }
            [b'-', last, rest @ ..] => {
                self.right = Charset::of_96(*last);
                rest
            }
            [b'$', b')', _, rest @ ..] => {
                self.right = Charset::Unknown;
                rest
            }
            [b'$', b'(', _, rest @ ..] => {
                self.left = Charset::Unknown;
                rest
            }
            // any other: intermediate bytes, then a final one (ISO 2022)
            _ => {
                let end = bytes.iter().position(|byte| !(0x20..=0x2f).contains(byte));
                match end {
                    Some(end) if (0x30..=0x7e).contains(&bytes[end]) => &bytes[end + 1..],
                    Some(end) => &bytes[end..],
                    None => &[],
                }
            }
        }
    }
}

/// A segment in an encoding given by name: `name STX text` (Compound Text Encoding, section 5).
fn push_extended(text: &mut String, segment: &[u8], cap: usize) {
    let Some(stx) = segment.iter().position(|byte| *byte == STX) else {
        return text.push(char::REPLACEMENT_CHARACTER);
    };
    let name = segment[..stx].to_ascii_lowercase();
    let body = &segment[stx + 1..];
    let part = name
        .strip_prefix(b"iso8859-")
        .and_then(|number| std::str::from_utf8(number).ok())
        .and_then(|number| number.parse::<u8>().ok());
    let right = match part {
        Some(1) => Charset::Latin1,
        Some(part) => PARTS
            .iter()
            .find(|(_, number, _)| *number == part)
            .map_or(Charset::Unknown, |(_, _, table)| Charset::Part(table)),
        None if name == b"utf-8" || name == b"utf8" => return push_utf8(text, body, cap),
        None => Charset::Unknown,
    };
    if right == Charset::Unknown {
        return text.push(char::REPLACEMENT_CHARACTER);
    }
    // an escape cannot stand in a segment of known length, and must not come out of it
    let body: Vec<u8> = body.iter().copied().filter(|byte| *byte != ESC).collect();
    CompoundText { right, ..CompoundText::default() }.push(text, &body, cap);
}

/// Takes a direction mark (`CSI 1 ]`, `CSI 2 ]`, `CSI ]`); its CSI is gone already.
fn skip_direction(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| !(0x30..=0x3f).contains(byte));
    match end {
        Some(end) if bytes[end] == b']' => &bytes[end + 1..],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests;

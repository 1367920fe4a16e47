//! From what a model printed to a verdict or a proposal, or to the reason why there is none.
//!
//! Pure, and total: no input panics. The rules stand in the fixtures' README; in short, the last
//! object that has the key asked for decides, nothing is repaired, nothing is guessed from words, and a
//! title that a model quotes can at worst cost the verdict, never forge one.

use super::Verdict;
use antidrift_protocol::text::{REASON_CAP, clean, strip_escapes};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::{borrow::Cow, fmt, marker::PhantomData};

/// The most output in bytes that is looked at. A verdict needs a few hundred.
pub const OUTPUT_CAP: usize = 256 * 1024;

/// Most answers that disagree which are remembered; one is enough to say so.
const MOST_DRAFTS: usize = 16;

/// Why an output holds no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing but blanks: a quota that ran out, or a program that was killed.
    #[error("it printed nothing")]
    Empty,
    /// No object with the key that was asked for at its top level.
    #[error("it printed no answer in the form that was asked for")]
    NoObject,
    /// The deciding object is not JSON, or repeats a key.
    #[error("its answer is not valid JSON")]
    Malformed,
    /// An object or a reasoning block has no end.
    #[error("its answer was cut off")]
    Truncated,
    /// `on_task` is no boolean, or the reason no string, or the like.
    #[error("its answer has a value of the wrong type")]
    WrongType,
    /// Verdicts that disagree, the last one not at the end of the output.
    #[error("it gave two answers that disagree")]
    Conflict,
    /// A number that makes no sense.
    #[error("its answer has a number out of range")]
    OutOfRange,
    /// More than [`OUTPUT_CAP`] bytes.
    #[error("it printed more than 256 KiB")]
    TooLarge,
}

/// What an output is read for: an object with a key that names it.
pub(crate) trait Wanted: Sized {
    /// The key that makes an object a candidate.
    const KEY: &'static str;
    /// The keys that are read.
    const KEYS: &'static [&'static str];

    /// Reads the values of [`Self::KEYS`], in that order.
    fn read(values: Vec<Option<Value>>) -> Result<Self, Unreadable>;

    /// Whether two candidates say the same where it matters.
    fn agrees(&self, other: &Self) -> bool;
}

/// Reads the verdict from a judge's whole standard output.
///
/// `quoted` is the window's text as it was sent: an object that stands in it word for word is the
/// stranger's, not the model's, and is passed over.
///
/// # Errors
/// When the output holds no clear verdict.
pub fn verdict(output: &[u8], quoted: &[&str]) -> Result<Verdict, Unreadable> {
    find(output, quoted)
}

/// Reads the proposal from a coach's whole standard output; see [`verdict`].
///
/// # Errors
/// When the output holds no clear proposal.
pub fn proposal(output: &[u8], quoted: &[&str]) -> Result<super::coach::Proposal, Unreadable> {
    find(output, quoted)
}

/// Reads what is wanted from a whole output; see [`verdict`].
pub(crate) fn find<W: Wanted>(output: &[u8], quoted: &[&str]) -> Result<W, Unreadable> {
    if output.len() > OUTPUT_CAP {
        return Err(Unreadable::TooLarge);
    }
    let text = plain(output);
    let text = without_reasoning(text.trim())?;
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    // Without what acts, as the output: else an escape sequence would tell the two apart.
    let quoted: Vec<String> =
        quoted.iter().map(|text| without_blanks(&plain(text.as_bytes()))).collect();
    decide(text, &quoted)
}

impl Wanted for Verdict {
    const KEY: &'static str = "on_task";
    const KEYS: &'static [&'static str] = &["on_task", "reason"];

    fn read(mut values: Vec<Option<Value>>) -> Result<Self, Unreadable> {
        let (reason, on_task) = (values.pop().flatten(), values.pop().flatten());
        let reason = match reason {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(reason)) => clean(&reason, REASON_CAP),
            Some(_) => return Err(Unreadable::WrongType),
        };
        match on_task {
            Some(Value::Bool(on_task)) => Ok(Self { on_task, reason }),
            _ => Err(Unreadable::WrongType),
        }
    }

    fn agrees(&self, other: &Self) -> bool {
        self.on_task == other.on_task
    }
}

/// The output as text without escape sequences and control characters, which also mends raw line
/// breaks in strings.
pub(crate) fn plain(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let text = text.strip_prefix('\u{feff}').map_or(text.as_ref(), |rest| rest);
    strip_escapes(text).replace(char::is_control, " ")
}

/// A reasoning block at the start may hold drafts, also broken ones: it goes as a whole.
fn without_reasoning(text: &str) -> Result<&str, Unreadable> {
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(rest) = text.strip_prefix(open) {
            let (_, answer) = rest.split_once(close).ok_or(Unreadable::Truncated)?;
            return Ok(answer.trim());
        }
    }
    Ok(text)
}

fn decide<W: Wanted>(text: &str, quoted: &[String]) -> Result<W, Unreadable> {
    let mut last: Result<W, Unreadable> = Err(Unreadable::NoObject);
    let mut tail = text;
    // Earlier good candidates, one of each that agree.
    let mut earlier: Vec<W> = Vec::new();
    let mut rest = text;
    while let Some(brace) = rest.find('{') {
        rest = rest.get(brace..).unwrap_or_default();
        let (len, found) = object(rest)?;
        let (region, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        rest = after;
        let Some(found) = found else { continue };
        if !quoted.is_empty() {
            let region = without_blanks(region);
            if quoted.iter().any(|text| text.contains(&region)) {
                continue;
            }
        }
        if let Ok(before) = std::mem::replace(&mut last, found)
            && earlier.len() < MOST_DRAFTS
            && !earlier.iter().any(|it| it.agrees(&before))
        {
            earlier.push(before);
        }
        tail = after;
    }
    let wanted = last?;
    let disputed = earlier.iter().any(|it| !it.agrees(&wanted));
    if disputed && tail.contains(|c: char| !c.is_whitespace() && c != '`') {
        return Err(Unreadable::Conflict);
    }
    Ok(wanted)
}

/// What begins with the brace at the start of `text`: how many bytes to step over, and the
/// candidate, if it is one. Only braces that end nowhere are an error here.
fn object<W: Wanted>(text: &str) -> Result<(usize, Option<Result<W, Unreadable>>), Unreadable> {
    let next = text.chars().skip(1).find(|c| !c.is_whitespace());
    if !matches!(next, Some('"' | '}')) {
        return Ok((1, None));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Candidate<W>>();
    if let Some(Ok(candidate)) = values.next() {
        return Ok((values.byte_offset(), candidate.open()));
    }
    let len = closing(text).ok_or(Unreadable::Truncated)?;
    let name = format!("\"{}\"", W::KEY);
    let names_it = text.get(..len).is_some_and(|region| region.contains(&name));
    Ok((len, names_it.then_some(Err(Unreadable::Malformed))))
}

/// Where the brace at the start of `text` is closed, by counting braces outside strings.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// One object that parsed, as far as it matters. Objects inside it are never looked at.
struct Candidate<W> {
    values: Vec<Option<Value>>,
    repeated: bool,
    wanted: PhantomData<W>,
}

impl<W: Wanted> Candidate<W> {
    fn open(self) -> Option<Result<W, Unreadable>> {
        let key = W::KEYS.iter().position(|key| *key == W::KEY)?;
        self.values.get(key)?.as_ref()?;
        if self.repeated {
            return Some(Err(Unreadable::Malformed));
        }
        Some(W::read(self.values))
    }
}

impl<'de, W: Wanted> Deserialize<'de> for Candidate<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CandidateVisitor(PhantomData))
    }
}

/// By hand, because a derived struct refuses repeated fields as broken JSON and a map keeps the
/// last one silently.
struct CandidateVisitor<W>(PhantomData<W>);

impl<'de, W: Wanted> Visitor<'de> for CandidateVisitor<W> {
    type Value = Candidate<W>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Candidate<W>, A::Error> {
        let mut values = vec![None; W::KEYS.len()];
        let mut repeated = false;
        while let Some(Key(key)) = map.next_key()? {
            let slot = W::KEYS.iter().zip(&mut values).find(|(known, _)| **known == key);
            let Some((_, slot)) = slot else {
                // Skipping takes no stack, however deep the value is.
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value()?;
            repeated |= slot.replace(value).is_some();
        }
        Ok(Candidate { values, repeated, wanted: PhantomData })
    }
}

struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;

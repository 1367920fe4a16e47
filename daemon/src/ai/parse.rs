//! From what a model printed to a verdict, or to the reason why there is none.
//!
//! Pure, and total: no input panics. The rules stand in the fixtures' README; in short, the last
//! object that has `on_task` decides, nothing is repaired, nothing is guessed from words, and a
//! title that a model quotes can at worst cost the verdict, never forge one.

use super::Verdict;
use antidrift_protocol::text::{REASON_CAP, clean, strip_escapes};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::{borrow::Cow, fmt};

/// The most output in bytes that is looked at. A verdict needs a few hundred.
pub const OUTPUT_CAP: usize = 256 * 1024;

/// Why an output holds no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing but blanks: a quota that ran out, or a program that was killed.
    #[error("it printed nothing")]
    Empty,
    /// No object with `on_task` at its top level.
    #[error("it printed no object with on_task")]
    NoObject,
    /// The deciding object is not JSON, or repeats a key.
    #[error("its verdict is not valid JSON")]
    Malformed,
    /// An object or a reasoning block has no end.
    #[error("its answer was cut off")]
    Truncated,
    /// `on_task` is no boolean, or the reason no string.
    #[error("its verdict has a value of the wrong type")]
    WrongType,
    /// Verdicts that disagree, the last one not at the end of the output.
    #[error("it gave two verdicts that disagree")]
    Conflict,
    /// More than [`OUTPUT_CAP`] bytes.
    #[error("it printed more than 256 KiB")]
    TooLarge,
}

/// Reads the verdict from a judge's whole standard output.
///
/// `quoted` is the window's text as it was sent: an object that stands in it word for word is the
/// stranger's, not the model's, and is passed over.
///
/// # Errors
/// When the output holds no clear verdict.
pub fn verdict(output: &[u8], quoted: &[&str]) -> Result<Verdict, Unreadable> {
    if output.len() > OUTPUT_CAP {
        return Err(Unreadable::TooLarge);
    }
    let text = plain(output);
    let text = without_reasoning(text.trim())?;
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    let quoted: Vec<String> = quoted.iter().map(|text| without_blanks(text)).collect();
    decide(text, &quoted)
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

fn decide(text: &str, quoted: &[String]) -> Result<Verdict, Unreadable> {
    let mut last = Err(Unreadable::NoObject);
    let mut tail = text;
    // Whether an earlier good candidate said on task, and whether one said drifting.
    let mut said = [false; 2];
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
        if let Ok(Verdict { on_task, .. }) = &last {
            said[usize::from(*on_task)] = true;
        }
        (last, tail) = (found, after);
    }
    let verdict = last?;
    let disputed = said[usize::from(!verdict.on_task)];
    if disputed && tail.contains(|c: char| !c.is_whitespace() && c != '`') {
        return Err(Unreadable::Conflict);
    }
    Ok(verdict)
}

/// What begins with the brace at the start of `text`: how many bytes to step over, and the
/// candidate, if it is one. Only braces that end nowhere are an error here.
fn object(text: &str) -> Result<(usize, Option<Result<Verdict, Unreadable>>), Unreadable> {
    let next = text.chars().skip(1).find(|c| !c.is_whitespace());
    if !matches!(next, Some('"' | '}')) {
        return Ok((1, None));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Candidate>();
    if let Some(Ok(candidate)) = values.next() {
        return Ok((values.byte_offset(), candidate.verdict()));
    }
    let len = closing(text).ok_or(Unreadable::Truncated)?;
    let names_it = text.get(..len).is_some_and(|region| region.contains("\"on_task\""));
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
struct Candidate {
    on_task: Option<Value>,
    reason: Option<Value>,
    repeated: bool,
}

impl Candidate {
    fn verdict(self) -> Option<Result<Verdict, Unreadable>> {
        let on_task = self.on_task?;
        if self.repeated {
            return Some(Err(Unreadable::Malformed));
        }
        let reason = match self.reason {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(reason)) => clean(&reason, REASON_CAP),
            Some(_) => return Some(Err(Unreadable::WrongType)),
        };
        Some(match on_task {
            Value::Bool(on_task) => Ok(Verdict { on_task, reason }),
            _ => Err(Unreadable::WrongType),
        })
    }
}

impl<'de> Deserialize<'de> for Candidate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CandidateVisitor)
    }
}

/// By hand, because a derived struct refuses repeated fields as broken JSON and a map keeps the
/// last one silently.
struct CandidateVisitor;

impl<'de> Visitor<'de> for CandidateVisitor {
    type Value = Candidate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Candidate, A::Error> {
        let mut found = Candidate { on_task: None, reason: None, repeated: false };
        while let Some(Key(key)) = map.next_key()? {
            let slot = match key.as_ref() {
                "on_task" => &mut found.on_task,
                "reason" => &mut found.reason,
                _ => {
                    // Skipping takes no stack, however deep the value is.
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = map.next_value()?;
            found.repeated |= slot.replace(value).is_some();
        }
        Ok(found)
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

//! JSON lines that cannot act on a terminal.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};
use std::io;

/// What [`to_line`] gives for a value that has no JSON form.
const UNWRITABLE: &str =
    r#"{"id":null,"error":{"code":"internal","message":"a message has no JSON form","data":{}}}"#;

/// `value` as compact JSON without a line end, fit to be printed as it stands.
///
/// Control characters, U+007F to U+009F, U+2028, U+2029 and bidirectional controls stand as
/// `\uXXXX`, so that a hostile window title neither ends the line nor acts on a terminal that shows
/// it. It decodes to the same value.
///
/// Messages of the protocol always have a JSON form. For other types that may fail (a map whose
/// keys are no strings) use [`try_to_line`]; here the line would be an `internal` error.
#[must_use]
pub fn to_line<T: Serialize + ?Sized>(value: &T) -> String {
    try_to_line(value).unwrap_or_else(|_| UNWRITABLE.to_owned())
}

/// The same as [`to_line`], for any type.
///
/// # Errors
/// When the value's `Serialize` fails or a map key is not a string.
pub fn try_to_line<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut out = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, LineFormatter))?;
    String::from_utf8(out).map_err(serde::ser::Error::custom)
}

/// The formatter behind [`to_line`], for writers that stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineFormatter;

impl Formatter for LineFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        write_escaped(out, text)
    }

    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        // Raw JSON was not written by us. Outside its strings these characters cannot occur, but
        // line breaks and tabs can, as white space.
        for (index, part) in text.split(['\n', '\r', '\t']).enumerate() {
            if index > 0 {
                CompactFormatter.write_raw_fragment(out, " ")?;
            }
            write_escaped(out, part)?;
        }
        Ok(())
    }
}

fn write_escaped<W: ?Sized + io::Write>(out: &mut W, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        let (before, after) = rest.split_at(at);
        out.write_all(before.as_bytes())?;
        let mut chars = after.chars();
        if let Some(c) = chars.next() {
            write!(out, "\\u{:04x}", u32::from(c))?;
        }
        rest = chars.as_str();
    }
    out.write_all(rest.as_bytes())
}

/// Characters that a terminal or a line reader acts on. All lie below U+10000: one escape each.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json, value::RawValue};
    use std::collections::BTreeMap;

    #[test]
    fn what_acts_is_escaped_and_the_rest_is_not() {
        let line =
            to_line(&json!({"t": "a\u{1b}[2J\u{7f}\u{9b}é\u{202e}\u{2029}\u{200d}\n\"\u{1f4c8}"}));
        assert_eq!(line, r#"{"t":"a\u001b[2J\u007f\u009bé\u202e\u2029‍\n\"📈"}"#);
    }

    #[test]
    fn keys_and_characters_are_escaped_too() {
        let map = BTreeMap::from([("k\u{9d}", '\u{2066}')]);
        assert_eq!(to_line(&map), r#"{"k\u009d":"\u2066"}"#);
    }

    #[test]
    fn raw_json_stays_on_its_line() {
        let raw = RawValue::from_string("{\n\t\"a\": \"\u{202e}x\\n\"\r}".to_owned()).unwrap();
        assert_eq!(to_line(&raw), "{  \"a\": \"\\u202ex\\n\" }");
    }

    #[test]
    fn a_value_without_a_json_form_is_an_error() {
        let map = BTreeMap::from([(vec![1], 2)]);
        assert!(try_to_line(&map).is_err());
        assert!(
            serde_json::from_str::<Value>(&to_line(&map)).unwrap()["error"]["code"] == "internal"
        );
    }

    proptest! {
        #[test]
        fn no_line_acts_and_every_line_decodes(text in any::<String>(), nasty in prop::collection::vec(
            prop::sample::select("\u{1b}\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\n\r\t\\\"".chars().collect::<Vec<_>>()), 0..40)) {
            let text = text + &nasty.into_iter().collect::<String>();
            let value = json!({text.clone(): [text, 1, null]});
            let line = to_line(&value);
            prop_assert!(!line.contains(acts));
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        }
    }
}

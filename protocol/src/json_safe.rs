//! JSON that does nothing to a terminal that shows it.
//!
//! JSON needs only U+0000 to U+001F, quotes and backslashes escaped. Titles may hold C1 controls and
//! bidirectional controls too, and people look at our lines with `socat` and `cat`.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Whether a character acts on a terminal or on the order of the text around it.
fn acts(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        mut fragment: &str,
    ) -> io::Result<()> {
        // All of them lie below U+2070, so a fragment of ASCII has none but U+007F.
        while let Some((at, c)) = fragment.char_indices().find(|&(_, c)| acts(c)) {
            CompactFormatter.write_string_fragment(writer, &fragment[..at])?;
            write!(writer, "\\u{:04x}", u32::from(c))?;
            fragment = &fragment[at + c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, fragment)
    }
}

/// A value as compact JSON in which control characters, U+007F to U+009F, line separators and
/// bidirectional controls are written as `\uXXXX`. A value that has no JSON form becomes `null`;
/// none of this crate's types is one.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::with_capacity(256);
    match value.serialize(&mut Serializer::with_formatter(&mut bytes, Safe)) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => "null".to_owned(),
    }
}

/// Bytes that [`to_string`] needs for `text`, without the quotes around it: at most six times the
/// text's own.
pub fn escaped_len(text: &str) -> usize {
    let escaped = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' || acts(c) => 6,
        c => c.len_utf8(),
    };
    text.chars().map(escaped).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_what_acts_and_nothing_else() {
        for (text, expected) in [
            ("plain ✓ «é»", "\"plain ✓ «é»\""),
            ("a\u{1b}[31mb\u{9b}c\u{7f}", "\"a\\u001b[31mb\\u009bc\\u007f\""),
            ("x\u{202e}y\u{2066}z\u{61c}", "\"x\\u202ey\\u2066z\\u061c\""),
            ("\u{8}\t\n\u{c}\r\u{0}\"\\/", "\"\\b\\t\\n\\f\\r\\u0000\\\"\\\\/\""),
            ("\u{2028}\u{200f}", "\"\\u2028\\u200f\""),
        ] {
            assert_eq!(to_string(text), expected);
            assert_eq!(escaped_len(text) + 2, expected.len());
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back_and_nothing_acts(text in any::<String>()) {
            let json = to_string(&text);
            prop_assert!(!json.chars().any(|c| acts(c) || c.is_control()));
            prop_assert_eq!(json.len(), escaped_len(&text) + 2);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use proptest::prelude::*;
use serde_json::Value;

const TITLES: &str = include_str!("../../tests/fixtures/judge/hostile_titles.jsonl");

fn title(row: &Value) -> String {
    if let Some(text) = row["title"].as_str() {
        return text.to_owned();
    }
    if let Some(hex) = row["title_hex"].as_str() {
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
            .collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let r#gen = &row["title_gen"];
    let part = |key: &str| r#gen[key].as_str().unwrap();
    let times = usize::try_from(r#gen["times"].as_u64().unwrap()).unwrap();
    format!("{}{}{}", part("prefix"), part("unit").repeat(times), part("suffix"))
}

#[test]
fn every_hostile_title_in_every_sink() {
    let mut rows = 0;
    for line in TITLES.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (name, title) = (row["name"].as_str().unwrap(), title(&row));
        assert_eq!(clean(&title, TITLE_CAP), row["clean"].as_str().unwrap(), "{name}: clean");
        for (sink, expected) in row["sinks"].as_object().unwrap() {
            let expected = expected.as_str().unwrap();
            let shown = match sink.as_str() {
                "notify_body" => notify_body(&title, TITLE_CAP),
                "notify_send_arg" => notify_send_arg(&title, TITLE_CAP, true),
                "polybar" => polybar(&title, TITLE_CAP),
                "i3blocks_pango" | "waybar_text" => pango(&title, TITLE_CAP),
                "terminal" => terminal(&title, TITLE_CAP),
                "waybar_json" => {
                    let line = serde_json::json!({"text": pango(&title, TITLE_CAP)});
                    let decoded: Value = serde_json::from_str(expected).unwrap();
                    assert_eq!(line, decoded, "{name}: {sink}");
                    continue;
                }
                other => panic!("{name}: unknown sink {other}"),
            };
            assert_eq!(shown, expected, "{name}: {sink}");
        }
        assert_eq!(prompt_json(&title, TITLE_CAP), row["prompt_json"].as_str().unwrap(), "{name}");
        rows += 1;
    }
    assert_eq!(rows, 36);
}

#[test]
fn without_markup_notify_send_gets_no_entities() {
    assert_eq!(notify_send_arg("a<b & c\\n", TITLE_CAP, false), "a<b & c\\\\n");
}

#[test]
fn escape_sequences() {
    for (text, expected) in [
        ("a\u{1b}(Bb", "ab"),
        ("a\u{1b}7b", "ab"),
        ("a\u{1b}[1;31 qb", "ab"),
        ("a\u{1b}[31\u{e9}", "a31é"),
        ("a\u{9b}31mb", "ab"),
        ("a\u{9d}0;x\u{9c}b", "ab"),
        ("a\u{90}q\u{1b}[0m\u{1b}\\b", "ab"),
        ("a\u{9d}0;x", "a0;x"),
        ("a\u{1b}\u{1b}[0m[31mb", "a [31mb"),
        ("a\u{1b}", "a "),
        ("a\u{1b}(", "a ("),
    ] {
        assert_eq!(strip_escapes(text), expected, "{text:?}");
    }
}

#[test]
fn openings_that_never_close_take_linear_time() {
    for unit in ["\u{1b}]", "\u{1b}[", "\u{9d}", "\u{1b}P\u{1b}", "\u{1b}[1;"] {
        let text = unit.repeat(400_000);
        assert!(!strip_escapes(&text).contains('\u{1b}'));
        assert!(clean(&text, TITLE_CAP).chars().count() <= TITLE_CAP);
    }
}

#[test]
fn the_smallest_caps() {
    assert_eq!(clean("abc", 0), "");
    assert_eq!(clean("abc", 1), "…");
    assert_eq!(clean("abc", 2), "a…");
    assert_eq!(clean("abc", 3), "abc");
    assert_eq!(clean("abc  ", 3), "abc");
}

#[test]
fn lines_keep_their_indentation_and_lose_what_acts() {
    for (text, expected) in [
        ("Usage:\n  a   b\n\n  c  \n", "Usage:\n  a   b\n\n  c  \n"),
        ("  a\u{1b}[31m  b\n  c", "a b\n  c"),
        ("a\tb\r\n\u{202e}  c", "a b\nc"),
        ("123456789\n12345678", "1234567…\n12345678"),
        ("         \n", "\n"),
        ("", ""),
    ] {
        assert_eq!(terminal_lines(text, 8), expected, "{text:?}");
    }
}

/// Text in which the dangerous characters are as frequent as the harmless ones.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ -~]{0,4}",
        prop::sample::select(vec![
            "\u{1b}",
            "\u{1b}]",
            "\u{1b}[",
            "\u{1b}[3",
            "\u{1b}\\",
            "\u{9b}",
            "\u{9c}",
            "\u{9d}",
            "\u{90}",
            "\u{7}",
            "\u{202e}",
            "\u{200b}",
            "\u{200d}",
            "\u{2028}",
            "\u{85}",
            "\u{3000}",
            "\n",
            "\t",
            "\0",
            "…",
            "m",
            "é",
            "%",
            "{",
            "&",
            "\\",
            "\"",
            "\u{e0041}",
            "\u{feff}",
            "\u{2066}",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn cleaned_text_is_one_harmless_line(text in hostile(), cap in 0usize..80) {
        let cleaned = clean(&text, cap);
        prop_assert!(cleaned.chars().count() <= cap);
        prop_assert!(!cleaned.chars().any(|c| c.is_control() || is_invisible(c)));
        let separator = cleaned.contains(['\u{2028}', '\u{2029}']);
        prop_assert!(!separator);
        prop_assert!(!cleaned.contains("  "));
        prop_assert_eq!(cleaned.trim(), cleaned.as_str());
        prop_assert_eq!(clean(&cleaned, cap), cleaned);
    }

    #[test]
    fn a_short_text_is_cut_from_the_long_one(text in hostile(), cap in 1usize..80) {
        let (whole, cut) = (clean(&text, usize::MAX), clean(&text, cap));
        if whole.chars().count() <= cap {
            prop_assert_eq!(cut, whole);
        } else {
            let expected: String = whole.chars().take(cap - 1).chain(['…']).collect();
            prop_assert_eq!(cut, expected);
        }
    }

    #[test]
    fn cleaned_lines_are_harmless_lines(text in hostile(), cap in 0usize..80) {
        let cleaned = terminal_lines(&text, cap);
        prop_assert_eq!(cleaned.split('\n').count(), text.split('\n').count());
        for line in cleaned.split('\n') {
            prop_assert!(line.chars().count() <= cap);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_invisible(c)));
            let separator = line.contains(['\u{2028}', '\u{2029}']);
            prop_assert!(!separator);
        }
        prop_assert_eq!(terminal_lines(&cleaned, cap), cleaned);
    }

    #[test]
    fn no_sequence_is_left_to_begin(text in hostile()) {
        prop_assert!(!strip_escapes(&text).contains(is_introducer));
    }

    #[test]
    fn sinks_keep_their_promises(text in hostile()) {
        let tag = polybar(&text, TITLE_CAP).contains("%{");
        prop_assert!(!tag);
        prop_assert!(!pango(&text, TITLE_CAP).contains(['<', '>']));
        prop_assert!(!notify_body(&text, TITLE_CAP).contains(['<', '>']));
        let doubled = notify_send_arg(&text, TITLE_CAP, false);
        prop_assert_eq!(doubled.replace("\\\\", "\\"), clean(&text, TITLE_CAP));
        let literal = prompt_json(&text, TITLE_CAP);
        prop_assert!(!literal.contains(['@', '$', '<', '>', '&', '#', '!', '`', '\n']));
        let decoded: String = serde_json::from_str(&literal).unwrap();
        prop_assert_eq!(decoded, clean(&text, TITLE_CAP));
    }
}

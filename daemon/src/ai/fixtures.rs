//! Outputs of programs for tests: the fixtures, the fixtures damaged, and none at all.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::Value;

use super::parse::Unreadable;

/// What models print around their answers, by tool.
pub(super) const ENVELOPES: &str =
    include_str!("../../../tests/fixtures/judge/envelope_outputs.jsonl");

/// The rows of a file of fixtures.
pub(super) fn rows(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the program of a row printed: text, bytes in hexadecimal, or something long by its parts.
pub(super) fn output(row: &Value) -> Vec<u8> {
    if let Some(text) = row["stdout"].as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(hex) = row["stdout_hex"].as_str() {
        let digits = (0..hex.len()).step_by(2).map(|i| &hex[i..i + 2]);
        return digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    }
    let parts = &row["stdout_gen"];
    let part = |key: &str| parts[key].as_str().unwrap();
    let times = usize::try_from(parts["times"].as_u64().unwrap()).unwrap();
    format!("{}{}{}", part("prefix"), part("unit").repeat(times), part("suffix")).into_bytes()
}

/// As the rows name it.
pub(super) fn kind(error: Unreadable) -> &'static str {
    match error {
        Unreadable::Empty => "empty",
        Unreadable::NoObject => "no_object",
        Unreadable::Malformed => "malformed",
        Unreadable::Truncated => "truncated",
        Unreadable::WrongType => "wrong_type",
        Unreadable::Conflict => "conflict",
        Unreadable::OutOfRange => "out_of_range",
        Unreadable::TooLarge => "too_large",
    }
}

/// Outputs made of the pieces that matter to the scan: those of every answer, and its `own`.
pub(super) fn scrambled(own: &[&'static str]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let common = [
        "{",
        "}",
        "\"",
        "\\",
        ":",
        ",",
        "[",
        "]",
        " ",
        "\n",
        "`",
        "null",
        "<think>",
        "</think>",
        "\u{1b}[31m",
        "\u{1b}]",
        "prose",
        "é",
        "\u{a0}",
    ];
    let piece = prop::sample::select([&common, own].concat());
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
}

/// The shorter outputs of these rows with a few bytes replaced, removed or doubled.
pub(super) fn mutated(rows: &[Value]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let bases: Vec<Vec<u8>> = rows.iter().map(output).filter(|it| it.len() < 2_000).collect();
    let change = (any::<prop::sample::Index>(), 0..3, any::<u8>());
    (prop::sample::select(bases), prop::collection::vec(change, 0..5)).prop_map(
        |(mut bytes, changes)| {
            for (index, action, byte) in changes {
                if bytes.is_empty() {
                    break;
                }
                let at = index.index(bytes.len());
                match action {
                    0 => bytes[at] = byte,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, bytes[at]),
                }
            }
            bytes
        },
    )
}

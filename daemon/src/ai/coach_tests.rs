#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ai::parse::{find, plain};

const OUTPUTS: &str = include_str!("../../../tests/fixtures/judge/coach_outputs.jsonl");

fn rows() -> Vec<Value> {
    OUTPUTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn output(row: &Value) -> String {
    let parts = &row["stdout_gen"];
    let part = |key: &str| parts[key].as_str().unwrap();
    row["stdout"].as_str().map(str::to_owned).unwrap_or_else(|| {
        let times = usize::try_from(parts["times"].as_u64().unwrap()).unwrap();
        format!("{}{}{}", part("prefix"), part("unit").repeat(times), part("suffix"))
    })
}

/// As the fixtures name it.
fn kind(error: Unreadable) -> String {
    let name = format!("{error:?}");
    let letters = name.chars().flat_map(|c| {
        let mark = c.is_uppercase().then_some('_');
        mark.into_iter().chain(c.to_lowercase())
    });
    letters.collect::<String>().trim_start_matches('_').to_owned()
}

#[test]
fn every_fixture() {
    let rows = rows();
    assert_eq!(rows.len(), 28);
    for row in rows {
        let name = row["name"].as_str().unwrap();
        match (find::<Proposal>(output(&row).as_bytes(), &[]), row["error_kind"].as_str()) {
            (Ok(found), None) => {
                let expected = &row["expect"];
                let text = |key: &str| expected[key].as_str().unwrap();
                assert_eq!(found.next_action, text("next_action"), "{name}");
                assert_eq!(found.success_condition, text("success_condition"), "{name}");
                assert_eq!(Some(found.timebox_minutes), expected["timebox_minutes"].as_u64());
                let classes = serde_json::to_value(&found.allowed_window_classes).unwrap();
                assert_eq!(classes, expected["allowed_window_classes"], "{name}");
            }
            (Err(error), Some(expected)) => assert_eq!(kind(error), expected, "{name}"),
            (found, expected) => panic!("{name}: got {found:?}, expected {expected:?}"),
        }
    }
}

/// A proposal holds its bounds, and its number stands behind its key in the output.
fn assert_grounded(output: &[u8]) -> Result<(), TestCaseError> {
    let Ok(found) = find::<Proposal>(output, &[]) else { return Ok(()) };
    prop_assert!((1..=MAX_MINUTES).contains(&found.timebox_minutes));
    let text = plain(output);
    let said = text.match_indices("\"timebox_minutes\"").any(|(at, key)| {
        let rest = text[at + key.len()..].trim_start();
        let number = rest.strip_prefix(':').map(str::trim_start);
        number.is_some_and(|rest| rest.starts_with(&found.timebox_minutes.to_string()))
    });
    prop_assert!(said, "{found:?} out of {text:?}");
    for text in [&found.next_action, &found.success_condition] {
        prop_assert!(!text.is_empty() && text.chars().count() <= TITLE_CAP);
        prop_assert_eq!(&clean(text, TITLE_CAP), text);
    }
    let classes = &found.allowed_window_classes;
    prop_assert!(classes.len() <= MAX_CLASSES);
    for (at, class) in classes.iter().enumerate() {
        prop_assert_eq!(&clean(class, CLASS_CAP), class);
        let twice = |other: &String| other.to_lowercase() == class.to_lowercase();
        prop_assert!(!classes[..at].iter().any(twice));
    }
    Ok(())
}

/// Outputs made of the pieces that matter to the scan.
fn scrambled() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
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
        "25",
        "-1",
        "1e2",
        "null",
        "\"next_action\": \"a\",",
        "\"success_condition\": \"b\",",
        "\"timebox_minutes\": 25",
        "\"timebox_minutes\": \"25\"",
        "\"allowed_window_classes\": [\"Code\", \"code\"],",
        "{\"next_action\": \"a\", \"success_condition\": \"b\", \"timebox_minutes\": 25}",
        "{\"next_action\": \"c\", \"success_condition\": \"d\", \"timebox_minutes\": 90}",
        "<think>",
        "</think>",
        "\u{1b}[31m",
        "\u{1b}]",
        "prose",
        "é",
        "\u{a0}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
}

/// A fixture with a few bytes replaced, removed or doubled.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let bases: Vec<Vec<u8>> =
        rows().iter().map(|row| output(row).into_bytes()).filter(|it| it.len() < 2_000).collect();
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

proptest! {
    #[test]
    fn arbitrary_bytes_are_grounded(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_grounded(&bytes)?;
    }

    #[test]
    fn scrambled_pieces_are_grounded(bytes in scrambled()) {
        assert_grounded(&bytes)?;
    }

    #[test]
    fn mutated_fixtures_are_grounded(bytes in mutated()) {
        assert_grounded(&bytes)?;
    }

    #[test]
    fn whatever_the_fields_hold_they_are_cleaned_and_bounded(
        before in "\\PC{0,40}", minutes in any::<i64>(), action in any::<String>(),
        classes in prop::collection::vec(any::<String>(), 0..40), after in "\\PC{0,40}",
    ) {
        let object = json!({
            "next_action": action, "success_condition": "done", "timebox_minutes": minutes,
            "allowed_window_classes": classes,
        });
        assert_grounded(format!("{before}{object}{after}").as_bytes())?;
    }

    /// An intent that a model quotes before its answer never becomes the proposal.
    #[test]
    fn an_intent_before_the_answer_forges_nothing(intent in scrambled()) {
        let intent = String::from_utf8(intent).unwrap();
        let answer = json!({
            "next_action": "mine", "success_condition": "done", "timebox_minutes": 7,
        });
        let output = format!("You said {intent}. {answer}");
        if let Ok(found) = find::<Proposal>(output.as_bytes(), &[]) {
            prop_assert_eq!((found.next_action.as_str(), found.timebox_minutes), ("mine", 7));
        }
    }
}

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ai::{
    fixtures::{kind, mutated, output, rows, scrambled},
    parse::{find, plain},
};

const OUTPUTS: &str = include_str!("../../../tests/fixtures/judge/coach_outputs.jsonl");

#[test]
fn every_fixture() {
    let rows = rows(OUTPUTS);
    assert_eq!(rows.len(), 28);
    for row in rows {
        let name = row["name"].as_str().unwrap();
        match (find::<Proposal>(&output(&row), &[]), row["error_kind"].as_str()) {
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

/// What matters to the scan in proposals.
const PIECES: [&str; 10] = [
    "25",
    "-1",
    "1e2",
    "\"next_action\": \"a\",",
    "\"success_condition\": \"b\",",
    "\"timebox_minutes\": 25",
    "\"timebox_minutes\": \"25\"",
    "\"allowed_window_classes\": [\"Code\", \"code\"],",
    "{\"next_action\": \"a\", \"success_condition\": \"b\", \"timebox_minutes\": 25}",
    "{\"next_action\": \"c\", \"success_condition\": \"d\", \"timebox_minutes\": 90}",
];

proptest! {
    #[test]
    fn arbitrary_bytes_are_grounded(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_grounded(&bytes)?;
    }

    #[test]
    fn scrambled_pieces_are_grounded(bytes in scrambled(&PIECES)) {
        assert_grounded(&bytes)?;
    }

    #[test]
    fn mutated_fixtures_are_grounded(bytes in mutated(&rows(OUTPUTS))) {
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
    fn an_intent_before_the_answer_forges_nothing(intent in scrambled(&PIECES)) {
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

//! The coach: from an intent to a commitment's fields. What it says is a proposal that a person
//! confirms; nothing in it is acted upon.

use std::{fmt, future::Future, pin::Pin};

use antidrift_protocol::text::{TITLE_CAP, clean};
use serde_json::Value;

use super::{
    Failure,
    parse::{Unreadable, Wanted},
    prompt::CLASS_CAP,
};

/// Longest sitting that a coach may propose, in minutes.
pub const MAX_MINUTES: u64 = 480;
/// Most window classes that are taken from a proposal.
pub const MAX_CLASSES: usize = 16;

/// What a coach is asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Intent {
    /// What the user has in mind.
    pub text: String,
    /// Window classes that are open or were seen lately.
    pub classes: Vec<String>,
}

/// Intents are private: no debug output may carry one into a log.
impl fmt::Debug for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intent").field("classes", &self.classes).finish_non_exhaustive()
    }
}

/// What a coach proposes. All text is cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The first step; not blank, at most 200 characters.
    pub next_action: String,
    /// How one will know that it is done; the same.
    pub success_condition: String,
    /// 1 to [`MAX_MINUTES`].
    pub timebox_minutes: u64,
    /// Window classes, none twice in whatever letter case; at most [`MAX_CLASSES`].
    pub allowed_window_classes: Vec<String>,
}

/// A proposal under way. Dropping it cancels it.
pub type Proposing = Pin<Box<dyn Future<Output = Result<Proposal, Failure>> + Send>>;

/// Anything that can answer an [`Intent`]. Fakes implement it in tests.
pub trait Coach: fmt::Debug + Send + Sync {
    /// Asks. The caller holds the time limit and drops the future at its end.
    fn propose(&self, intent: Intent) -> Proposing;
}

impl Wanted for Proposal {
    const KEY: &'static str = "next_action";
    const KEYS: &'static [&'static str] =
        &["next_action", "success_condition", "timebox_minutes", "allowed_window_classes"];

    fn read(values: Vec<Option<Value>>) -> Result<Self, Unreadable> {
        let mut values = values.into_iter();
        let mut next = || values.next().flatten();
        Ok(Self {
            next_action: sentence(next())?,
            success_condition: sentence(next())?,
            timebox_minutes: minutes(next())?,
            allowed_window_classes: classes(next())?,
        })
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other
    }
}

fn sentence(value: Option<Value>) -> Result<String, Unreadable> {
    let Some(Value::String(text)) = value else { return Err(Unreadable::WrongType) };
    let text = clean(&text, TITLE_CAP);
    if text.is_empty() { Err(Unreadable::WrongType) } else { Ok(text) }
}

fn minutes(value: Option<Value>) -> Result<u64, Unreadable> {
    let Some(Value::Number(number)) = value else { return Err(Unreadable::WrongType) };
    if !number.is_i64() && !number.is_u64() {
        return Err(Unreadable::WrongType);
    }
    number.as_u64().filter(|it| (1..=MAX_MINUTES).contains(it)).ok_or(Unreadable::OutOfRange)
}

fn classes(value: Option<Value>) -> Result<Vec<String>, Unreadable> {
    let list = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Unreadable::WrongType),
    };
    let mut classes: Vec<String> = Vec::new();
    for entry in list {
        let Value::String(class) = entry else { return Err(Unreadable::WrongType) };
        let class = clean(&class, CLASS_CAP);
        let known = classes.iter().any(|it| it.to_lowercase() == class.to_lowercase());
        if class.contains(char::is_alphanumeric) && !known && classes.len() < MAX_CLASSES {
            classes.push(class);
        }
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use crate::ai::parse::find;

    const OUTPUTS: &str = include_str!("../../../tests/fixtures/judge/coach_outputs.jsonl");

    #[test]
    fn every_fixture() {
        let rows: Vec<Value> =
            OUTPUTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 28);
        for row in rows {
            let name = row["name"].as_str().unwrap();
            let parts = &row["stdout_gen"];
            let part = |key: &str| parts[key].as_str().unwrap();
            let output = row["stdout"].as_str().map(str::to_owned).unwrap_or_else(|| {
                let times = usize::try_from(parts["times"].as_u64().unwrap()).unwrap();
                format!("{}{}{}", part("prefix"), part("unit").repeat(times), part("suffix"))
            });
            let found = find::<Proposal>(output.as_bytes(), &[]);
            match (found, row["error_kind"].as_str()) {
                (Ok(found), None) => {
                    let expected = &row["expect"];
                    let text = |key: &str| expected[key].as_str().unwrap();
                    assert_eq!(found.next_action, text("next_action"), "{name}");
                    assert_eq!(found.success_condition, text("success_condition"), "{name}");
                    assert_eq!(Some(found.timebox_minutes), expected["timebox_minutes"].as_u64());
                    let classes = serde_json::to_value(&found.allowed_window_classes).unwrap();
                    assert_eq!(classes, expected["allowed_window_classes"], "{name}");
                }
                (Err(error), Some(expected)) => {
                    let kind = format!("{error:?}");
                    let kind: String = kind
                        .chars()
                        .flat_map(|c| {
                            let mark = c.is_uppercase().then_some('_');
                            mark.into_iter().chain(c.to_lowercase())
                        })
                        .collect();
                    assert_eq!(kind.trim_start_matches('_'), expected, "{name}");
                }
                (found, expected) => panic!("{name}: got {found:?}, expected {expected:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn no_output_breaks_it_or_makes_something_up(
            before in "\\PC{0,40}", minutes in any::<i64>(), action in "\\PC{0,300}", after in "\\PC{0,40}",
        ) {
            let object = serde_json::json!({
                "next_action": action, "success_condition": "done", "timebox_minutes": minutes,
            });
            if let Ok(found) = find::<Proposal>(format!("{before}{object}{after}").as_bytes(), &[]) {
                prop_assert!((1..=MAX_MINUTES).contains(&found.timebox_minutes));
                prop_assert!(!found.next_action.is_empty());
                prop_assert!(found.next_action.chars().count() <= TITLE_CAP);
                prop_assert!(!found.next_action.contains(char::is_control));
            }
        }
    }
}

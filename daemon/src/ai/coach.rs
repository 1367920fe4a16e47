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
#[derive(Clone, PartialEq, Eq)]
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

/// A proposal repeats the intent.
impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal")
            .field("timebox_minutes", &self.timebox_minutes)
            .finish_non_exhaustive()
    }
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
#[path = "coach_tests.rs"]
mod tests;

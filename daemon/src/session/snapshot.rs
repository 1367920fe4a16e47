//! What survives a restart.

use std::{fmt, time::Duration};

use antidrift_protocol::{Allowed, Command, Complete, ErrorObject, Review, Start, Timestamp};
use serde::{Deserialize, Serialize};

use super::Session;

/// What survives a restart. Unknown members are ignored, so that an older daemon can read a newer
/// snapshot of the same version; a missing member is its empty value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The highest alert number that was given out.
    pub last_alert: u64,
    /// The session, unless in planning.
    pub session: Option<SavedSession>,
}

/// A session that is under way or under review.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSession {
    /// The commitment as typed.
    pub text: String,
    /// The first step.
    pub next_action: Option<String>,
    /// How one will know that it is done.
    pub success_condition: Option<String>,
    /// Planned length in seconds.
    pub timebox_secs: Option<u64>,
    /// When it was started.
    pub started_at: Timestamp,
    /// Whether the notice that the timebox ran out was given.
    pub timebox_elapsed: bool,
    /// The allowed context; empty in review.
    pub allowed: Allowed,
    /// Milliseconds on task, awake, with the daemon running.
    pub ontask_ms: u64,
    /// Milliseconds drifting.
    pub drifting_ms: u64,
    /// Milliseconds neither.
    pub other_ms: u64,
    /// Alerts raised.
    pub alerts: u64,
    /// Milliseconds from start to end, once the session has ended.
    pub elapsed_ms: u64,
    /// Set once the session has ended.
    pub review: Option<Review>,
}

impl Snapshot {
    /// Holds what was read against the bounds of what a client may ask for, so that every line that
    /// comes of it can be sent.
    ///
    /// # Errors
    ///
    /// What is out of bounds, without its content.
    pub fn check(&self) -> Result<(), String> {
        // Alert numbers are counted on from here.
        if self.last_alert > u64::MAX / 2 {
            return Err("its last alert number is out of range".into());
        }
        let Some(saved) = &self.session else { return Ok(()) };
        if saved.started_at == Timestamp::default() {
            return Err("it does not say when the session started".into());
        }
        let start = Start {
            text: saved.text.clone(),
            next_action: saved.next_action.clone(),
            success_condition: saved.success_condition.clone(),
            timebox_secs: saved.timebox_secs,
            allowed: Allowed::default(),
        };
        let out_of_bounds = |error: ErrorObject| format!("out of bounds: {}", error.message);
        Command::Start(start).check().map_err(out_of_bounds)?;
        saved.allowed.check_bounds().map_err(out_of_bounds)?;
        let note = saved.review.as_ref().and_then(|review| review.note.clone());
        let complete = Complete { note, outcome: None };
        Command::Complete(complete).check().map_err(out_of_bounds)
    }
}

/// What a person typed is private.
impl fmt::Debug for SavedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedSession")
            .field("started_at", &self.started_at)
            .field("allowed", &self.allowed)
            .field("review", &self.review)
            .finish_non_exhaustive()
    }
}

/// Whole milliseconds; the longest time that fits where there are more.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Session {
    /// What is to survive a restart, as of the last step.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { last_alert: self.last_alert, session: self.stage.save() }
    }
}

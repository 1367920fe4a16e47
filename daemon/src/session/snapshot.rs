//! What survives a restart.

use std::{fmt, time::Duration};

use antidrift_protocol::{
    Allowed, Command, Complete, ErrorObject, MAX_CLASS, MAX_TITLE, Pause, Preset, Record, Review,
    Start, TakeDetour, Timestamp, Window,
};
use serde::{Deserialize, Serialize};

use super::{Session, ledger::Ledger};
use crate::history::MAX_WAITING;

/// What survives a restart. Unknown members are ignored, so that an older daemon can read a newer
/// snapshot of the same version; a missing member is its empty value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// The highest alert number that was given out.
    pub last_alert: u64,
    /// The session, unless in planning.
    pub session: Option<SavedSession>,
    /// How the last session that is over was started.
    pub last: Option<Preset>,
    /// Sessions that are over and not in the history yet; at most [`MAX_WAITING`].
    pub unkept: Vec<Record>,
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
    /// Milliseconds away, suspend included.
    pub away_ms: u64,
    /// Milliseconds paused.
    pub paused_ms: u64,
    /// Milliseconds on detours.
    pub detour_ms: u64,
    /// The pause or detour under way.
    pub interlude: Option<SavedInterlude>,
    /// What the time was spent on, and how alerts ended.
    pub ledger: Ledger,
    /// Planned length in seconds, as it was at the start.
    pub planned_secs: Option<u64>,
    /// Alerts raised.
    pub alerts: u64,
    /// Popups that were due.
    pub popups: u64,
    /// Milliseconds from start to end, once the session has ended.
    pub elapsed_ms: u64,
    /// Set once the session has ended.
    pub review: Option<Review>,
    /// Whether it was forgotten while it was under review.
    pub forgotten: bool,
}

/// A pause or a detour.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterludeKind {
    /// Nothing is judged.
    Pause,
    /// Whatever has the focus is on task.
    Detour {
        /// What for.
        text: String,
        /// What was left for it.
        window: Option<Window>,
    },
}

/// What a person typed and a window's title are private.
impl fmt::Debug for InterludeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pause => "Pause",
            Self::Detour { .. } => "Detour",
        })
    }
}

/// A pause or a detour as it survives a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedInterlude {
    /// A pause or a detour.
    pub kind: InterludeKind,
    /// Since when.
    pub since_at: Timestamp,
    /// How long it may last, in seconds.
    #[serde(default)]
    pub limit_secs: Option<u64>,
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
        let out_of_bounds = |error: ErrorObject| format!("out of bounds: {}", error.message);
        if let Some(last) = &self.last {
            let start = Start {
                text: last.text.clone().unwrap_or_default(),
                next_action: last.next_action.clone(),
                success_condition: last.success_condition.clone(),
                timebox_secs: last.timebox_secs,
                allowed: Allowed::default(),
            };
            Command::Start(start).check().map_err(out_of_bounds)?;
            last.allowed.check_bounds("last.allowed").map_err(out_of_bounds)?;
        }
        if self.unkept.len() > MAX_WAITING {
            return Err("more sessions than can be wait to be kept".into());
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
        Command::Start(start).check().map_err(out_of_bounds)?;
        if !saved.ledger.fits() {
            return Err("its books are out of bounds".into());
        }
        if let Some(interlude) = &saved.interlude {
            interlude.check()?;
        }
        saved.allowed.check_bounds("allowed").map_err(out_of_bounds)?;
        let note = saved.review.as_ref().and_then(|review| review.note.clone());
        let complete = Complete { note, outcome: None };
        Command::Complete(complete).check().map_err(out_of_bounds)
    }
}

impl SavedInterlude {
    /// Holds what was read against the bounds of the protocol.
    ///
    /// # Errors
    ///
    /// What is out of bounds, without its content.
    pub(super) fn check(&self) -> Result<(), String> {
        let command = match self.kind.clone() {
            InterludeKind::Pause => Command::Pause(Pause { secs: self.limit_secs }),
            InterludeKind::Detour { text, window } => {
                if window.is_some_and(|window| !fits(&window)) {
                    return Err("the window that a detour left is out of bounds".into());
                }
                let secs = self.limit_secs.unwrap_or_default();
                Command::Detour(TakeDetour { secs, text })
            }
        };
        command.check().map_err(|error| format!("out of bounds: {}", error.message))
    }
}

/// Whether a window is one that the sensor could have seen.
fn fits(window: &Window) -> bool {
    let Window { class, instance, title, domain, command } = window;
    let optional = [domain, command].into_iter().flatten();
    title.len() <= MAX_TITLE
        && [class, instance].into_iter().chain(optional).all(|text| text.len() <= MAX_CLASS)
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
        Snapshot {
            last_alert: self.last_alert,
            session: self.stage.save(),
            last: self.last.clone(),
            unkept: self.unkept.clone(),
        }
    }
}

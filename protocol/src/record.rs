//! What is kept of a session that has ended.
//!
//! Text from windows is cut and cleaned here, since it is for looking at and never compared.

use serde::{Deserialize, Serialize};

use crate::{ClearedWhy, Outcome, Timestamp, private::shown, state::words};

/// Most stretches of a timeline; the shortest are absorbed by their neighbours.
pub const MAX_STRETCHES: usize = 512;
/// Most window classes and most titles of one record; the rest is summed under an empty name.
pub const MAX_NAMES: usize = 64;
/// Most alerts of one record: the latest.
pub const MAX_ALERTS: usize = 64;
/// Most characters of a class or title in a record.
pub const MAX_NAME: usize = 64;

words! {
    /// What time was spent on.
    Spent {
        /// On task.
        Ontask = "ontask",
        /// Drifting.
        Drifting = "drifting",
        /// Neither: nothing was known of the window, or there was none.
        Other = "other",
        /// Away, suspend included.
        Away = "away",
        /// Paused.
        Paused = "paused",
        /// On a detour.
        Detour = "detour",
        /// No daemon was running.
        Down = "down",
    }
}

/// A session that has ended.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// When it began; no two sessions have the same.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The commitment as typed; at most 4 KiB.
    pub text: String,
    /// The first step; at most 1 KiB.
    pub next_action: Option<String>,
    /// How one would know that it is done; at most 1 KiB.
    pub success_condition: Option<String>,
    /// Planned length in seconds, as it was at the start.
    pub planned_secs: Option<u64>,
    /// The user's word for how it went.
    pub outcome: Option<Outcome>,
    /// The user's note; at most 1 KiB.
    pub note: Option<String>,
    /// Alerts raised.
    pub alerts: u64,
    /// What the time was spent on, in order; at most [`MAX_STRETCHES`]. Their sum is the time from
    /// start to end, but for roundings.
    pub timeline: Vec<Stretch>,
    /// Time by window class, the most first; at most [`MAX_NAMES`].
    pub classes: Vec<Share>,
    /// Time by title, the most first; at most [`MAX_NAMES`]. Empty unless the configuration keeps
    /// titles.
    pub titles: Vec<Share>,
    /// The latest alerts, in order; at most [`MAX_ALERTS`].
    pub answers: Vec<AlertAnswer>,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stretch {
    /// What it was spent on.
    pub spent: Spent,
    /// How long, in seconds.
    pub secs: u64,
}

/// What one class or title had of the time.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Share {
    /// Its name; empty for all that have no room.
    pub name: String,
    /// Seconds on task.
    pub ontask_secs: u64,
    /// Seconds drifting.
    pub drifting_secs: u64,
    /// Seconds of neither.
    pub other_secs: u64,
}

/// An alert and how it ended.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertAnswer {
    /// When it was raised.
    pub at: Timestamp,
    /// The window's class.
    pub class: String,
    /// How it ended.
    pub why: ClearedWhy,
    /// How long it stood, in seconds.
    pub secs: u64,
}

impl Record {
    /// Seconds of the timeline that were spent so.
    pub fn secs(&self, spent: Spent) -> u64 {
        let stretches = self.timeline.iter().filter(|stretch| stretch.spent == spent);
        stretches.map(|stretch| stretch.secs).fold(0, u64::saturating_add)
    }
}

shown! {
    Record { started_at, ended_at, planned_secs, outcome, alerts, timeline, classes, answers }
    Share { ontask_secs, drifting_secs, other_secs }
    AlertAnswer { at, class, why, secs }
}

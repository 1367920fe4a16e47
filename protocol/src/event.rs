//! What a subscriber hears.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{State, Timestamp, Window, frame, private::shown, state::words};

/// One event line.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Number of the change that it belongs to. It never falls; gaps are normal.
    pub seq: u64,
    /// When it was made; a state's seconds count up to here.
    pub at: Timestamp,
    /// What.
    pub body: EventBody,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody {
    /// The state, whole.
    State(Box<State>),
    /// Drift was found.
    AlertRaised(AlertRaised),
    /// An alert still stands.
    AlertReminder(AlertReminder),
    /// An alert is over.
    AlertCleared(AlertCleared),
    /// The timebox has run out; the session goes on.
    TimeboxElapsed,
    /// Something a person should be told once.
    Notice(Notice),
    /// This subscriber read too slowly and missed events; a whole state follows.
    Lagged(Lagged),
    /// The daemon ends.
    Shutdown(Shutdown),
    /// An event that this version does not know.
    Unknown,
}

/// Drift was found.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertRaised {
    /// The alert's number; never repeats, across restarts of the daemon too.
    pub alert: u64,
    /// The window that it is about.
    pub window: Option<Window>,
    /// Why; untrusted text of at most 2 KiB.
    pub reason: Option<String>,
    /// Whether it is to be shown without a popup: this session has had its popups.
    pub quiet: bool,
}

/// An alert still stands, two, five and then every ten minutes after it was raised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertReminder {
    /// The alert.
    pub alert: u64,
    /// The how manieth reminder, from 1.
    pub n: u64,
    /// Whether it is to be shown without a popup: this session has had its popups, or reminders are
    /// not to have any.
    pub quiet: bool,
}

/// An alert is over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertCleared {
    /// The alert.
    pub alert: u64,
    /// Why it is over.
    pub why: ClearedWhy,
}

words! {
    /// Why an alert is over.
    ClearedWhy {
        /// The user said that it is on task.
        Ontask = "ontask",
        /// The user goes back to task.
        Refocus = "refocus",
        /// Another window or context has the focus.
        Moved = "moved",
        /// The session is over.
        Completed = "completed",
        /// The verdict has changed.
        Reverdict = "reverdict",
        /// The user is away.
        Away = "away",
        /// The session is paused.
        Paused = "paused",
        /// The daemon ends.
        Shutdown = "shutdown",
    }
}

words! {
    /// What a notice is about.
    NoticeKind {
        /// A timed pause is over.
        PauseEnded = "pause_ended",
        /// A detour is over.
        DetourEnded = "detour_ended",
        /// No more popups in this session.
        BudgetSpent = "budget_spent",
        /// Back on task by oneself, after an alert that nobody answered.
        Returned = "returned",
    }
}

/// Something a person should be told once.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// One sentence; at most 1 KiB.
    pub text: String,
}

/// Events were missed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lagged {
    /// How many events.
    pub missed: u64,
}

/// The daemon ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shutdown {
    /// Why; at most 1 KiB.
    pub reason: String,
}

/// The `data` of an event that has none.
#[derive(Serialize, Deserialize)]
struct Nothing {}

impl EventBody {
    /// The word on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::State(_) => "state",
            Self::AlertRaised(_) => "alert_raised",
            Self::AlertReminder(_) => "alert_reminder",
            Self::AlertCleared(_) => "alert_cleared",
            Self::TimeboxElapsed => "timebox_elapsed",
            Self::Notice(_) => "notice",
            Self::Lagged(_) => "lagged",
            Self::Shutdown(_) => "shutdown",
            Self::Unknown => "unknown",
        }
    }
}

impl Event {
    /// The event as one line, line break included.
    pub fn to_line(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a, T> {
            event: &'static str,
            seq: u64,
            at: Timestamp,
            data: &'a T,
        }
        fn line<T: Serialize>(event: &Event, data: &T) -> String {
            frame::to_line(&Line { event: event.body.name(), seq: event.seq, at: event.at, data })
        }
        match &self.body {
            EventBody::State(data) => line(self, data),
            EventBody::AlertRaised(data) => line(self, data),
            EventBody::AlertReminder(data) => line(self, data),
            EventBody::AlertCleared(data) => line(self, data),
            EventBody::Notice(data) => line(self, data),
            EventBody::Lagged(data) => line(self, data),
            EventBody::Shutdown(data) => line(self, data),
            EventBody::TimeboxElapsed | EventBody::Unknown => line(self, &Nothing {}),
        }
    }

    /// Reads one line. An event with an unknown word reads as [`EventBody::Unknown`].
    ///
    /// # Errors
    ///
    /// A line that is no event, or a known event whose `data` is not what it should be.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Line<'a> {
            event: String,
            #[serde(default)]
            seq: u64,
            #[serde(default)]
            at: Timestamp,
            #[serde(borrow, default)]
            data: Option<&'a RawValue>,
        }
        fn data<T: DeserializeOwned>(line: &Line<'_>) -> Result<T, serde_json::Error> {
            serde_json::from_str(line.data.map_or("{}", RawValue::get))
        }
        let line: Line<'_> = serde_json::from_slice(line)?;
        let body = match line.event.as_str() {
            "state" => EventBody::State(data(&line)?),
            "alert_raised" => EventBody::AlertRaised(data(&line)?),
            "alert_reminder" => EventBody::AlertReminder(data(&line)?),
            "alert_cleared" => EventBody::AlertCleared(data(&line)?),
            "timebox_elapsed" => EventBody::TimeboxElapsed,
            "notice" => EventBody::Notice(data(&line)?),
            "lagged" => EventBody::Lagged(data(&line)?),
            "shutdown" => EventBody::Shutdown(data(&line)?),
            _ => EventBody::Unknown,
        };
        Ok(Self { seq: line.seq, at: line.at, body })
    }
}

shown! {
    AlertRaised { alert, window, quiet }
    Notice { kind }
}

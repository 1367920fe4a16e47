//! The state that `status` answers and every `state` event carries, whole each time.
//!
//! The bounds named here are in bytes of UTF-8 and stand in `bounds.rs`.
//! Every key is always written; what is absent is `null`. A reader takes missing keys for their
//! empty values and unknown words for `Unknown`, so that an older client outlives a newer daemon.

use serde::{Deserialize, Serialize};

use crate::{Timestamp, private::shown};

/// Defines an enumeration of words whose reader takes an unknown word for `Unknown`.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)*
            /// A word that this version does not know.
            #[default]
            Unknown,
        }

        /// A derived reader would also take `{"word":null}`.
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<str>::deserialize(deserializer)?;
                Ok(match &*word {
                    $($word => Self::$variant,)*
                    _ => Self::Unknown,
                })
            }
        }

        impl $name {
            /// Every word that this version knows.
            pub const KNOWN: &[Self] = &[$(Self::$variant,)*];

            /// The word as it stands on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Unknown => "unknown",
                }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Where a session stands.
    Phase {
        /// No commitment.
        Planning = "planning",
        /// A commitment is under way.
        Active = "active",
        /// The commitment has ended; its sums are shown.
        Review = "review",
    }
}

words! {
    /// What is known of the present window.
    DriftStatus {
        /// Nothing: no judge, no window, or no verdict to be had now.
        Idle = "idle",
        /// The window waits for its verdict.
        Pending = "pending",
        /// The window serves the commitment.
        Ontask = "ontask",
        /// The window does not; an alert stands.
        Drifting = "drifting",
    }
}

words! {
    /// Where a drift status comes from.
    DriftSource {
        /// A local match against the allowed context.
        Rule = "rule",
        /// An earlier verdict for the same context.
        Cache = "cache",
        /// The judge inside the daemon.
        Embedded = "embedded",
        /// The judge that the user named.
        Judge = "judge",
    }
}

words! {
    /// How the user is away.
    Away {
        /// No input for a while.
        Idle = "idle",
        /// The screen is locked or blanked.
        Locked = "locked",
        /// The machine sleeps.
        Suspended = "suspended",
    }
}

words! {
    /// How a session ended, in the user's own word.
    Outcome {
        /// The success condition is met.
        Done = "done",
        /// Some of it is.
        Partial = "partial",
        /// It was given up.
        Abandoned = "abandoned",
    }
}

words! {
    /// Whether the judge can be asked.
    JudgeStatus {
        /// There is none, or the one named cannot run.
        Off = "off",
        /// It can be asked.
        Ready = "ready",
        /// A judgement is under way.
        Running = "running",
        /// It failed lately and is left alone for a while.
        BackingOff = "backing_off",
    }
}

words! {
    /// Where a judge sends what it is asked.
    Destination {
        /// Nothing leaves the machine.
        Local = "local",
        /// To a service elsewhere.
        Cloud = "cloud",
    }
}

words! {
    /// Whether windows can be seen.
    SensorStatus {
        /// They can.
        Ok = "ok",
        /// The sensor tries to connect.
        Connecting = "connecting",
        /// There is no display.
        Unavailable = "unavailable",
    }
}

/// The whole state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Where the session stands.
    pub phase: Phase,
    /// What the user set out to do; `null` in planning.
    pub commitment: Option<Commitment>,
    /// What is on task without asking a judge; `null` unless active.
    pub allowed: Option<Allowed>,
    /// The window that has the focus, in any phase; `null` when nothing has it.
    pub window: Option<Window>,
    /// What is known of that window; `null` unless active.
    pub drift: Option<Drift>,
    /// Why the user counts as away; `null` when present.
    pub away: Option<Away>,
    /// Set while the session is paused.
    pub paused: Option<Paused>,
    /// Set during a detour.
    pub detour: Option<Detour>,
    /// The sums of the session that has ended; `null` unless in review.
    pub review: Option<Review>,
    /// The judge.
    pub judge: Judge,
    /// The window sensor.
    pub sensor: Sensor,
}

/// What the user set out to do.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Commitment {
    /// The commitment as typed; at most 4 KiB.
    pub text: String,
    /// The first step; at most 1 KiB.
    pub next_action: Option<String>,
    /// How one will know that it is done; at most 1 KiB.
    pub success_condition: Option<String>,
    /// Planned length in seconds, 1 to 86 400.
    pub timebox_secs: Option<u64>,
    /// When it was started, by the wall clock.
    pub started_at: Timestamp,
    /// Seconds from the start to the line's `at` (to the end, in review), suspend included. Nothing
    /// on the wire ticks: a client counts on from here.
    pub elapsed_secs: u64,
    /// Seconds left of the timebox; negative in overtime, `null` without a timebox.
    pub remaining_secs: Option<i64>,
}

/// The allowed context: what is on task without asking a judge. Everything is compared without
/// regard to letter case. At most 64 entries a list, 256 bytes an entry, 16 KiB in all as they stand
/// on the wire ([`Allowed::size`]).
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowed {
    /// Window classes (the second string of `WM_CLASS`), compared whole.
    pub window_classes: Vec<String>,
    /// Whole context titles (a title without counters, browser name and the like).
    pub window_titles: Vec<String>,
    /// Parts of a title.
    pub window_title_substrings: Vec<String>,
    /// Host names; each covers its subdomains.
    pub domains: Vec<String>,
    /// Basenames of programs in the foreground of a terminal.
    pub commands: Vec<String>,
}

/// A window. Text is raw (decoded, but not cleaned for display): hostile wherever it is shown.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    /// The second string of `WM_CLASS`; empty if the window has none. At most 256 bytes.
    pub class: String,
    /// The first string of `WM_CLASS`. At most 256 bytes.
    pub instance: String,
    /// The title. At most 1 KiB.
    pub title: String,
    /// The host of an address that stands in the title. At most 256 bytes.
    pub domain: Option<String>,
    /// The program in the foreground of a terminal, without its directory. At most 256 bytes.
    pub command: Option<String>,
}

/// What is known of the present window.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drift {
    /// The status.
    pub status: DriftStatus,
    /// Why, in a sentence; untrusted text of at most 2 KiB.
    pub reason: Option<String>,
    /// Where the status comes from; `null` for idle and pending.
    pub source: Option<DriftSource>,
    /// The number of the alert that stands; never `null` while drifting.
    pub alert: Option<u64>,
    /// Whether that alert is to be shown without a popup: the session has had its popups.
    pub quiet: bool,
    /// Since when the status holds.
    pub since_at: Timestamp,
}

/// A pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paused {
    /// Since when.
    pub since_at: Timestamp,
    /// When it ends by itself; `null` if it waits for the user.
    pub until_at: Option<Timestamp>,
}

/// A detour: something else that is allowed for a short time.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detour {
    /// What for; at most 1 KiB.
    pub text: String,
    /// Since when.
    pub since_at: Timestamp,
    /// When it ends by itself.
    pub until_at: Timestamp,
    /// The window that was left for it.
    pub window: Option<Window>,
}

/// How a session went. The six sums and downtime make up the time from start to end.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Review {
    /// The user's word for it.
    pub outcome: Option<Outcome>,
    /// The user's note; at most 1 KiB.
    pub note: Option<String>,
    /// When the session ended.
    pub ended_at: Timestamp,
    /// Seconds on task.
    pub ontask_secs: u64,
    /// Seconds drifting.
    pub drifting_secs: u64,
    /// Seconds neither on task nor drifting.
    pub other_secs: u64,
    /// Seconds away: no input, a locked or blanked screen, suspend.
    pub away_secs: u64,
    /// Seconds paused.
    pub paused_secs: u64,
    /// Seconds on a detour.
    pub detour_secs: u64,
    /// Alerts raised.
    pub alerts: u64,
}

/// The judge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judge {
    /// Its name in the configuration, such as `none` or `claude`; at most 256 bytes.
    pub backend: String,
    /// Where it sends what it is asked; `null` if there is no judge.
    pub destination: Option<Destination>,
    /// Whether it can be asked.
    pub status: JudgeStatus,
    /// Judgements started in this session.
    pub calls: u64,
    /// The most that may be started in one session; `null` without a cap.
    pub limit: Option<u64>,
    /// When it last gave a verdict.
    pub last_ok_at: Option<Timestamp>,
    /// What went wrong last and what to do; at most 1 KiB.
    pub last_error: Option<String>,
    /// When that was; `null` also for what is wrong with the configured judge itself: it is not there
    /// and is not asked.
    pub last_error_at: Option<Timestamp>,
    /// How the windows of this session got their status.
    pub verdicts: Verdicts,
}

/// How often each stage of the pipeline decided, in this session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdicts {
    /// Local matches.
    pub rule: u64,
    /// Cached verdicts.
    pub cache: u64,
    /// Verdicts of the embedded judge.
    pub embedded: u64,
    /// Verdicts of the judge that the user named.
    pub judge: u64,
}

/// The window sensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sensor {
    /// What it watches: `x11`.
    pub kind: String,
    /// Whether it can see.
    pub status: SensorStatus,
    /// What a person should know about it: a limitation, or why it cannot see. At most 1 KiB.
    pub detail: Option<String>,
}

shown! {
    Commitment { timebox_secs, started_at, elapsed_secs, remaining_secs }
    Allowed { window_classes, commands }
    Window { class, instance, command }
    Drift { status, source, alert, quiet, since_at }
    Detour { since_at, until_at, window }
    Review {
        outcome, ended_at, ontask_secs, drifting_secs, other_secs, away_secs, paused_secs,
        detour_secs, alerts
    }
}

//! What the daemon answers.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Allowed, Destination, MAX_LINE, MAX_WINDOWS, PROTOCOL, Record, Review, State, Timestamp,
    Window, frame, private::shown, state::words,
};

words! {
    /// Why a request was refused. The words are stable; new ones may come, and a client falls back
    /// to the message then.
    ErrorCode {
        /// The line is not JSON, not UTF-8, or nested too deep.
        InvalidJson = "invalid_json",
        /// The line is JSON but no request, or a member is wrong; the message names it.
        InvalidRequest = "invalid_request",
        /// There is no such command.
        UnknownCommand = "unknown_command",
        /// The line is longer than [`MAX_LINE`](crate::MAX_LINE); the connection is closed.
        LineTooLong = "line_too_long",
        /// Client and daemon have no protocol in common; the connection is closed.
        UnsupportedProtocol = "unsupported_protocol",
        /// There are too many connections, or too many requests wait.
        Busy = "busy",
        /// The daemon is about to end.
        ShuttingDown = "shutting_down",
        /// No session is active.
        NotActive = "not_active",
        /// There is no review to leave.
        NotInReview = "not_in_review",
        /// A session is active already.
        SessionExists = "session_exists",
        /// The alert is over, or its window has changed.
        StaleAlert = "stale_alert",
        /// There is no window that could be meant.
        NoWindow = "no_window",
        /// The allowed context is full.
        ListFull = "list_full",
        /// There is no coach.
        CoachUnavailable = "coach_unavailable",
        /// The coach failed; `data.detail` says how.
        CoachFailed = "coach_failed",
        /// A fault of the daemon's own.
        Internal = "internal",
        /// There is neither a pause nor a detour to end.
        NotPaused = "not_paused",
        /// The session has no timebox that could be extended.
        NoTimebox = "no_timebox",
        /// What is to be taken out of the allowed context is not in it.
        NoEntry = "no_entry",
        /// The windows cannot be seen: there is no display, or it does not answer.
        NoDisplay = "no_display",
        /// No sessions are kept, or they cannot be read.
        NoHistory = "no_history",
        /// The configuration is faulty or cannot be read; the one before is still in force.
        BadConfig = "bad_config",
    }
}

/// Why a request was refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorObject {
    /// The stable word.
    pub code: ErrorCode,
    /// One sentence for people; at most 1 KiB.
    pub message: String,
    /// More, by code; mostly empty: `server` and `protocol` with `unsupported_protocol`, `detail`
    /// (at most 2 KiB) with `coach_failed`.
    pub data: serde_json::Map<String, serde_json::Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: serde_json::Map::new() }
    }

    /// The refusal of a greeting. `server` is the daemon's name and version, as in
    /// [`Greeting::server`]. `data` holds it with the daemon's protocol, so that a client can say
    /// which of the two is the older one.
    pub fn unsupported_protocol(server: &str) -> Self {
        let message = format!("{server} speaks protocol {PROTOCOL} only");
        let mut error = Self::new(ErrorCode::UnsupportedProtocol, message);
        error.data.insert("server".into(), server.into());
        error.data.insert("protocol".into(), PROTOCOL.into());
        error
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorObject {}

/// What a request that was carried out is answered with, by command. Only the writer has this type:
/// an answer does not say what it answers, so a reader takes [`Reply`] of the type it asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To `hello`.
    Hello(Greeting),
    /// To `status`.
    Status(Box<Status>),
    /// To `start`.
    Start(Box<Started>),
    /// To `refocus`.
    Refocus(Refocused),
    /// To `ontask`.
    Ontask(Allowing),
    /// To `complete`.
    Complete(Completed),
    /// To `end`.
    End(Changed),
    /// To `pause`.
    Pause(Changed),
    /// To `resume`.
    Resume(Changed),
    /// To `extend`.
    Extend(Changed),
    /// To `detour`.
    Detour(Changed),
    /// To `allow`.
    Allow(Allowance),
    /// To `windows`.
    Windows(Windows),
    /// To `review`.
    Review(Box<Reviewed>),
    /// To `history`.
    History(History),
    /// To `forget`.
    Forget(Forgotten),
    /// To `propose`.
    Propose(Proposed),
    /// To `explain`.
    Explain(Explained),
    /// To `preview`.
    Preview(Previewed),
    /// To `check_judge`.
    CheckJudge(CheckedJudge),
    /// To `presets`.
    Presets(Box<Presets>),
    /// To `reload`.
    Reload(Reloaded),
    /// To `subscribe`.
    Subscribe(Subscribed),
}

/// Whether a change is on disk.
pub type Saved = bool;

/// The answer to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Greeting {
    /// The daemon's name and version.
    pub server: String,
    /// The protocol that is spoken on this connection from here on: the one that was asked for.
    pub protocol: u64,
    /// Names this run of the daemon; compared for equality only.
    pub instance: String,
    /// Longest line either way, in bytes without the line break.
    pub max_line: u64,
}

/// The answer to `status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Number of the last change.
    pub seq: u64,
    /// When the state was taken.
    pub at: Timestamp,
    /// The state.
    pub state: State,
}

/// The answer to `start`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    /// Number of the change.
    pub seq: u64,
    /// When the state was taken.
    pub at: Timestamp,
    /// Whether the session is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
    /// The state.
    pub state: State,
    /// What the user should know, such as a list that this sensor cannot match: at most four
    /// sentences of 1 KiB.
    pub notes: Vec<String>,
}

/// The answer to `refocus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refocused {
    /// Number of the change.
    pub seq: u64,
    /// Whether it is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
    /// The window that was meant.
    pub window: Option<Window>,
    /// Whether the last on-task window has the focus now; `null` if nobody asked for it.
    pub activated: Option<bool>,
}

/// The answer to `ontask`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowing {
    /// Number of the change.
    pub seq: u64,
    /// Whether it is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
    /// What was added; `null` if it was allowed already.
    pub added: Option<Added>,
    /// The window that was meant.
    pub window: Option<Window>,
}

/// One new entry of the allowed context.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Added {
    /// `window_class`, `window_title`, `window_title_substring`, `domain` or `command`.
    pub kind: String,
    /// The entry.
    pub value: String,
}

/// The answer to `complete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Completed {
    /// Number of the change.
    pub seq: u64,
    /// Whether it is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
    /// How the session went.
    pub review: Review,
}

/// The answer to `end`, `pause`, `resume`, `extend` and `detour`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changed {
    /// Number of the change.
    pub seq: u64,
    /// Whether it is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
}

/// The answer to `allow`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// Number of the change.
    pub seq: u64,
    /// Whether it is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
    /// What is allowed now.
    pub allowed: Allowed,
}

/// The answer to `windows`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// The open windows, the oldest first; at most [`MAX_WINDOWS`](crate::MAX_WINDOWS).
    pub windows: Vec<Window>,
    /// How many more there are.
    pub omitted: u64,
}

/// Bytes that are sure to fit into a line with all around them.
const ROOM: usize = MAX_LINE - 1024;

/// How many of these, from the front, fit into a line.
fn fitting<T: Serialize>(items: &[T]) -> usize {
    let mut room = ROOM;
    let fits = |item: &&T| {
        let size = frame::to_line(item).len();
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    items.iter().take_while(fits).count()
}

impl History {
    /// As many of them as fit into a line, from the front. One that is too long for any line is left
    /// out: whoever asks on would not get past it.
    pub fn within_a_line(mut sessions: Vec<Record>, more: bool) -> Self {
        sessions.retain(|record| frame::to_line(record).len() <= ROOM);
        let fitting = fitting(&sessions);
        let more = more || fitting < sessions.len();
        sessions.truncate(fitting);
        Self { sessions, more }
    }
}

impl Windows {
    /// As many of them as fit into a line, from the front.
    pub fn within_a_line(mut windows: Vec<Window>) -> Self {
        let all = windows.len();
        windows.truncate(MAX_WINDOWS);
        let fitting = fitting(&windows);
        windows.truncate(fitting);
        Self { windows, omitted: (all - fitting) as u64 }
    }
}

/// The answer to `review`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reviewed {
    /// Number of the change.
    pub seq: u64,
    /// Whether it is on disk.
    pub saved: Saved,
    /// If not, why, in a sentence of at most 1 KiB.
    pub warning: Option<String>,
    /// The session.
    pub record: Record,
}

/// The answer to `history`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct History {
    /// The sessions, the latest first; as many as fit into a line.
    pub sessions: Vec<Record>,
    /// Whether there are earlier ones: ask again with `before` as the `started_at` of the last.
    pub more: bool,
}

/// The answer to `forget`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forgotten {
    /// How many sessions there were.
    pub sessions: u64,
}

/// The answer to `propose`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proposed {
    /// What the coach proposes.
    pub proposal: Proposal,
    /// Window classes of it that no window has which is open or had the focus lately: they may not
    /// exist.
    pub unseen: Vec<String>,
}

/// A coach's proposal, to be confirmed by a person.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proposal {
    /// The first step; at most 1 KiB.
    pub next_action: String,
    /// How one will know that it is done; at most 1 KiB.
    pub success_condition: String,
    /// Length in seconds, 1 to 86 400.
    pub timebox_secs: u64,
    /// What is on task.
    pub allowed: Allowed,
}

/// The answer to `explain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explained {
    /// What was looked at, in that order; at most 16.
    pub steps: Vec<ExplainedStep>,
}

/// One step of an explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExplainedStep {
    /// What was looked at: `window`, `allowed`, `cache`, `site or program`, `rule`, `judge` …
    pub step: String,
    /// What came out, in a word or two.
    pub outcome: String,
    /// How, and what would change it; at most 1 KiB. May hold text from the window's title.
    pub detail: String,
}

/// The answer to `preview`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Previewed {
    /// Who would be asked.
    pub backend: String,
    /// Where that is; `null` if nobody can know.
    pub destination: Option<Destination>,
    /// What would be sent, byte for byte; at most 8 000 bytes. Empty if nothing would be.
    pub text: String,
    /// Why nothing would be sent, if so.
    pub withheld: Option<String>,
}

/// The answer to `check_judge`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckedJudge {
    /// What it said of the sample: `on_task`, `drifting` or `unsure`; `null` if it failed.
    pub verdict: Option<String>,
    /// Why, or how it failed; at most 2 KiB.
    pub detail: String,
    /// How long it took.
    pub millis: u64,
}

/// The answer to `presets`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Presets {
    /// What the configuration has, by name; at most [`MAX_PRESETS`](crate::MAX_PRESETS) bytes.
    pub presets: Vec<Preset>,
    /// How the last session that is over was started, with what was allowed at its end.
    pub last: Option<Preset>,
}

/// A beginning of a session that has a name.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preset {
    /// Its name: letters, digits, `-` and `_`. The last session has none.
    pub name: String,
    /// What the user sets out to do, unless that is to be said at the start; at most 4 KiB.
    pub text: Option<String>,
    /// The first step; at most 1 KiB.
    pub next_action: Option<String>,
    /// How one will know that it is done; at most 1 KiB.
    pub success_condition: Option<String>,
    /// Planned length in seconds, 1 to 86 400.
    pub timebox_secs: Option<u64>,
    /// What is on task from the start.
    pub allowed: Allowed,
}

/// The answer to `reload`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reloaded {
    /// The keys that are set otherwise now, as in `judge.backend`; at most 64.
    pub changed: Vec<String>,
    /// What the user should know of it: at most four sentences of 1 KiB.
    pub notes: Vec<String>,
}

/// The answer to `subscribe`; events follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscribed {
    /// Names this run of the daemon: another one means that all earlier events are void.
    pub instance: String,
}

impl Answer {
    /// Writes down that the change could not be saved, and why.
    pub fn set_unsaved(&mut self, why: &str) {
        if let Some((saved, warning)) = self.saved() {
            *saved = false;
            *warning = Some(why.to_owned());
        }
    }

    /// Whether it says that something is on disk.
    pub fn says_saved(&mut self) -> bool {
        self.saved().is_some_and(|(saved, _)| *saved)
    }

    fn saved(&mut self) -> Option<(&mut Saved, &mut Option<String>)> {
        Some(match self {
            Self::Start(it) => (&mut it.saved, &mut it.warning),
            Self::Refocus(it) => (&mut it.saved, &mut it.warning),
            Self::Ontask(it) => (&mut it.saved, &mut it.warning),
            Self::Complete(it) => (&mut it.saved, &mut it.warning),
            Self::End(it)
            | Self::Pause(it)
            | Self::Resume(it)
            | Self::Extend(it)
            | Self::Detour(it) => (&mut it.saved, &mut it.warning),
            Self::Allow(it) => (&mut it.saved, &mut it.warning),
            Self::Review(it) => (&mut it.saved, &mut it.warning),
            Self::Hello(_)
            | Self::Status(_)
            | Self::Windows(_)
            | Self::History(_)
            | Self::Forget(_)
            | Self::Propose(_)
            | Self::Explain(_)
            | Self::Preview(_)
            | Self::CheckJudge(_)
            | Self::Presets(_)
            | Self::Reload(_)
            | Self::Subscribe(_) => return None,
        })
    }
}

/// One reply line, with the answer as the type that the command's answer has.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<T> {
    /// The request's number; `null` on the wire if it had none that could be read.
    pub id: Option<u64>,
    /// The answer, or why there is none.
    pub result: Result<T, ErrorObject>,
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    id: Option<u64>,
    // `serde(default)` would ask for `T: Default`; a missing option reads as none by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorObject>,
}

impl<T: Serialize> Reply<T> {
    /// The reply as one line, line break included.
    pub fn to_line(&self) -> String {
        let (ok, error) = match &self.result {
            Ok(answer) => (Some(answer), None),
            Err(error) => (None, Some(error.clone())),
        };
        frame::to_line(&Line { id: self.id, ok, error })
    }
}

impl<T: DeserializeOwned> Reply<T> {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// A line that is no reply, or whose answer is not of this type.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        use serde::de::Error as _;
        let Line { id, ok, error } = serde_json::from_slice(line)?;
        let result = match (ok, error) {
            (Some(answer), None) => Ok(answer),
            (None, Some(error)) => Err(error),
            _ => return Err(serde_json::Error::custom("a reply holds either ok or error")),
        };
        Ok(Self { id, result })
    }
}

shown! {
    Added { kind }
    Proposal { timebox_secs, allowed }
    Preset { name, timebox_secs, allowed }
}

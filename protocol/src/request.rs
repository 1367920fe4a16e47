//! What a client sends.

mod line;

use serde::{Deserialize, Serialize};

use crate::{Allowed, ErrorObject, Outcome, Timestamp, private::shown, strict};

/// One request line.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Echoed in the reply.
    pub id: Option<u64>,
    /// What to do.
    pub command: Command,
}

/// A request that was refused before it reached anybody.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The request's number, if one could be read.
    pub id: Option<u64>,
    /// Why.
    pub error: ErrorObject,
}

/// Every command of this version, with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Names the client and asks for the daemon's version.
    Hello(Hello),
    /// Asks for the state.
    Status(NoArgs),
    /// Starts a session.
    Start(Start),
    /// Back to task: forget the verdict for the window meant.
    Refocus(Refocus),
    /// This is on task: add the window meant to the allowed context.
    Ontask(Ontask),
    /// Ends the session and shows its review.
    Complete(Complete),
    /// Leaves the review.
    End(NoArgs),
    /// Pauses the session, for a time or until `resume`.
    Pause(Pause),
    /// Ends a pause or a detour.
    Resume(NoArgs),
    /// Gives the session more time.
    Extend(Extend),
    /// Begins a detour: for a time, every window is on task.
    Detour(TakeDetour),
    /// Changes the allowed context, or tells it.
    Allow(Allow),
    /// Asks which windows are open.
    Windows(NoArgs),
    /// Says how a session went that is over, or only tells it.
    Review(GiveReview),
    /// Asks for the sessions that are kept.
    History(AskHistory),
    /// Wipes the sessions that are kept.
    Forget(NoArgs),
    /// Asks the coach for a commitment's fields.
    Propose(Propose),
    /// Asks how the status of the window meant came about.
    Explain(NoArgs),
    /// Asks what would be sent about the window meant; nothing is sent.
    Preview(NoArgs),
    /// Has the judge judge a sample window, which says nothing of the user.
    CheckJudge(NoArgs),
    /// Asks what a session may be started with: the presets of the configuration, and the last
    /// commitment.
    Presets(NoArgs),
    /// Reads the configuration again.
    Reload(NoArgs),
    /// Turns the connection into a stream of events.
    Subscribe(Subscribe),
}

/// The arguments of a command that takes none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArgs {}

/// Arguments of `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The client's name and version, for the log; at most 1 KiB.
    pub client: String,
    /// The protocol it speaks.
    pub protocol: u64,
}

/// Arguments of `start`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// What the user sets out to do; not blank, at most 4 KiB, kept as typed.
    pub text: String,
    /// The first step; at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_action: Option<String>,
    /// How one will know that it is done; at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_condition: Option<String>,
    /// Planned length in seconds, 1 to 86 400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timebox_secs: Option<u64>,
    /// What is on task from the start.
    #[serde(default, deserialize_with = "strict::allowed")]
    pub allowed: Allowed,
}

/// Arguments of `refocus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refocus {
    /// The alert that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<u64>,
    /// Whether that alert may also be one whose window was left, in the last ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or_left: Option<bool>,
    /// Whether the last on-task window shall be raised. If it is missing, that is as the
    /// configuration says where an alert is answered, and not done where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activate: Option<bool>,
}

/// Arguments of `ontask`: the alert that is answered, and at most one selector.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ontask {
    /// The alert that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<u64>,
    /// Whether that alert may also be one whose window was left, in the last ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or_left: Option<bool>,
    /// Allow this window class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_class: Option<String>,
    /// Allow this whole context title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_title: Option<String>,
    /// Allow every title that holds this; it needs a letter or digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_title_substring: Option<String>,
    /// Allow this host and its subdomains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Allow this program in the foreground of a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Allow what the window meant has of this, without naming it. Not beside a selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_window: Option<OfWindow>,
}

/// What of a window `ontask` allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfWindow {
    /// Its class: every window of the program.
    WindowClass,
    /// Its whole context title.
    WindowTitle,
}

/// Arguments of `complete`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// How it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// A note; at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Arguments of `pause`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// For how many seconds, 1 to 86 400; until `resume` if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secs: Option<u64>,
}

/// Arguments of `extend`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extend {
    /// How many seconds more, 1 to 86 400: added to what is left, or counted from now in overtime.
    pub secs: u64,
}

/// Arguments of `detour`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeDetour {
    /// For how many seconds, 1 to 86 400.
    pub secs: u64,
    /// What for; not blank, at most 1 KiB, kept as typed.
    pub text: String,
}

/// Arguments of `allow`: what to take out of the allowed context, and then what to add. Without
/// either nothing changes, and the answer tells what is allowed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allow {
    /// Entries to add; one that is there already is no fault.
    #[serde(
        default,
        deserialize_with = "strict::allowed",
        skip_serializing_if = "Allowed::is_empty"
    )]
    pub add: Allowed,
    /// Entries to take out, in whatever letter case; all of them must be there.
    #[serde(
        default,
        deserialize_with = "strict::allowed",
        skip_serializing_if = "Allowed::is_empty"
    )]
    pub remove: Allowed,
}

/// Arguments of `review`. Without any nothing changes, and the answer tells the session.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveReview {
    /// How it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// A note; at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Arguments of `history`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskHistory {
    /// Sessions that began at this instant or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Sessions that began before this instant: to go on where the last answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Timestamp>,
}

/// Arguments of `propose`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Propose {
    /// What the user has in mind; not blank, at most 4 KiB.
    pub intent: String,
}

/// Arguments of `subscribe`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    /// What to send beside the first state; everything if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<Topic>>,
}

/// What a subscriber wants to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "String")]
pub enum Topic {
    /// The state at every change.
    State,
    /// Alerts, the timebox and notices.
    Alert,
    /// Both.
    All,
}

/// A derived reader would also take `{"state":null}`.
impl TryFrom<String> for Topic {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "state" => Ok(Self::State),
            "alert" => Ok(Self::Alert),
            "all" => Ok(Self::All),
            _ => Err(format!("unknown topic {word:?}, expected state, alert or all")),
        }
    }
}

/// What an `ontask` or an allowed entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// A window class.
    WindowClass,
    /// A whole context title.
    WindowTitle,
    /// A part of a title.
    WindowTitleSubstring,
    /// A host.
    Domain,
    /// A program.
    Command,
}

impl Selector {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::WindowClass,
        Self::WindowTitle,
        Self::WindowTitleSubstring,
        Self::Domain,
        Self::Command,
    ];

    /// The member of `ontask` that carries it, also the `kind` of what was added.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WindowClass => "window_class",
            Self::WindowTitle => "window_title",
            Self::WindowTitleSubstring => "window_title_substring",
            Self::Domain => "domain",
            Self::Command => "command",
        }
    }
}

impl Ontask {
    /// The selector and its value, if one was given. [`Request::parse`] refuses more than one.
    pub fn selector(&self) -> Option<(Selector, &str)> {
        self.selectors().next()
    }

    pub(crate) fn selectors(&self) -> impl Iterator<Item = (Selector, &str)> {
        [
            (Selector::WindowClass, &self.window_class),
            (Selector::WindowTitle, &self.window_title),
            (Selector::WindowTitleSubstring, &self.window_title_substring),
            (Selector::Domain, &self.domain),
            (Selector::Command, &self.command),
        ]
        .into_iter()
        .filter_map(|(selector, value)| Some((selector, value.as_deref()?)))
    }
}

impl Command {
    /// The word on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Status(_) => "status",
            Self::Start(_) => "start",
            Self::Refocus(_) => "refocus",
            Self::Ontask(_) => "ontask",
            Self::Complete(_) => "complete",
            Self::End(_) => "end",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "resume",
            Self::Extend(_) => "extend",
            Self::Detour(_) => "detour",
            Self::Allow(_) => "allow",
            Self::Windows(_) => "windows",
            Self::Review(_) => "review",
            Self::History(_) => "history",
            Self::Forget(_) => "forget",
            Self::Propose(_) => "propose",
            Self::Explain(_) => "explain",
            Self::Preview(_) => "preview",
            Self::CheckJudge(_) => "check_judge",
            Self::Presets(_) => "presets",
            Self::Reload(_) => "reload",
            Self::Subscribe(_) => "subscribe",
        }
    }
}

shown! {
    Start { timebox_secs, allowed }
    Ontask { alert, window_class, command }
    Complete { outcome }
    Allow { add, remove }
    GiveReview { outcome }
    Propose {}
    TakeDetour { secs }
}

//! What a client sends.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    Allowed, ErrorCode, ErrorObject, Outcome,
    strict::{self, arguments},
};

/// Most bytes of a commitment's text.
pub const MAX_TEXT: usize = 4096;
/// Most bytes of any other field that a person types.
pub const MAX_FIELD: usize = 1024;
/// Most bytes of one entry of the allowed context.
pub const MAX_ENTRY: usize = 256;
/// Most entries of one list of the allowed context.
pub const MAX_ENTRIES: usize = 64;
/// Most bytes of all entries of the allowed context together.
pub const MAX_ALLOWED: usize = 16 * 1024;
/// Longest timebox, in seconds.
pub const MAX_TIMEBOX_SECS: u64 = 86_400;

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
    /// Asks the coach for a commitment's fields.
    Propose(Propose),
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Whether the last on-task window shall be raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activate: Option<bool>,
}

/// Arguments of `ontask`: the alert that is answered, and at most one selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ontask {
    /// The alert that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<u64>,
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
}

/// Arguments of `complete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// How it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// A note; at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Arguments of `propose`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The state at every change.
    State,
    /// Alerts, the timebox and notices.
    Alert,
    /// Both.
    All,
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

    fn selectors(&self) -> impl Iterator<Item = (Selector, &str)> {
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

impl Allowed {
    /// The five lists with the names of their members.
    pub fn lists(&self) -> [(&'static str, &Vec<String>); 5] {
        [
            ("window_classes", &self.window_classes),
            ("window_titles", &self.window_titles),
            ("window_title_substrings", &self.window_title_substrings),
            ("domains", &self.domains),
            ("commands", &self.commands),
        ]
    }

    /// Bytes of all entries together; at most [`MAX_ALLOWED`].
    pub fn size(&self) -> usize {
        self.lists().iter().flat_map(|(_, list)| list.iter()).map(String::len).sum()
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
            Self::Propose(_) => "propose",
            Self::Subscribe(_) => "subscribe",
        }
    }

    fn parse(name: &str, args: Option<&RawValue>) -> Result<Self, ErrorObject> {
        let command = match name {
            "hello" => Self::Hello(arguments(args)?),
            "status" => Self::Status(arguments(args)?),
            "start" => Self::Start(arguments(args)?),
            "refocus" => Self::Refocus(arguments(args)?),
            "ontask" => Self::Ontask(arguments(args)?),
            "complete" => Self::Complete(arguments(args)?),
            "end" => Self::End(arguments(args)?),
            "propose" => Self::Propose(arguments(args)?),
            "subscribe" => Self::Subscribe(arguments(args)?),
            _ => {
                let name: String = name.chars().take(64).collect();
                return Err(ErrorObject::new(
                    ErrorCode::UnknownCommand,
                    format!("this daemon has no command {name:?}"),
                ));
            }
        };
        command.check()?;
        Ok(command)
    }

    /// Holds the bounds of the protocol. What a person typed is refused, never cut.
    fn check(&self) -> Result<(), ErrorObject> {
        match self {
            Self::Hello(hello) => within("client", &hello.client, MAX_FIELD),
            Self::Start(start) => {
                typed("text", &start.text, MAX_TEXT)?;
                within_option("next_action", start.next_action.as_deref())?;
                within_option("success_condition", start.success_condition.as_deref())?;
                if start.timebox_secs.is_some_and(|secs| !(1..=MAX_TIMEBOX_SECS).contains(&secs)) {
                    return Err(invalid("timebox_secs", "must be between 1 and 86400"));
                }
                check_allowed(&start.allowed)
            }
            Self::Ontask(ontask) => {
                if let Some((second, _)) = ontask.selectors().nth(1) {
                    return Err(invalid(second.as_str(), "only one selector may be given"));
                }
                let Some((selector, value)) = ontask.selector() else { return Ok(()) };
                check_entry(selector.as_str(), value)?;
                if selector == Selector::WindowTitleSubstring {
                    check_substring(selector.as_str(), value)?;
                }
                Ok(())
            }
            Self::Complete(complete) => {
                if complete.outcome == Some(Outcome::Unknown) {
                    return Err(invalid("outcome", "must be done, partial or abandoned"));
                }
                within_option("note", complete.note.as_deref())
            }
            Self::Propose(propose) => typed("intent", &propose.intent, MAX_TEXT),
            Self::Subscribe(subscribe) => match &subscribe.topics {
                Some(topics) if topics.is_empty() => {
                    Err(invalid("topics", "must name at least one of state, alert, all"))
                }
                Some(topics) if topics.len() > MAX_ENTRIES => {
                    Err(invalid("topics", "must hold at most 64 entries"))
                }
                _ => Ok(()),
            },
            Self::Status(_) | Self::Refocus(_) | Self::End(_) => Ok(()),
        }
    }
}

fn invalid(member: &str, problem: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(ErrorCode::InvalidRequest, format!("args.{member}: {problem}"))
}

fn within(member: &str, value: &str, limit: usize) -> Result<(), ErrorObject> {
    if value.len() > limit {
        let found = value.len();
        return Err(invalid(member, format!("must be at most {limit} bytes, but has {found}")));
    }
    Ok(())
}

fn within_option(member: &str, value: Option<&str>) -> Result<(), ErrorObject> {
    value.map_or(Ok(()), |value| within(member, value, MAX_FIELD))
}

fn typed(member: &str, value: &str, limit: usize) -> Result<(), ErrorObject> {
    if value.trim().is_empty() {
        return Err(invalid(member, "must not be blank"));
    }
    within(member, value, limit)
}

fn check_entry(member: &str, value: &str) -> Result<(), ErrorObject> {
    typed(member, value, MAX_ENTRY)?;
    if value.chars().any(char::is_control) {
        return Err(invalid(member, "must not hold control characters"));
    }
    Ok(())
}

/// A part of a title without a letter or digit would be in nearly every title.
fn check_substring(member: &str, value: &str) -> Result<(), ErrorObject> {
    if !value.chars().any(char::is_alphanumeric) {
        return Err(invalid(member, "must hold a letter or a digit"));
    }
    Ok(())
}

fn check_allowed(allowed: &Allowed) -> Result<(), ErrorObject> {
    for (name, list) in allowed.lists() {
        let member = format!("allowed.{name}");
        if list.len() > MAX_ENTRIES {
            let found = list.len();
            return Err(invalid(
                &member,
                format!("must hold at most {MAX_ENTRIES} entries, but has {found}"),
            ));
        }
        for (index, entry) in list.iter().enumerate() {
            let member = format!("{member}[{index}]");
            check_entry(&member, entry)?;
            if name == "window_title_substrings" {
                check_substring(&member, entry)?;
            }
        }
    }
    if allowed.size() > MAX_ALLOWED {
        let found = allowed.size();
        return Err(invalid(
            "allowed",
            format!("all lists together must be at most {MAX_ALLOWED} bytes, but have {found}"),
        ));
    }
    Ok(())
}

impl Request {
    /// Reads one line (without its line break).
    ///
    /// # Errors
    ///
    /// `invalid_json` for what is not JSON, not UTF-8 or nested too deep, `unknown_command`, and
    /// `invalid_request` for all else, naming the member.
    pub fn parse(line: &[u8]) -> Result<Self, Refusal> {
        let refuse = |error| Refusal { id: None, error };
        let json = |message: &str| refuse(ErrorObject::new(ErrorCode::InvalidJson, message));
        let text = str::from_utf8(line).map_err(|_| json("the line is not UTF-8"))?;
        if strict::too_deep(text) {
            return Err(json("the line nests too deep"));
        }
        if !text.trim_start_matches([' ', '\t', '\r']).starts_with('{') {
            // Told apart only here: `5` and `[]` are JSON but no request.
            return Err(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                Ok(_) => refuse(ErrorObject::new(
                    ErrorCode::InvalidRequest,
                    "a request must be a JSON object",
                )),
                Err(error) => refuse(strict::refusal(&error, "the line is not JSON")),
            });
        }
        let envelope: Envelope<'_> = serde_json::from_str(text)
            .map_err(|error| refuse(strict::refusal(&error, "the line is not JSON")))?;
        envelope.open()
    }

    /// The request as one line, line break included.
    pub fn to_line(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a, T> {
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<u64>,
            cmd: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            args: Option<&'a T>,
        }
        fn line<T: Serialize>(request: &Request, args: Option<&T>) -> String {
            crate::frame::to_line(&Line { id: request.id, cmd: request.command.name(), args })
        }
        match &self.command {
            Command::Status(_) | Command::End(_) => line(self, None::<&NoArgs>),
            Command::Hello(args) => line(self, Some(args)),
            Command::Start(args) => line(self, Some(args)),
            Command::Refocus(args) => line(self, (*args != Refocus::default()).then_some(args)),
            Command::Ontask(args) => line(self, (*args != Ontask::default()).then_some(args)),
            Command::Complete(args) => line(self, (*args != Complete::default()).then_some(args)),
            Command::Propose(args) => line(self, Some(args)),
            Command::Subscribe(args) => line(self, (*args != Subscribe::default()).then_some(args)),
        }
    }
}

/// The members of a request, read to the end even when one is wrong, so that the answer can name
/// the request.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<u64>,
    cmd: Option<String>,
    args: Option<&'a RawValue>,
    problem: Option<String>,
}

impl Envelope<'_> {
    fn open(self) -> Result<Request, Refusal> {
        let id = self.id;
        let refuse = |error| Refusal { id, error };
        let invalid = |message: String| ErrorObject::new(ErrorCode::InvalidRequest, message);
        if let Some(problem) = self.problem {
            return Err(refuse(invalid(problem)));
        }
        let Some(cmd) = self.cmd else {
            return Err(refuse(invalid("cmd: is missing".into())));
        };
        let command = Command::parse(&cmd, self.args).map_err(refuse)?;
        Ok(Request { id, command })
    }

    fn take(&mut self, member: &str, value: &RawValue) -> Result<(), String> {
        // A value that does not even read as the type asked for leaves its member empty.
        match member {
            "id" if self.id.is_some() => Err("id: is repeated".into()),
            "cmd" if self.cmd.is_some() => Err("cmd: is repeated".into()),
            "args" if self.args.is_some() => Err("args: is repeated".into()),
            "id" => {
                self.id = serde_json::from_str(value.get()).ok();
                self.id.map(drop).ok_or_else(|| "id: must be an unsigned integer".into())
            }
            "cmd" => {
                self.cmd = serde_json::from_str(value.get()).ok();
                self.cmd.as_ref().map(drop).ok_or_else(|| "cmd: must be a string".into())
            }
            "args" => Ok(()),
            _ => {
                let member: String = member.chars().take(64).collect();
                Err(format!("unknown member {member:?}, expected id, cmd or args"))
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Envelope<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(member) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    let value: &'de RawValue = map.next_value()?;
                    match envelope.take(&member, value) {
                        Err(problem) => {
                            envelope.problem.get_or_insert(problem);
                        }
                        Ok(()) if member == "args" => envelope.args = Some(value),
                        Ok(()) => {}
                    }
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> (Option<u64>, ErrorCode, String) {
        let refusal = Request::parse(line.as_bytes()).unwrap_err();
        (refusal.id, refusal.error.code, refusal.error.message)
    }

    #[test]
    fn a_bad_line_is_refused_by_kind_and_member() {
        use ErrorCode::{InvalidJson, InvalidRequest, UnknownCommand};
        let deep =
            format!(r#"{{"cmd":"status","args":{{"x":{}{}}}}}"#, "[".repeat(200), "]".repeat(200));
        for (line, id, code, part) in [
            ("not json", None, InvalidJson, "not JSON"),
            ("5", None, InvalidRequest, "object"),
            ("[]", None, InvalidRequest, "object"),
            ("null", None, InvalidRequest, "object"),
            (r#"["status"]"#, None, InvalidRequest, "object"),
            ("{}", None, InvalidRequest, "cmd"),
            (r#"{"cmd":5}"#, None, InvalidRequest, "cmd"),
            (r#"{"id":3,"cmd":5}"#, Some(3), InvalidRequest, "cmd"),
            (r#"{"id":-3,"cmd":"status"}"#, None, InvalidRequest, "id"),
            (r#"{"id":3,"id":4,"cmd":"status"}"#, Some(3), InvalidRequest, "id"),
            (r#"{"id":3,"cmd":"status","arg":{}}"#, Some(3), InvalidRequest, "arg"),
            (r#"{"id":3,"cmd":"status","args":null}"#, Some(3), InvalidRequest, "args"),
            (r#"{"id":3,"cmd":"status","args":[]}"#, Some(3), InvalidRequest, "args"),
            (r#"{"cmd":"status","args":{"x":1}}"#, None, InvalidRequest, "x"),
            (r#"{"id":9,"cmd":"dance"}"#, Some(9), UnknownCommand, "dance"),
            (r#"{"cmd":"start","args":{}}"#, None, InvalidRequest, "text"),
            (r#"{"cmd":"start","args":{"text":"  "}}"#, None, InvalidRequest, "text"),
            (r#"{"cmd":"start","args":{"text":"a","text":"b"}}"#, None, InvalidRequest, "text"),
            (
                r#"{"cmd":"start","args":{"text":"a","timebox_secs":0}}"#,
                None,
                InvalidRequest,
                "timebox",
            ),
            (
                r#"{"cmd":"start","args":{"text":"a","timebox_secs":"5"}}"#,
                None,
                InvalidRequest,
                "timebox",
            ),
            (
                r#"{"cmd":"start","args":{"text":"a","allowed":[[],[]]}}"#,
                None,
                InvalidRequest,
                "allowed",
            ),
            (
                r#"{"cmd":"start","args":{"text":"a","allowed":{"apps":[]}}}"#,
                None,
                InvalidRequest,
                "apps",
            ),
            (
                r#"{"cmd":"start","args":{"text":"a","allowed":{"domains":[" "]}}}"#,
                None,
                InvalidRequest,
                "domains[0]",
            ),
            (
                r#"{"cmd":"ontask","args":{"domain":"a","command":"b"}}"#,
                None,
                InvalidRequest,
                "command",
            ),
            (
                r#"{"cmd":"ontask","args":{"window_title_substring":"--"}}"#,
                None,
                InvalidRequest,
                "letter",
            ),
            (r#"{"cmd":"complete","args":{"outcome":"great"}}"#, None, InvalidRequest, "outcome"),
            (
                r#"{"cmd":"subscribe","args":{"topics":["all","x"]}}"#,
                None,
                InvalidRequest,
                "topics",
            ),
            (r#"{"cmd":"start","args":{"text":"\ud800"}}"#, None, InvalidJson, "text"),
            (&deep, None, InvalidJson, "deep"),
        ] {
            let found = refusal(line);
            assert_eq!((found.0, found.1), (id, code), "{line}: {}", found.2);
            assert!(found.2.contains(part), "{line}: {}", found.2);
        }
    }
}

//! Request lines: read with every fault named, and written.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    Allow, AskHistory, Command, Complete, ErrorCode, ErrorObject, GiveReview, NoArgs, Ontask,
    Pause, Refocus, Refusal, Request, Subscribe, frame,
    strict::{self, arguments},
};

impl Command {
    fn parse(name: &str, args: Option<&RawValue>) -> Result<Self, ErrorObject> {
        let command = match name {
            "hello" => Self::Hello(arguments(args)?),
            "status" => Self::Status(arguments(args)?),
            "start" => Self::Start(arguments(args)?),
            "refocus" => Self::Refocus(arguments(args)?),
            "ontask" => Self::Ontask(arguments(args)?),
            "complete" => Self::Complete(arguments(args)?),
            "end" => Self::End(arguments(args)?),
            "pause" => Self::Pause(arguments(args)?),
            "resume" => Self::Resume(arguments(args)?),
            "extend" => Self::Extend(arguments(args)?),
            "detour" => Self::Detour(arguments(args)?),
            "allow" => Self::Allow(arguments(args)?),
            "windows" => Self::Windows(arguments(args)?),
            "review" => Self::Review(arguments(args)?),
            "history" => Self::History(arguments(args)?),
            "forget" => Self::Forget(arguments(args)?),
            "propose" => Self::Propose(arguments(args)?),
            "explain" => Self::Explain(arguments(args)?),
            "preview" => Self::Preview(arguments(args)?),
            "check_judge" => Self::CheckJudge(arguments(args)?),
            "presets" => Self::Presets(arguments(args)?),
            "reload" => Self::Reload(arguments(args)?),
            "subscribe" => Self::Subscribe(arguments(args)?),
            _ => {
                let name = strict::shown(name);
                return Err(ErrorObject::new(
                    ErrorCode::UnknownCommand,
                    format!("this daemon has no command {name:?}"),
                ));
            }
        };
        command.check()?;
        Ok(command)
    }
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
            return Err(match serde_json::from_str::<IgnoredAny>(text) {
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
            frame::to_line(&Line { id: request.id, cmd: request.command.name(), args })
        }
        match &self.command {
            Command::Status(_)
            | Command::End(_)
            | Command::Resume(_)
            | Command::Windows(_)
            | Command::Forget(_)
            | Command::Explain(_)
            | Command::Preview(_)
            | Command::CheckJudge(_)
            | Command::Presets(_)
            | Command::Reload(_) => line(self, None::<&NoArgs>),
            Command::Hello(args) => line(self, Some(args)),
            Command::Start(args) => line(self, Some(args)),
            Command::Refocus(args) => line(self, (*args != Refocus::default()).then_some(args)),
            Command::Ontask(args) => line(self, (*args != Ontask::default()).then_some(args)),
            Command::Complete(args) => line(self, (*args != Complete::default()).then_some(args)),
            Command::Pause(args) => line(self, (*args != Pause::default()).then_some(args)),
            Command::Extend(args) => line(self, Some(args)),
            Command::Detour(args) => line(self, Some(args)),
            Command::Allow(args) => line(self, (*args != Allow::default()).then_some(args)),
            Command::Review(args) => line(self, (*args != GiveReview::default()).then_some(args)),
            Command::History(args) => line(self, (*args != AskHistory::default()).then_some(args)),
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
    problem: Option<ErrorObject>,
}

impl<'a> Envelope<'a> {
    fn open(self) -> Result<Request, Refusal> {
        let id = self.id;
        let refuse = |error| Refusal { id, error };
        if let Some(problem) = self.problem {
            return Err(refuse(problem));
        }
        let Some(cmd) = self.cmd else {
            return Err(refuse(invalid("cmd: is missing")));
        };
        let command = Command::parse(&cmd, self.args).map_err(refuse)?;
        Ok(Request { id, command })
    }

    /// Takes a member in, unless it is wrong; then it stays empty.
    fn take(&mut self, member: &str, value: &'a RawValue) -> Result<(), ErrorObject> {
        match member {
            "id" if self.id.is_some() => Err(invalid("id: is repeated")),
            "cmd" if self.cmd.is_some() => Err(invalid("cmd: is repeated")),
            "args" if self.args.is_some() => Err(invalid("args: is repeated")),
            "id" => {
                self.id = serde_json::from_str(value.get()).ok();
                self.id.map(drop).ok_or_else(|| invalid("id: must be an unsigned integer"))
            }
            "cmd" => {
                let cmd = serde_json::from_str(value.get());
                self.cmd = Some(cmd.map_err(|error| strict::refusal(&error, "cmd"))?);
                Ok(())
            }
            "args" => {
                self.args = Some(value);
                Ok(())
            }
            _ => {
                let member = strict::shown(member);
                Err(invalid(format!("unknown member {member:?}, expected id, cmd or args")))
            }
        }
    }
}

fn invalid(message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(ErrorCode::InvalidRequest, message)
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
                while let Some(member) = map.next_key::<Cow<'de, str>>()? {
                    let value: &'de RawValue = map.next_value()?;
                    if let Err(problem) = envelope.take(&member, value) {
                        envelope.problem.get_or_insert(problem);
                    }
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

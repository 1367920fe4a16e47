//! How the program ends: one list of exit codes and one conversion into it.

use std::{io, process::ExitCode};

use antidrift_protocol::{
    ErrorCode, ErrorObject,
    client::ClientError,
    paths::PathError,
    text::{self, REASON_CAP},
};

/// The exit codes; scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; also when the change could not be saved (a warning says so) and when the reader of the
    /// output has gone.
    Done = 0,
    /// The daemon refused, or the output could not be written.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
    /// No daemon, or none that can be talked to.
    Unreachable = 3,
    /// The daemon does not answer.
    NoAnswer = 4,
    /// Given up at the terminal: what shells make of a program that Ctrl-C ended.
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command was not carried out.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The daemon could not be asked, or refused.
    Client(ClientError),
    /// What was typed cannot be right.
    Usage(String),
    /// It came to nothing on this side: why, and what to do.
    Undone(String),
    /// Something is wrong, and that has been printed.
    Findings,
    /// Ctrl-C or Ctrl-D; what that leaves undone.
    Cancelled(&'static str),
    /// Standard output does not take it.
    Output(io::Error),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        Self::Client(error.into())
    }
}

impl Failure {
    /// The one place that turns a failure into an exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Output(_) | Self::Findings | Self::Undone(_) => Exit::Refused,
            Self::Usage(_) => Exit::Usage,
            Self::Cancelled(_) => Exit::Cancelled,
            Self::Client(ClientError::NoAnswer(_)) => Exit::NoAnswer,
            Self::Client(ClientError::Refused(error)) => match error.code {
                ErrorCode::Busy | ErrorCode::ShuttingDown | ErrorCode::UnsupportedProtocol => {
                    Exit::Unreachable
                }
                _ => Exit::Refused,
            },
            Self::Client(_) => Exit::Unreachable,
        }
    }

    /// What happened, to what, and what to do, on one line. `None`: nobody is left to read it.
    pub(crate) fn message(&self) -> Option<String> {
        Some(match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
            Self::Findings => return None,
            Self::Output(error) => format!("the output could not be written: {error}"),
            Self::Usage(message) | Self::Undone(message) => message.clone(),
            Self::Cancelled(what) => format!("cancelled; {what}"),
            Self::Client(error) => client_message(error),
        })
    }
}

/// What to do when the daemon is not there.
pub(crate) const HOW_TO_START: &str = "start it with `antidriftd`";

/// A client error with what to do about it.
pub(crate) fn client_message(error: &ClientError) -> String {
    let hint = match error {
        ClientError::NotRunning(_) => HOW_TO_START,
        // These say what to do themselves.
        ClientError::Path(PathError::TooLong { .. }) | ClientError::Incompatible(_) => "",
        ClientError::Path(_) | ClientError::Foreign { .. } => {
            "name the right socket with --socket or ANTIDRIFT_SOCKET"
        }
        ClientError::NoAnswer(_) => "if it stays so, restart it with `antidriftd --replace`",
        ClientError::Broken(_) | ClientError::Closed => {
            "try again; its log says why it closed the connection"
        }
        ClientError::NotUnderstood(_) => OTHER_VERSION,
        ClientError::Refused(error) => refusal_hint(error),
    };
    // Messages may quote what came over the socket.
    let said = text::terminal(&error.to_string(), REASON_CAP);
    if hint.is_empty() { said } else { format!("{said}; {hint}") }
}

const OTHER_VERSION: &str = "antidrift and antidriftd are of different versions: restart the \
                             daemon after an upgrade (`antidriftd --replace`)";

fn refusal_hint(error: &ErrorObject) -> &'static str {
    // The daemon's own advice is better: it knows the state.
    if ["`", "antidrift ", "--"].iter().any(|sign| error.message.contains(sign)) {
        return "";
    }
    match error.code {
        ErrorCode::NotActive => "begin one with `antidrift start TEXT`",
        ErrorCode::SessionExists => "end it first with `antidrift complete`",
        ErrorCode::NotInReview => "a session is ended with `antidrift complete`",
        ErrorCode::StaleAlert => "look at `antidrift status` and say it again",
        ErrorCode::NoWindow => {
            "name what is meant with --class NAME, --title TEXT, --domain D or --command C"
        }
        ErrorCode::ListFull => "allow all windows of the program with `antidrift ontask --class`",
        ErrorCode::NoEntry => "`antidrift allow list` shows what is",
        ErrorCode::NoDisplay => "`antidrift doctor` says what to do",
        ErrorCode::Busy => "close a `antidrift watch` that is not needed, or try again",
        ErrorCode::ShuttingDown => "try again when it has restarted",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn refused(code: ErrorCode) -> Failure {
        ClientError::Refused(ErrorObject::new(code, "it is so")).into()
    }

    #[test]
    fn every_failure_has_its_code() {
        let table = [
            (Failure::Output(io::ErrorKind::BrokenPipe.into()), Exit::Done),
            (Failure::Output(io::ErrorKind::StorageFull.into()), Exit::Refused),
            (Failure::Usage("no".into()), Exit::Usage),
            (Failure::Undone("no".into()), Exit::Refused),
            (Failure::Cancelled("nothing was started"), Exit::Cancelled),
            (ClientError::NotRunning("/x".into()).into(), Exit::Unreachable),
            (ClientError::Closed.into(), Exit::Unreachable),
            (ClientError::NotUnderstood("x".into()).into(), Exit::Unreachable),
            (ClientError::NoAnswer(Duration::from_secs(5)).into(), Exit::NoAnswer),
            (refused(ErrorCode::NotActive), Exit::Refused),
            (refused(ErrorCode::NoEntry), Exit::Refused),
            (refused(ErrorCode::Unknown), Exit::Refused),
            (refused(ErrorCode::Busy), Exit::Unreachable),
            (refused(ErrorCode::ShuttingDown), Exit::Unreachable),
            (refused(ErrorCode::UnsupportedProtocol), Exit::Unreachable),
        ];
        for (failure, exit) in table {
            assert_eq!(failure.exit(), exit, "{failure:?}");
        }
    }

    #[test]
    fn messages_say_what_to_do_on_one_clean_line() {
        let gone = Failure::from(ClientError::NotRunning("/run/x.sock".into()));
        let message = gone.message().unwrap();
        assert!(message.contains("/run/x.sock") && message.contains("antidriftd"), "{message}");

        let hostile = ClientError::Refused(ErrorObject::new(
            ErrorCode::NotActive,
            "no\u{1b}[31m session\nis active",
        ));
        let message = Failure::from(hostile).message().unwrap();
        assert_eq!(message, "no session is active; begin one with `antidrift start TEXT`");
        assert!(Failure::Output(io::ErrorKind::BrokenPipe.into()).message().is_none());
    }
}

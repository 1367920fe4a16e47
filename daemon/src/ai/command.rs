//! A judge that is a program of the user's choice: prompt on standard input, verdict on standard
//! output.

use super::{
    Failure, FailureKind, Judge, Judgement, Question, Verdict, message,
    parse::{self, Unreadable},
    process::{Broken, Ending, Finished, Program},
    prompt,
};
use std::{io, path::Path, path::PathBuf, sync::Arc, time::Duration};

/// Asks a program, once per judgement. Idle, it holds no process, thread or file.
#[derive(Clone, Debug)]
pub struct CommandJudge {
    program: Arc<Program>,
}

impl CommandJudge {
    /// See [`Program::new`]: `argv` without a shell, `runtime_dir` for the scratch directories.
    ///
    /// # Errors
    /// When there is no such program; the failure's message is what `judge.last_error` shows.
    pub fn new(argv: &[String], runtime_dir: &Path) -> Result<Self, Failure> {
        Program::new(argv, runtime_dir).map(Self::from)
    }

    /// See [`Program::with_timeout`].
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Arc::unwrap_or_clone(self.program).with_timeout(timeout).into()
    }

    /// See [`Program::with_guard`].
    #[must_use]
    pub fn with_guard(self, guard: PathBuf) -> Self {
        Arc::unwrap_or_clone(self.program).with_guard(guard).into()
    }
}

impl From<Program> for CommandJudge {
    fn from(program: Program) -> Self {
        Self { program: Arc::new(program) }
    }
}

impl Judge for CommandJudge {
    fn judge(&self, question: Question) -> Judgement {
        let program = Arc::clone(&self.program);
        Box::pin(async move {
            match program.run(&prompt::judge(&question)).await {
                Ok(finished) => read(program.name(), &finished, &question),
                Err(broken) => Err(no_output(&program, &broken)),
            }
        })
    }
}

fn read(name: &str, finished: &Finished, question: &Question) -> Result<Verdict, Failure> {
    let ended = match finished.ending {
        Ending::Exited(0) => {
            let quoted = [question.title.as_str(), question.class.as_str()];
            match parse::verdict(&finished.stdout, &quoted) {
                Ok(verdict) => return Ok(verdict),
                Err(error) => error.to_string(),
            }
        }
        Ending::Exited(code) => format!("it ended with status {code}"),
        Ending::Killed(signal) => format!("it was ended by signal {signal}"),
    };
    let complaint = message::complaint(&finished.stderr, &finished.stdout, question);
    let kind = if message::asks_for_login(&complaint) {
        FailureKind::NotLoggedIn
    } else if finished.ending == Ending::Exited(0) {
        FailureKind::NotUnderstood
    } else {
        FailureKind::ToolFailed
    };
    let message = match (complaint.is_empty(), kind) {
        (true, _) => format!("{name}: {ended}"),
        // What a model says in its output is no cause, and may be long-winded.
        (false, FailureKind::NotUnderstood) if finished.stderr.is_blank() => {
            format!("{name}: {ended}")
        }
        (false, _) => format!("{name}: {ended}: {complaint}"),
    };
    Err(Failure { kind, message })
}

fn no_output(program: &Program, broken: &Broken) -> Failure {
    let name = program.name();
    let (kind, message) = match broken {
        Broken::Unstartable(error) => {
            let kind = match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
                // Passing troubles of the machine.
                Some(
                    rustix::io::Errno::AGAIN
                    | rustix::io::Errno::NOMEM
                    | rustix::io::Errno::MFILE
                    | rustix::io::Errno::NFILE
                    | rustix::io::Errno::NOSPC,
                ) => FailureKind::ToolFailed,
                _ => FailureKind::NotInstalled,
            };
            let why = match error.kind() {
                io::ErrorKind::NotFound => "it or its interpreter is missing".to_owned(),
                _ => error.to_string(),
            };
            (kind, format!("{name}: cannot be started: {why}"))
        }
        Broken::Flood => (FailureKind::NotUnderstood, format!("{name}: {}", Unreadable::TooLarge)),
        Broken::TimedOut => {
            let limit = program.timeout().as_secs_f64();
            (FailureKind::TimedOut, format!("{name}: no answer within {limit} s"))
        }
        Broken::Guard(why) => {
            (FailureKind::ToolFailed, format!("{name}: the judge guard failed: {why}"))
        }
    };
    Failure { kind, message }
}

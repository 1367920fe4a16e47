//! A backend that is a program: prompt on standard input, answer on standard output.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{
    Failure, FailureKind,
    backend::{Answered, Answering, Backend, Prompt},
    envelope::{Closed, Envelope},
    message::{self, Tail},
    parse::Unreadable,
    process::{Broken, Ending, Finished, Program},
    prompt::Task,
    tools::{Login, Tool, Word},
};

/// Runs a program, once per prompt. Idle, it holds no process, thread or file.
#[derive(Debug)]
pub struct ProgramBackend {
    program: Program,
    envelope: Envelope,
    /// The same program with arguments that an older version knows.
    older: Option<Program>,
    /// Whether it turned out to be old.
    is_old: AtomicBool,
    login: Login,
}

impl ProgramBackend {
    /// The user's own program: see [`Program::new`].
    ///
    /// # Errors
    /// When there is no such program; the failure's message is what `judge.last_error` shows.
    pub fn command(argv: &[String], runtime_dir: &Path) -> Result<Self, Failure> {
        Program::new(argv, runtime_dir).map(Self::from)
    }

    /// A tool that is known by name, for one task. Files that it needs are written to `runtime_dir`.
    ///
    /// # Errors
    /// When it is not installed, or its files cannot be written.
    pub fn tool(
        tool: &Tool,
        task: Task,
        model: Option<&str>,
        runtime_dir: &Path,
    ) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure {
            kind: FailureKind::ToolFailed,
            message: format!("{}: its files cannot be written: {error}", tool.name),
        };
        let program = |args: &[Word]| -> Result<Program, Failure> {
            let files = &mut |name: &str, text: &str| write_file(runtime_dir, name, text);
            let mut argv = vec![tool.name.to_owned()];
            argv.extend(tool.arguments(args, task, model, files).map_err(failed)?);
            let variables = tool.variables(task, files).map_err(failed)?;
            Ok(Program::new(&argv, runtime_dir)?.with_variables(variables))
        };
        Ok(Self {
            envelope: tool.envelope,
            older: tool.older.map(program).transpose()?,
            login: tool.login,
            ..Self::from(program(tool.args)?)
        })
    }

    /// See [`Program::with_timeout`].
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.program = self.program.with_timeout(timeout);
        self.older = self.older.map(|older| older.with_timeout(timeout));
        self
    }

    /// See [`Program::with_guard`].
    #[must_use]
    pub fn with_guard(mut self, guard: PathBuf) -> Self {
        self.older = self.older.map(|older| older.with_guard(guard.clone()));
        self.program = self.program.with_guard(guard);
        self
    }

    async fn run(&self, prompt: &Prompt) -> Result<Answered, Failure> {
        let old = self.older.as_ref().filter(|_| self.is_old.load(Ordering::Relaxed));
        let mut answer = self.run_as(old.unwrap_or(&self.program), prompt).await;
        if let (true, Some(older), None) = (is_refused(&answer), &self.older, old) {
            self.is_old.store(true, Ordering::Relaxed);
            answer = self.run_as(older, prompt).await;
        }
        if is_refused(&answer) {
            // Never without the option: it may be the one that keeps tools away.
            return answer.map_err(|Failure { kind, message }| Failure {
                kind,
                message: format!("{message}; upgrade it, or antidrift"),
            });
        }
        answer
    }

    async fn run_as(&self, program: &Program, prompt: &Prompt) -> Result<Answered, Failure> {
        match program.run(&prompt.text).await {
            Ok(finished) => self.read(program.name(), &finished, prompt),
            Err(broken) => Err(self.no_output(program, &broken, prompt)),
        }
    }

    fn read(&self, name: &str, finished: &Finished, prompt: &Prompt) -> Result<Answered, Failure> {
        let private: Vec<&str> = prompt.private.iter().map(String::as_str).collect();
        let complaint = |stdout: &[u8]| message::complaint(&finished.stderr, stdout, &private);
        let opened = self.envelope.open(&finished.stdout);
        // A tool that failed says so in its envelope, and some print that to standard error.
        let said = match &opened {
            Err(Closed::Failed(said)) => said.clone(),
            Err(_) => self.envelope.failed(finished.stderr.bytes()).unwrap_or_default(),
            Ok(_) => String::new(),
        };
        let said = message::complaint(&Tail::of(said.as_bytes()), &[], &private);
        let ended = match (finished.ending, opened) {
            (Ending::Exited(0), Ok(text)) => {
                // What a model says in its output is no cause, and may be long-winded.
                let spoke = !finished.stderr.is_blank() || text.trim_ascii().is_empty();
                let complaint = if spoke { complaint(&[]) } else { message::notice(&text).into() };
                return Ok(Answered { text, complaint });
            }
            (Ending::Exited(0), Err(Closed::Empty)) => Unreadable::Empty.to_string(),
            (Ending::Exited(0), Err(Closed::Truncated)) => Unreadable::Truncated.to_string(),
            (Ending::Exited(0), Err(Closed::Foreign)) => Unreadable::NoObject.to_string(),
            (Ending::Exited(0), Err(Closed::Failed(_))) => "it says that it failed".into(),
            (Ending::Exited(code), _) => format!("it ended with status {code}"),
            (Ending::Killed(signal), _) => format!("it was ended by signal {signal}"),
        };
        let said = if said.is_empty() { complaint(&finished.stdout) } else { said };
        let kind = match finished.ending {
            Ending::Exited(0) => FailureKind::NotUnderstood,
            Ending::Exited(status) if self.login.statuses.contains(&status) => {
                FailureKind::NotLoggedIn
            }
            _ => FailureKind::ToolFailed,
        };
        Err(self.failure(name, kind, &ended, &said))
    }

    /// A failure with what the tool said of it, which may make it one of the login.
    fn failure(&self, name: &str, kind: FailureKind, ended: &str, said: &str) -> Failure {
        let words = said.to_lowercase();
        let own = self.login.words.iter().any(|word| words.contains(word));
        let login = kind == FailureKind::NotLoggedIn || own || message::asks_for_login(said);
        let (kind, todo) = match kind {
            _ if login => (FailureKind::NotLoggedIn, self.login.todo.to_owned()),
            // Some never say that they wait for a login.
            FailureKind::TimedOut if !self.login.todo.is_empty() => {
                (kind, format!("{}; or, if nobody is logged in, {}", kind.todo(), self.login.todo))
            }
            _ => (kind, kind.todo().to_owned()),
        };
        let parts = [ended, said].into_iter().filter(|part| !part.is_empty());
        Failure::new(name, kind, &parts.collect::<Vec<_>>().join(": "), &todo)
    }

    fn no_output(&self, program: &Program, broken: &Broken, prompt: &Prompt) -> Failure {
        let name = program.name();
        let plain = |kind: FailureKind, what: &str| Failure::new(name, kind, what, kind.todo());
        match broken {
            Broken::Unstartable(error) => {
                let why = match error.kind() {
                    io::ErrorKind::NotFound => "it or its interpreter is missing".to_owned(),
                    _ => error.to_string(),
                };
                plain(kind_of_start(error), &format!("cannot be started: {why}"))
            }
            Broken::Flood => plain(FailureKind::NotUnderstood, &Unreadable::TooLarge.to_string()),
            Broken::TimedOut(stderr) => {
                // Some go on trying to log in, or to reach the network, until they are ended.
                let private: Vec<&str> = prompt.private.iter().map(String::as_str).collect();
                let said = message::complaint(stderr, &[], &private);
                let limit = program.timeout().as_secs_f64();
                let ended = format!("no answer within {limit} s");
                self.failure(name, FailureKind::TimedOut, &ended, &said)
            }
            Broken::Guard(why) => {
                plain(FailureKind::ToolFailed, &format!("the judge guard failed: {why}"))
            }
        }
    }
}

/// Whether a tool does not know one of its arguments.
fn is_refused(answer: &Result<Answered, Failure>) -> bool {
    let Err(Failure { kind: FailureKind::ToolFailed, message }) = answer else { return false };
    let message = message.to_lowercase();
    ["unknown option", "unknown argument", "no such option", "unrecognized", "unexpected argument"]
        .iter()
        .any(|words| message.contains(words))
}

fn kind_of_start(error: &io::Error) -> FailureKind {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        // Passing troubles of the machine.
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::NOSPC) => {
            FailureKind::ToolFailed
        }
        _ => FailureKind::NotInstalled,
    }
}

impl From<Program> for ProgramBackend {
    fn from(program: Program) -> Self {
        let is_old = AtomicBool::new(false);
        let login = Login::default();
        Self { program, envelope: Envelope::Plain, older: None, is_old, login }
    }
}

impl Backend for ProgramBackend {
    fn name(&self) -> String {
        self.program.name().to_owned()
    }

    fn ask(self: Arc<Self>, prompt: Prompt) -> Answering {
        Box::pin(async move { self.run(&prompt).await })
    }
}

/// A file with constant content for a tool, in a directory that is closed to others.
fn write_file(dir: &Path, name: &str, text: &str) -> io::Result<String> {
    let path = dir.join(name);
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)?;
    file.write_all(text.as_bytes())?;
    path.into_os_string().into_string().map_err(|_| io::Error::other("the path is not UTF-8"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;
    use crate::ai::{parse, tools};

    const OUTPUTS: &str = include_str!("../../../tests/fixtures/judge/envelope_outputs.jsonl");

    fn envelope(format: &str) -> Option<Envelope> {
        Some(match format {
            "plain" => Envelope::Plain,
            "claude-json" => Envelope::Claude,
            "gemini-json" => Envelope::Gemini,
            "codex-jsonl" => Envelope::CodexLines,
            "opencode-jsonl" => Envelope::OpencodeLines,
            _ => return None,
        })
    }

    #[test]
    fn every_envelope_fixture_of_a_program() {
        let dir = tempfile::tempdir().unwrap();
        let program = Program::new(&["sh".to_owned()], dir.path()).unwrap();
        let mut count = 0;
        for line in OUTPUTS.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let (name, text) = (&row["name"], |key: &str| row[key].as_str().unwrap_or_default());
            let Some(envelope) = envelope(text("format")) else { continue };
            count += 1;
            let backend = ProgramBackend { envelope, ..ProgramBackend::from(program.clone()) };
            let finished = Finished {
                ending: Ending::Exited(i32::try_from(row["exit_code"].as_i64().unwrap()).unwrap()),
                stdout: text("stdout").as_bytes().to_vec(),
                stderr: Tail::of(text("stderr").as_bytes()),
            };
            let prompt = Prompt { task: Task::Judge, text: String::new(), private: Vec::new() };
            let found = backend.read("tool", &finished, &prompt);
            let verdict = found.map(|it| parse::verdict(&it.text, &[]));
            match (verdict, row["expect"]["on_task"].as_bool()) {
                (Ok(Ok(verdict)), Some(expected)) => {
                    assert_eq!(verdict.on_task, expected, "{name}");
                    assert_eq!(verdict.reason, row["expect"]["reason"].as_str().unwrap(), "{name}");
                }
                (Err(failure), None) => {
                    let part = text("message_contains");
                    assert!(failure.message.contains(part), "{name}: {failure:?}");
                    let login = failure.kind == FailureKind::NotLoggedIn;
                    assert_eq!(
                        login,
                        text("name") == "claude_not_logged_in",
                        "{name}: {failure:?}"
                    );
                }
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
        assert_eq!(count, 18);
    }

    /// What the tools print who have no login or no network, as it was seen.
    #[test]
    fn a_login_that_is_missing_is_recognised_by_each_tool() {
        let gemini = "Warning: 256-color support not detected.\n{\n  \"session_id\": \"3\",\n  \"error\": {\n    \
            \"type\": \"Error\",\n    \"message\": \"Please set an Auth method in your settings.json\",\n    \
            \"code\": 41\n  }\n}\n";
        let gemini_key = "{\n  \"error\": {\n    \"type\": \"Error\",\n    \"message\": \"quota is used up\"\n  }\n}\n";
        let claude = r#"{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}"#;
        let aichat = "Error: Failed to load config at '/home/me/.config/aichat/config.yaml'\n\nCaused by:\n    \
            No such file or directory (os error 2)\n\nStack backtrace:\n   0: <unknown>\n";
        let aichat_key =
            "Error: Failed to call chat-completions api\n\nCaused by:\n    Miss 'api_key'\n";
        let llm = "Error: No key found - add one using 'llm keys set openai'\n";
        let codex =
            "ERROR: Reconnecting... 5/5\nERROR: unexpected status 401 Unauthorized: , url: x\n";
        use FailureKind::{NotLoggedIn, ToolFailed};
        for (name, status, stdout, stderr, kind, parts) in [
            ("claude", 1, claude, "", NotLoggedIn, ["Not logged in", "; run claude once"]),
            ("codex", 1, "", codex, NotLoggedIn, ["401 Unauthorized", "; run codex login"]),
            ("gemini", 41, "", gemini, NotLoggedIn, ["set an Auth method", "; run gemini once"]),
            ("gemini", 41, "", "", NotLoggedIn, ["status 41", "; run gemini once"]),
            ("gemini", 1, "", gemini_key, ToolFailed, ["status 1: quota is used up", ""]),
            ("llm", 1, "", llm, NotLoggedIn, ["No key found", "; run llm keys set"]),
            ("aichat", 1, "", aichat, NotLoggedIn, ["No such file", "; run aichat once"]),
            ("aichat", 1, "", aichat_key, NotLoggedIn, ["Miss 'api_key'", "; run aichat once"]),
            ("aichat", 1, "", "Error: dns error\n", ToolFailed, ["dns error", ""]),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let tool = tools::tool(name).unwrap();
            let program = Program::new(&["sh".to_owned()], dir.path()).unwrap();
            let (envelope, login) = (tool.envelope, tool.login);
            let backend = ProgramBackend { envelope, login, ..ProgramBackend::from(program) };
            let finished = Finished {
                ending: Ending::Exited(status),
                stdout: stdout.into(),
                stderr: Tail::of(stderr.as_bytes()),
            };
            let prompt = Prompt { task: Task::Judge, text: String::new(), private: Vec::new() };
            let failure = backend.read(name, &finished, &prompt).unwrap_err();
            assert_eq!(failure.kind, kind, "{name}: {failure:?}");
            for part in parts {
                assert!(failure.message.contains(part), "{name}, {part}: {failure:?}");
            }
        }
    }
}

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
    tools::{Tool, Word},
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
    login: &'static str,
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
        let answer = self.run_as(old.unwrap_or(&self.program), prompt).await;
        let (Err(failure), Some(older), None) = (&answer, &self.older, old) else { return answer };
        let refused = ["unknown option", "no such option", "unrecognized", "unexpected argument"];
        if !refused.iter().any(|words| failure.message.to_lowercase().contains(words)) {
            return answer;
        }
        self.is_old.store(true, Ordering::Relaxed);
        self.run_as(older, prompt).await
    }

    async fn run_as(&self, program: &Program, prompt: &Prompt) -> Result<Answered, Failure> {
        match program.run(&prompt.text).await {
            Ok(finished) => self.read(program.name(), &finished, prompt),
            Err(broken) => Err(no_output(program, &broken)),
        }
    }

    fn read(&self, name: &str, finished: &Finished, prompt: &Prompt) -> Result<Answered, Failure> {
        let private: Vec<&str> = prompt.private.iter().map(String::as_str).collect();
        let complaint = |stdout: &[u8]| message::complaint(&finished.stderr, stdout, &private);
        let opened = self.envelope.open(&finished.stdout);
        // What a tool that failed says of it in its envelope.
        let said = match &opened {
            Err(Closed::Failed(said)) => {
                message::complaint(&Tail::of(said.as_bytes()), &[], &private)
            }
            _ => String::new(),
        };
        let ended = match (finished.ending, opened) {
            (Ending::Exited(0), Ok(text)) => {
                // What a model says in its output is no cause, and may be long-winded.
                let spoke = !finished.stderr.is_blank() || text.trim_ascii().is_empty();
                let complaint = if spoke { complaint(&[]) } else { String::new() };
                return Ok(Answered { text, complaint });
            }
            (Ending::Exited(0), Err(Closed::Empty)) => Unreadable::Empty.to_string(),
            (Ending::Exited(0), Err(Closed::Truncated)) => Unreadable::Truncated.to_string(),
            (Ending::Exited(0), Err(Closed::Failed(_))) => "it says that it failed".into(),
            (Ending::Exited(code), _) => format!("it ended with status {code}"),
            (Ending::Killed(signal), _) => format!("it was ended by signal {signal}"),
        };
        let said = if said.is_empty() { complaint(&finished.stdout) } else { said };
        let (kind, todo) = if message::asks_for_login(&said) {
            (FailureKind::NotLoggedIn, self.login)
        } else if finished.ending == Ending::Exited(0) {
            (FailureKind::NotUnderstood, "")
        } else {
            (FailureKind::ToolFailed, "")
        };
        let parts = [ended.as_str(), said.as_str(), todo];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Err(Failure { kind, message: format!("{name}: {}", parts.join(": ")) })
    }
}

impl From<Program> for ProgramBackend {
    fn from(program: Program) -> Self {
        let is_old = AtomicBool::new(false);
        Self { program, envelope: Envelope::Plain, older: None, is_old, login: "" }
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

    /// Every flag that a row names is one that the tool knows, where the tool is installed.
    #[test]
    fn the_flags_of_installed_tools_exist() {
        for tool in tools::TOOLS {
            let help = std::process::Command::new(tool.name)
                .args(if tool.name == "codex" { &["exec", "--help"][..] } else { &["--help"] })
                .stdin(std::process::Stdio::null())
                .output();
            let Ok(help) = help else {
                eprintln!("skipped: {} is not installed", tool.name);
                continue;
            };
            let help = String::from_utf8_lossy(&help.stdout).into_owned();
            let flags = tool.args.iter().filter_map(|word| match word {
                Word::Text(flag) if flag.starts_with("--") => Some(*flag),
                _ => None,
            });
            for flag in flags {
                assert!(help.contains(flag), "{} does not know {flag}", tool.name);
            }
        }
    }
}

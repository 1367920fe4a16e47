//! Runs a program with a prompt on its standard input, under a guard that leaves nothing behind.

use super::{
    Failure, FailureKind,
    guard::{GUARD_ARG, Report, frame, remove_scratch, scratch_path},
    message::Tail,
    parse::OUTPUT_CAP,
};
use antidrift_protocol::text::clean;
use rustix::{
    fs::{Access, access},
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal},
};
use std::{
    env, fmt, io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    pin::pin,
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    process::{Child, Command},
    time::timeout,
};

/// How long the output is still read after the program's end: a process that escaped the guard may
/// hold the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// The guard sends two short lines.
const REPORT_CAP: u64 = 256;

/// Removed from the environment: the desktop (a judge has no business there), what would change the
/// program's own behaviour or make it speak to our service manager, and our own settings.
const SCRUBBED: [&str; 13] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "LISTEN_PIDFDID",
    "CLAUDECODE",
];

/// A program with its arguments, ready to be run any number of times.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    args: Vec<String>,
    variables: Vec<(String, String)>,
    name: String,
    runtime_dir: PathBuf,
    guard: PathBuf,
    timeout: Duration,
}

/// How a program ended that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// A program that ended, with what it printed.
pub struct Finished {
    /// How it ended. Only `Exited(0)` is success, whatever the output holds.
    pub ending: Ending,
    /// Its standard output, at most [`OUTPUT_CAP`] bytes.
    pub stdout: Vec<u8>,
    /// The end of its standard error.
    pub stderr: Tail,
}

/// What a judge prints may quote its prompt.
impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished").field("ending", &self.ending).finish_non_exhaustive()
    }
}

/// Why there is no output to look at.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The program could not be started.
    #[error("cannot start: {0}")]
    Unstartable(io::Error),
    /// More than [`OUTPUT_CAP`] bytes on standard output.
    #[error("too much output")]
    Flood,
    /// The limit has passed; what it complained of until then.
    #[error("no answer in time")]
    TimedOut(Tail),
    /// The guard could not be started or was killed.
    #[error("the guard failed: {0}")]
    Guard(String),
}

impl Program {
    /// Resolves the first word of `argv` to an absolute path, once: by PATH if it holds no slash.
    /// Each run gets a fresh directory under `runtime_dir`, which must exist.
    ///
    /// # Errors
    /// `NotInstalled`, with a message that names the program, when there is no such executable
    /// file.
    pub fn new(argv: &[String], runtime_dir: &Path) -> Result<Self, Failure> {
        let absent = |message| Failure { kind: FailureKind::NotInstalled, message };
        let Some((word, args)) = argv.split_first().filter(|(word, _)| !word.is_empty()) else {
            return Err(absent("the judge's command is empty".to_owned()));
        };
        if argv.iter().any(|word| word.contains('\0')) {
            return Err(absent("the judge's command holds a NUL character".to_owned()));
        }
        let path = resolve(word).map_err(|why| {
            let todo = FailureKind::NotInstalled.todo();
            absent(format!("{}: {why}; {todo}", clean(word, 100)))
        })?;
        let runtime_dir = std::path::absolute(runtime_dir)
            .map_err(|error| absent(format!("the runtime directory: {error}")))?;
        let name = Path::new(word).file_name().unwrap_or(word.as_ref());
        Ok(Self {
            path,
            args: args.to_vec(),
            variables: Vec::new(),
            name: clean(&name.to_string_lossy(), 64),
            runtime_dir,
            // Not the path of the executable, which an upgrade may have replaced by another version
            // or by nothing.
            guard: PathBuf::from("/proc/self/exe"),
            timeout: Duration::from_secs(30),
        })
    }

    /// Takes another executable as the guard: for processes that are not the daemon's binary, such
    /// as tests.
    #[must_use]
    pub fn with_guard(self, guard: PathBuf) -> Self {
        Self { guard, ..self }
    }

    /// Sets variables in the program's environment.
    #[must_use]
    pub fn with_variables(self, variables: Vec<(String, String)>) -> Self {
        Self { variables, ..self }
    }

    /// Sets the limit for one run, 30 s by default. A backstop: who starts a run holds a limit too.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The program's file name, cleaned, for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The limit for one run.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Runs the program once with `prompt` on its standard input.
    ///
    /// It has ended when this returns success, with everything that it started. Dropping the
    /// future, a flood and the limit return at once and leave the ending to the guard: SIGTERM, two
    /// seconds, SIGKILL. Must be called on a tokio runtime with IO and time.
    ///
    /// # Errors
    /// When there is no output to look at; a program that reports failure itself is no error here.
    pub async fn run(&self, prompt: &str) -> Result<Finished, Broken> {
        let mut tail = Tail::default();
        match timeout(self.timeout, self.run_unlimited(prompt, &mut tail)).await {
            Ok(ended) => ended.map(|(ending, stdout)| Finished { ending, stdout, stderr: tail }),
            Err(_) => Err(Broken::TimedOut(tail)),
        }
    }

    async fn run_unlimited(
        &self,
        prompt: &str,
        tail: &mut Tail,
    ) -> Result<(Ending, Vec<u8>), Broken> {
        let (mut lifeline, mut child) =
            self.start_guard().map_err(|error| Broken::Guard(error.to_string()))?;
        let guard = child.id();
        let _wakened = Wakened::of(&child);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut output = Vec::new();
        let reports = {
            let mut reading =
                pin!(async { tokio::try_join!(read(stdout, &mut output), keep(stderr, tail)) });
            let mut reports = pin!(converse(&mut lifeline, prompt));
            let mut read = false;
            let reports = loop {
                tokio::select! {
                    done = &mut reading, if !read => { done?; read = true; }
                    reports = &mut reports => break reports,
                }
            };
            if !read && let Ok(done) = timeout(DRAIN, reading).await {
                done?;
            }
            reports
        };
        let status = child.wait().await;
        let ending = match reports.last() {
            Some(Report::Exited(code)) => Ending::Exited(*code),
            Some(Report::Killed(signal)) => Ending::Killed(*signal),
            Some(Report::Unstartable(errno)) => {
                return Err(Broken::Unstartable(io::Error::from_raw_os_error(*errno)));
            }
            unfinished @ (Some(Report::Started(_)) | None) => {
                self.clean_up_after(guard, unfinished.copied());
                let status = status.map_or_else(|error| error.to_string(), |s| s.to_string());
                return Err(Broken::Guard(status));
            }
        };
        Ok((ending, output))
    }

    fn start_guard(&self) -> io::Result<(UnixStream, Child)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let ours = UnixStream::from_std(ours)?;
        let mut command = std::process::Command::new(&self.guard);
        command
            // Who looks for the daemon by its command line shall not find its guards.
            .arg0("antidrift-guard")
            .arg(GUARD_ARG)
            .args([&self.runtime_dir, &self.path])
            .args(&self.args)
            .current_dir("/")
            .env("NO_COLOR", "1")
            .env("TERM", "dumb")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if SCRUBBED.contains(&text.as_ref()) || text.starts_with("ANTIDRIFT_") {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // The command holds the guard's end of the socket: it must be gone before we wait for end
        // of file.
        let child = Command::from(command).spawn()?;
        Ok((ours, child))
    }

    /// After a guard that was killed: its program and its directory are ours to end.
    fn clean_up_after(&self, guard: Option<u32>, report: Option<Report>) {
        if let Some(Report::Started(raw)) = report
            && let Some(group) = Pid::from_raw(raw)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(guard) = guard {
            remove_scratch(&scratch_path(&self.runtime_dir, guard));
        }
    }
}

/// A guard that the judge has stopped goes on when its run is over: only then can it see that, and
/// end what it guards.
struct Wakened(Option<OwnedFd>);

impl Wakened {
    fn of(guard: &Child) -> Self {
        let pid = guard.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()))
    }
}

impl Drop for Wakened {
    fn drop(&mut self) {
        if let Some(guard) = &self.0 {
            let _ = pidfd_send_signal(guard, Signal::CONT);
        }
    }
}

/// Sends the prompt and reads what the guard reports until it ends. Our end must stay open all the
/// while.
async fn converse(lifeline: &mut UnixStream, prompt: &str) -> Vec<Report> {
    // A guard that died is noticed by what it does not report.
    let _ = lifeline.write_all(&frame(prompt)).await;
    let mut text = String::new();
    let _ = lifeline.take(REPORT_CAP).read_to_string(&mut text).await;
    text.lines().filter_map(Report::parse).collect()
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, output: &mut Vec<u8>) -> Result<(), Broken> {
    let Some(pipe) = pipe else { return Ok(()) };
    // What was read before an error still counts: the parser decides.
    let _ = pipe.take(OUTPUT_CAP as u64 + 1).read_to_end(output).await;
    if output.len() > OUTPUT_CAP { Err(Broken::Flood) } else { Ok(()) }
}

async fn keep(pipe: Option<impl AsyncRead + Unpin>, tail: &mut Tail) -> Result<(), Broken> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut chunk = [0; 4096];
    while let Ok(len @ 1..) = pipe.read(&mut chunk).await {
        tail.push(chunk.get(..len).unwrap_or_default());
    }
    Ok(())
}

/// Whether a program of this name would be found.
pub(crate) fn is_there(program: &str) -> bool {
    resolve(program).is_ok()
}

fn resolve(word: &str) -> Result<PathBuf, &'static str> {
    const MISSING: &str = "no such program";
    const NOT_EXECUTABLE: &str = "the file is not executable";
    let check = |path: &Path| {
        if !path.is_file() {
            return Err(MISSING);
        }
        access(path, Access::EXEC_OK).map_err(|_| NOT_EXECUTABLE)
    };
    if word.contains('/') {
        let path = std::path::absolute(word).map_err(|_| MISSING)?;
        return check(&path).map(|()| path);
    }
    let mut why = "no such program on PATH";
    // Relative entries would make the choice depend on where the daemon was started.
    for dir in
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).filter(|d| d.is_absolute())
    {
        let path = dir.join(word);
        match check(&path) {
            Ok(()) => return Ok(path),
            Err(NOT_EXECUTABLE) => why = NOT_EXECUTABLE,
            Err(_) => {}
        }
    }
    Err(why)
}

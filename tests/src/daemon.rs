use std::{
    fs,
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Home, Process, Timer, antidriftd, until};

/// What the daemon is configured with; durations in seconds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a window must keep the focus.
    pub settle: f64,
    /// Least time between two judges.
    pub debounce: f64,
    /// How long a judge may take.
    pub judge_timeout: f64,
    /// More lines of `[drift]`.
    pub drift: String,
    /// How long there is no input before a person is away; 0 for never.
    pub idle: f64,
    /// Instead of everything above and the judge.
    pub whole: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            settle: 0.1,
            debounce: 0.2,
            judge_timeout: 10.0,
            drift: String::new(),
            idle: 300.0,
            whole: None,
        }
    }
}

impl Settings {
    /// The configuration file, with the judge's program and arguments if there is a judge.
    pub fn to_toml(&self, judge: Option<&[String]>) -> String {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let judge = judge.map_or("backend = \"none\"\n".to_owned(), |argv| {
            format!("backend = \"command\"\ncommand = {argv:?}\n")
        });
        format!(
            "[judge]\n{judge}timeout_secs = {}\n[away]\nidle_secs = {}\n\
             [drift]\nsettle_secs = {}\ndebounce_secs = {}\n{}\n",
            self.judge_timeout, self.idle, self.settle, self.debounce, self.drift
        )
    }
}

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    process: Process,
    log: PathBuf,
}

impl Daemon {
    /// A command that starts it in the surroundings of `home`, without a display.
    pub fn command(home: &Home) -> Command {
        home.command(antidriftd())
    }

    /// Starts it and waits until it listens.
    #[track_caller]
    pub fn start(command: Command, home: &Home) -> Self {
        Self::start_at(command, home, &home.socket())
    }

    /// Starts it and waits until it listens there.
    #[track_caller]
    pub fn start_at(mut command: Command, home: &Home, socket: &Path) -> Self {
        let log =
            tempfile::Builder::new().prefix("daemon-").suffix(".log").tempfile_in(home.path());
        let (file, log) = log.unwrap().keep().unwrap();
        command.stdout(file.try_clone().unwrap()).stderr(file);
        let mut daemon = Self { process: Process::spawn(&mut command, "the daemon"), log };
        until("the daemon listens", || {
            assert!(daemon.process.is_running(), "the daemon ended: {}", daemon.log());
            std::os::unix::net::UnixStream::connect(socket).ok()
        });
        daemon
    }

    /// Runs it to its end, for starts that must fail. The code and what it said.
    #[track_caller]
    pub fn refuses(mut command: Command, home: &Home) -> (i32, String) {
        let log = tempfile::NamedTempFile::new_in(home.path()).unwrap();
        let file: File = log.reopen().unwrap();
        command.stdout(file.try_clone().unwrap()).stderr(file);
        let code = Process::spawn(&mut command, "the daemon").wait();
        (code, fs::read_to_string(log.path()).unwrap())
    }

    /// Its process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Lines of the log that hold this text.
    pub fn log_lines(&self, text: &str) -> usize {
        self.log().lines().filter(|line| line.contains(text)).count()
    }

    /// Sends SIGTERM and waits for a clean end.
    #[track_caller]
    pub fn stop(mut self) {
        let timer = Timer::start();
        let code = self.process.terminate();
        assert_eq!(code, 0, "after {:?}: {}", timer.passed(), self.log());
    }
}

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
};

use crate::{Home, PATIENCE, Process, Timer, antidrift};

/// What a command came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its exit code; negative for a signal.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

impl Outcome {
    /// Checks that it succeeded without a complaint, and gives what it printed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert!(self.code == 0 && self.stderr.is_empty(), "{self:?}");
        self.stdout
    }

    /// Checks that it failed with this code, and gives the complaint.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert!(self.code == code && !self.stderr.is_empty(), "{self:?}");
        self.stderr
    }
}

/// The client, in the surroundings of `home`.
pub fn command(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(antidrift());
    command.args(args);
    command
}

/// Runs a command to its end.
#[track_caller]
pub fn run(mut command: Command, scratch: &Path) -> Outcome {
    let file = |suffix| tempfile::Builder::new().suffix(suffix).tempfile_in(scratch).unwrap();
    let (stdout, stderr) = (file(".out"), file(".err"));
    command.stdout(stdout.reopen().unwrap()).stderr(stderr.reopen().unwrap());
    let code = Process::spawn(&mut command, "the client").wait();
    let text = |path: &Path| {
        String::from_utf8(std::fs::read(path).unwrap()).expect("the client prints UTF-8")
    };
    Outcome { code, stdout: text(stdout.path()), stderr: text(stderr.path()) }
}

/// A client that goes on printing: `antidrift watch` in a pipe.
#[derive(Debug)]
pub struct Watch {
    process: Process,
    lines: Receiver<String>,
    all: Vec<String>,
    stderr: std::path::PathBuf,
}

impl Watch {
    pub(crate) fn start(mut command: Command, home: &Home) -> Self {
        let complaints = tempfile::Builder::new().suffix(".watch").tempfile_in(home.path());
        let (file, stderr) = complaints.unwrap().keep().unwrap();
        command.stdout(Stdio::piped()).stderr(file);
        let mut process = Process::spawn(&mut command, "the client");
        let (sender, lines) = channel();
        let stdout = process.take_stdout().unwrap();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { process, lines, all: Vec::new(), stderr }
    }

    /// Its process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// What it complained about.
    pub fn complaints(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap()
    }

    /// Every line so far.
    pub fn lines(&mut self) -> &[String] {
        self.all.extend(self.lines.try_iter());
        &self.all
    }

    /// Waits for a further line like this.
    #[track_caller]
    pub fn until(&mut self, what: &str, so: impl Fn(&str) -> bool) -> String {
        let timer = Timer::start();
        loop {
            match self.lines.recv_timeout(timer.left(PATIENCE)) {
                Ok(line) => {
                    self.all.push(line.clone());
                    if so(&line) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!("watch printed no line with {what}, but {:#?}", self.all)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("watch ended without {what}: {:#?} {}", self.all, self.complaints())
                }
            }
        }
    }

    /// Waits for a further line with this text.
    #[track_caller]
    pub fn until_text(&mut self, text: &str) -> String {
        self.until(&format!("«{text}»"), |line| line.contains(text))
    }
}

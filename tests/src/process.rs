use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::until;

/// A process of ours; ended when it is dropped, by a panic too.
#[derive(Debug)]
pub struct Process {
    child: Child,
    program: String,
}

impl Process {
    /// Starts a program with nothing to read, or says which package has it.
    pub fn spawn(command: &mut Command, package: &str) -> Self {
        Self::spawn_with(command, Stdio::null(), package)
    }

    /// Starts a program with this as its standard input.
    pub fn spawn_with(command: &mut Command, stdin: impl Into<Stdio>, package: &str) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(stdin)
            .spawn()
            .unwrap_or_else(|error| panic!("{program} ({error}): install {package}"));
        Self { child, program }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard output, once, if it is a pipe.
    pub fn take_stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.stdout.take()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end. The code is negative for a signal.
    #[track_caller]
    pub fn wait(&mut self) -> i32 {
        let what = format!("{} ({}) ends", self.program, self.id());
        let status = until(&what, || self.child.try_wait().unwrap());
        status.code().unwrap_or_else(|| -status.signal().unwrap_or(0))
    }

    /// Asks it to end with SIGTERM and waits for that.
    #[track_caller]
    pub fn terminate(&mut self) -> i32 {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Kills it, as a crash would end it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// How often its threads gave up the processor by themselves, and their CPU time in
    /// nanoseconds.
    pub fn cost(&self) -> (u64, u64) {
        let tasks = PathBuf::from(format!("/proc/{}/task", self.id()));
        let (mut switches, mut nanoseconds) = (0, 0);
        for task in fs::read_dir(tasks).unwrap() {
            let task = task.unwrap().path();
            let status = fs::read_to_string(task.join("status")).unwrap();
            let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
            switches += line.unwrap().trim().parse::<u64>().unwrap();
            let times = fs::read_to_string(task.join("schedstat")).unwrap();
            nanoseconds += times.split_whitespace().next().unwrap().parse::<u64>().unwrap();
        }
        (switches, nanoseconds)
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        self.number("status", "VmRSS:")
    }

    /// Its share of the memory that it has in use, in KiB: what it shares with others is counted by
    /// their number.
    pub fn share_kib(&self) -> u64 {
        self.number("smaps_rollup", "Pss:")
    }

    /// How many children it has.
    pub fn children(&self) -> usize {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).unwrap();
        let of_task = |path: PathBuf| fs::read_to_string(path.join("children")).unwrap_or_default();
        tasks.flatten().map(|task| of_task(task.path()).split_whitespace().count()).sum()
    }

    /// How many threads it has.
    pub fn threads(&self) -> u64 {
        self.number("status", "Threads:")
    }

    /// How many descriptors it has open.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// A number in one of its files, as proc(5) names it.
    fn number(&self, file: &str, name: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

/// Whether a process has ended: gone, or only waiting for its parent to notice.
pub fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with(['Z', 'X']))
        || stat.is_empty()
}

/// Waits for the number that a script writes to a file.
#[track_caller]
pub fn until_number(path: &std::path::Path) -> u32 {
    until(&format!("a number in {}", path.display()), || {
        fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}

/// Waits until a process has ended.
#[track_caller]
pub fn until_gone(pid: u32) {
    until(&format!("process {pid} is gone"), || is_gone(pid).then_some(()));
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

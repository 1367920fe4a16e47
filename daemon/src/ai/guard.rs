//! The helper between the daemon and a judge's program: our own binary, started again with
//! [`GUARD_ARG`].
//!
//! It is a session of its own, gives the program a process group and an empty scratch directory,
//! and outlives both the program and the daemon just long enough to end whatever the program left
//! behind. Its standard input is a socket to the daemon, which does three things: it brings the
//! prompt, it takes the report, and its end of file is the order to end everything. The kernel
//! closes it however the daemon dies, so that needs no cooperation.
//!
//! There is no parent-death signal on purpose: it would end the guard before it could end the
//! program, and it follows the thread that spawned, not the process. The guard looks at its parent
//! once a second instead.

#![allow(
    clippy::disallowed_methods,
    reason = "a process of its own: there is no clock to be handed in"
)]

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process,
    kill_process_group, set_child_subreaper, setsid, wait, waitid,
};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, DirBuilder, Permissions},
    io::{self, Read, Write},
    os::{
        fd::AsFd,
        unix::{
            fs::{DirBuilderExt, PermissionsExt},
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// The hidden first argument that makes our binary a guard: `--judge-guard RUNTIME_DIR PROGRAM
/// [ARG…]`.
pub const GUARD_ARG: &str = "--judge-guard";

/// How long a group has between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long the guard goes on ending processes that left the group. Only unkillable ones take this
/// long.
const STRAYS: Duration = Duration::from_secs(1);

/// How often the guard looks whether its parent is still the daemon.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// The largest prompt in bytes, against a length that makes no sense.
const PROMPT_CAP: u32 = 1 << 20;

/// What the guard tells the daemon, one line each on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The program runs, with this process id, which is its group's id too.
    Started(i32),
    /// It could not be started: the error number.
    Unstartable(i32),
    /// It and all that it left behind are gone; its exit status.
    Exited(i32),
    /// The same; the signal that ended it.
    Killed(i32),
}

impl Report {
    fn line(self) -> String {
        match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::Unstartable(errno) => format!("unstartable {errno}\n"),
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Killed(signal) => format!("killed {signal}\n"),
        }
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, number) = line.split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "started" => Some(Self::Started(number)),
            "unstartable" => Some(Self::Unstartable(number)),
            "exited" => Some(Self::Exited(number)),
            "killed" => Some(Self::Killed(number)),
            _ => None,
        }
    }
}

/// A prompt as it goes over the socket: its length, then its bytes. End of file cannot mark its
/// end, since that is the order to stop.
pub(crate) fn frame(prompt: &str) -> Vec<u8> {
    let len = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
    let mut bytes = len.to_be_bytes().to_vec();
    bytes.extend_from_slice(prompt.as_bytes());
    bytes
}

/// The scratch directory of the guard with this process id. No living process can share it.
pub(crate) fn scratch_path(runtime_dir: &Path, guard: u32) -> PathBuf {
    runtime_dir.join(format!("judge-{guard}"))
}

/// Removes a directory that a program could do to what it liked, such as making parts of it
/// read-only.
pub(crate) fn remove_scratch(dir: &Path) {
    if fs::remove_dir_all(dir).is_err() {
        make_writable(dir);
        // What remains is on the runtime directory's tmpfs and goes with the login.
        let _ = fs::remove_dir_all(dir);
    }
}

fn make_writable(dir: &Path) {
    let _ = fs::set_permissions(dir, Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// What `main` does when the first argument is [`GUARD_ARG`]. Nothing is printed: standard error is
/// the program's.
#[must_use]
pub fn guard_main() -> ExitCode {
    let mut args = env::args_os().skip(2);
    let (Some(runtime_dir), Some(program)) = (args.next(), args.next()) else {
        return ExitCode::from(2);
    };
    match guard(Path::new(&runtime_dir), &program, &args.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn guard(runtime_dir: &Path, program: &OsStr, args: &[OsString]) -> io::Result<()> {
    let parent = getppid();
    setsid()?;
    // Processes that leave the program's group come back to us as children when their parents end.
    set_child_subreaper(Some(getpid()))?;
    // `killall antidriftd` means the daemon: we are to clean up after it, not to die with it.
    rustix::thread::set_name(c"antidrift-guard")?;
    // A copy, so that the program, which gets another standard input, does not inherit the socket.
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let prompt = read_prompt(&mut socket)?;

    let scratch = scratch_path(runtime_dir, std::process::id());
    let started = make_scratch(&scratch).and_then(|()| start(program, args, &scratch));
    let report = match started {
        Ok(child) => {
            send(&mut socket, Report::Started(id(&child)?.as_raw_nonzero().get()));
            let status = attend(child, prompt, &socket, parent);
            end_strays();
            match status {
                Ok(status) => status
                    .code()
                    .map_or(Report::Killed(status.signal().unwrap_or_default()), Report::Exited),
                Err(error) => Report::Unstartable(error.raw_os_error().unwrap_or_default()),
            }
        }
        Err(error) => Report::Unstartable(error.raw_os_error().unwrap_or_default()),
    };
    remove_scratch(&scratch);
    send(&mut socket, report);
    Ok(())
}

fn read_prompt(socket: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    socket.read_exact(&mut len)?;
    let len = u32::from_be_bytes(len);
    if len > PROMPT_CAP {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut prompt = Vec::new();
    socket.take(u64::from(len)).read_to_end(&mut prompt)?;
    if prompt.len() < len as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(prompt)
}

/// Nobody may be there to read it.
fn send(socket: &mut UnixStream, report: Report) {
    let _ = socket.write_all(report.line().as_bytes());
}

fn make_scratch(dir: &Path) -> io::Result<()> {
    // A guard that was killed may have left one under the same process id.
    remove_scratch(dir);
    DirBuilder::new().mode(0o700).create(dir)
}

fn start(program: &OsStr, args: &[OsString], scratch: &Path) -> io::Result<Child> {
    Command::new(program)
        .args(args)
        .current_dir(scratch)
        .env("TMPDIR", scratch)
        .stdin(Stdio::piped())
        // Not our own group: SIGKILL to it must leave us alive to end the strays.
        .process_group(0)
        .spawn()
}

enum Occasion {
    /// The program ended and is not yet reaped, so its process id still names its group and nothing
    /// else.
    Ended,
    /// The daemon cancels, or is gone.
    Cancelled,
}

/// Feeds the program, waits for its end or for a cancellation, and ends its group either way.
fn attend(
    mut child: Child,
    prompt: Vec<u8>,
    socket: &UnixStream,
    parent: Option<Pid>,
) -> io::Result<ExitStatus> {
    let group = id(&child)?;
    let (sender, occasions) = channel();
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || {
            // A program that never reads must not hold up the rest, and one that closes its input
            // early is free to.
            let _ = stdin.write_all(&prompt);
        });
    }
    watch_lifeline(socket.try_clone()?, sender.clone());
    watch_program(group, sender);

    if matches!(next(&occasions, parent), Occasion::Cancelled) {
        terminate(group, &occasions);
    }
    // After a normal end too. The leader is unreaped, so the number cannot mean anybody else's
    // group.
    let _ = kill_process_group(group, Signal::KILL);
    child.wait()
}

fn id(child: &Child) -> io::Result<Pid> {
    let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
    Pid::from_raw(raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn watch_lifeline(mut socket: UnixStream, sender: Sender<Occasion>) {
    thread::spawn(move || {
        let mut byte = [0];
        loop {
            match socket.read(&mut byte) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
            }
        }
        let _ = sender.send(Occasion::Cancelled);
    });
}

fn watch_program(leader: Pid, sender: Sender<Occasion>) {
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
        let _ = sender.send(Occasion::Ended);
    });
}

fn next(occasions: &Receiver<Occasion>, parent: Option<Pid>) -> Occasion {
    loop {
        match occasions.recv_timeout(PARENT_CHECK) {
            Ok(occasion) => return occasion,
            Err(RecvTimeoutError::Timeout) if getppid() == parent => {}
            Err(_) => return Occasion::Cancelled,
        }
    }
}

/// SIGTERM, then the grace for the leader and all other members alike.
fn terminate(group: Pid, occasions: &Receiver<Occasion>) {
    let deadline = Instant::now() + GRACE;
    let _ = kill_process_group(group, Signal::TERM);
    // A stopped process would otherwise use up the grace without having seen the signal.
    let _ = kill_process_group(group, Signal::CONT);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match occasions.recv_timeout(left) {
            Ok(Occasion::Cancelled) => {}
            Ok(Occasion::Ended) => break,
            Err(_) => return,
        }
    }
    while Instant::now() < deadline && processes().any(|p| p.group == group && !p.dead) {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends every process that descends from the program. The group is dead by now: what remains is, or
/// becomes when its parent ends, a child of ours, and only we can reap it, so that no process id
/// can have changed hands.
fn end_strays() {
    let deadline = Instant::now() + STRAYS;
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        if Instant::now() >= deadline {
            return;
        }
        for stray in processes().filter(|p| Some(getpid()) == p.parent) {
            let _ = kill_process(stray.pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

struct Process {
    pid: Pid,
    parent: Option<Pid>,
    group: Pid,
    dead: bool,
}

/// All processes that we may see, without those that end while we look.
fn processes() -> impl Iterator<Item = Process> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let stat = fs::read(entry.path().join("stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name before it is the program's own choice and may hold spaces and parentheses.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let dead = matches!(fields.next()?, "Z" | "X");
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        let group = Pid::from_raw(fields.next()?.parse().ok()?)?;
        Some(Process { pid, parent, group, dead })
    })
}

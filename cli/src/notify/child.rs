//! One run of a program that may hang: in a group of its own, watched through descriptors, and
//! always ended and reaped by its owner.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
};

use crate::clock;

/// How long a program has to end by itself when it is asked to. A watch must be gone within a
/// second, and one that is being ended may be followed by all the others at once.
const GOODBYE: Duration = Duration::from_millis(300);
/// Most that is kept of what it says.
const MOST: usize = 8192;

#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    /// Becomes readable when it has ended. Signals by number are safe as well: it is reaped only by
    /// us.
    exit: OwnedFd,
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    said: Vec<u8>,
}

impl Running {
    /// Starts it. With `prompt` it believes to write to a terminal, so that it does not keep its
    /// lines back until it ends.
    pub(super) fn spawn(mut command: Command, prompt: bool) -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        let terminal = if prompt { pty().ok() } else { None };
        let (output, stdout) = match terminal {
            Some((ours, theirs)) => (Some(ours), Stdio::from(theirs)),
            None => (None, Stdio::piped()),
        };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        // The command holds the other side of the terminal open.
        drop(command);
        let output = output.or_else(|| child.stdout.take().map(OwnedFd::from));
        let errors = child.stderr.take().map(OwnedFd::from);
        for pipe in output.iter().chain(&errors) {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        let exit = match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(exit) => exit,
            Err(error) => {
                // Without it the end cannot be waited for, so it must not live.
                let _ = child.kill();
                let _ = child.wait();
                return Err(error.into());
            }
        };
        Ok(Self { child, exit, output, errors, said: Vec::new() })
    }

    /// What to wait on: its end, and its output while there is some to come.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.exit.as_fd()].into_iter().chain(self.output.as_ref().map(AsFd::as_fd))
    }

    /// Takes in what there is of its output; whole lines come out.
    pub(super) fn lines(&mut self) -> Vec<String> {
        self.take_in();
        let mut lines = Vec::new();
        while let Some(end) = self.said.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.said.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line).trim().to_owned());
        }
        lines
    }

    /// All that it has said so far.
    pub(super) fn said(&mut self) -> String {
        self.take_in();
        String::from_utf8_lossy(&self.said).into_owned()
    }

    /// Takes in what there is of its output, so that it can go on writing.
    pub(super) fn take_in(&mut self) {
        let Some(output) = &self.output else { return };
        if read_some(output, &mut self.said) == Reading::Ended {
            self.output = None;
        }
    }

    /// What it complained of.
    pub(super) fn complaint(&mut self) -> String {
        let mut said = Vec::new();
        if let Some(errors) = &self.errors {
            read_some(errors, &mut said);
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks it to end (an interrupted notify-send withdraws its popup; a terminated one leaves it),
    /// and ends it when it does not.
    pub(super) fn end(self) {
        Self::end_all([self]);
    }

    /// The same for several, which take no longer than one.
    pub(super) fn end_all(all: impl IntoIterator<Item = Self>) {
        let mut all: Vec<Self> = all.into_iter().collect();
        all.retain_mut(|it| it.ended().is_none());
        for it in &all {
            let _ = kill_process_group(Pid::from_child(&it.child), Signal::INT);
        }
        let limit = clock::now() + GOODBYE;
        for it in &all {
            let left = limit.saturating_sub(clock::now());
            wait(&mut [PollFd::new(&it.exit, PollFlags::IN)], Some(left));
            // It has not been reaped yet, so the number is still its own, and what it started goes
            // with it.
            let _ = kill_process_group(Pid::from_child(&it.child), Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended().is_none() {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Waits for something to happen on descriptors. False when the time is over.
pub(super) fn wait(descriptors: &mut [PollFd<'_>], limit: Option<Duration>) -> bool {
    // An absurd limit is none.
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    // An interruption counts as something: the caller looks and waits again.
    !matches!(poll(descriptors, limit.as_ref()), Ok(0))
}

#[derive(PartialEq)]
enum Reading {
    More,
    Ended,
}

fn read_some(from: &OwnedFd, into: &mut Vec<u8>) -> Reading {
    let mut chunk = [0; 1024];
    loop {
        match rustix::io::read(from, &mut chunk) {
            Ok(0) => return Reading::Ended,
            Ok(read) => {
                let room = MOST.saturating_sub(into.len());
                into.extend(chunk.iter().take(read.min(room)));
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Reading::More,
            // A terminal whose other side is closed.
            Err(_) => return Reading::Ended,
        }
    }
}

fn pty() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    Ok((ours, theirs))
}

#[cfg(test)]
mod tests {
    use antidrift_tests::until_gone;

    use super::*;

    fn shell(script: &str, prompt: bool) -> Running {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Running::spawn(command, prompt).unwrap()
    }

    /// Lets the program say more until `found` gives something.
    fn listen<T>(running: &mut Running, mut found: impl FnMut(&mut Running) -> Option<T>) -> T {
        loop {
            if let Some(found) = found(running) {
                return found;
            }
            let mut fds: Vec<_> = running
                .descriptors()
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            assert!(wait(&mut fds, Some(Duration::from_secs(10))), "it hangs");
        }
    }

    #[test]
    fn lines_come_before_the_end_and_a_program_that_ignores_signals_is_ended() {
        for prompt in [true, false] {
            let mut running = shell("trap '' INT TERM; sleep 100 & echo $!; wait", prompt);
            let sleeper = listen(&mut running, |it| it.lines().into_iter().next());
            assert!(running.ended().is_none());
            running.end();
            // What it started is of its group, and gone with it.
            until_gone(sleeper.trim().parse().unwrap());
        }
    }

    #[test]
    fn output_and_complaints_are_bounded() {
        // Its complaints fit into the pipe: nobody reads them before its end.
        let script = "yes | head -c 60000 >&2; yes | head -c 200000; exit 3";
        let mut running = shell(script, false);
        let status = listen(&mut running, |it| {
            it.take_in();
            it.ended()
        });
        assert_eq!(status.code(), Some(3));
        assert_eq!(running.said(), "y\n".repeat(MOST / 2));
        assert_eq!(running.complaint(), "y\n".repeat(MOST / 2));
    }
}

//! A sign of life on a terminal while something takes longer than a person waits without one, and a
//! way out of it.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    stdio,
    termios::isatty,
};
use signal_hook::{consts::SIGINT, flag};

use crate::{clock, exit::Failure, out};

/// Before that nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);
const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
const PACE: Duration = Duration::from_millis(150);

/// Does some work, with a line on standard error meanwhile if that is a terminal. Ctrl-C and Ctrl-D
/// give it up then; `undone` is what that leaves undone.
pub(crate) fn during<T: Send + 'static>(
    what: &str,
    undone: &'static str,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if !isatty(stdio::stderr()) {
        return work();
    }
    let (interrupted, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    // In this order: once it is over the signal does what it always does.
    let _ = flag::register_conditional_default(SIGINT, Arc::clone(&over));
    let _ = flag::register(SIGINT, Arc::clone(&interrupted));
    let (done, result) = mpsc::channel();
    // Who gives up ends the program, and the thread with it.
    std::thread::spawn(move || done.send(work()));
    let result = turn(what, &interrupted, &result).unwrap_or(Err(Failure::Cancelled(undone)));
    over.store(true, Ordering::SeqCst);
    result
}

/// What came, unless it was given up.
fn turn<T>(what: &str, interrupted: &AtomicBool, result: &mpsc::Receiver<T>) -> Option<T> {
    let moves = out::can_move(env::var_os("TERM").as_deref());
    let begin = clock::now();
    let mut frames = FRAMES.iter().cycle();
    let mut shown = false;
    let result = loop {
        match result.recv_timeout(PACE) {
            Err(RecvTimeoutError::Timeout) => {}
            over => break over.ok(),
        }
        if interrupted.load(Ordering::SeqCst) || end_of_input() {
            break None;
        }
        let waited = clock::now() - begin;
        let line = match frames.next() {
            _ if waited < PATIENCE => continue,
            Some(frame) if moves => {
                format!("\r{frame} {what}, {} s (Ctrl-C cancels) ", waited.as_secs())
            }
            // A terminal that cannot go back gets it once.
            _ if !shown => format!("{what} (Ctrl-C cancels)\n"),
            _ => continue,
        };
        shown = true;
        let _ = out::write_all(stdio::stderr(), line.as_bytes());
    };
    // Ctrl-C leaves its sign, too.
    if moves && (shown || result.is_none()) {
        let _ = out::write_all(stdio::stderr(), b"\r\x1b[K");
    }
    result
}

/// Whether Ctrl-D was pressed. Lines that were typed meanwhile are for nobody.
fn end_of_input() -> bool {
    let stdin = stdio::stdin();
    let mut line = [0; 256];
    loop {
        let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
        let ready = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|n| n > 0);
        if !ready || !isatty(stdin) || !out::foreground(stdin) {
            return false;
        }
        match rustix::io::read(stdin, &mut line) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

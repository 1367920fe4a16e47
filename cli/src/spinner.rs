//! A sign of life on a terminal while something takes longer than a person waits without one, and a
//! way out of it.

use std::{
    env,
    process::exit,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::JoinHandle,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    stdio,
    termios::isatty,
};
use signal_hook::{consts::SIGINT, flag};

use crate::{
    clock,
    exit::{Exit, Failure},
    out,
};

/// Before that nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);
const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
const PACE: Duration = Duration::from_millis(150);

/// Runs until it is dropped, which takes its line away.
pub(crate) struct Spinner {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Ctrl-C is not ours any more.
    over: Arc<AtomicBool>,
}

/// Shows it on standard error, if that is a terminal. Ctrl-C and Ctrl-D end the program, which then
/// says what that leaves undone.
pub(crate) fn start(what: &'static str, undone: &'static str) -> Spinner {
    let over = Arc::new(AtomicBool::new(false));
    if !isatty(stdio::stderr()) {
        return Spinner { stop: None, thread: None, over };
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    // In this order: once it is over the signal does what it always does.
    let _ = flag::register_conditional_default(SIGINT, Arc::clone(&over));
    let _ = flag::register(SIGINT, Arc::clone(&interrupted));
    let (stop, stopped) = mpsc::channel();
    let thread = std::thread::Builder::new().spawn(move || {
        if turn(what, &interrupted, &stopped) == Turned::Cancelled {
            let failure = Failure::Cancelled(undone);
            out::complain(&failure.message().unwrap_or_default());
            // The other thread waits for an answer that nobody wants any more.
            exit(Exit::Cancelled as i32);
        }
    });
    Spinner { stop: Some(stop), thread: thread.ok(), over }
}

#[derive(PartialEq, Eq)]
enum Turned {
    ToTheEnd,
    Cancelled,
}

fn turn(what: &str, interrupted: &AtomicBool, stopped: &mpsc::Receiver<()>) -> Turned {
    let moves = out::can_move(env::var_os("TERM").as_deref());
    let begin = clock::now();
    let mut frames = FRAMES.iter().cycle();
    let mut shown = false;
    let turned = loop {
        if stopped.recv_timeout(PACE) != Err(RecvTimeoutError::Timeout) {
            break Turned::ToTheEnd;
        }
        if interrupted.load(Ordering::SeqCst) || end_of_input() {
            break Turned::Cancelled;
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
    if moves && (shown || turned == Turned::Cancelled) {
        let _ = out::write_all(stdio::stderr(), b"\r\x1b[K");
    }
    turned
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

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.over.store(true, Ordering::SeqCst);
    }
}

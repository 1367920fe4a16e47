//! A sign of life on a terminal while something takes longer than a person waits without one.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread::JoinHandle,
    time::Duration,
};

use rustix::{stdio, termios::isatty};

use crate::{clock, out};

/// Before that nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);
const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
const PACE: Duration = Duration::from_millis(150);

/// Runs until it is dropped, which takes its line away.
pub(crate) struct Spinner {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Shows it on standard error, if that is a terminal.
pub(crate) fn start(what: &'static str) -> Spinner {
    if !isatty(stdio::stderr()) {
        return Spinner { stop: None, thread: None };
    }
    let (stop, stopped) = mpsc::channel();
    let thread = std::thread::Builder::new().spawn(move || turn(what, &stopped)).ok();
    Spinner { stop: Some(stop), thread }
}

fn turn(what: &str, stopped: &mpsc::Receiver<()>) {
    if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let begin = clock::now();
    for frame in FRAMES.iter().cycle() {
        let seconds = (clock::now() - begin + PATIENCE).as_secs();
        let line = format!("\r{frame} {what}, {seconds} s (Ctrl-C cancels) ");
        let _ = out::write_all(stdio::stderr(), line.as_bytes());
        if stopped.recv_timeout(PACE) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    let _ = out::write_all(stdio::stderr(), b"\r\x1b[K");
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

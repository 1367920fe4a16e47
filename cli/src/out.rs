//! Writing to the standard streams: whole records, one write each, one line break at the end.

use std::{ffi::OsStr, io, os::fd::BorrowedFd};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::getpgrp,
    stdio,
    termios::tcgetpgrp,
};

use crate::exit::Failure;

/// Writes one record to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_record(stdio::stdout(), text).map_err(Failure::Output)
}

/// Writes one record. The line break at its end is added if it is missing, so that line readers get
/// the last line too.
pub(crate) fn write_record(to: BorrowedFd<'_>, text: &str) -> io::Result<()> {
    if text.ends_with('\n') {
        write_all(to, text.as_bytes())
    } else {
        write_all(to, format!("{text}\n").as_bytes())
    }
}

/// Writes everything, in one write if the other side takes it.
pub(crate) fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // The stream is shared with a program that made it non-blocking.
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::from_borrowed_fd(to, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Tells a person what went wrong. Nothing can be done if that fails too.
pub(crate) fn complain(message: &str) {
    complain_as_is(&format!("antidrift: {message}"));
}

/// Tells a person what might go wrong.
pub(crate) fn warn(message: &str) {
    complain(&format!("warning: {message}"));
}

/// A message that says by itself where it comes from.
pub(crate) fn complain_as_is(message: &str) {
    let _ = write_record(stdio::stderr(), message);
}

/// Whether colours may be used on a stream (<https://no-color.org>).
pub(crate) fn colours(stream: BorrowedFd<'_>) -> bool {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    var("NO_COLOR").is_none() && can_move(var("TERM").as_deref()) && rustix::termios::isatty(stream)
}

/// Whether the terminal knows escape sequences at all.
pub(crate) fn can_move(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| term != "dumb")
}

/// Whether we are in the foreground of our terminal. A process in the background is stopped when it
/// reads from it or changes its modes.
pub(crate) fn foreground(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}

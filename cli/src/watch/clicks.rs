//! Clicks that a bar writes to standard input: i3blocks 1.5 gives a program that persists the number
//! of the button, one a line.

use antidrift_protocol::paths::SocketPath;
use rustix::{
    fs::{FileType, OFlags, fcntl_getfl, fstat},
    io::Errno,
    stdio,
};

use crate::{args::button, commands::click};

/// Whether standard input is a pipe of our own. The one that i3blocks 1.4 leaves to its programs is
/// not: i3bar tells i3blocks on it of every click on any block, and a line that we read is lost. It
/// is told apart by the signals that i3blocks has asked for.
pub(super) fn are_ours() -> bool {
    let stdin = stdio::stdin();
    let pipe = fstat(stdin).is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Fifo);
    pipe && fcntl_getfl(stdin).is_ok_and(|flags| !flags.contains(OFlags::ASYNC))
}

/// Does what the clicks mean, until no more can come.
pub(super) fn serve(socket: &SocketPath) {
    // A click is two bytes, in one write. What else comes means nothing.
    let mut bytes = [0; 64];
    loop {
        let typed = match rustix::io::read(stdio::stdin(), &mut bytes) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return,
            Ok(read) => String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()),
        };
        for button in typed.lines().filter_map(|line| button(line.trim()).ok()) {
            // What becomes of it is seen in the bar; there is no other place to say it.
            let _ = click(socket, button);
        }
    }
}

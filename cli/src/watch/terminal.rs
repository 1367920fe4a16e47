//! The terminal's modes, and the keys that come from it.

use std::{
    io,
    sync::{Mutex, PoisonError, mpsc},
};

use antidrift_protocol::text::strip_escapes;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    stdio,
    termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetwinsize,
        tcsetattr,
    },
};

use crate::out::foreground;

use super::{Happening, model::Input, screen::LEAVE, view::Size};

/// The modes that the shell left, while ours are set. A static, because a panic anywhere has to
/// bring them back.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Whether a live view can be shown: on a terminal that knows escape sequences, in the foreground.
pub(super) fn interactive() -> bool {
    let term = std::env::var_os("TERM").filter(|term| !term.is_empty());
    crate::out::can_move(term.as_deref()) && isatty(stdio::stdout()) && foreground(stdio::stdout())
}

/// Whether keys come from standard input.
pub(super) fn has_keys() -> bool {
    isatty(stdio::stdin()) && foreground(stdio::stdin())
}

/// Keys come one by one and are not shown. Ctrl-C, Ctrl-Z and the like stay signals.
pub(super) fn take_keys() -> io::Result<()> {
    let mut modes = tcgetattr(stdio::stdin())?;
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    before.get_or_insert_with(|| modes.clone());
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdio::stdin(), OptionalActions::Now, &modes)?;
    Ok(())
}

/// As the shell left it. Does nothing when nothing was changed.
pub(super) fn give_back() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        let _ = tcsetattr(stdio::stdin(), OptionalActions::Now, &before);
    }
}

/// A panic in any thread gives the terminal back before its message is shown.
pub(super) fn survive_panics() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let _ = rustix::io::write(stdio::stdout(), LEAVE.as_bytes());
        give_back();
        shown(panic);
    }));
}

pub(super) fn size() -> Size {
    let size = tcgetwinsize(stdio::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or(Size { rows: 24, columns: 80 }, |size| Size {
        rows: usize::from(size.ws_row),
        columns: usize::from(size.ws_col),
    })
}

/// Reads keys until the terminal is gone. In the background it waits to be `resumed`.
pub(super) fn read_keys(resumed: &mpsc::Receiver<()>, tell: &dyn Fn(Happening) -> bool) {
    let stdin = stdio::stdin();
    let mut bytes = [0; 64];
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        if !foreground(stdin) {
            // What is typed now is for the shell. Nobody resumes us any more: the watch ends.
            if resumed.recv().is_err() {
                return;
            }
            continue;
        }
        match rustix::io::read(stdin, &mut bytes) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => return,
            Ok(read) => {
                let typed = bytes.get(..read).unwrap_or_default();
                for key in keys(typed) {
                    if !tell(Happening::Input(Input::Key(key))) {
                        return;
                    }
                }
            }
        }
    }
}

/// The letters among what was typed. Arrows, function keys and the like send escape sequences with
/// letters in them, which are no answers.
fn keys(typed: &[u8]) -> Vec<char> {
    let typed = String::from_utf8_lossy(typed);
    let mut parts = typed.split("\u{1b}O");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut chars = part.chars();
        chars.next();
        rest.push_str(chars.as_str());
    }
    strip_escapes(&rest).chars().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_special_keys_are_no_answers() {
        for (typed, expected) in [
            ("b", "b"),
            ("\u{1b}[Bt", "t"),
            ("e\u{1b}OQ", "e"),
            ("\u{1b}bq", "q"),
            ("\u{1b}[1;5B", ""),
            ("\u{4}", "\u{4}"),
        ] {
            assert_eq!(keys(typed.as_bytes()).iter().collect::<String>(), expected, "{typed:?}");
        }
    }
}

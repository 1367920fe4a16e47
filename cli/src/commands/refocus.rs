//! `antidrift refocus`

use antidrift_protocol::{Command, Refocus, Refocused};

use super::Daemon;
use crate::{args, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: &args::Refocus) -> Result<(), Failure> {
    // Not asked for is left out, so that a daemon that cannot do it takes the request, too.
    let activate = args.activate.then_some(true);
    let done: Refocused =
        daemon.ask(Command::Refocus(Refocus { activate, ..Refocus::default() }))?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print(&text(&done))
}

/// What holds from now on; whether there was a verdict before is not told.
pub(crate) fn text(done: &Refocused) -> String {
    let back = match &done.window {
        Some(window) => {
            format!("back to task; no verdict stands on {}", render::window(window))
        }
        None => "back to task".to_owned(),
    };
    match done.activated {
        Some(false) => format!("{back}\n{NOT_RAISED}"),
        _ => back,
    }
}

/// The daemon does not say which of these it is.
const NOT_RAISED: &str = "the window that was on task last could not be raised: there was none yet, \
                          it is closed, or the window manager keeps the focus";

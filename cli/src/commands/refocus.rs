//! `antidrift refocus`

use antidrift_protocol::{Command, Refocus, Refocused};

use super::Daemon;
use crate::{exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon) -> Result<(), Failure> {
    let done: Refocused = daemon.ask(Command::Refocus(Refocus::default()))?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print(&text(&done))
}

/// What holds from now on; whether there was a verdict before is not told.
pub(crate) fn text(done: &Refocused) -> String {
    match &done.window {
        Some(window) => {
            format!("back to task; no verdict stands on {}", render::window(window))
        }
        None => "back to task".to_owned(),
    }
}

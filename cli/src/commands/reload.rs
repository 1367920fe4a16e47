//! `antidrift reload`

use antidrift_protocol::{Command, NoArgs, Reloaded};

use super::Daemon;
use crate::{exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon) -> Result<(), Failure> {
    let reloaded: Reloaded = daemon.ask(Command::Reload(NoArgs {}))?;
    out::print(&text(&reloaded))
}

fn text(reloaded: &Reloaded) -> String {
    let changed: Vec<String> = reloaded.changed.iter().map(|key| render::message(key)).collect();
    let first = if changed.is_empty() {
        "reloaded: nothing has changed".to_owned()
    } else {
        format!("reloaded: {}", changed.join(", "))
    };
    let notes = reloaded.notes.iter().map(|note| format!("note: {}", render::message(note)));
    std::iter::once(first).chain(notes).collect::<Vec<_>>().join("\n")
}

//! `antidrift complete`

use antidrift_protocol::{Command, Complete, Completed};

use super::Daemon;
use crate::{args, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: args::Complete) -> Result<(), Failure> {
    let command =
        Command::Complete(Complete { outcome: args.outcome.map(Into::into), note: args.note });
    super::check(&command)?;
    let done: Completed = daemon.ask(command)?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print(&format!(
        "session ended: {}\nnext: antidrift review to say how it went, antidrift start TEXT, or antidrift end to close \
         the review",
        render::review(&done.review)
    ))
}

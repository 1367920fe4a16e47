//! `antidrift end`

use antidrift_protocol::{Command, Ended, NoArgs};

use super::Daemon;
use crate::{exit::Failure, out};

pub(super) fn run(daemon: &Daemon) -> Result<(), Failure> {
    let done: Ended = daemon.ask(Command::End(NoArgs {}))?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print("review closed")
}

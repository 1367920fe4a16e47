//! `antidrift end`

use antidrift_protocol::{Changed, Command, NoArgs};

use super::Daemon;
use crate::{exit::Failure, out};

pub(super) fn run(daemon: &Daemon) -> Result<(), Failure> {
    let done: Changed = daemon.ask(Command::End(NoArgs {}))?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print("review closed")
}

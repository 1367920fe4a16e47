//! `antidrift resume`

use antidrift_protocol::{Command, NoArgs, Status};

use super::Daemon;
use crate::{exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon) -> Result<(), Failure> {
    out::print(&text(&daemon.change(Command::Resume(NoArgs {}))?))
}

/// What it goes back to.
pub(crate) fn text(status: &Status) -> String {
    match &status.state.commitment {
        Some(commitment) => format!("back to: {}", render::typed(&commitment.text)),
        None => "back to task".to_owned(),
    }
}

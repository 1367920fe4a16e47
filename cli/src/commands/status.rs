//! `antidrift status`

use antidrift_protocol::{Command, NoArgs, Status};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args::Json, clock, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, how: &Json) -> Result<(), Failure> {
    let answer: Box<RawValue> = daemon.ask(Command::Status(NoArgs {}))?;
    super::show(&answer, how, |status: Status| {
        out::print(&render::status(&status, super::paint(), clock::local))
    })
}

//! `antidrift status`

use std::time::Duration;

use antidrift_protocol::{Command, NoArgs, Status};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{
    args,
    bar::{Bar, Face},
    clock,
    exit::Failure,
    out, render,
};

pub(super) fn run(daemon: &Daemon, args: &args::Status) -> Result<(), Failure> {
    if let Some(bar) = Bar::of(&args.bar)? {
        return out::print(&line(daemon, &bar));
    }
    let answer: Box<RawValue> = daemon.ask(Command::Status(NoArgs {}))?;
    super::show(&answer, &args.answer, |status: Status| {
        out::print(&render::status(&status, super::paint(), clock::local))
    })
}

/// The line for a bar, also where there is no daemon that could be asked.
fn line(daemon: &Daemon, bar: &Bar) -> String {
    let asked: Result<Status, Failure> = daemon.ask(Command::Status(NoArgs {}));
    let face = match asked {
        Ok(Status { state, .. }) => {
            let secs = state.commitment.as_ref().map_or(0, |commitment| commitment.elapsed_secs);
            Face::of(&state, Duration::from_secs(secs), false, bar.clock, clock::local)
        }
        Err(failure) => {
            if let Some(message) = failure.message() {
                out::complain(&message);
            }
            Face::down()
        }
    };
    bar.style.line(&face)
}

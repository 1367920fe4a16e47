//! `antidrift status`

use antidrift_protocol::{Command, NoArgs, Status};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args, clock, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: &args::Status) -> Result<(), Failure> {
    let command = Command::Status(NoArgs {});
    if args.json {
        // As the daemon wrote it: scripts get what this version does not know, too.
        let answer: Box<RawValue> = daemon.ask(command)?;
        return out::print(&render::json_line(answer.get()));
    }
    let status: Status = daemon.ask(command)?;
    out::print(&render::status(&status, super::paint(), clock::local))
}

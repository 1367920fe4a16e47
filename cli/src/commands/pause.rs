//! `antidrift pause`

use antidrift_protocol::{Command, Pause, Status};

use super::Daemon;
use crate::{
    args,
    clock::{Local, local},
    duration,
    exit::Failure,
    out, render,
};

pub(super) fn run(daemon: &Daemon, args: &args::Pause) -> Result<(), Failure> {
    let secs = match &args.time {
        None => None,
        Some(time) => Some(super::secs(&super::joined(time, &args.rest))?),
    };
    let status = daemon.change(Command::Pause(Pause { secs }))?;
    out::print(&text(&status, local))
}

/// How long, and how it ends.
pub(crate) fn text(status: &Status, local: Local) -> String {
    let Some((since, until)) =
        status.state.paused.as_ref().and_then(|paused| Some((paused.since_at, paused.until_at?)))
    else {
        return "paused; antidrift resume goes on".to_owned();
    };
    let length = duration::words(until.since(since).as_secs());
    format!("paused until {} ({length})", render::time_of_day(since, until, local))
}

//! `antidrift detour`

use antidrift_protocol::{Command, Status, TakeDetour};

use super::Daemon;
use crate::{
    args,
    clock::{Local, local},
    exit::Failure,
    out, render,
};

pub(super) fn run(daemon: &Daemon, args: &args::Detour) -> Result<(), Failure> {
    let (time, text) = split(args);
    let detour = TakeDetour { secs: super::secs(&time)?, text };
    let status = daemon.change(Command::Detour(detour))?;
    out::print(&answer(&status, local))
}

/// Duration and text: `until` and its time are two words.
fn split(args: &args::Detour) -> (String, String) {
    match args.text.as_slice() {
        [time, text @ ..] if args.time.eq_ignore_ascii_case("until") => {
            (format!("{} {time}", args.time), text.join(" "))
        }
        text => (args.time.clone(), text.join(" ")),
    }
}

fn answer(status: &Status, local: Local) -> String {
    let Some(detour) = &status.state.detour else { return "on a detour".to_owned() };
    let until = render::time_of_day(detour.since_at, detour.until_at, local);
    format!("detour until {until}: {}", render::typed(&detour.text))
}

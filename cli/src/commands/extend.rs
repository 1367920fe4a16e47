//! `antidrift extend`

use antidrift_protocol::{Command, Extend, NoArgs, Status, Timestamp};

use super::Daemon;
use crate::{
    args,
    clock::{Local, local},
    duration,
    exit::Failure,
    out, render,
};

pub(super) fn run(daemon: &Daemon, args: &args::Extend) -> Result<(), Failure> {
    let typed = super::joined(&args.time, &args.rest);
    let mut secs = super::secs(&typed)?;
    if duration::until(&typed).is_some() {
        // What is left already is no part of what is asked for.
        let status: Status = daemon.ask(Command::Status(NoArgs {}))?;
        secs = missing(secs, &status).ok_or_else(|| {
            Failure::Usage(
                "the session lasts until then already; use 10m for ten minutes more".into(),
            )
        })?;
    }
    let status = daemon.change(Command::Extend(Extend { secs }))?;
    out::print(&text(secs, &status, local))
}

/// How much more it takes for a session to last so many seconds from now. `None`: nothing.
fn missing(secs: u64, status: &Status) -> Option<u64> {
    let left = status.state.commitment.as_ref().and_then(|it| it.remaining_secs).unwrap_or(0);
    secs.checked_sub(u64::try_from(left).unwrap_or(0)).filter(|&secs| secs > 0)
}

/// How much more, and what that comes to.
pub(crate) fn text(secs: u64, status: &Status, local: Local) -> String {
    let more = format!("{} more", duration::words(secs));
    let left = status.state.commitment.as_ref().and_then(|it| it.remaining_secs);
    let Some(left) = left.and_then(|left| u64::try_from(left).ok()) else { return more };
    let end = i64::try_from(left).unwrap_or(i64::MAX).saturating_mul(1000);
    let end = Timestamp::from_millis(status.at.as_millis().saturating_add(end));
    let time = render::time_of_day(status.at, end, local);
    format!("{more}: until {time}, {} left", duration::words(left))
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::{Commitment, State};

    use super::*;

    fn left(remaining_secs: Option<i64>) -> Status {
        let commitment = Some(Commitment { remaining_secs, ..Commitment::default() });
        let at = "2026-11-30T13:00:00Z".parse().unwrap();
        Status { at, state: State { commitment, ..State::default() }, ..Status::default() }
    }

    #[test]
    fn until_a_time_is_what_is_missing_to_it() {
        for (remaining, secs) in [
            (Some(600), Some(1200)),
            (Some(1800), None),
            (Some(2000), None),
            (Some(-300), Some(1800)),
        ] {
            assert_eq!(missing(1800, &left(remaining)), secs, "{remaining:?}");
        }
        // Without a timebox it is for the daemon to refuse.
        assert_eq!(missing(1800, &left(None)), Some(1800));
        assert_eq!(missing(1800, &Status::default()), Some(1800));
    }

    #[test]
    fn the_answer_says_what_it_comes_to() {
        let text = |remaining| text(600, &left(remaining), render::tests::utc);
        assert_eq!(text(Some(2100)), "10 min more: until 13:35, 35 min left");
        assert_eq!(text(Some(42_000)), "10 min more: until Tue 00:40, 11 h 40 min left");
        assert_eq!(text(None), "10 min more");
    }
}

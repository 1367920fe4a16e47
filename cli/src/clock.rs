//! The one place that reads clocks, and the time zone.

use std::time::Duration;

use antidrift_protocol::Timestamp;
use jiff::{ZonedDateTime, tz::TimeZone};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Time since boot, sleep included: a countdown is right after the lid was closed.
pub(crate) fn now() -> Duration {
    duration(clock_gettime(ClockId::Boottime))
}

/// The wall clock.
pub(crate) fn wall() -> Timestamp {
    let since_epoch = duration(clock_gettime(ClockId::Realtime));
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// How an instant becomes what a clock on the wall shows: [`local`], or one zone in tests.
pub(crate) type Local = fn(Timestamp) -> ZonedDateTime;

/// An instant in the zone of `TZ` or `/etc/localtime`; in UTC if neither can be read. Finding the
/// zone reads files, so it is asked for when a time of day is shown, and not before.
pub(crate) fn local(at: Timestamp) -> ZonedDateTime {
    // A wire's instant is always within the calendar.
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    at.to_zoned_datetime(TimeZone::system())
}

/// The wall clock, in the local zone.
pub(crate) fn local_now() -> ZonedDateTime {
    local(wall())
}

fn duration(time: Timespec) -> Duration {
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

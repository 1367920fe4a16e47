//! The one place that reads clocks, and the time zone.

use std::{
    env,
    ffi::OsStr,
    fs::{self, Metadata},
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
    time::Duration,
};

use antidrift_protocol::{Timestamp, text};
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

/// Most characters of a time zone's name that a message repeats.
const SHOWN: usize = 40;

/// How an instant becomes what a clock on the wall shows: [`local`], or one zone in tests.
pub(crate) type Local = fn(Timestamp) -> ZonedDateTime;

/// An instant in the zone of `TZ` or `/etc/localtime`; in UTC if neither can be read. Finding the
/// zone reads files, so it is asked for when a time of day is shown, and not before.
pub(crate) fn local(at: Timestamp) -> ZonedDateTime {
    within(&zone().unwrap_or(TimeZone::UTC), at)
}

/// An instant in a zone.
pub(crate) fn within(zone: &TimeZone, at: Timestamp) -> ZonedDateTime {
    // A wire's instant is always within the calendar.
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    at.to_zoned_datetime(zone.clone())
}

/// Most bytes of a time zone's file; the largest there are have some thousands.
const MAX_ZONE: u64 = 1024 * 1024;

/// The zone of `TZ` or `/etc/localtime`.
///
/// # Errors
///
/// Why it cannot be read, in a sentence.
pub(crate) fn zone() -> Result<TimeZone, String> {
    let named = env::var_os("TZ");
    let file = match &named {
        Some(name) => {
            let name = name.as_bytes();
            PathBuf::from(OsStr::from_bytes(name.strip_prefix(b":").unwrap_or(name)))
        }
        None => PathBuf::from("/etc/localtime"),
    };
    let what = named.as_ref().map_or_else(
        || file.display().to_string(),
        |name| format!("TZ={}", text::terminal(&name.to_string_lossy(), SHOWN)),
    );
    // It would be read to its end, and a pipe or a device may have none.
    let endless = |meta: &Metadata| !meta.is_file() || meta.len() > MAX_ZONE;
    // A name that the machine knows is no file here, whatever else has that name.
    if fs::metadata(&file).is_ok_and(|meta| endless(&meta))
        && TimeZone::get(&file.to_string_lossy()).is_err()
    {
        return Err(format!("{what} is no time zone"));
    }
    match TimeZone::try_system() {
        // A machine that says nothing is in UTC.
        Err(_) if named.is_none() && !file.exists() => Ok(TimeZone::UTC),
        zone => zone.map_err(|_| format!("{what} is no time zone")),
    }
}

/// The wall clock, in the local zone.
pub(crate) fn local_now() -> ZonedDateTime {
    local(wall())
}

fn duration(time: Timespec) -> Duration {
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

//! The one place that reads clocks.

use std::time::Duration;

use antidrift_protocol::Timestamp;
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

fn duration(time: Timespec) -> Duration {
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

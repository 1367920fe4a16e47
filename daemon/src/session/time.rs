//! Time as the session is told it.

use std::time::Duration;

use antidrift_protocol::Timestamp;

/// One instant on three clocks, read together once a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Time since boot without suspend (`CLOCK_MONOTONIC`): debounce, limits, reminders and sums.
    pub awake: Duration,
    /// Time since boot with suspend (`CLOCK_BOOTTIME`): the timebox.
    pub boot: Duration,
    /// The wall clock: what people and files are told, and the timebox across a restart.
    pub wall: Timestamp,
}

impl Now {
    /// This instant, or `earlier` on each clock that must not run backwards and did.
    pub(super) fn not_before(self, earlier: Self) -> Self {
        Self {
            awake: self.awake.max(earlier.awake),
            boot: self.boot.max(earlier.boot),
            wall: self.wall,
        }
    }
}

/// Time since the session began, by the clock on the wall: suspend counts, and so does the time
/// without a daemon. A clock that is set does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopwatch {
    /// What had passed already at `base`.
    offset: Duration,
    base: Duration,
}

impl Stopwatch {
    pub(super) fn start(now: Now) -> Self {
        Self { offset: Duration::ZERO, base: now.boot }
    }

    /// Goes on from a start that only the wall clock remembers. A start in the future counts as
    /// now.
    pub(super) fn resume(started_at: Timestamp, now: Now) -> Self {
        Self { offset: now.wall.since(started_at), base: now.boot }
    }

    pub(super) fn elapsed(self, now: Now) -> Duration {
        self.offset + now.boot.saturating_sub(self.base)
    }
}

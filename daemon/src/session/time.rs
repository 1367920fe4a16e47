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

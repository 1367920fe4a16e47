//! When a title is a storm: a spinner, a counter, a video's clock.
//!
//! Following each change costs the sensor and the X server alike. So after a few reads in a row the
//! window's changes are no longer asked for; its title is read at intervals instead, until two
//! reads agree. Then the changes are asked for again and the title is read once more, so nothing
//! falls between.

use std::time::Duration;

/// Pause between the reads of a storm.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);
/// This many reads within [`WINDOW_MS`] are a storm.
const READS: usize = 4;
const WINDOW_MS: u32 = 200;

/// When the last titles were read, on the X server's clock (milliseconds, wrapping every 49 days).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calm {
    times: [u32; READS],
    read: usize,
}

impl Calm {
    /// Takes note of a read for a change at `time`; true when the storm has begun.
    pub(super) fn is_storm_after(&mut self, time: u32) -> bool {
        let oldest = self.times[(self.read + 1) % READS];
        self.times[self.read % READS] = time;
        self.read += 1;
        self.read >= READS && time.wrapping_sub(oldest) <= WINDOW_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storm_at(times: &[u32]) -> Option<usize> {
        let mut calm = Calm::default();
        times.iter().position(|time| calm.is_storm_after(*time))
    }

    #[test]
    fn the_fourth_read_within_200_ms_begins_a_storm() {
        assert_eq!(storm_at(&[0, 1, 2, 3]), Some(3));
        assert_eq!(storm_at(&[1000, 1070, 1130, 1200]), Some(3));
        assert_eq!(storm_at(&[1000, 1070, 1130, 1201]), None);
        assert_eq!(storm_at(&[0, 0, 0]), None);
    }

    #[test]
    fn twelve_frames_a_second_are_none() {
        let frames: Vec<u32> = (0..100).map(|n| n * 83).collect();
        assert_eq!(storm_at(&frames), None);
    }

    #[test]
    fn only_the_last_reads_count_and_the_clock_may_wrap() {
        assert_eq!(storm_at(&[0, 500, 1000, 1010, 1020, 1030]), Some(5));
        assert_eq!(storm_at(&[u32::MAX - 50, u32::MAX, 20, 60]), Some(3));
    }
}

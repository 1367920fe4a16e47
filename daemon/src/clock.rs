//! The only place that reads clocks, and the controller's only timer.

use std::{io, os::fd::OwnedFd, time::Duration};

use antidrift_protocol::Timestamp;
use rustix::{
    io::Errno,
    time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
        clock_gettime, timerfd_create, timerfd_settime,
    },
};
use tokio::io::{Interest, unix::AsyncFd};

use crate::{fd, session::Now};

/// Reads the three clocks. Once a step: everything in one step happens at one instant.
pub fn now() -> Now {
    let wall = clock_gettime(ClockId::Realtime);
    let millis = wall.tv_sec.saturating_mul(1000).saturating_add(wall.tv_nsec / 1_000_000);
    Now {
        awake: duration(clock_gettime(ClockId::Monotonic)),
        boot: duration(clock_gettime(ClockId::Boottime)),
        wall: Timestamp::from_millis(millis),
    }
}

/// Both clocks count up from boot, so neither part is ever negative.
fn duration(time: Timespec) -> Duration {
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanos)
}

/// One alarm on the clock that counts suspend, so that what was due while the machine slept is due
/// on waking and not a sleep later (a runtime's own timers stand still meanwhile).
#[derive(Debug)]
pub struct Timer {
    fd: AsyncFd<OwnedFd>,
    /// When it goes off, as time since boot.
    armed: Option<Duration>,
}

impl Timer {
    /// A timer that is not armed. Needs a runtime.
    ///
    /// # Errors
    ///
    /// The process is out of descriptors.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Boottime, flags)?;
        Ok(Self { fd: fd::watch(fd, Interest::READABLE)?, armed: None })
    }

    /// Goes off once, `after` from `now`; `None` never. Replaces what was set before.
    ///
    /// # Errors
    ///
    /// None that a valid timer can have; the kernel's word is passed on all the same.
    pub fn set(&mut self, after: Option<Duration>, now: Now) -> io::Result<()> {
        let at = after.map(|after| whole_millis(now.boot.saturating_add(after)));
        if at == self.armed {
            return Ok(());
        }
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // All zero would disarm: a deadline at boot itself has passed long ago.
        let value = at.map_or(zero, |at| timespec(at.max(Duration::from_nanos(1))));
        timerfd_settime(
            self.fd.get_ref(),
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: zero, it_value: value },
        )?;
        self.armed = at;
        Ok(())
    }

    /// Waits until it goes off. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set).
    pub async fn fired(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.fd.readable_mut().await?;
            let mut ticks = [0; 8];
            match rustix::io::read(ready.get_inner(), &mut ticks) {
                // Not cleared after a full read: the next read finds out, without a lost edge.
                Ok(_) => {}
                Err(Errno::AGAIN) => {
                    ready.clear_ready();
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            drop(ready);
            self.armed = None;
            return Ok(());
        }
    }
}

/// Deadlines reckoned from one clock and set on another differ by some nanoseconds each time; in
/// whole milliseconds they are the same, which spares a system call a step.
fn whole_millis(time: Duration) -> Duration {
    let millis = time.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(test: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
    }

    #[test]
    fn clocks_agree_with_the_system() {
        let (a, b) = (now(), now());
        assert!(a.awake <= b.awake && a.boot <= b.boot);
        // No machine that runs this was last set before 2020.
        assert!(a.wall.as_millis() > 1_577_836_800_000);
        assert!(a.boot + Duration::from_millis(1) >= a.awake);
    }

    #[test]
    fn fires_once_and_not_before_its_time() {
        run(async {
            let mut timer = Timer::new().unwrap();
            let start = now();
            timer.set(Some(Duration::from_millis(20)), start).unwrap();
            timer.fired().await.unwrap();
            assert!(now().boot >= start.boot + Duration::from_millis(20));
            let again = tokio::time::timeout(Duration::from_millis(30), timer.fired()).await;
            assert!(again.is_err(), "it went off twice");
        });
    }

    #[test]
    fn the_last_setting_counts() {
        run(async {
            let mut timer = Timer::new().unwrap();
            timer.set(Some(Duration::from_secs(3600)), now()).unwrap();
            timer.set(Some(Duration::ZERO), now()).unwrap();
            timer.fired().await.unwrap();
            timer.set(Some(Duration::from_millis(5)), now()).unwrap();
            timer.set(None, now()).unwrap();
            assert!(tokio::time::timeout(Duration::from_millis(40), timer.fired()).await.is_err());
            timer.set(Some(Duration::MAX), now()).unwrap();
        });
    }
}

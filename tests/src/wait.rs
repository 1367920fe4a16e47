use std::{
    thread,
    time::{Duration, Instant},
};

/// How long anything may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(5);

/// Measures from its start on: the one place where the tests read a clock.
#[derive(Clone, Copy, Debug)]
pub struct Timer(Instant);

#[expect(clippy::disallowed_methods, reason = "tests run in real time")]
impl Timer {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn passed(self) -> Duration {
        self.0.elapsed()
    }

    /// What is left of a limit.
    pub fn left(self, limit: Duration) -> Duration {
        limit.saturating_sub(self.passed())
    }
}

/// Waits until `found` gives something; panics, naming `what`, when it does not within
/// [`PATIENCE`].
#[track_caller]
pub fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let timer = Timer::start();
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(timer.passed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::sleep(STEP);
    }
}

/// Looks at a condition for the whole of `span`: for what must not happen, of which no event tells
/// that it did not.
#[track_caller]
pub fn holds_for(span: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let timer = Timer::start();
    while timer.passed() < span {
        assert!(holds(), "after {:?} no longer: {what}", timer.passed());
        thread::sleep(STEP);
    }
}

/// Waits until what `look` gives has stayed the same for the whole of `span`, and gives it: for what
/// is to come to rest before it is measured. Panics if it does not rest within [`PATIENCE`].
#[track_caller]
pub fn until_still<T: PartialEq>(span: Duration, what: &str, mut look: impl FnMut() -> T) -> T {
    let timer = Timer::start();
    let (mut last, mut since) = (look(), Timer::start());
    while since.passed() < span {
        assert!(timer.passed() < PATIENCE + span, "not still within {PATIENCE:?}: {what}");
        thread::sleep(STEP);
        let now = look();
        if now != last {
            (last, since) = (now, Timer::start());
        }
    }
    last
}

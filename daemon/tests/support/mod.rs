//! A desktop for one test: an X server of its own, a window manager or none, windows made to
//! order, and a sensor whose observations are kept.
#![allow(dead_code, unused_imports, reason = "each test binary uses another part")]

mod desk;
mod watch;

pub(crate) use desk::{Desk, Manager, OwnChild};
pub(crate) use watch::{Watch, settings, title_of};

use std::thread;
use std::time::Duration;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(5);

/// Waits until `found` gives something; a panic that names `what` when it does not in time.
pub(crate) fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let steps = PATIENCE.as_millis() / STEP.as_millis();
    for _ in 0..steps {
        if let Some(value) = found() {
            return value;
        }
        thread::sleep(STEP);
    }
    panic!("{what}: not within {PATIENCE:?}");
}

//! For tests of the sensor on real servers: window managers, windows made to order, and a sensor
//! whose observations are kept.
#![allow(dead_code, unused_imports, reason = "each test binary uses another part")]

mod watch;

use antidrift_tests::{Desktop, Manager, TestWindow, WindowSpec};

pub(crate) use watch::{Watch, settings, title_of};

/// Every window manager.
pub(crate) const MANAGERS: [Manager; 3] = [Manager::Openbox, Manager::I3, Manager::Bspwm];

/// A mapped top level with the properties that toolkits set.
pub(crate) fn top_level<'a>(
    desk: &'a Desktop,
    instance: &str,
    class: &str,
    title: &str,
) -> TestWindow<'a> {
    WindowSpec::new(title).identity(instance, class).open(desk)
}

/// Puts a manager to work where there is none.
pub(crate) fn manage(desk: &Desktop, manager: Manager) {
    desk.manage(manager, "", &|program| desk.command(program));
}

/// One that says nothing of itself and is not shown yet.
pub(crate) fn blank() -> WindowSpec {
    WindowSpec::new("").without_class().without_title().unmapped()
}

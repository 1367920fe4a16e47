//! Signs that nobody is there, as extensions of the server tell of them: no input (SYNC's counter
//! `IDLETIME`) and a blanked screen (MIT-SCREEN-SAVER). A server without one of them gives that
//! sign never.
//!
//! Nothing is told of a monitor that DPMS switched off: no event before DPMS 1.2, and x11rb 0.14
//! takes that version's event to be longer than it is. Who switches it off sends no input either.

use std::time::Duration;

use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyOrIdError};
use x11rb::protocol::Event;
use x11rb::protocol::screensaver::{self, ConnectionExt as _};
use x11rb::protocol::sync::{self, Alarm, ConnectionExt as _, Int64, TESTTYPE, VALUETYPE};
use x11rb::protocol::xproto::Window as WindowId;

use super::Conn;
use super::read::answer;

/// Milliseconds since the last input.
const IDLE_COUNTER: &[u8] = b"IDLETIME";

/// The counter does not rest at 0 on return, and a threshold next to it might never be passed.
const SHORTEST: Duration = Duration::from_millis(100);

/// What one connection's server tells.
#[derive(Debug)]
pub(super) struct Signs {
    root: WindowId,
    alarms: Option<Alarms>,
    /// No input for as long as was asked for.
    pub(super) idle: bool,
    /// The screen saver has the screen: X's own, or one that speaks for itself through it.
    pub(super) blank: bool,
}

/// Both go off each time that the counter passes, for ever: a test for a transition with delta 0
/// is never used up.
#[derive(Clone, Copy, Debug)]
struct Alarms {
    idle: Alarm,
    back: Alarm,
}

impl Signs {
    /// Asks for the events first and for the present state after it, so no change falls between.
    pub(super) fn start(
        conn: &Conn,
        root: WindowId,
        idle_after: Option<Duration>,
    ) -> Result<Self, ConnectionError> {
        let mut signs = Self { root, alarms: None, idle: false, blank: false };
        signs.watch_saver(conn)?;
        if let Some(after) = idle_after {
            signs.watch_input(conn, after)?;
        }
        Ok(signs)
    }

    /// No signs: a server that sees only a part of the input and of the screen (Xwayland) must not
    /// say that nobody is there.
    pub(super) fn none(root: WindowId) -> Self {
        Self { root, alarms: None, idle: false, blank: false }
    }

    /// Takes note of what an event says.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::ScreensaverNotify(event) if event.root == self.root => {
                self.blank = is_on(event.state);
            }
            Event::SyncAlarmNotify(event) => {
                let Some(alarms) = self.alarms else { return };
                if event.alarm == alarms.idle {
                    self.idle = true;
                } else if event.alarm == alarms.back {
                    self.idle = false;
                }
            }
            _ => {}
        }
    }

    fn watch_saver(&mut self, conn: &Conn) -> Result<(), ConnectionError> {
        if conn.extension_information(screensaver::X11_EXTENSION_NAME)?.is_none() {
            return Ok(());
        }
        if answer(conn.screensaver_query_version(1, 1)?.reply())?.is_none() {
            return Ok(());
        }
        conn.screensaver_select_input(self.root, screensaver::Event::NOTIFY_MASK)?;
        let info = answer(conn.screensaver_query_info(self.root)?.reply())?;
        self.blank = info.is_some_and(|info| is_on(info.state.into()));
        Ok(())
    }

    fn watch_input(&mut self, conn: &Conn, after: Duration) -> Result<(), ConnectionError> {
        if conn.extension_information(sync::X11_EXTENSION_NAME)?.is_none() {
            return Ok(());
        }
        // the protocol wants this to be the first request
        if answer(conn.sync_initialize(3, 1)?.reply())?.is_none() {
            return Ok(());
        }
        let Some(counters) = answer(conn.sync_list_system_counters()?.reply())? else {
            return Ok(());
        };
        let Some(idle) = counters.counters.iter().find(|it| it.name == IDLE_COUNTER) else {
            return Ok(());
        };
        let after = i64::try_from(after.max(SHORTEST).as_millis()).unwrap_or(i64::MAX);
        let alarm = |test: TESTTYPE, value: i64| -> Result<Option<Alarm>, ConnectionError> {
            let alarm = match conn.generate_id() {
                Ok(id) => id,
                Err(ReplyOrIdError::ConnectionError(error)) => return Err(error),
                Err(_) => return Ok(None),
            };
            let aux = sync::CreateAlarmAux::new()
                .counter(idle.counter)
                .value_type(VALUETYPE::ABSOLUTE)
                .value(int64(value))
                .test_type(test)
                .delta(int64(0))
                .events(1);
            conn.sync_create_alarm(alarm, &aux)?;
            Ok(Some(alarm))
        };
        let went = alarm(TESTTYPE::POSITIVE_TRANSITION, after)?;
        let came = alarm(TESTTYPE::NEGATIVE_TRANSITION, after - 1)?;
        let (Some(went), Some(came)) = (went, came) else { return Ok(()) };
        self.alarms = Some(Alarms { idle: went, back: came });
        // one who has long gone passes no threshold any more
        let now = answer(conn.sync_query_counter(idle.counter)?.reply())?;
        self.idle = now.is_some_and(|now| value(now.counter_value) >= after);
        Ok(())
    }
}

fn is_on(state: screensaver::State) -> bool {
    state == screensaver::State::ON || state == screensaver::State::CYCLE
}

fn int64(value: i64) -> Int64 {
    Int64 { hi: (value >> 32) as i32, lo: value as u32 }
}

fn value(value: Int64) -> i64 {
    (i64::from(value.hi) << 32) | i64::from(value.lo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_in_two_halves() {
        for number in [0, 1, -1, 300_000, i64::from(u32::MAX), i64::MAX, i64::MIN] {
            assert_eq!(value(int64(number)), number);
        }
    }
}

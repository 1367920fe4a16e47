//! The X11 sensor: one connection on one thread that sleeps until the X server says something.
//!
//! Standards: EWMH for what a window manager tells on the root window, ICCCM for a client's own
//! properties, the X protocol's FocusIn and FocusOut where no window manager speaks EWMH; the SYNC and
//! MIT-SCREEN-SAVER extensions for whether anybody is there.

mod atoms;
mod calm;
mod cover;
mod desk;
mod focus;
mod link;
mod read;
mod signs;
mod watcher;

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use x11rb::errors::{ConnectError, ReplyError};

pub use self::desk::{Errand, Recall};
use self::link::{Link, Stop};
use self::watcher::{Timers, Watcher};
use super::{Absence, Focus, Health, Observation, Settings, Sink};

/// The pause after a lost or refused connection, doubled up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A connection whose every wait can be ended by [`SensorHandle::stop`].
type Conn = x11rb::rust_connection::RustConnection<Link>;

/// Keeps the sensor's thread running; dropping it ends the thread.
///
/// The thread is told, not waited for: it ends at once unless the sink blocks, and a process that
/// exits need not care about it.
#[derive(Debug)]
pub struct SensorHandle {
    stop: Arc<Stop>,
    thread: JoinHandle<()>,
}

impl SensorHandle {
    /// Tells the thread to end, whatever it waits for.
    pub fn stop(&self) {
        self.stop.request();
    }

    /// Whether the thread has ended: after [`stop`](Self::stop), or because there is no display
    /// that could ever be connected to.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

impl Drop for SensorHandle {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts watching the focused window of an X display. Everything that goes wrong later is told
/// as [`Health`]; an error here means that the process is out of threads or descriptors.
pub fn spawn(settings: Settings, sink: Sink) -> io::Result<SensorHandle> {
    let stop = Arc::new(Stop::new()?);
    let timers = Timers::new()?;
    let sensor = Sensor {
        settings,
        stop: Arc::clone(&stop),
        timers,
        output: Output { sink, last: None },
        told: false,
    };
    let thread = thread::Builder::new().name("x11-sensor".into()).spawn(move || sensor.run())?;
    Ok(SensorHandle { stop, thread })
}

/// Passes on what differs from the observation before.
struct Output {
    sink: Sink,
    last: Option<Observation>,
}

impl Output {
    fn put(&mut self, observation: Observation) {
        if self.last.as_ref() != Some(&observation) {
            self.last = Some(observation.clone());
            (self.sink)(observation);
        }
    }
}

/// Connects, watches, and connects again.
struct Sensor {
    settings: Settings,
    stop: Arc<Stop>,
    timers: Timers,
    output: Output,
    /// Whether the log was told of the present trouble, so that it is told once.
    told: bool,
}

impl Sensor {
    fn run(mut self) {
        let Some(display) = self.settings.display.clone().filter(|name| !name.is_empty()) else {
            return self.trouble(Health::Unavailable("no X display: DISPLAY is not set".into()));
        };
        let mut pause = FIRST_PAUSE;
        loop {
            let reason = match link::connect(&display, &self.stop) {
                Ok((conn, screen)) => {
                    let error = self.watch(&conn, screen, &mut pause);
                    tracing::debug!(%error, "the X connection ended");
                    format!("the X server at {display} has gone away")
                }
                Err(
                    error @ (ConnectError::DisplayParsingError(_) | ConnectError::InvalidScreen),
                ) => {
                    // neither can come true by waiting
                    let reason = format!("DISPLAY is «{display}»: {error}");
                    return self.trouble(Health::Unavailable(one_line(&reason)));
                }
                Err(error) => one_line(&refusal(&display, &error)),
            };
            if self.stop.is_requested() {
                return;
            }
            self.trouble(Health::Connecting(reason));
            if self.stop.pause(pause) {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Watches until the connection breaks, or a wait on it fails because it is told to stop.
    fn watch(&mut self, conn: &Conn, screen: usize, pause: &mut Duration) -> ReplyError {
        let started = Watcher::start(conn, screen, &self.settings, &self.timers, &mut self.output);
        let mut watcher = match started {
            Ok(watcher) => watcher,
            Err(error) => return error,
        };
        if std::mem::take(&mut self.told) {
            tracing::info!("the focused window is seen again");
        }
        loop {
            if let Err(error) = watcher.step() {
                return error.into();
            }
            // not before: a server that ends each connection at once is asked ever less often
            *pause = FIRST_PAUSE;
        }
    }

    fn trouble(&mut self, health: Health) {
        if let Health::Connecting(reason) | Health::Unavailable(reason) = &health
            && !self.told
        {
            tracing::warn!("the focused window cannot be seen: {reason}");
            self.told = true;
        }
        self.output.put(Observation { health, focus: Focus::Nothing, absence: Absence::default() });
    }
}

/// Why there is no connection, in words.
fn refusal(display: &str, error: &ConnectError) -> String {
    match error {
        ConnectError::IoError(error) => format!("no X server at {display} ({error})"),
        _ => format!("the X server at {display} refuses: {error}"),
    }
}

/// A server's own words may be long and hold line breaks.
fn one_line(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    text.trim_end().chars().map(clean).take(200).collect()
}

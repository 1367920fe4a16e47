//! Where window observations come from. X11 is the first sensor; each runs on a thread of its own
//! and hands over the newest observation, so a slow reader costs it nothing.

mod charsets;
mod terminal;
pub mod text;
mod x11;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::evidence::Window;

pub use x11::{Errand, Recall, SensorHandle, spawn};

/// What a window sensor last saw. The newest replaces the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Whether the sensor can see.
    pub health: Health,
    /// What has the focus.
    pub focus: Focus,
    /// What the display tells of the person.
    pub absence: Absence,
}

/// Signs that nobody is there, as one source sees them. Any sign counts; a source that cannot see
/// gives none, so what is not known is present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Absence {
    /// No input for as long as the configuration says.
    pub idle: bool,
    /// The screen is locked or blank.
    pub locked: bool,
    /// The machine is about to sleep, or sleeps.
    pub asleep: bool,
}

/// What has the input focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Focus {
    /// This window.
    Window(Arc<Window>),
    /// No window (an empty workspace, the root, or a sensor that cannot see).
    Nothing,
}

/// Whether a sensor works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It sees the focus. The text is a plain limitation a person should know («only XWayland
    /// windows are seen»), if there is one.
    Ok(Option<String>),
    /// It is trying to connect, for the reason given.
    Connecting(String),
    /// There is nothing to connect to, for the reason given, and waiting will not change that.
    Unavailable(String),
}

/// Takes each observation that differs from the one before. It is called on the sensor's thread
/// and must not block.
pub type Sink = Box<dyn FnMut(Observation) + Send>;

/// What the sensor needs to know of its environment; it reads none of it itself, but for the
/// authority file that Xlib's rules name.
#[derive(Clone)]
pub struct Settings {
    /// `DISPLAY`.
    pub display: Option<String>,
    /// Whether this is a Wayland session (`WAYLAND_DISPLAY` is set, or `XDG_SESSION_TYPE` is
    /// `wayland`): the X server is then Xwayland and sees its own windows only.
    pub wayland: bool,
    /// How long there is no input before a person counts as idle; `None`: that is not looked at.
    pub idle_after: Option<Duration>,
    /// Whether windows of this class (second string of `WM_CLASS`) are terminals, so that their
    /// foreground command is looked up.
    pub is_terminal: fn(&str) -> bool,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("display", &self.display)
            .field("wayland", &self.wayland)
            .field("idle_after", &self.idle_after)
            .finish_non_exhaustive()
    }
}

//! Where window observations come from. X11 is the first sensor; each runs on a thread of its own
//! and hands over the newest observation, so a slow reader costs it nothing.

use std::sync::Arc;

use crate::evidence::Window;

/// What a sensor last saw. The newest replaces the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Whether the sensor can see.
    pub health: Health,
    /// What has the focus.
    pub focus: Focus,
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
    /// There is nothing to connect to, for the reason given; it keeps trying with long pauses.
    Unavailable(String),
}

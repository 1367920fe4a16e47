//! The window that is reported, and what is read of it again: its title and whether it fills the
//! screen.

use std::sync::Arc;

use x11rb::errors::ConnectionError;

use super::{Waiting, Watcher};
use crate::evidence::Window;
use crate::sensor::x11::calm::{self, Calm};
use crate::sensor::x11::read::{Identity, Terminal, Title};

/// The window that is reported.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) window: Arc<Window>,
    pub(super) net_title: bool,
    pub(super) terminal: Option<Terminal>,
    pub(super) calm: Calm,
}

impl Watcher<'_> {
    /// The title of the current window has changed at `time`.
    pub(super) fn read_title(&mut self, time: u32) -> Result<(), ConnectionError> {
        let Some(current) = &self.current else { return Ok(()) };
        // the last changes that were selected may come after the storm was noticed
        if self.waiting == Waiting::Storm {
            return Ok(());
        }
        let title = self.reader.title(current.window.id, current.net_title)?;
        let Some(title) = title else { return self.doubt() };
        let Some(current) = &mut self.current else { return Ok(()) };
        current.rename(title);
        if current.calm.is_storm_after(time) && self.waiting == Waiting::Idle {
            self.waiting = Waiting::Storm;
            self.timers.focus.every(calm::INTERVAL)?;
            self.select()?;
        }
        Ok(())
    }

    /// The current window may fill the screen now, or no longer.
    pub(super) fn read_state(&mut self) -> Result<(), ConnectionError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let state = self.reader.ask_state(current.window.id)?;
        // that it is gone is told by other events
        if let Some(fullscreen) = self.reader.fills_screen(state)? {
            current.fill_screen(fullscreen);
        }
        Ok(())
    }

    pub(super) fn read_in_storm(&mut self) -> Result<(), ConnectionError> {
        let Some(current) = &self.current else { return self.settle() };
        // no change of it is told meanwhile, and a storm may last as long as a film
        let state = self.reader.ask_state(current.window.id)?;
        let title = self.reader.title(current.window.id, current.net_title)?;
        let fullscreen = self.reader.fills_screen(state)?;
        let (Some(title), Some(fullscreen)) = (title, fullscreen) else {
            return self.show_nothing();
        };
        let Some(current) = &mut self.current else { return Ok(()) };
        current.fill_screen(fullscreen);
        if current.rename(title) {
            return Ok(());
        }
        current.calm = Calm::default();
        self.settle()?;
        self.refresh()
    }
}

impl From<Identity> for Current {
    fn from(identity: Identity) -> Self {
        let Identity { window, net_title, terminal } = identity;
        Self { window: Arc::new(window), net_title, terminal, calm: Calm::default() }
    }
}

impl Current {
    fn fill_screen(&mut self, fullscreen: bool) {
        if self.window.fullscreen != fullscreen {
            self.window = Arc::new(Window { fullscreen, ..Window::clone(&self.window) });
        }
    }

    /// Takes a title; true when it is another one. What runs in a terminal is looked up along
    /// with it.
    fn rename(&mut self, title: Title) -> bool {
        self.net_title = title.net;
        let changed = self.window.title != title.text;
        let command = self.terminal.and_then(Terminal::foreground_command);
        if changed || command != self.window.command {
            let window = Window { title: title.text, command, ..Window::clone(&self.window) };
            self.window = Arc::new(window);
        }
        changed
    }
}

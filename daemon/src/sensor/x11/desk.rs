//! What is asked of a display beside watching it: which windows are open, and the focus for one of
//! them. Each question has a connection of its own, so the sensor's carries nothing that it did not
//! ask for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask,
    InputFocus as RevertTo, MapState, StackMode, Window as WindowId,
};

use super::atoms::Atoms;
use super::link::{self, Ready, Stop, Timer};
use super::read::{Reader, answer, ask};
use super::{Conn, focus};
use crate::evidence::Window;
use crate::sensor::Settings;

/// How long a window manager may take to give a window the focus that was asked for.
const FOCUS_LIMIT: Duration = Duration::from_millis(500);
/// Windows read of `_NET_CLIENT_LIST`: more than anybody has open.
const MAX_LIST: u32 = 4096;
/// Source indication of a request (EWMH, `_NET_ACTIVE_WINDOW`): a pager, which a person used.
const FROM_PAGER: u32 = 2;

/// One question to a display, on the thread that asks it.
#[derive(Debug)]
pub struct Errand {
    settings: Settings,
    stop: Arc<Stop>,
}

/// Ends an errand that waits for its display.
#[derive(Debug)]
pub struct Recall(Arc<Stop>);

impl Recall {
    /// Ends it.
    pub fn recall(&self) {
        self.0.request();
    }
}

impl Errand {
    /// To the display that these settings name. Nothing is connected to before it is asked something.
    ///
    /// # Errors
    ///
    /// The process is out of descriptors.
    pub fn new(settings: Settings) -> io::Result<(Self, Recall)> {
        let stop = Arc::new(Stop::new()?);
        let recall = Recall(Arc::clone(&stop));
        Ok((Self { settings, stop }, recall))
    }

    /// The open windows, the oldest first.
    ///
    /// # Errors
    ///
    /// Why they cannot be seen, in a sentence.
    pub fn windows(self) -> Result<Vec<Window>, String> {
        self.ask(list)
    }

    /// Gives a window the focus, as a pager does, and its workspace with it. False when it is gone,
    /// or when the window manager leaves the focus elsewhere.
    ///
    /// # Errors
    ///
    /// Why the display cannot be asked, in a sentence.
    pub fn activate(self, window: &Window) -> Result<bool, String> {
        self.ask(|asker| activate(asker, window))
    }

    fn ask<T>(
        self,
        question: impl FnOnce(&Asker<'_>) -> Result<T, ReplyError>,
    ) -> Result<T, String> {
        let Self { settings, stop } = self;
        let display = settings.display.filter(|name| !name.is_empty());
        let display = display.ok_or("there is no X display: DISPLAY is not set")?;
        let said = |reason: String| super::one_line(&reason);
        let (conn, screen) = link::connect(&display, &stop)
            .map_err(|error| said(super::refusal(&display, &error)))?;
        let asker = Asker::new(&conn, screen, settings.is_terminal);
        let asked = asker.and_then(|asker| question(&asker));
        asked.map_err(|error| said(format!("the X server at {display} failed: {error}")))
    }
}

/// One connection with what a question needs.
struct Asker<'a> {
    conn: &'a Conn,
    root: WindowId,
    reader: Reader<'a>,
    /// Whether a window manager names the active window and the open ones.
    managed: bool,
}

impl<'a> Asker<'a> {
    fn new(
        conn: &'a Conn,
        screen: usize,
        is_terminal: fn(&str) -> bool,
    ) -> Result<Self, ReplyError> {
        let root = conn.setup().roots[screen].root;
        let atoms = Atoms::new(conn)?.reply()?;
        let managed = focus::ewmh_manager(conn, &atoms, root)?.is_some();
        Ok(Self { conn, root, reader: Reader { conn, atoms, is_terminal }, managed })
    }

    /// The ids of the open windows: what the window manager lists (EWMH), else the top levels that
    /// can be seen.
    fn open(&self) -> Result<Vec<WindowId>, ConnectionError> {
        if self.managed {
            let list = self.reader.atoms._NET_CLIENT_LIST;
            let list = answer(ask(self.conn, self.root, list, MAX_LIST)?.reply())?;
            let windows = list.and_then(|list| list.value32().map(Iterator::collect));
            return Ok(windows.unwrap_or_default());
        }
        let tree = answer(self.conn.query_tree(self.root)?.reply())?;
        let mut open = Vec::new();
        for top in tree.map(|tree| tree.children).unwrap_or_default() {
            let attributes = answer(self.conn.get_window_attributes(top)?.reply())?;
            if attributes
                .is_some_and(|it| it.map_state == MapState::VIEWABLE && !it.override_redirect)
            {
                open.push(focus::client_inside(self.conn, &self.reader.atoms, top)?);
            }
        }
        Ok(open)
    }

    fn focused(&self) -> Result<WindowId, ConnectionError> {
        if self.managed {
            return focus::active_window(self.conn, &self.reader.atoms, self.root);
        }
        Ok(answer(self.conn.get_input_focus()?.reply())?.map_or(0, |reply| reply.focus))
    }
}

fn list(asker: &Asker<'_>) -> Result<Vec<Window>, ReplyError> {
    let mut windows = Vec::new();
    for id in asker.open()? {
        let identity = asker.reader.identity(id)?.map(|identity| identity.window);
        windows.extend(identity.filter(|window| !window.is_anonymous()));
    }
    Ok(windows)
}

fn activate(asker: &Asker<'_>, window: &Window) -> Result<bool, ReplyError> {
    let (conn, root) = (asker.conn, asker.root);
    // Numbers are given out again: what has the number now may be another program's.
    let same = asker.reader.identity(window.id)?.is_some_and(|it| it.window.class == window.class);
    if !same || !asker.open()?.contains(&window.id) {
        return Ok(false);
    }
    let tell = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    conn.change_window_attributes(root, &tell)?;
    if asker.managed {
        let kind = asker.reader.atoms._NET_ACTIVE_WINDOW;
        let message = ClientMessageEvent::new(32, window.id, kind, [FROM_PAGER, 0, 0, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        conn.send_event(false, root, mask, message)?;
    } else {
        let raise = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        conn.configure_window(window.id, &raise)?;
        conn.set_input_focus(RevertTo::PARENT, window.id, x11rb::CURRENT_TIME)?;
    }
    has_focus_in_time(asker, window.id)
}

/// Waits until the window has the focus. The property is written at each change of it, so nothing
/// is asked in vain.
fn has_focus_in_time(asker: &Asker<'_>, window: WindowId) -> Result<bool, ReplyError> {
    let timer = Timer::new().map_err(ConnectionError::from)?;
    timer.once(FOCUS_LIMIT).map_err(ConnectionError::from)?;
    loop {
        if asker.focused()? == window {
            return Ok(true);
        }
        // Without a manager the server itself has done it, before it answered.
        if !asker.managed || !property_changes(asker, &timer)? {
            return Ok(false);
        }
    }
}

/// Waits for a change of the root's properties; false when time is up.
fn property_changes(asker: &Asker<'_>, timer: &Timer) -> Result<bool, ConnectionError> {
    let conn = asker.conn;
    loop {
        while let Some(event) = conn.poll_for_event()? {
            if let Event::PropertyNotify(event) = event
                && event.atom == asker.reader.atoms._NET_ACTIVE_WINDOW
            {
                return Ok(true);
            }
        }
        conn.flush()?;
        if conn.stream().wait(&[timer])? != Ready::Server {
            return Ok(false);
        }
    }
}

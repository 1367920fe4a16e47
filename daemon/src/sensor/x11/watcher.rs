//! What happens on one connection: events in, observations out.
//!
//! All events that are here already make one look. Which event decides depends on who is to be
//! trusted: a living window manager that speaks EWMH names the active window; without one the
//! newest of «the property was written» and «the input focus moved» counts.

mod current;
mod events;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt, EventMask, Window as WindowId,
};

use self::current::Current;
use self::events::{Changes, Source};
use super::atoms::Atoms;
use super::cover::Cover;
use super::focus::{self, InputFocus};
use super::link::{Ready, Timer};
use super::read::Reader;
use super::signs::Signs;
use super::{Conn, Output};
use crate::sensor::{Absence, Focus, Health, Observation, Settings};

/// How long «no window» must stand before it is believed. Window managers pass through it on every
/// switch, and it costs a look at the input focus.
const NO_WINDOW_PATIENCE: Duration = Duration::from_millis(25);
/// The input focus may move while its window is looked up. After so many moves in a row the
/// events that they cause go on with it.
const MAX_CHASES: usize = 8;

const ONLY_XWAYLAND: &str = "Wayland session: only XWayland windows are seen";
const NO_MANAGER: &str =
    "no window manager names the active window (EWMH): the input focus is followed instead";

/// What the timer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Idle,
    /// «No window» was said and is not believed yet.
    NoWindow,
    /// The title changes so fast that it is read at intervals.
    Storm,
}

/// What is waited for beside the server.
#[derive(Debug)]
pub(super) struct Timers {
    /// For the focused window.
    focus: Timer,
    /// For the stack of windows.
    stack: Timer,
}

impl Timers {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { focus: Timer::new()?, stack: Timer::new()? })
    }
}

/// Follows the focus on one connection.
pub(super) struct Watcher<'a> {
    reader: Reader<'a>,
    root: WindowId,
    timers: &'a Timers,
    output: &'a mut Output,
    wayland: bool,
    health: Health,
    /// The check window of the EWMH window manager.
    manager: Option<WindowId>,
    source: Source,
    current: Option<Current>,
    waiting: Waiting,
    /// The window with the input focus and its override-redirect top level, where they matter.
    input: Vec<WindowId>,
    /// What is selected on which window but the root and the manager's.
    selected: Vec<(WindowId, EventMask)>,
    /// What is selected on the root, for the focus and in all.
    on_root: (EventMask, EventMask),
    signs: Signs,
    /// Lockers, where all windows are seen.
    cover: Option<Cover<'a>>,
}

impl<'a> Watcher<'a> {
    /// Selects events, looks once and reports.
    pub(super) fn start(
        conn: &'a Conn,
        screen: usize,
        settings: &Settings,
        timers: &'a Timers,
        output: &'a mut Output,
    ) -> Result<Self, ReplyError> {
        timers.focus.disarm().map_err(ConnectionError::from)?;
        let atoms = Atoms::new(conn)?.reply()?;
        let root = conn.setup().roots[screen].root;
        let signs = if settings.wayland {
            Signs::none(root)
        } else {
            Signs::start(conn, root, settings.idle_after)?
        };
        let cover = match settings.wayland {
            true => None,
            false => Some(Cover::start(conn, atoms, root, &timers.stack)?),
        };
        let reader = Reader { conn, atoms, is_terminal: settings.is_terminal };
        let mut watcher = Self {
            reader,
            root,
            timers,
            output,
            wayland: settings.wayland,
            health: Health::Ok(None),
            manager: None,
            source: Source::InputFocus,
            current: None,
            waiting: Waiting::Idle,
            input: Vec::new(),
            selected: Vec::new(),
            on_root: (EventMask::NO_EVENT, EventMask::NO_EVENT),
            signs,
            cover,
        };
        watcher.find_manager()?;
        watcher.look(true)?;
        watcher.report();
        Ok(watcher)
    }

    /// Waits for the next batch of events and acts on it.
    pub(super) fn step(&mut self) -> Result<(), ConnectionError> {
        let conn = self.reader.conn;
        let first = loop {
            if let Some(event) = conn.poll_for_event()? {
                break event;
            }
            conn.flush()?;
            let covers = self.cover.as_ref().is_some_and(Cover::is_waiting);
            let Timers { focus, stack } = self.timers;
            let ready = match covers || self.waiting != Waiting::Idle {
                true => conn.stream().wait(&[focus, stack])?,
                false => conn.stream().wait(&[])?,
            };
            match ready {
                Ready::Server => {}
                Ready::Timer(0) => return self.run_out(),
                Ready::Timer(_) => return self.look_at_stack(),
            }
        };
        let mut changes = Changes::default();
        let mut next = Some(first);
        while let Some(event) = next {
            self.note(&mut changes, &event);
            next = conn.poll_for_event()?;
        }
        self.act(&changes)
    }

    fn act(&mut self, changes: &Changes) -> Result<(), ConnectionError> {
        let noted = self.shown();
        if changes.ended {
            // openbox goes on naming the last window when that is closed; and the next client may
            // be given the same number
            self.doubt()?;
        }
        if changes.manager {
            self.find_manager()?;
            self.look(true)?;
        } else if let Some(source) = changes.focus {
            self.source = source;
            self.look(false)?;
        }
        // what was noted about the window before this look is of no interest any more
        if noted == self.shown() {
            if changes.identity {
                self.refresh()?;
            } else {
                if let Some(time) = changes.title {
                    self.read_title(time)?;
                }
                if changes.state {
                    self.read_state()?;
                }
            }
        }
        self.report();
        // after what a person waits for
        if changes.stack
            && let Some(cover) = &mut self.cover
        {
            cover.ring()?;
            self.select_on_root()?;
        }
        Ok(())
    }

    fn look_at_stack(&mut self) -> Result<(), ConnectionError> {
        let Some(cover) = &mut self.cover else { return Ok(()) };
        cover.wake();
        self.select_on_root()?;
        if let Some(cover) = &mut self.cover {
            cover.look()?;
        }
        self.report();
        Ok(())
    }

    fn run_out(&mut self) -> Result<(), ConnectionError> {
        match self.waiting {
            Waiting::Idle => {}
            Waiting::NoWindow => self.look(true)?,
            Waiting::Storm => self.read_in_storm()?,
        }
        self.report();
        Ok(())
    }

    fn report(&mut self) {
        let focus = match &self.current {
            Some(current) => Focus::Window(Arc::clone(&current.window)),
            None => Focus::Nothing,
        };
        self.output.put(Observation {
            health: self.health.clone(),
            focus,
            absence: self.absence(),
        });
    }

    fn absence(&self) -> Absence {
        let covered = self.cover.as_ref().is_some_and(|cover| cover.locked);
        Absence { idle: self.signs.idle, locked: self.signs.blank || covered, asleep: false }
    }

    /// Finds out whether a window manager is to be trusted, and says so once.
    fn find_manager(&mut self) -> Result<(), ConnectionError> {
        let Reader { conn, atoms, .. } = self.reader;
        // selected before anything is read, so no change can fall between
        self.on_root.0 = EventMask::PROPERTY_CHANGE | EventMask::FOCUS_CHANGE;
        self.select_on_root()?;
        let before = self.manager;
        self.manager = focus::ewmh_manager(conn, &atoms, self.root)?;
        if self.manager.is_some() {
            self.on_root.0 = EventMask::PROPERTY_CHANGE;
            self.select_on_root()?;
        }
        self.source = self.without_property();
        if before != self.manager {
            tracing::debug!(found = self.manager.is_some(), "EWMH window manager changed");
        }
        let limits =
            [self.wayland.then_some(ONLY_XWAYLAND), self.manager.is_none().then_some(NO_MANAGER)];
        let limits: Vec<&str> = limits.into_iter().flatten().collect();
        self.health = Health::Ok((!limits.is_empty()).then(|| limits.join("; ")));
        Ok(())
    }

    /// Looks who has the focus. Unless `surely`, «no window» is given time to pass.
    fn look(&mut self, surely: bool) -> Result<(), ConnectionError> {
        let Reader { conn, atoms, .. } = self.reader;
        if self.source == Source::InputFocus {
            return self.look_at_input(surely);
        }
        match focus::active_window(conn, &atoms, self.root)? {
            0 if surely => self.look_at_input(true),
            0 => self.doubt(),
            window if surely && !focus::is_viewable(conn, window)? => self.look_at_input(true),
            window => {
                // without a manager the focus may yet move from where it is
                if self.manager.is_some() {
                    self.input.clear();
                }
                self.show(window, surely)
            }
        }
    }

    /// Follows the input focus to a window.
    fn look_at_input(&mut self, surely: bool) -> Result<(), ConnectionError> {
        let Reader { conn, atoms, .. } = self.reader;
        let (root, manager) = (self.root, self.manager);
        let nowhere = |window| window <= 1 || window == root || Some(window) == manager;
        let mut focus = focused(conn)?;
        let mut place = InputFocus::Nothing;
        for _ in 0..MAX_CHASES {
            if nowhere(focus) {
                place = InputFocus::Nothing;
                break;
            }
            // Selected before the climb and asked again after it: had the focus moved on before
            // the selection, no event would tell.
            self.input = vec![focus];
            self.select()?;
            let climbed = focus::climb(conn, &atoms, self.root, focus)?;
            let now = focused(conn)?;
            if let Some(climbed) = climbed.filter(|_| now == focus) {
                place = climbed;
                break;
            }
            focus = now;
        }
        match place {
            InputFocus::Client(window) => self.show(window, surely),
            InputFocus::Covered(top) => {
                self.input.push(top);
                self.settle()?;
                self.refresh()
            }
            InputFocus::Nothing => {
                self.input.clear();
                self.show_nothing()
            }
        }
    }

    /// Makes a window the current one. One that is shown already is read again only if there was
    /// doubt: its number may have been given to a new window.
    fn show(&mut self, window: WindowId, surely: bool) -> Result<(), ConnectionError> {
        if self.shown() == Some(window) && self.waiting != Waiting::NoWindow && !surely {
            return self.select();
        }
        self.settle()?;
        self.select_for(Some(window))?;
        match self.reader.identity(window)? {
            Some(identity) => {
                self.current = Some(Current::from(identity));
                Ok(())
            }
            None if surely => self.show_nothing(),
            // it died on the way; what comes after it will be said
            None => self.doubt(),
        }
    }

    fn show_nothing(&mut self) -> Result<(), ConnectionError> {
        self.settle()?;
        self.current = None;
        self.select()
    }

    /// Waits a moment before «no window» is believed.
    fn doubt(&mut self) -> Result<(), ConnectionError> {
        if self.waiting != Waiting::NoWindow {
            self.timers.focus.once(NO_WINDOW_PATIENCE)?;
            self.waiting = Waiting::NoWindow;
        }
        Ok(())
    }

    /// Nothing is waited for any more.
    fn settle(&mut self) -> Result<(), ConnectionError> {
        if self.waiting != Waiting::Idle {
            self.timers.focus.disarm()?;
            self.waiting = Waiting::Idle;
        }
        Ok(())
    }

    /// Reads the current window anew; it may be gone.
    fn refresh(&mut self) -> Result<(), ConnectionError> {
        let Some(current) = &self.current else { return self.select() };
        let calm = current.calm;
        let window = current.window.id;
        self.select()?;
        match self.reader.identity(window)? {
            Some(identity) => {
                self.current = Some(Current { calm, ..Current::from(identity) });
                Ok(())
            }
            None => self.show_nothing(),
        }
    }

    /// Brings the selections in line with what is shown and waited for.
    fn select(&mut self) -> Result<(), ConnectionError> {
        self.select_for(self.shown())
    }

    fn shown(&self) -> Option<WindowId> {
        self.current.as_ref().map(|current| current.window.id)
    }

    fn select_for(&mut self, shown: Option<WindowId>) -> Result<(), ConnectionError> {
        let mut wanted: Vec<(WindowId, EventMask)> = Vec::with_capacity(3);
        if let Some(window) = shown {
            let mut mask = EventMask::STRUCTURE_NOTIFY;
            if self.waiting != Waiting::Storm {
                mask |= EventMask::PROPERTY_CHANGE;
            }
            wanted.push((window, mask));
        }
        let on_input = EventMask::FOCUS_CHANGE | EventMask::STRUCTURE_NOTIFY;
        for window in &self.input {
            match wanted.iter_mut().find(|(known, _)| known == window) {
                Some((_, mask)) => *mask |= on_input,
                None => wanted.push((*window, on_input)),
            }
        }
        for (window, _) in &self.selected {
            if !wanted.iter().any(|(wanted, _)| wanted == window) {
                self.select_on(*window, EventMask::NO_EVENT)?;
            }
        }
        for (window, mask) in &wanted {
            if !self.selected.contains(&(*window, *mask)) {
                self.select_on(*window, *mask)?;
            }
        }
        self.selected = wanted;
        Ok(())
    }

    fn select_on_root(&mut self) -> Result<(), ConnectionError> {
        let for_cover = self.cover.as_ref().map_or(EventMask::NO_EVENT, Cover::mask);
        let mask = self.on_root.0 | for_cover;
        if mask != self.on_root.1 {
            self.select_on(self.root, mask)?;
            self.on_root.1 = mask;
        }
        Ok(())
    }

    fn select_on(&self, window: WindowId, mask: EventMask) -> Result<(), ConnectionError> {
        let aux = ChangeWindowAttributesAux::new().event_mask(mask);
        // an error means that the window is gone, and comes as an event that nobody heeds
        self.reader.conn.change_window_attributes(window, &aux)?;
        Ok(())
    }
}

/// The window that has the input focus: 0 is none, 1 whatever is under the pointer.
fn focused(conn: &Conn) -> Result<WindowId, ConnectionError> {
    match conn.get_input_focus()?.reply() {
        Ok(reply) => Ok(reply.focus),
        Err(ReplyError::X11Error(_)) => Ok(0),
        Err(ReplyError::ConnectionError(error)) => Err(error),
    }
}

//! Lockers: override-redirect windows that cover the screen and stay.
//!
//! A locker that grabs nothing shows in no event but those about the children of the root, of which
//! a window that is dragged makes hundreds a second. So the first of them only rings: no more are
//! asked for, the stack of windows is looked at half a second later, and the events are asked for
//! again. However much moves, that is two looks a second, and none while nothing does.

use std::io;
use std::time::Duration;

use x11rb::connection::RequestConnection as _;
use x11rb::errors::ConnectionError;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::shape::{self, ConnectionExt as _, SK};
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, GetGeometryReply, Rectangle, Window as WindowId,
};

use super::Conn;
use super::atoms::Atoms;
use super::focus;
use super::link::Timer;
use super::read::{answer, ask};

/// From the first change to the look, and from look to look while something covers the screen.
const PAUSE: Duration = Duration::from_millis(500);
/// So many looks in a row that find the screen covered make a locker: more than two seconds.
const LOOKS: u8 = 5;
/// A second window of xsecurelock, the only one of it below a compositor's overlay, leaves out a
/// pixel on each side.
const SLACK: i32 = 1;
/// Windows that are asked about in one flush, from the top of the stack down. The first that can be
/// seen decides in nearly every look.
const CHUNK: usize = 8;
/// Most flushes of a look. Toolkits leave many windows in the stack that are not shown.
const MAX_CHUNKS: usize = 64;
/// Windows in a frame that are looked at for the client.
const MAX_CHILDREN: usize = 32;
/// Most monitors. The screen of one that is not counted need not be covered.
const MAX_MONITORS: usize = 32;
/// Windows between a manager's frame and the client in it, and atoms of `_NET_WM_WINDOW_TYPE`.
const FRAME_DEPTH: usize = 2;
const TYPE_UNITS: u32 = 16;

/// Watches the stack of windows of one screen.
#[derive(Debug)]
pub(super) struct Cover<'a> {
    conn: &'a Conn,
    atoms: Atoms,
    root: WindowId,
    timer: &'a Timer,
    has_shapes: bool,
    has_monitors: bool,
    phase: Phase,
    /// A locker has the screen.
    pub(super) locked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Changes of the stack are listened for.
    Listening,
    /// There was one. A look is due, and no more are listened for.
    Rung,
    /// So many looks in a row found the screen covered, and the next one is due.
    Looking(u8),
}

/// A part of the screen, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Area {
    fn new(x: i16, y: i16, width: u16, height: u16) -> Self {
        let (left, top) = (i32::from(x), i32::from(y));
        Self { left, top, right: left + i32::from(width), bottom: top + i32::from(height) }
    }

    /// Of a window with its border.
    fn of(geometry: &GetGeometryReply) -> Self {
        let mut area = Self::new(geometry.x, geometry.y, geometry.width, geometry.height);
        area.right += 2 * i32::from(geometry.border_width);
        area.bottom += 2 * i32::from(geometry.border_width);
        area
    }

    fn covers(&self, other: &Self) -> bool {
        self.left <= other.left + SLACK
            && self.top <= other.top + SLACK
            && self.right >= other.right - SLACK
            && self.bottom >= other.bottom - SLACK
    }
}

/// What a large override-redirect window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Locker,
    /// Lets clicks and sight through: a tool that draws over the screen.
    Glass,
    /// A window manager's frame with a client in it, or a desktop's background.
    Place,
}

impl<'a> Cover<'a> {
    /// Begins with a look to come: a locker may be there already.
    pub(super) fn start(
        conn: &'a Conn,
        atoms: Atoms,
        root: WindowId,
        timer: &'a Timer,
    ) -> Result<Self, ConnectionError> {
        let has = |name| Ok::<_, ConnectionError>(conn.extension_information(name)?.is_some());
        let has_shapes = has(shape::X11_EXTENSION_NAME)?;
        let has_monitors = has(randr::X11_EXTENSION_NAME)?;
        let (phase, locked) = (Phase::Listening, false);
        let mut cover = Self { conn, atoms, root, timer, has_shapes, has_monitors, phase, locked };
        cover.ring()?;
        Ok(cover)
    }

    /// What is to be selected on the root, beside what others want.
    pub(super) fn mask(&self) -> EventMask {
        match self.phase {
            Phase::Rung => EventMask::NO_EVENT,
            Phase::Listening | Phase::Looking(_) => EventMask::SUBSTRUCTURE_NOTIFY,
        }
    }

    /// The stack has changed. The mask may be another one from then on.
    pub(super) fn ring(&mut self) -> io::Result<()> {
        if self.phase == Phase::Listening {
            self.timer.every(PAUSE)?;
            self.phase = Phase::Rung;
        }
        Ok(())
    }

    /// Whether a look is due when the timer runs out.
    pub(super) fn is_waiting(&self) -> bool {
        self.phase != Phase::Listening
    }

    /// It has run out. What the mask says now is to be selected before the look, so no change falls
    /// between.
    pub(super) fn wake(&mut self) {
        if self.phase == Phase::Rung {
            self.phase = Phase::Looking(0);
        }
    }

    /// Looks at the stack.
    pub(super) fn look(&mut self) -> Result<(), ConnectionError> {
        let covered = self.is_covered()?;
        if let Phase::Looking(looks) = self.phase
            && covered
            && !self.locked
            && looks + 1 < LOOKS
        {
            self.phase = Phase::Looking(looks + 1);
            return Ok(());
        }
        self.locked = covered;
        self.phase = Phase::Listening;
        Ok(self.timer.disarm()?)
    }

    /// Whether each monitor is covered by a locker's window with no client above it.
    fn is_covered(&self) -> Result<bool, ConnectionError> {
        let mut open: Option<Vec<Area>> = None;
        let Some(tree) = answer(self.conn.query_tree(self.root)?.reply())? else {
            return Ok(false);
        };
        // the last child is the topmost; the overlay of compositors is none of them
        for chunk in tree.children.rchunks(CHUNK).take(MAX_CHUNKS) {
            let mut asked = Vec::with_capacity(CHUNK);
            for window in chunk.iter().rev() {
                let attributes = self.conn.get_window_attributes(*window)?;
                asked.push((*window, attributes, self.conn.get_geometry(*window)?));
            }
            for (window, attributes, geometry) in asked {
                let (attributes, geometry) =
                    (answer(attributes.reply())?, answer(geometry.reply())?);
                let (Some(attributes), Some(geometry)) = (attributes, geometry) else { continue };
                if !focus::can_be_seen(&attributes, &geometry) {
                    continue;
                }
                if !attributes.override_redirect {
                    return Ok(false);
                }
                let open = match &mut open {
                    Some(open) => open,
                    none => none.insert(self.monitors()?),
                };
                let area = Area::of(&geometry);
                if !open.iter().any(|monitor| area.covers(monitor)) {
                    continue;
                }
                match self.kind(window, &geometry)? {
                    Kind::Locker => open.retain(|monitor| !area.covers(monitor)),
                    Kind::Glass => {}
                    Kind::Place => return Ok(false),
                }
                if open.is_empty() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Lockers have one window for the whole screen, or one for each monitor.
    fn monitors(&self) -> Result<Vec<Area>, ConnectionError> {
        let monitors = match self.has_monitors {
            // RandR 1.5; an older server answers with an error
            true => answer(self.conn.randr_get_monitors(self.root, true)?.reply())?,
            false => None,
        };
        let monitors = monitors.into_iter().flat_map(|reply| reply.monitors);
        let areas: Vec<Area> = monitors
            .filter(|monitor| monitor.width > 0 && monitor.height > 0)
            .map(|it| Area::new(it.x, it.y, it.width, it.height))
            .take(MAX_MONITORS)
            .collect();
        if !areas.is_empty() {
            return Ok(areas);
        }
        let root = answer(self.conn.get_geometry(self.root)?.reply())?;
        Ok(root.iter().map(Area::of).collect())
    }

    fn kind(&self, window: WindowId, geometry: &GetGeometryReply) -> Result<Kind, ConnectionError> {
        if self.holds_client(window, FRAME_DEPTH)? || self.is_desktop(window)? {
            return Ok(Kind::Place);
        }
        for kind in [SK::BOUNDING, SK::INPUT] {
            if self.has_shapes && !self.is_whole(window, kind, geometry)? {
                return Ok(Kind::Glass);
            }
        }
        Ok(Kind::Locker)
    }

    /// Whether a client's top level is in it. i3's frames are override-redirect, and they fill the
    /// screen when they are alone on it.
    fn holds_client(&self, window: WindowId, depth: usize) -> Result<bool, ConnectionError> {
        let Some(tree) = answer(self.conn.query_tree(window)?.reply())? else { return Ok(false) };
        let children = || tree.children.iter().take(MAX_CHILDREN);
        let mut asked = Vec::with_capacity(MAX_CHILDREN);
        for child in children() {
            asked.push(ask(self.conn, *child, self.atoms.WM_STATE, 0)?);
        }
        for state in asked {
            if answer(state.reply())?.is_some_and(|state| state.type_ != 0) {
                return Ok(true);
            }
        }
        for child in children() {
            if depth > 1 && self.holds_client(*child, depth - 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_desktop(&self, window: WindowId) -> Result<bool, ConnectionError> {
        let kind = ask(self.conn, window, self.atoms._NET_WM_WINDOW_TYPE, TYPE_UNITS)?;
        let kind = answer(kind.reply())?;
        let desktop = self.atoms._NET_WM_WINDOW_TYPE_DESKTOP;
        Ok(kind.is_some_and(|it| it.value32().is_some_and(|mut all| all.any(|it| it == desktop))))
    }

    /// Whether a shape leaves the window as large as it is.
    fn is_whole(
        &self,
        window: WindowId,
        kind: SK,
        geometry: &GetGeometryReply,
    ) -> Result<bool, ConnectionError> {
        let shape = answer(self.conn.shape_get_rectangles(window, kind)?.reply())?;
        let whole = |part: &Rectangle| {
            part.x <= 0
                && part.y <= 0
                && part.width >= geometry.width
                && part.height >= geometry.height
        };
        Ok(shape.is_some_and(|shape| shape.rectangles.iter().any(whole)))
    }
}

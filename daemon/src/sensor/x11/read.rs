//! Reading a window's properties: all requests of one window leave in one flush, then the replies
//! are collected.
//!
//! Windows die while they are asked about. An error in a reply means that the window is gone, not
//! that the connection is broken.

use x11rb::connection::Connection;
use x11rb::cookie::Cookie;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt, GetPropertyReply, Window as WindowId,
};

use super::Conn;
use super::atoms::Atoms;
use crate::evidence::Window;
use crate::sensor::terminal::{self, Reach};
use crate::sensor::text::{self, Encoding};

/// Longest title, in bytes, and longest class and instance.
const TITLE_BYTES: usize = 1024;
const NAME_BYTES: usize = 256;
/// What is read of a text property, in units of 4 bytes: four times what is kept, for escape
/// sequences take room. A client may set megabytes.
const TEXT_UNITS: u32 = 1024;
/// Atoms read of `_NET_WM_STATE`; EWMH knows thirteen.
const STATE_UNITS: u32 = 64;

/// A pending `GetProperty`.
pub(super) type Asked<'c> = Cookie<'c, Conn, GetPropertyReply>;

pub(super) fn ask(
    conn: &Conn,
    window: WindowId,
    property: impl Into<Atom>,
    units: u32,
) -> Result<Asked<'_>, ConnectionError> {
    conn.get_property(false, window, property, AtomEnum::ANY, 0, units)
}

/// The reply, or `None` when the server answered with an error (the window is gone).
pub(super) fn answer<T>(reply: Result<T, ReplyError>) -> Result<Option<T>, ConnectionError> {
    match reply {
        Ok(reply) => Ok(Some(reply)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(error)) => Err(error),
    }
}

/// The first number of a property of format 32; 0 when there is none.
pub(super) fn first_number(reply: &GetPropertyReply) -> u32 {
    reply.value32().and_then(|mut values| values.next()).unwrap_or(0)
}

/// A window's title and where it came from.
pub(super) struct Title {
    pub(super) text: String,
    /// From `_NET_WM_NAME`, so that `WM_NAME` does not matter.
    pub(super) net: bool,
}

/// What a window says about itself.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) window: Window,
    pub(super) net_title: bool,
    pub(super) terminal: Option<Terminal>,
}

/// A process of this host in whose window a command runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    process: u32,
    reach: Reach,
}

impl Terminal {
    /// What runs in its foreground, where that can be told.
    pub(super) fn foreground_command(self) -> Option<String> {
        terminal::foreground_command(self.process, self.reach)
    }
}

/// Reads windows of one connection.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) conn: &'a Conn,
    pub(super) atoms: Atoms,
    pub(super) is_terminal: fn(&str) -> bool,
}

impl Reader<'_> {
    /// Everything about a window; `None` when it is gone.
    pub(super) fn identity(&self, id: WindowId) -> Result<Option<Identity>, ConnectionError> {
        let transient_for = ask(self.conn, id, AtomEnum::WM_TRANSIENT_FOR, 1)?;
        let state = self.ask_state(id)?;
        let Some((mut window, net_title)) = self.names(id)? else { return Ok(None) };
        let Some(transient_for) = answer(transient_for.reply())? else { return Ok(None) };
        let Some(fullscreen) = self.fills_screen(state)? else { return Ok(None) };
        window.fullscreen = fullscreen;
        // ICCCM 4.1.2.6; EWMH gives the root and none the meaning «of the whole group»
        let owner = first_number(&transient_for);
        let is_root = self.conn.setup().roots.iter().any(|screen| screen.root == owner);
        if owner != 0
            && owner != id
            && !is_root
            && let Some((mut parent, _)) = self.names(owner)?
        {
            self.find_command(&mut parent);
            window.parent = Some(Box::new(parent));
        }
        let terminal = self.find_command(&mut window);
        Ok(Some(Identity { window, net_title, terminal }))
    }

    /// Notes what runs in the foreground of a terminal and gives the terminal. One whose class says
    /// nothing is one if it holds a pty.
    fn find_command(&self, window: &mut Window) -> Option<Terminal> {
        let known = (self.is_terminal)(&window.class);
        let reach = if known { terminal::TERMINAL } else { terminal::UNKNOWN };
        let terminal = Terminal { process: window.process?, reach };
        window.command = terminal.foreground_command();
        (known || window.command.is_some()).then_some(terminal)
    }

    /// The title alone; `None` when the window is gone.
    pub(super) fn title(
        &self,
        id: WindowId,
        was_net: bool,
    ) -> Result<Option<Title>, ConnectionError> {
        let net = ask(self.conn, id, self.atoms._NET_WM_NAME, TEXT_UNITS)?;
        // most windows have both; the old one is asked for only where it has been of use
        let old = if was_net { None } else { Some(self.ask_old_title(id)?) };
        let Some(net) = answer(net.reply())? else { return Ok(None) };
        let title = self.text(&net, TITLE_BYTES);
        if !title.is_empty() {
            return Ok(Some(Title { text: title, net: true }));
        }
        let old = match old {
            Some(old) => old,
            None => self.ask_old_title(id)?,
        };
        let old = answer(old.reply())?;
        Ok(old.map(|old| Title { text: self.text(&old, TITLE_BYTES), net: false }))
    }

    /// Asks for what [`fills_screen`](Self::fills_screen) takes.
    pub(super) fn ask_state(&self, id: WindowId) -> Result<Asked<'_>, ConnectionError> {
        ask(self.conn, id, self.atoms._NET_WM_STATE, STATE_UNITS)
    }

    /// Whether a window fills the screen (EWMH `_NET_WM_STATE`); `None` when it is gone.
    pub(super) fn fills_screen(&self, state: Asked<'_>) -> Result<Option<bool>, ConnectionError> {
        let fullscreen = self.atoms._NET_WM_STATE_FULLSCREEN;
        let holds = |reply: GetPropertyReply| {
            reply.value32().is_some_and(|mut all| all.any(|atom| atom == fullscreen))
        };
        Ok(answer(state.reply())?.map(holds))
    }

    /// Class, instance, title and process.
    fn names(&self, id: WindowId) -> Result<Option<(Window, bool)>, ConnectionError> {
        let class = ask(self.conn, id, AtomEnum::WM_CLASS, TEXT_UNITS)?;
        let pid = ask(self.conn, id, self.atoms._NET_WM_PID, 1)?;
        let machine = ask(self.conn, id, self.atoms.WM_CLIENT_MACHINE, TEXT_UNITS)?;
        let title = self.title(id, false)?;
        let class = answer(class.reply())?;
        let (pid, machine) = (answer(pid.reply())?, answer(machine.reply())?);
        let (Some(class), Some(pid), Some(machine), Some(title)) = (class, pid, machine, title)
        else {
            return Ok(None);
        };
        let process = self.process(&pid, &machine);
        let mut window = Window { id, title: title.text, process, ..Window::default() };
        if let Some(encoding) = self.encoding(&class) {
            (window.instance, window.class) = text::pair(encoding, &class.value, NAME_BYTES);
        }
        Ok(Some((window, title.net)))
    }

    /// `_NET_WM_PID`, where `WM_CLIENT_MACHINE` says that it is a process of this host.
    fn process(&self, pid: &GetPropertyReply, machine: &GetPropertyReply) -> Option<u32> {
        let pid = Some(first_number(pid)).filter(|pid| *pid > 1)?;
        terminal::is_this_host(&self.text(machine, NAME_BYTES)).then_some(pid)
    }

    fn ask_old_title(&self, id: WindowId) -> Result<Asked<'_>, ConnectionError> {
        ask(self.conn, id, AtomEnum::WM_NAME, TEXT_UNITS)
    }

    fn text(&self, reply: &GetPropertyReply, cap: usize) -> String {
        let encoding = self.encoding(reply);
        encoding.map(|encoding| text::single(encoding, &reply.value, cap)).unwrap_or_default()
    }

    /// By the property's type; `None` when it does not hold bytes, or is missing.
    fn encoding(&self, reply: &GetPropertyReply) -> Option<Encoding> {
        if reply.format != 8 {
            return None;
        }
        let kind = reply.type_;
        Some(if kind == self.atoms.COMPOUND_TEXT {
            Encoding::CompoundText
        } else if kind == Atom::from(AtomEnum::STRING) || kind == self.atoms.C_STRING {
            Encoding::Latin1
        } else {
            Encoding::Utf8
        })
    }
}

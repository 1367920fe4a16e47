//! What a window says of itself, decoded as the daemon decodes it: an entry that was read otherwise
//! would match nothing.

use antidrift_protocol::{MAX_CLASS, MAX_TITLE, cut};
use x11rb::{
    errors::ReplyError,
    protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, GetPropertyReply, Window},
    rust_connection::RustConnection,
};

/// What is read of a property, in units of 4 bytes; a client may set megabytes.
const UNITS: u32 = 1024;
/// These begin an escape sequence in compound text; without one it is ISO 8859-1.
const ESC: u8 = 0x1b;
const CSI: u8 = 0x9b;

x11rb::atom_manager! {
    /// The names that are needed beside the predefined ones.
    pub(super) Atoms: AtomsCookie {
        WM_STATE,
        _NET_WM_NAME,
        C_STRING,
        COMPOUND_TEXT,
    }
}

/// Reads the windows of a connection.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) conn: &'a RustConnection,
    pub(super) atoms: Atoms,
}

impl Reader<'_> {
    /// Whether it is the window of a program and not a frame around one: a window manager has said
    /// so (ICCCM 4.1.3.1).
    pub(super) fn is_client(&self, window: Window) -> Result<bool, ReplyError> {
        let state = self.conn.get_property(false, window, self.atoms.WM_STATE, AtomEnum::ANY, 0, 0);
        Ok(state?.reply()?.type_ != 0)
    }

    /// The second string of `WM_CLASS` (ICCCM 4.1.2.5); empty if there is none.
    pub(super) fn class(&self, window: Window) -> Result<String, ReplyError> {
        let property = self.ask(window, AtomEnum::WM_CLASS.into())?;
        let second = property.value.split(|byte| *byte == 0).nth(1).unwrap_or_default();
        Ok(self.text(&property, second, MAX_CLASS).unwrap_or_default())
    }

    /// The title; `None` if it is in an encoding that only the daemon reads.
    pub(super) fn title(&self, window: Window) -> Result<Option<String>, ReplyError> {
        for name in [self.atoms._NET_WM_NAME, AtomEnum::WM_NAME.into()] {
            let property = self.ask(window, name)?;
            let mut pieces = property.value.split(|byte| *byte == 0);
            if let Some(piece) = pieces.find(|piece| !piece.is_empty()) {
                return Ok(self.text(&property, piece, MAX_TITLE));
            }
        }
        Ok(Some(String::new()))
    }

    fn ask(&self, window: Window, name: Atom) -> Result<GetPropertyReply, ReplyError> {
        let property =
            self.conn.get_property(false, window, name, AtomEnum::ANY, 0, UNITS)?.reply()?;
        // Anything but bytes is no text.
        let bytes = property.format == 8;
        Ok(if bytes { property } else { GetPropertyReply::default() })
    }

    /// Text by the type of its property, at most `cap` bytes.
    fn text(&self, property: &GetPropertyReply, bytes: &[u8], cap: usize) -> Option<String> {
        let kind = property.type_;
        let compound = kind == self.atoms.COMPOUND_TEXT;
        if compound && (bytes.contains(&ESC) || bytes.contains(&CSI)) {
            return None;
        }
        let latin1 =
            compound || kind == Atom::from(AtomEnum::STRING) || kind == self.atoms.C_STRING;
        let mut text = if latin1 {
            bytes.iter().copied().map(char::from).collect()
        } else {
            String::from_utf8_lossy(bytes).into_owned()
        };
        text.truncate(cut(&text, cap).len());
        Some(text)
    }
}

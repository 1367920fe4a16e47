//! The atoms that are asked about. Their numbers belong to a server, so each connection interns
//! them anew; interning also creates those that nobody used yet, so none is ever a bad atom.
#![allow(missing_docs, reason = "the macro writes the fields")]

x11rb::atom_manager! {
    /// Names from EWMH and ICCCM.
    pub(super) Atoms: AtomsCookie {
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_SUPPORTED,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_STATE,
        _NET_WM_STATE_FULLSCREEN,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_DESKTOP,
        WM_CLIENT_MACHINE,
        WM_STATE,
        UTF8_STRING,
        COMPOUND_TEXT,
        C_STRING,
    }
}

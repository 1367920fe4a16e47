//! A desktop with windows that are switched between.

use std::time::Instant;

use antidrift_tests::{Desktop, Manager, WindowSpec};
use x11rb::{
    connection::Connection,
    protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, PropMode},
    wrapper::ConnectionExt as _,
};

/// How many windows.
pub(crate) const WINDOWS: usize = 4;

/// The desktop. What is asked of it leaves at once and is not waited for.
pub(crate) struct Screen {
    pub(crate) desktop: Desktop,
    windows: Vec<u32>,
    active: u32,
    net_name: u32,
    utf8: u32,
}

impl Screen {
    pub(crate) fn start(manager: Manager) -> Self {
        let desktop = Desktop::start(manager);
        let open = |at| {
            let spec = WindowSpec::new(&title(at)).class(&format!("Figures{at}"));
            spec.open(&desktop).id()
        };
        let windows = (0..WINDOWS).map(open).collect();
        let [active, net_name, utf8] =
            ["_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "UTF8_STRING"].map(|name| desktop.atom(name));
        let screen = Self { desktop, windows, active, net_name, utf8 };
        screen.activate(0);
        screen.desktop.sync();
        screen
    }

    /// Has a window given the focus, as a pager does; without a manager, writes what one would
    /// write. Gives the time just before the request leaves.
    pub(crate) fn activate(&self, at: usize) -> Instant {
        let (conn, root) = (self.desktop.conn(), self.desktop.root());
        let (window, start) = (self.windows[at], Instant::now());
        if self.desktop.manager() == Manager::Bare {
            let kind = AtomEnum::WINDOW;
            conn.change_property32(PropMode::REPLACE, root, self.active, kind, &[window]).unwrap();
        } else {
            let event = ClientMessageEvent::new(32, window, self.active, [2_u32, 0, 0, 0, 0]);
            let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
            conn.send_event(false, root, mask, event).unwrap();
        }
        conn.flush().unwrap();
        start
    }

    /// Sets both titles, as toolkits do. Gives the time just before the requests leave.
    pub(crate) fn rename(&self, at: usize, title: &str) -> Instant {
        let (conn, window, start) = (self.desktop.conn(), self.windows[at], Instant::now());
        let (old, latin) = (AtomEnum::WM_NAME.into(), AtomEnum::STRING.into());
        for (property, kind) in [(old, latin), (self.net_name, self.utf8)] {
            let bytes = title.as_bytes();
            conn.change_property8(PropMode::REPLACE, window, property, kind, bytes).unwrap();
        }
        conn.flush().unwrap();
        start
    }

    pub(crate) fn id(&self, at: usize) -> u32 {
        self.windows[at]
    }
}

/// The title of a window.
pub(crate) fn title(at: usize) -> String {
    format!("figures window {at:03}")
}

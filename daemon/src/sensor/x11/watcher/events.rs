//! What events call for. Noting asks nothing of the server, so a batch makes one look.

use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, CirculateNotifyEvent, ConfigureNotifyEvent, MapNotifyEvent, NotifyMode,
    PropertyNotifyEvent, UnmapNotifyEvent, Window as WindowId,
};

use super::Watcher;

/// Who said last what has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// `_NET_ACTIVE_WINDOW`.
    ActiveWindow,
    /// FocusIn and FocusOut, or the end of a window.
    InputFocus,
}

/// What a batch of events calls for.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) manager: bool,
    pub(super) focus: Option<Source>,
    /// The focused window was unmapped or destroyed.
    pub(super) ended: bool,
    /// Class, owner or process of the focused window.
    pub(super) identity: bool,
    /// Its title, and when (server time).
    pub(super) title: Option<u32>,
    /// Whether it fills the screen.
    pub(super) state: bool,
    /// The stack of top levels.
    pub(super) stack: bool,
}

impl Watcher<'_> {
    /// Takes note of what an event calls for.
    pub(super) fn note(&mut self, changes: &mut Changes, event: &Event) {
        self.signs.note(event);
        match event {
            // about a child of the root; the events about a window itself name it twice
            Event::MapNotify(MapNotifyEvent { event, .. })
            | Event::UnmapNotify(UnmapNotifyEvent { event, .. })
            | Event::ConfigureNotify(ConfigureNotifyEvent { event, .. })
            | Event::CirculateNotify(CirculateNotifyEvent { event, .. })
                if *event == self.root =>
            {
                changes.stack = true;
            }
            Event::DestroyNotify(event) if event.event == self.root => {}
            Event::PropertyNotify(event) if event.window == self.root => {
                let atoms = self.reader.atoms;
                if event.atom == atoms._NET_ACTIVE_WINDOW {
                    changes.focus = Some(Source::ActiveWindow);
                } else if event.atom == atoms._NET_SUPPORTING_WM_CHECK
                    || event.atom == atoms._NET_SUPPORTED
                {
                    changes.manager = true;
                }
            }
            Event::PropertyNotify(event) => self.note_property(changes, event),
            // a key grab moves no focus
            Event::FocusIn(event) | Event::FocusOut(event)
                if event.mode != NotifyMode::GRAB && event.mode != NotifyMode::UNGRAB =>
            {
                changes.focus = Some(self.without_property());
            }
            Event::DestroyNotify(event) if Some(event.window) == self.manager => {
                changes.manager = true;
            }
            Event::DestroyNotify(event) => self.note_end(changes, event.window),
            Event::UnmapNotify(event) => self.note_end(changes, event.window),
            // errors of requests without a reply: the window was gone
            _ => {}
        }
    }

    fn note_property(&self, changes: &mut Changes, event: &PropertyNotifyEvent) {
        let Some(current) = self.current.as_ref().filter(|c| c.window.id == event.window) else {
            return;
        };
        let is = |atom: AtomEnum| event.atom == Atom::from(atom);
        let atoms = self.reader.atoms;
        if is(AtomEnum::WM_CLASS)
            || is(AtomEnum::WM_TRANSIENT_FOR)
            || [atoms._NET_WM_PID, atoms.WM_CLIENT_MACHINE].contains(&event.atom)
        {
            changes.identity = true;
        } else if event.atom == atoms._NET_WM_NAME || (is(AtomEnum::WM_NAME) && !current.net_title)
        {
            changes.title = Some(event.time);
        } else if event.atom == self.reader.atoms._NET_WM_STATE {
            changes.state = true;
        }
    }

    fn note_end(&self, changes: &mut Changes, window: WindowId) {
        if self.shown() == Some(window) {
            changes.ended = true;
            // its manager is about to name another one, or none
            if self.manager.is_some() {
                return;
            }
        }
        if self.selected.iter().any(|(selected, _)| *selected == window) {
            changes.focus = Some(self.without_property());
        }
    }

    /// Where to look after something else than the property has changed.
    pub(super) fn without_property(&self) -> Source {
        if self.manager.is_some() { Source::ActiveWindow } else { Source::InputFocus }
    }
}

use x11rb::{
    connection::Connection,
    protocol::xproto::{
        ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, InputFocus, MapState, StackMode,
        Window, WindowClass,
    },
    wrapper::ConnectionExt as _,
};

use crate::{Desktop, Manager, until};

/// A window that is to be made.
#[derive(Clone, Debug)]
pub struct WindowSpec {
    class: Option<(String, String)>,
    title: Option<String>,
    transient_for: Option<Window>,
    parent: Option<Window>,
    override_redirect: bool,
    full_screen: bool,
    mapped: bool,
}

impl WindowSpec {
    /// A plain top level with this title.
    pub fn new(title: &str) -> Self {
        Self {
            class: Some(("test".into(), "Test".into())),
            title: Some(title.into()),
            transient_for: None,
            parent: None,
            override_redirect: false,
            full_screen: false,
            mapped: true,
        }
    }

    /// The class; the instance is the same in lower case.
    #[must_use]
    pub fn class(self, class: &str) -> Self {
        let instance = class.to_lowercase();
        self.identity(&instance, class)
    }

    /// Both strings of `WM_CLASS`.
    #[must_use]
    pub fn identity(mut self, instance: &str, class: &str) -> Self {
        self.class = Some((instance.into(), class.into()));
        self
    }

    /// Without `WM_CLASS`.
    #[must_use]
    pub fn without_class(mut self) -> Self {
        self.class = None;
        self
    }

    /// Without any title property.
    #[must_use]
    pub fn without_title(mut self) -> Self {
        self.title = None;
        self
    }

    /// A dialog of another window.
    #[must_use]
    pub fn transient_for(mut self, owner: &TestWindow<'_>) -> Self {
        self.transient_for = Some(owner.id);
        self
    }

    /// Inside another window.
    #[must_use]
    pub fn inside(mut self, parent: &TestWindow<'_>) -> Self {
        self.parent = Some(parent.id);
        self
    }

    /// Not for the window manager: a menu, a launcher, a locker.
    #[must_use]
    pub fn override_redirect(mut self) -> Self {
        self.override_redirect = true;
        self
    }

    /// As large as the screen.
    #[must_use]
    pub fn full_screen(mut self) -> Self {
        self.full_screen = true;
        self
    }

    /// Not shown yet.
    #[must_use]
    pub fn unmapped(mut self) -> Self {
        self.mapped = false;
        self
    }

    /// Makes it.
    pub fn open(self, desktop: &Desktop) -> TestWindow<'_> {
        let conn = desktop.conn();
        let id = conn.generate_id().unwrap();
        let at = if self.full_screen { 0 } else { 10 + desktop.place() };
        let (width, height) = if self.full_screen { (1024, 768) } else { (300, 200) };
        let aux = CreateWindowAux::new()
            .background_pixel(0x0040_4040)
            .override_redirect(u32::from(self.override_redirect));
        let parent = self.parent.unwrap_or_else(|| desktop.root());
        let kind = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, id, parent, at, at, width, height, 0, kind, 0, &aux).unwrap();
        let window = TestWindow::new(desktop, id);
        // «the window manager may give it the focus» (ICCCM 4.1.2.4)
        let (hints, words) = (desktop.atom("WM_HINTS"), [1, 1, 0, 0, 0, 0, 0, 0, 0]);
        let replace = x11rb::protocol::xproto::PropMode::REPLACE;
        conn.change_property32(replace, id, hints, hints, &words).unwrap();
        if let Some((instance, class)) = &self.class {
            window.set_class(instance, class);
        }
        if let Some(title) = &self.title {
            window.set_title(title);
        }
        if let Some(owner) = self.transient_for {
            desktop.set_number(id, "WM_TRANSIENT_FOR", "WINDOW", owner);
        }
        if self.mapped {
            window.map();
        }
        window
    }
}

/// A window of ours.
#[derive(Clone, Copy, Debug)]
pub struct TestWindow<'a> {
    desktop: &'a Desktop,
    id: Window,
}

impl<'a> TestWindow<'a> {
    pub(crate) fn new(desktop: &'a Desktop, id: Window) -> Self {
        Self { desktop, id }
    }

    /// Its number.
    pub fn id(&self) -> Window {
        self.id
    }

    /// Shows it.
    pub fn map(&self) {
        self.desktop.conn().map_window(self.id).unwrap();
        self.desktop.sync();
    }

    /// Gives it the focus: as a pager asks the manager for it, or straight.
    #[track_caller]
    pub fn focus(&self) {
        if self.desktop.manager() == Manager::Bare {
            return self.focus_input();
        }
        // a manager that has just started may drop the first request
        let mut n = 0_u32;
        until("the manager gives the focus", || {
            if n.is_multiple_of(100) {
                self.desktop.tell_manager(self.id, "_NET_ACTIVE_WINDOW");
            }
            n += 1;
            (self.desktop.active() == self.id).then_some(())
        });
    }

    /// Gives it the X input focus, past the manager.
    pub fn focus_input(&self) {
        self.desktop
            .conn()
            .set_input_focus(InputFocus::POINTER_ROOT, self.id, x11rb::CURRENT_TIME)
            .unwrap();
        self.desktop.sync();
    }

    /// Has it fill the screen, or not any more, as a player does (EWMH `_NET_WM_STATE`).
    pub fn fill_screen(&self, fill: bool) {
        let state = self.desktop.atom("_NET_WM_STATE_FULLSCREEN");
        match (self.desktop.manager(), fill) {
            (Manager::Bare, true) => self.set_number("_NET_WM_STATE", "ATOM", state),
            (Manager::Bare, false) => self.remove("_NET_WM_STATE"),
            _ => {
                let data = [u32::from(fill), state, 0, 2, 0];
                self.desktop.tell_manager_with(self.id, "_NET_WM_STATE", data);
            }
        }
    }

    /// Both strings of `WM_CLASS`.
    pub fn set_class(&self, instance: &str, class: &str) {
        self.set("WM_CLASS", "STRING", format!("{instance}\0{class}\0").as_bytes());
    }

    /// Both titles, as toolkits set them.
    pub fn set_title(&self, title: &str) {
        self.set("WM_NAME", "STRING", title.as_bytes());
        self.set("_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
    }

    /// Any property of bytes.
    pub fn set(&self, property: &str, kind: &str, bytes: &[u8]) {
        self.desktop.set(self.id, property, kind, bytes);
    }

    /// A property of one number.
    pub fn set_number(&self, property: &str, kind: &str, value: u32) {
        self.desktop.set_number(self.id, property, kind, value);
    }

    /// Takes a property away.
    pub fn remove(&self, property: &str) {
        let property = self.desktop.atom(property);
        self.desktop.conn().delete_property(self.id, property).unwrap();
        self.desktop.sync();
    }

    /// A point of the screen where it is the window that is seen.
    #[track_caller]
    pub fn spot(&self) -> (i16, i16) {
        until("a spot where the window is seen", || {
            let points =
                (5..1024).step_by(10).flat_map(|x| (5..768).step_by(10).map(move |y| (x, y)));
            points.into_iter().find(|&point| self.is_at(point))
        })
    }

    /// Where its upper left corner is on the screen.
    pub fn origin(&self) -> (i16, i16) {
        let (conn, root) = (self.desktop.conn(), self.desktop.root());
        let at = conn.translate_coordinates(self.id, root, 0, 0).unwrap().reply().unwrap();
        (at.dst_x, at.dst_y)
    }

    fn is_at(&self, (x, y): (i16, i16)) -> bool {
        let (conn, root) = (self.desktop.conn(), self.desktop.root());
        let below = |window| {
            let asked = conn.translate_coordinates(root, window, x, y).unwrap();
            // a window may end while it is asked about
            asked.reply().map_or(0, |reply| reply.child)
        };
        let mut window = below(root);
        while window != 0 && window != self.id {
            window = below(window);
        }
        window == self.id
    }

    /// Puts it above all others, past the manager.
    pub fn raise(&self) {
        let aux = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        self.desktop.conn().configure_window(self.id, &aux).unwrap();
        self.desktop.sync();
    }

    /// Ends it.
    pub fn destroy(self) {
        self.desktop.conn().destroy_window(self.id).unwrap();
        self.desktop.sync();
    }
}

pub(crate) fn shown(desktop: &Desktop, class: &str) -> Vec<(i16, i16, u16, u16)> {
    let conn = desktop.conn();
    let tree = conn.query_tree(desktop.root()).unwrap().reply().unwrap();
    let wanted = class.as_bytes();
    // a window may end while it is asked about
    let geometry = |&window: &Window| {
        let name = desktop.atom("WM_CLASS");
        let any = x11rb::protocol::xproto::AtomEnum::ANY;
        let property = conn.get_property(false, window, name, any, 0, 64).ok()?.reply().ok()?;
        property.value.split(|&byte| byte == 0).nth(1).filter(|&found| found == wanted)?;
        let attributes = conn.get_window_attributes(window).ok()?.reply().ok()?;
        (attributes.map_state == MapState::VIEWABLE).then_some(())?;
        let at = conn.get_geometry(window).ok()?.reply().ok()?;
        Some((at.x, at.y, at.width, at.height))
    };
    tree.children.iter().filter_map(geometry).collect()
}

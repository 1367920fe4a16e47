use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use antidrift_tests::own_display;
use tempfile::TempDir;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, InputFocus,
    PropMode, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::eventually;

/// A process that this test started; ended when it goes, also by a panic.
pub(crate) struct OwnChild(Child);

impl OwnChild {
    /// Starts a program, or says which package has it.
    pub(crate) fn spawn(command: &mut Command, package: &str) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} ({error}): install {package} with apt"));
        Self(child)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for OwnChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Window managers that tests run; each is told nothing but to leave its user's set-up alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manager {
    Openbox,
    I3,
    Bspwm,
}

impl Manager {
    pub(crate) const ALL: [Self; 3] = [Self::Openbox, Self::I3, Self::Bspwm];

    fn command(self, dir: &TempDir) -> (Command, &'static str) {
        match self {
            Self::Openbox => {
                let mut command = Command::new("openbox");
                command.arg("--sm-disable");
                (command, "openbox")
            }
            Self::I3 => {
                let config = dir.path().join("i3.conf");
                std::fs::write(&config, "# i3 config file (v4)\n").unwrap();
                let mut command = Command::new("i3");
                command.arg("-c").arg(config);
                (command, "i3-wm")
            }
            Self::Bspwm => (Command::new("bspwm"), "bspwm"),
        }
    }
}

/// An X server with at most one window manager.
pub(crate) struct Desk {
    pub(crate) display: String,
    pub(crate) conn: RustConnection,
    pub(crate) root: Window,
    manager: Option<OwnChild>,
    dir: TempDir,
    server: Option<OwnChild>,
}

impl Desk {
    /// A server that is alone.
    pub(crate) fn bare() -> Self {
        Self::with_server(&[])
    }

    /// A server that is alone, with more arguments.
    pub(crate) fn with_server(args: &[&str]) -> Self {
        let (server, display) = start_server(&own_display(), args);
        let (conn, screen) = RustConnection::connect(Some(&display)).unwrap();
        let root = conn.setup().roots[screen].root;
        let dir = tempfile::tempdir().unwrap();
        Self { display, conn, root, manager: None, dir, server: Some(server) }
    }

    pub(crate) fn with(manager: Manager) -> Self {
        let mut desk = Self::bare();
        desk.start_manager(manager);
        desk
    }

    /// Starts the manager and waits until it speaks EWMH.
    pub(crate) fn start_manager(&mut self, manager: Manager) {
        let (mut command, package) = manager.command(&self.dir);
        let home = self.dir.path();
        command
            .env("DISPLAY", &self.display)
            .env("HOME", home)
            .env("XDG_CONFIG_HOME", home)
            .env("XDG_CACHE_HOME", home)
            .env("XDG_RUNTIME_DIR", home)
            .stdout(Stdio::null());
        self.manager = Some(OwnChild::spawn(&mut command, package));
        eventually(&format!("{manager:?} speaks EWMH"), || {
            let check = self.number(self.root, "_NET_SUPPORTING_WM_CHECK");
            let alive = check != 0 && self.number(check, "_NET_SUPPORTING_WM_CHECK") == check;
            (alive && self.has(self.root, "_NET_SUPPORTED")).then_some(())
        });
        if manager == Manager::Openbox {
            self.wait_for_openbox();
        }
    }

    /// What openbox reads while it starts it may leave in its queue until more comes. Asked often
    /// enough it answers, and from then on it is at work.
    fn wait_for_openbox(&self) {
        let window = self.unmapped(self.root, false);
        let ask = self.atom("_NET_REQUEST_FRAME_EXTENTS");
        eventually("openbox answers", || {
            self.tell_manager(window, ask, [2, 0, 0, 0, 0]);
            self.has(window, "_NET_FRAME_EXTENTS").then_some(())
        });
        self.destroy(window);
    }

    fn tell_manager(&self, window: Window, kind: u32, data: [u32; 5]) {
        let event = ClientMessageEvent::new(32, window, kind, data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.conn.send_event(false, self.root, mask, event).unwrap();
        self.sync();
    }

    pub(crate) fn end_manager(&mut self) {
        self.manager = None;
    }

    pub(crate) fn is_managed(&self) -> bool {
        self.manager.is_some()
    }

    /// The server, so that a test can end or stop it.
    pub(crate) fn server(&mut self) -> &mut Option<OwnChild> {
        &mut self.server
    }

    /// Starts a server again on the number of the one that ended.
    pub(crate) fn restart_server(&mut self) {
        assert!(self.server.is_none());
        let (server, _) = start_server(&self.display, &[]);
        let (conn, screen) = RustConnection::connect(Some(&self.display)).unwrap();
        self.root = conn.setup().roots[screen].root;
        self.conn = conn;
        self.server = Some(server);
    }

    /// A mapped top level with the properties that toolkits set.
    pub(crate) fn window(&self, instance: &str, class: &str, title: &str) -> Window {
        let window = self.unmapped(self.root, false);
        self.classify(window, instance, class);
        self.rename(window, title);
        self.show(window);
        window
    }

    pub(crate) fn unmapped(&self, parent: Window, override_redirect: bool) -> Window {
        let window = self.conn.generate_id().unwrap();
        let aux = CreateWindowAux::new().override_redirect(u32::from(override_redirect));
        let class = WindowClass::INPUT_OUTPUT;
        self.conn.create_window(0, window, parent, 10, 10, 300, 200, 0, class, 0, &aux).unwrap();
        // «the window manager may give it the focus» (ICCCM 4.1.2.4)
        let (hints, kind) = (AtomEnum::WM_HINTS, AtomEnum::WM_HINTS);
        let input = [1, 1, 0, 0, 0, 0, 0, 0, 0];
        self.conn.change_property32(PropMode::REPLACE, window, hints, kind, &input).unwrap();
        window
    }

    pub(crate) fn show(&self, window: Window) {
        self.conn.map_window(window).unwrap();
        self.sync();
    }

    pub(crate) fn destroy(&self, window: Window) {
        self.conn.destroy_window(window).unwrap();
        self.sync();
    }

    /// Gives a window the focus: as a pager asks the manager for it, or straight.
    pub(crate) fn focus(&self, window: Window) {
        if self.is_managed() {
            // a manager that has just started may drop the first request
            let active = self.atom("_NET_ACTIVE_WINDOW");
            let mut n = 0_u32;
            eventually("the manager gives the focus", || {
                if n.is_multiple_of(50) {
                    self.tell_manager(window, active, [2, 0, 0, 0, 0]);
                }
                n += 1;
                (self.number(self.root, "_NET_ACTIVE_WINDOW") == window).then_some(())
            });
        } else {
            self.focus_input(window);
        }
    }

    /// Has the manager make a window fill the screen, or not (EWMH `_NET_WM_STATE`).
    pub(crate) fn fill_screen(&self, window: Window, fill: bool) {
        let data = [u32::from(fill), self.atom("_NET_WM_STATE_FULLSCREEN"), 0, 2, 0];
        self.tell_manager(window, self.atom("_NET_WM_STATE"), data);
    }

    pub(crate) fn focus_input(&self, window: Window) {
        let revert = InputFocus::POINTER_ROOT;
        self.conn.set_input_focus(revert, window, x11rb::CURRENT_TIME).unwrap();
        self.sync();
    }

    pub(crate) fn classify(&self, window: Window, instance: &str, class: &str) {
        let both = format!("{instance}\0{class}\0");
        self.set(window, "WM_CLASS", "STRING", both.as_bytes());
    }

    /// Both titles, as toolkits do.
    pub(crate) fn rename(&self, window: Window, title: &str) {
        self.set(window, "WM_NAME", "STRING", title.as_bytes());
        self.set(window, "_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
    }

    pub(crate) fn set(&self, window: Window, property: &str, kind: &str, bytes: &[u8]) {
        let (property, kind) = (self.atom(property), self.atom(kind));
        self.conn.change_property8(PropMode::REPLACE, window, property, kind, bytes).unwrap();
        self.conn.flush().unwrap();
    }

    pub(crate) fn set_number(&self, window: Window, property: &str, kind: AtomEnum, value: u32) {
        let property = self.atom(property);
        self.conn.change_property32(PropMode::REPLACE, window, property, kind, &[value]).unwrap();
        self.conn.flush().unwrap();
    }

    pub(crate) fn remove(&self, window: Window, property: &str) {
        self.conn.delete_property(window, self.atom(property)).unwrap();
        self.sync();
    }

    pub(crate) fn number(&self, window: Window, property: &str) -> u32 {
        let property = self.atom(property);
        let reply = self.conn.get_property(false, window, property, AtomEnum::ANY, 0, 1).unwrap();
        let reply = reply.reply().ok();
        reply.and_then(|reply| reply.value32()?.next()).unwrap_or(0)
    }

    pub(crate) fn has(&self, window: Window, property: &str) -> bool {
        let property = self.atom(property);
        let reply = self.conn.get_property(false, window, property, AtomEnum::ANY, 0, 1).unwrap();
        reply.reply().is_ok_and(|reply| reply.type_ != 0)
    }

    pub(crate) fn atom(&self, name: &str) -> u32 {
        self.conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    /// Returns when the server has done all that was asked of it.
    pub(crate) fn sync(&self) {
        self.conn.sync().unwrap();
        while self.conn.poll_for_event().unwrap().is_some() {}
    }

    /// A command with this desktop's display.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).stdout(Stdio::null());
        command
    }
}

/// A server on the display given.
fn start_server(display: &str, args: &[&str]) -> (OwnChild, String) {
    let mut command = Command::new("Xvfb");
    command.arg(display).args(args);
    // it writes the number when it is ready; without -noreset it forgets all with its last client
    command.args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", "800x600x24"]);
    let mut server = OwnChild::spawn(command.stdout(Stdio::piped()), "xvfb");
    let mut number = String::new();
    let stdout = server.0.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut number).unwrap();
    assert!(!number.trim().is_empty(), "Xvfb did not start");
    let display = format!(":{}", number.trim());
    (server, display)
}

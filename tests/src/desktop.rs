use std::{
    cell::{Cell, RefCell},
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use rustix::process::Signal;
use x11rb::{
    connection::Connection,
    errors::ReplyError,
    protocol::{
        ErrorKind,
        xproto::{
            AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, GrabMode, ImageFormat,
            ModMask, PropMode, Window,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use crate::{Home, Process, TestWindow, WindowSpec, until, window};

/// A window manager, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// None: the focus is given straight.
    Bare,
    /// openbox.
    Openbox,
    /// i3.
    I3,
    /// bspwm.
    Bspwm,
}

impl Manager {
    /// Every set-up.
    pub const ALL: [Self; 4] = [Self::Bare, Self::Openbox, Self::I3, Self::Bspwm];

    /// The command that starts it with this configuration, written to `dir`, and the package that
    /// has it.
    fn command(
        self,
        config: &str,
        dir: &Path,
        program: &dyn Fn(&str) -> Command,
    ) -> Option<(Command, &'static str)> {
        let file = config_file(dir);
        fs::write(&file, config).unwrap();
        match self {
            Self::Bare => None,
            Self::Openbox => {
                let mut command = program("openbox");
                command.arg("--sm-disable");
                if !config.is_empty() {
                    command.arg("--config-file").arg(file);
                }
                Some((command, "openbox"))
            }
            Self::I3 => {
                fs::write(&file, format!("# i3 config file (v4)\n{config}")).unwrap();
                let mut command = program("i3");
                command.arg("-c").arg(file);
                Some((command, "i3-wm"))
            }
            Self::Bspwm => {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
                let mut command = program("bspwm");
                if !config.is_empty() {
                    command.arg("-c").arg(file);
                }
                Some((command, "bspwm"))
            }
        }
    }
}

/// Where a manager's configuration is.
fn config_file(dir: &Path) -> PathBuf {
    dir.join("manager.conf")
}

/// An X server with at most one window manager.
#[derive(Debug)]
pub struct Desktop {
    display: String,
    conn: RustConnection,
    root: Window,
    processes: RefCell<Vec<Process>>,
    kind: Cell<Manager>,
    home: Home,
    places: Cell<i16>,
}

impl Desktop {
    /// A server on a free display, with this manager at work.
    pub fn start(kind: Manager) -> Self {
        Self::start_at(kind, None, &[])
    }

    /// A server with more arguments and no manager.
    pub fn with_server(args: &[&str]) -> Self {
        Self::start_at(Manager::Bare, None, args)
    }

    /// The same again on the display of one whose server was killed.
    pub fn again(&self) -> Self {
        Self::start_at(self.kind.get(), Some(&self.display), &[])
    }

    fn start_at(kind: Manager, display: Option<&str>, args: &[&str]) -> Self {
        let home = Home::new();
        let (mut server, display) = start_server(&home, display, args);
        // A busy machine may refuse the first attempt of a server that has said that it is ready.
        let (conn, screen) = until(&format!("the server at {display} takes connections"), || {
            assert!(server.is_running(), "the server at {display} has ended");
            RustConnection::connect(Some(&display)).ok()
        });
        let root = conn.setup().roots[screen].root;
        let processes = RefCell::new(vec![server]);
        let (kind, places) = (Cell::new(kind), Cell::new(0));
        let desktop = Self { display, conn, root, processes, kind, home, places };
        desktop.start_manager("", &|name| desktop.home.command(name));
        desktop
    }

    /// Puts a manager with this configuration at work where there is none. `program` makes the
    /// commands, and so says what the manager's own commands find.
    pub fn manage(&self, kind: Manager, config: &str, program: &dyn Fn(&str) -> Command) {
        assert_eq!(self.kind.replace(kind), Manager::Bare, "there is one already");
        self.start_manager(config, program);
    }

    /// Ends the manager.
    pub fn end_manager(&self) {
        assert_ne!(self.kind.replace(Manager::Bare), Manager::Bare, "there is none");
        self.processes.borrow_mut().pop();
    }

    /// Its name, as in DISPLAY.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// The connection that makes the windows.
    pub fn conn(&self) -> &RustConnection {
        &self.conn
    }

    /// The root window.
    pub fn root(&self) -> Window {
        self.root
    }

    /// Which manager.
    pub fn manager(&self) -> Manager {
        self.kind.get()
    }

    /// Stops the server, or lets it go on.
    pub fn signal_server(&self, signal: Signal) {
        self.processes.borrow()[0].signal(signal);
    }

    /// CPU time of server and manager so far, in seconds.
    pub fn cpu_secs(&self) -> f64 {
        let nanoseconds = self.processes.borrow().iter().map(|process| process.cost().1).sum();
        Duration::from_nanos(nanoseconds).as_secs_f64()
    }

    /// Kills the server, and with it whatever lives on it.
    pub fn kill_server(&self) {
        // the manager, which came last, first: it would complain
        while let Some(process) = self.processes.borrow_mut().pop() {
            drop(process);
        }
    }

    fn start_manager(&self, config: &str, program: &dyn Fn(&str) -> Command) {
        let kind = self.manager();
        let started = kind.command(config, self.home.path(), program);
        let Some((mut command, package)) = started else { return };
        command.env("DISPLAY", &self.display).stdout(Stdio::null()).stderr(Stdio::null());
        self.processes.borrow_mut().push(Process::spawn(&mut command, package));
        until(&format!("{kind:?} speaks EWMH"), || {
            let check = self.number(self.root, "_NET_SUPPORTING_WM_CHECK");
            let alive = check != 0 && self.number(check, "_NET_SUPPORTING_WM_CHECK") == check;
            (alive && self.has(self.root, "_NET_SUPPORTED")).then_some(())
        });
        if kind == Manager::Openbox {
            // While it starts, openbox may leave what it has read in its queue until more comes.
            // Once it answers it is at work.
            let window = WindowSpec::new("probe").unmapped().open(self);
            until("openbox answers", || {
                self.tell_manager(window.id(), "_NET_REQUEST_FRAME_EXTENTS");
                self.has(window.id(), "_NET_FRAME_EXTENTS").then_some(())
            });
            window.destroy();
        }
        if kind == Manager::Bspwm {
            // It, too: what came while it started waits in its queue for more.
            until("bspwm answers", || {
                let asked = self.command("bspc").args(["wm", "--get-status"]).status();
                asked.is_ok_and(|it| it.success()).then_some(())
            });
        }
    }

    /// Opens a window and gives it the focus.
    pub fn open(&self, class: &str, title: &str) -> TestWindow<'_> {
        let window = WindowSpec::new(title).class(class).open(self);
        window.focus();
        window
    }

    /// A window of this number, however it was made.
    pub fn window(&self, id: Window) -> TestWindow<'_> {
        TestWindow::new(self, id)
    }

    /// A place for the next window, so that they do not lie on top of each other.
    pub(crate) fn place(&self) -> i16 {
        self.places.replace((self.places.get() + 30) % 300)
    }

    /// Sends the window manager a request about a window, as a pager does.
    pub fn tell_manager(&self, window: Window, kind: &str) {
        self.tell_manager_with(window, kind, [2, 0, 0, 0, 0]);
    }

    /// The same with other data.
    pub(crate) fn tell_manager_with(&self, window: Window, kind: &str, data: [u32; 5]) {
        let event = ClientMessageEvent::new(32, window, self.atom(kind), data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.conn.send_event(false, self.root, mask, event).unwrap();
        self.sync();
    }

    /// The window that the manager calls active; 0 for none.
    pub fn active(&self) -> Window {
        self.number(self.root, "_NET_ACTIVE_WINDOW")
    }

    /// The first number of a property, or 0.
    pub fn number(&self, window: Window, property: &str) -> u32 {
        let property = self.atom(property);
        let reply = self.conn.get_property(false, window, property, AtomEnum::ANY, 0, 1).unwrap();
        reply.reply().ok().and_then(|reply| reply.value32()?.next()).unwrap_or(0)
    }

    /// Whether a window has a property.
    pub fn has(&self, window: Window, property: &str) -> bool {
        let property = self.atom(property);
        let reply = self.conn.get_property(false, window, property, AtomEnum::ANY, 0, 1).unwrap();
        reply.reply().is_ok_and(|reply| reply.type_ != 0)
    }

    /// Sets a property of bytes, of any type.
    pub fn set(&self, window: Window, property: &str, kind: &str, bytes: &[u8]) {
        let (property, kind) = (self.atom(property), self.atom(kind));
        self.conn.change_property8(PropMode::REPLACE, window, property, kind, bytes).unwrap();
        self.conn.flush().unwrap();
    }

    /// Sets a property of one number.
    pub fn set_number(&self, window: Window, property: &str, kind: &str, value: u32) {
        let (property, kind) = (self.atom(property), self.atom(kind));
        self.conn.change_property32(PropMode::REPLACE, window, property, kind, &[value]).unwrap();
        self.conn.flush().unwrap();
    }

    /// The number of a name.
    pub fn atom(&self, name: &str) -> u32 {
        self.conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    /// Returns when the server has done all that was asked of it.
    pub fn sync(&self) {
        self.conn.sync().unwrap();
        while self.conn.poll_for_event().unwrap().is_some() {}
    }

    /// Gives i3 another configuration, and restarts it in place: a reload starts no bars.
    #[track_caller]
    pub fn configure_i3(&self, text: &str) {
        fs::write(config_file(self.home.path()), format!("# i3 config file (v4)\n{text}\n"))
            .unwrap();
        let told = self.command("i3-msg").arg("restart").output().expect("i3-msg is installed");
        assert!(told.status.success(), "{told:?}");
    }

    /// The mapped top levels whose class is this, as geometries: x, y, width, height.
    pub fn shown(&self, class: &str) -> Vec<(i16, i16, u16, u16)> {
        window::shown(self, class)
    }

    /// The pixels of a part of the screen, four bytes each.
    pub fn pixels(&self, (x, y, width, height): (i16, i16, u16, u16)) -> Vec<u8> {
        let image =
            self.conn.get_image(ImageFormat::Z_PIXMAP, self.root, x, y, width, height, u32::MAX);
        image.unwrap().reply().unwrap().data
    }

    /// Clicks on a point of the screen with a mouse button (1 left, 2 middle, 3 right).
    #[track_caller]
    pub fn click(&self, point: (i16, i16), button: u32) {
        self.hold_button(point, button);
        self.let_go(button);
    }

    /// The first half of a click.
    #[track_caller]
    pub fn hold_button(&self, (x, y): (i16, i16), button: u32) {
        let (x, y, button) = (x.to_string(), y.to_string(), button.to_string());
        self.xdotool(&["mousemove", &x, &y, "mousedown", &button]);
    }

    /// The other half.
    #[track_caller]
    pub fn let_go(&self, button: u32) {
        self.xdotool(&["mouseup", &button.to_string()]);
    }

    /// Presses a key and lets it go, wherever the focus is.
    #[track_caller]
    pub fn press(&self, key: &str) {
        self.xdotool(&["key", key]);
    }

    /// Waits until a program listens for a function key with `super`, `shift` or both, named as for
    /// xdotool. Pressed before that it is lost.
    #[track_caller]
    pub fn until_grabbed(&self, keys: &str) {
        let (mut modifiers, mut keysym) = (ModMask::default(), 0);
        for key in keys.split('+') {
            match key {
                "super" => modifiers |= ModMask::M4,
                "shift" => modifiers |= ModMask::SHIFT,
                // F1 is 0xffbe
                _ => keysym = 0xffbd + key[1..].parse::<u32>().unwrap(),
            }
        }
        let keycode = self.keycode(keysym);
        until(&format!("somebody listens for {keys}"), || {
            // Only one program can have it. All in one go, so that nobody else's attempt fails for
            // ours.
            self.conn.grab_server().unwrap();
            let grab = self.conn.grab_key(
                false,
                self.root,
                modifiers,
                keycode,
                GrabMode::ASYNC,
                GrabMode::ASYNC,
            );
            self.conn.ungrab_key(keycode, self.root, modifiers).unwrap();
            self.conn.ungrab_server().unwrap();
            match grab.unwrap().check() {
                Ok(()) => None,
                Err(ReplyError::X11Error(error)) if error.error_kind == ErrorKind::Access => {
                    Some(())
                }
                Err(error) => panic!("grabbing {keys}: {error}"),
            }
        });
    }

    /// The key that has this symbol.
    fn keycode(&self, keysym: u32) -> u8 {
        let setup = self.conn.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let map = self.conn.get_keyboard_mapping(first, last - first + 1).unwrap().reply().unwrap();
        let mut keys = map.keysyms.chunks(map.keysyms_per_keycode.into());
        let place = keys.position(|symbols| symbols.contains(&keysym));
        first + u8::try_from(place.expect("a key has this symbol")).unwrap()
    }

    #[track_caller]
    fn xdotool(&self, args: &[&str]) {
        let status = self.command("xdotool").args(args).status().expect("xdotool is installed");
        assert!(status.success(), "xdotool {args:?}");
    }

    /// Runs a program that acts on this display as a person would: xdotool, xset.
    #[track_caller]
    pub fn run(&self, program: &str, args: &[&str]) {
        let status = self.command(program).args(args).status();
        let status = status.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(status.success(), "{program} {args:?}: {status}");
    }

    /// A command in an invented home that sees this display.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.home.command(program);
        command.env("DISPLAY", &self.display).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        self.kill_server();
    }
}

/// A server on the display given, or on one of our own.
fn start_server(home: &Home, display: Option<&str>, args: &[&str]) -> (Process, String) {
    let mut command = home.command("Xvfb");
    // it writes its number when it is ready; without -noreset it forgets all with its last client
    command.arg(display.map_or_else(own_display, str::to_owned)).args([
        "-displayfd",
        "1",
        "-noreset",
        "-nolisten",
        "tcp",
    ]);
    command
        .args(["-screen", "0", "1024x768x24"])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut server = Process::spawn(&mut command, "xvfb");
    let mut number = String::new();
    BufReader::new(server.take_stdout().unwrap()).read_line(&mut number).unwrap();
    assert!(!number.trim().is_empty(), "Xvfb did not start");
    let display = format!(":{}", number.trim());
    (server, display)
}

/// A display number that no other test takes while this one's server is down. Left to itself, a
/// server takes the lowest free number, which may be that of a server just killed.
fn own_display() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = 100 + std::process::id() % 1000 * 50 + NEXT.fetch_add(1, Ordering::Relaxed);
        if !Path::new(&format!("/tmp/.X{number}-lock")).exists() {
            return format!(":{number}");
        }
    }
}

/// Makes one check a test on each desktop: with openbox, i3, bspwm and with no window manager.
#[macro_export]
macro_rules! on_every_desktop {
    ($(#[doc = $doc:literal])* fn $name:ident($manager:ident: Manager) $check:block) => {
        $(#[doc = $doc])*
        mod $name {
            use super::*;

            fn check($manager: Manager) $check

            #[test]
            fn bare() {
                check(Manager::Bare);
            }

            #[test]
            fn openbox() {
                check(Manager::Openbox);
            }

            #[test]
            fn i3() {
                check(Manager::I3);
            }

            #[test]
            fn bspwm() {
                check(Manager::Bspwm);
            }
        }
    };
}

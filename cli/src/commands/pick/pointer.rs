//! The click itself: the pointer is grabbed, so that no window sees it, and the program's window is
//! looked for under it.
//!
//! However this ends, the end of the connection gives the pointer back.

use std::{io, os::unix::net::UnixStream, thread, time::Duration};

use x11rb::{
    connection::Connection as _,
    errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError},
    protocol::{
        Event,
        xproto::{
            ButtonPressEvent, ConnectionExt as _, Cursor, EventMask, GrabMode, GrabStatus,
            MapState, ModMask, Window,
        },
    },
    reexports::x11rb_protocol::parse_display::{ConnectAddress, parse_display},
    rust_connection::RustConnection,
};

use super::property::{Atoms, Reader};

/// The crosshair in the cursor font (X11/cursorfont.h); the glyph behind it is its mask.
const CROSSHAIR: u16 = 34;
/// Another program may hold the pointer: a menu, or the key binding that started us.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);
const NO_DISPLAY: &str = "DISPLAY is not set, so there is no window to click; run it inside the \
                          desktop session, or name a class to antidrift allow add";
/// The TCP port of display 0.
const FIRST_PORT: u16 = 6000;
const PICKS: u8 = 1;
const CANCELS: u8 = 3;
/// The key symbol of Escape (X11/keysymdef.h).
const ESCAPE: u32 = 0xff1b;
/// Windows inside each other that are looked at; window managers and toolkits nest a handful.
const MAX_DEPTH: usize = 32;
/// Windows of one depth that are looked at for the one in a frame.
const MAX_WINDOWS: usize = 64;

/// What the window that was clicked says of itself.
#[derive(Debug)]
pub(super) struct Picked {
    /// The second string of `WM_CLASS`, or nothing.
    pub(super) class: String,
    /// The title; `None` if it cannot be read here.
    pub(super) title: Option<String>,
}

/// Lets a person click a window; `prompt` is called once the pointer is ours. `None`: cancelled.
///
/// # Errors
///
/// Why there was nothing to click, in a sentence.
pub(super) fn pick(prompt: impl FnOnce()) -> Result<Option<Picked>, String> {
    let (conn, screen) = connect()?;
    let display = Display { root: conn.setup().roots[screen].root, conn: &conn };
    display.pick(prompt).map_err(|Said(why)| why)
}

/// Why nothing was picked.
struct Said(String);

impl From<ReplyError> for Said {
    fn from(error: ReplyError) -> Self {
        Self(match error {
            ReplyError::ConnectionError(_) => "the X server has gone".into(),
            ReplyError::X11Error(_) => "the window has gone; nothing was picked".into(),
        })
    }
}

impl From<ConnectionError> for Said {
    fn from(error: ConnectionError) -> Self {
        ReplyError::from(error).into()
    }
}

fn connect() -> Result<(RustConnection, usize), String> {
    let display = std::env::var("DISPLAY").unwrap_or_default();
    if display.is_empty() {
        return Err(NO_DISPLAY.into());
    }
    let name = crate::render::title(&display);
    // x11rb adds them up without a look.
    let number = parse_display(Some(&display)).map_or(0, |parsed| parsed.display);
    if number.checked_add(FIRST_PORT).is_none() {
        return Err(format!("DISPLAY is {name}: there is no display of that number"));
    }
    x11rb::connect(Some(&display)).map_err(|error| match error {
        ConnectError::IoError(error) => {
            let why = crate::render::message(&refusal(&display, &error));
            format!("no X server at {name} ({why})")
        }
        error => {
            let error = crate::render::message(&error.to_string());
            format!("the X server at {name} cannot be used: {error}")
        }
    })
}

/// What the system says of the first address. x11rb tells of the last, which for a display of this
/// machine is a port that no server listens on.
fn refusal(display: &str, last: &io::Error) -> String {
    let parsed = parse_display(Some(display)).ok();
    match parsed.as_ref().and_then(|parsed| parsed.connect_instruction().next()) {
        Some(ConnectAddress::Socket(path)) => match UnixStream::connect(&path) {
            Ok(_) => last.to_string(),
            Err(error) => format!("{path}: {error}"),
        },
        _ => last.to_string(),
    }
}

struct Display<'a> {
    conn: &'a RustConnection,
    root: Window,
}

impl Display<'_> {
    fn pick(&self, prompt: impl FnOnce()) -> Result<Option<Picked>, Said> {
        let said = |why: &str| Err(Said(why.to_owned()));
        self.listen_for_escape()?;
        if !self.grab_pointer()? {
            return said("another program holds the pointer, such as an open menu; try again");
        }
        prompt();
        let Some(click) = self.click()? else { return Ok(None) };
        self.conn.ungrab_pointer(x11rb::CURRENT_TIME)?;
        if click.child == x11rb::NONE {
            return said("there is no window there, only the background");
        }
        let reader = Reader { conn: self.conn, atoms: Atoms::new(self.conn)?.reply()? };
        let Some(window) = self.client_at(reader, &click)? else {
            return said("that is a frame or a menu; click inside the window");
        };
        Ok(Some(Picked { class: reader.class(window)?, title: reader.title(window)? }))
    }

    /// All other keys go on to where the focus is: Ctrl-C ends us in a terminal. A manager that has
    /// Escape for itself keeps it.
    fn listen_for_escape(&self) -> Result<(), ReplyError> {
        let setup = self.conn.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let count = last.saturating_sub(first).saturating_add(1);
        let keys = self.conn.get_keyboard_mapping(first, count)?.reply()?;
        let per_key = usize::from(keys.keysyms_per_keycode).max(1);
        let rows = keys.keysyms.chunks(per_key);
        for (key, _) in (first..=last).zip(rows).filter(|(_, row)| row.first() == Some(&ESCAPE)) {
            // With and without the locks for capitals and numbers.
            for held in
                [ModMask::default(), ModMask::LOCK, ModMask::M2, ModMask::LOCK | ModMask::M2]
            {
                let mode = GrabMode::ASYNC;
                self.conn.grab_key(false, self.root, held, key, mode, mode)?.ignore_error();
            }
        }
        Ok(())
    }

    fn grab_pointer(&self) -> Result<bool, ReplyError> {
        // A server without this font shows its own cursor.
        let cursor = self.crosshair().unwrap_or(x11rb::NONE);
        let (mask, mode) = (EventMask::BUTTON_PRESS | EventMask::BUTTON_RELEASE, GrabMode::ASYNC);
        for attempt in 0..TRIES {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            let now = x11rb::CURRENT_TIME;
            let asked = self.conn.grab_pointer(
                false,
                self.root,
                mask,
                mode,
                mode,
                x11rb::NONE,
                cursor,
                now,
            )?;
            if asked.reply()?.status == GrabStatus::SUCCESS {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn crosshair(&self) -> Result<Cursor, ReplyOrIdError> {
        let (font, cursor) = (self.conn.generate_id()?, self.conn.generate_id()?);
        self.conn.open_font(font, b"cursor")?.check()?;
        let (black, white) = (0, u16::MAX);
        self.conn
            .create_glyph_cursor(
                cursor,
                font,
                font,
                CROSSHAIR,
                CROSSHAIR + 1,
                black,
                black,
                black,
                white,
                white,
                white,
            )?
            .check()?;
        Ok(cursor)
    }

    /// Where the button that picks was pressed; `None` if it was the one that cancels, or Escape.
    /// Waits for the release as well, which would go to the window otherwise.
    fn click(&self) -> Result<Option<ButtonPressEvent>, ReplyError> {
        let mut pressed: Option<ButtonPressEvent> = None;
        loop {
            match self.conn.wait_for_event()? {
                Event::ButtonPress(press) if matches!(press.detail, PICKS | CANCELS) => {
                    pressed.get_or_insert(press);
                }
                Event::ButtonRelease(release) => {
                    let click = pressed.filter(|press| press.detail == release.detail);
                    if click.is_some() {
                        return Ok(click.filter(|press| press.detail == PICKS));
                    }
                }
                Event::KeyPress(_) => return Ok(None),
                _ => {}
            }
        }
    }

    /// The program's window under a click: the way from the frame down to the pointer leads over
    /// it, unless the click was on the frame itself. Of what is kept from the window manager nothing
    /// is taken: menus, and frames whose window is elsewhere (i3 draws titles on the frame around).
    fn client_at(
        &self,
        reader: Reader<'_>,
        click: &ButtonPressEvent,
    ) -> Result<Option<Window>, ReplyError> {
        let mut window = click.child;
        for _ in 0..MAX_DEPTH {
            if reader.is_client(window)? {
                return Ok(Some(window));
            }
            let (x, y) = (click.root_x, click.root_y);
            let below = self.conn.translate_coordinates(self.root, window, x, y)?.reply()?.child;
            if below == x11rb::NONE {
                break;
            }
            window = below;
        }
        let inside = self.client_in(reader, click.child)?;
        if inside.is_some() {
            return Ok(inside);
        }
        // Without a window manager no window is marked.
        let attributes = self.conn.get_window_attributes(click.child)?.reply()?;
        Ok(Some(click.child).filter(|_| !attributes.override_redirect))
    }

    /// The uppermost window of a program in a frame, however deep.
    fn client_in(&self, reader: Reader<'_>, frame: Window) -> Result<Option<Window>, ReplyError> {
        let mut level = vec![frame];
        for _ in 0..MAX_DEPTH {
            let mut below = Vec::new();
            for window in level {
                // The lowest comes first.
                let tree = self.conn.query_tree(window)?.reply()?;
                below.extend(tree.children.into_iter().rev());
            }
            below.truncate(MAX_WINDOWS);
            for &window in &below {
                let seen = self.conn.get_window_attributes(window)?.reply()?.map_state;
                if seen == MapState::VIEWABLE && reader.is_client(window)? {
                    return Ok(Some(window));
                }
            }
            level = below;
        }
        Ok(None)
    }
}

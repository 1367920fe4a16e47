//! The least that a follower of the focused window can be: one connection, one thread, no library
//! for JSON. It reads class and title at each event and tells them to the first client of a socket.
//! `floor_watch PATH`; what antidriftd is measured against.
#![allow(missing_docs, reason = "a program")]

use std::{env, error::Error, io::Write, os::unix::net::UnixListener};

use x11rb::{
    connection::Connection,
    protocol::{
        Event,
        xproto::{Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt, EventMask},
    },
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("floor_watch PATH")?;
    let (conn, screen) = x11rb::connect(None)?;
    let root = conn.setup().roots[screen].root;
    let atom = |name: &str| conn.intern_atom(false, name.as_bytes());
    let (active, name) = (atom("_NET_ACTIVE_WINDOW")?, atom("_NET_WM_NAME")?);
    let (active, name) = (active.reply()?.atom, name.reply()?.atom);
    let select = |window, mask| {
        let aux = ChangeWindowAttributesAux::new().event_mask(mask);
        conn.change_window_attributes(window, &aux)
    };
    let ask = |window, property: Atom, units| {
        conn.get_property(false, window, property, AtomEnum::ANY, 0, units)
    };
    select(root, EventMask::PROPERTY_CHANGE)?.check()?;
    let mut client = UnixListener::bind(path)?.accept()?.0;

    let (mut window, mut class) = (0, String::new());
    let (mut moved, mut renamed) = (true, false);
    loop {
        if moved {
            let reply = ask(root, active, 1)?.reply()?;
            let found = reply.value32().and_then(|mut values| values.next()).unwrap_or(0);
            moved = found != window;
            if moved && window != 0 {
                select(window, EventMask::NO_EVENT)?.ignore_error();
            }
            window = found;
        }
        if window != 0 && (moved || renamed) {
            // both are asked for before either is waited for
            let asked = if moved {
                select(window, EventMask::PROPERTY_CHANGE)?.ignore_error();
                Some(ask(window, AtomEnum::WM_CLASS.into(), 64)?)
            } else {
                None
            };
            let title = ask(window, name, 1024)?;
            if let Some(Ok(reply)) = asked.map(|asked| asked.reply()) {
                let second = reply.value.split(|byte| *byte == 0).nth(1).unwrap_or_default();
                class = String::from_utf8_lossy(second).into_owned();
            }
            let title = title.reply().map(|reply| reply.value).unwrap_or_default();
            let title = String::from_utf8_lossy(&title);
            let line = format!("{{\"id\":{window},\"class\":{class:?},\"title\":{title:?}}}\n");
            client.write_all(line.as_bytes())?;
        } else if moved {
            client.write_all(b"{\"id\":0}\n")?;
        }
        (moved, renamed) = (false, false);
        let mut next = Some(conn.wait_for_event()?);
        while let Some(event) = next {
            if let Event::PropertyNotify(event) = event {
                moved |= event.window == root && event.atom == active;
                renamed |= event.window == window && event.atom == name;
            }
            // all that is here already makes one line
            next = conn.poll_for_event()?;
        }
    }
}

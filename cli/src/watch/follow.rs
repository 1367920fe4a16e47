//! The thread that follows the daemon's stream, and takes it up again when it breaks.

use std::{thread, time::Duration};

use antidrift_protocol::{
    Event,
    client::{Client, ClientError},
    paths::SocketPath,
};

use super::{Happening, model::Input};
use crate::{clock, commands::NAME, render};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// A daemon that was started by hand is found after this long at worst.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A connection that lived this long was a good one: its end is no reason for a long pause.
const GOOD: Duration = Duration::from_secs(10);

/// Follows until nobody listens. `tell` is false then.
pub(super) fn follow(socket: &SocketPath, tell: &dyn Fn(Happening) -> bool) {
    let mut pause = FIRST_PAUSE;
    loop {
        let begin = clock::now();
        let Some(error) = stream(socket, tell) else { return };
        if !tell(Happening::Input(Input::Lost(error))) {
            return;
        }
        if clock::now().saturating_sub(begin) >= GOOD {
            pause = FIRST_PAUSE;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// One connection, to its end. `None`: nobody listens.
fn stream(socket: &SocketPath, tell: &dyn Fn(Happening) -> bool) -> Option<ClientError> {
    let mut events = match Client::connect(socket, NAME).and_then(|client| client.subscribe(None)) {
        Ok(events) => events,
        Err(error) => return Some(error),
    };
    let instance = events.instance().to_owned();
    if !tell(Happening::Input(Input::Connected { instance })) {
        return None;
    }
    loop {
        let line = match events.next_line() {
            Ok(line) => line,
            Err(error) => return Some(error),
        };
        let event = match Event::parse(&line) {
            Ok(event) => event,
            Err(error) => return Some(ClientError::NotUnderstood(error.to_string())),
        };
        // JSON is UTF-8, as the parser has found.
        let raw = render::json_line(&String::from_utf8_lossy(&line));
        let age = clock::wall().since(event.at);
        if !tell(Happening::Event { event: Box::new(event), age, raw }) {
            return None;
        }
    }
}

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use antidrift_protocol::{AlertRaised, DriftStatus, Event, EventBody, State, Window};
use serde_json::{Value, json};

use crate::{PATIENCE, Timer};

/// A raw connection that follows the stream and keeps every event.
#[derive(Debug)]
pub struct Subscriber {
    reader: BufReader<UnixStream>,
    partial: Vec<u8>,
    events: Vec<Event>,
    lines: Vec<String>,
    /// How many events [`until_event`](Self::until_event) has gone past.
    seen: usize,
    /// Names the daemon's run.
    pub instance: String,
}

impl Subscriber {
    /// Connects, subscribes and reads the first state.
    #[track_caller]
    pub fn connect(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).expect("the daemon listens");
        stream.write_all(b"{\"id\":1,\"cmd\":\"subscribe\"}\n").unwrap();
        let mut subscriber = Self {
            reader: BufReader::new(stream),
            partial: Vec::new(),
            events: Vec::new(),
            lines: Vec::new(),
            seen: 0,
            instance: String::new(),
        };
        let timer = Timer::start();
        let line = subscriber.line(timer).expect("an answer to subscribe");
        let answer: Value = serde_json::from_str(&line).unwrap();
        answer["ok"]["instance"].as_str().unwrap().clone_into(&mut subscriber.instance);
        subscriber.until("the first state", |_| true);
        subscriber
    }

    /// Every event so far.
    pub fn events(&mut self) -> &[Event] {
        self.drain();
        &self.events
    }

    /// Every event line so far, as it came.
    pub fn lines(&mut self) -> &[String] {
        self.drain();
        &self.lines
    }

    /// Every state so far.
    pub fn states(&mut self) -> Vec<State> {
        let state = |event: &Event| match &event.body {
            EventBody::State(state) => Some((**state).clone()),
            _ => None,
        };
        self.events().iter().filter_map(state).collect()
    }

    /// The newest state.
    pub fn state(&mut self) -> State {
        self.states().pop().expect("the first line is a state")
    }

    /// Waits until the newest state is so.
    #[track_caller]
    pub fn until(&mut self, what: &str, so: impl Fn(&State) -> bool) -> State {
        let timer = Timer::start();
        loop {
            let newest = self.states().pop();
            if let Some(state) = newest.filter(&so) {
                return state;
            }
            assert!(self.next(timer), "no state with {what}; the last lines: {:#?}", self.tail());
        }
    }

    /// Waits for an event, beginning after the one that was waited for last.
    #[track_caller]
    pub fn until_event<T>(&mut self, what: &str, so: impl Fn(&EventBody) -> Option<T>) -> T {
        let timer = Timer::start();
        loop {
            self.drain();
            while let Some(event) = self.events.get(self.seen) {
                self.seen += 1;
                if let Some(found) = so(&event.body) {
                    return found;
                }
            }
            assert!(self.next(timer), "no event {what}; the last lines: {:#?}", self.tail());
        }
    }

    /// Waits until the focused window has this title.
    #[track_caller]
    pub fn until_title(&mut self, title: &str) -> Window {
        let state = self.until(&format!("the title «{title}»"), |state| {
            state.window.as_ref().is_some_and(|window| window.title == title)
        });
        state.window.unwrap()
    }

    /// Waits for this status.
    #[track_caller]
    pub fn until_status(&mut self, status: DriftStatus) -> State {
        self.until(status.as_str(), |state| state.status() == Some(status))
    }

    /// Waits for this status of the window with this title.
    #[track_caller]
    pub fn until_titled(&mut self, title: &str, status: DriftStatus) -> State {
        self.until(&format!("«{title}» being {}", status.as_str()), |state| {
            state.status() == Some(status)
                && state.window.as_ref().is_some_and(|window| window.title == title)
        })
    }

    /// Waits for the next alert.
    #[track_caller]
    pub fn until_alert(&mut self) -> AlertRaised {
        self.until_event("alert_raised", |event| match event {
            EventBody::AlertRaised(alert) => Some(alert.clone()),
            _ => None,
        })
    }

    /// How many alerts have been raised.
    pub fn alerts(&mut self) -> usize {
        let raised = |event: &&Event| matches!(event.body, EventBody::AlertRaised(_));
        self.events().iter().filter(raised).count()
    }

    /// Waits until the daemon ends the connection.
    #[track_caller]
    pub fn until_closed(&mut self) {
        let timer = Timer::start();
        while self.next(timer) {}
        assert!(timer.passed() < PATIENCE, "the connection was not closed");
    }

    fn tail(&self) -> &[String] {
        &self.lines[self.lines.len().saturating_sub(6)..]
    }

    /// Takes in what is there.
    fn drain(&mut self) {
        self.reader.get_ref().set_nonblocking(true).unwrap();
        while self.read_event() {}
        self.reader.get_ref().set_nonblocking(false).unwrap();
    }

    /// Waits for one more event; false when the time is up or the connection is over.
    fn next(&mut self, timer: Timer) -> bool {
        let left = timer.left(PATIENCE);
        if left.is_zero() {
            return false;
        }
        self.reader.get_ref().set_read_timeout(Some(left)).unwrap();
        self.read_event()
    }

    fn line(&mut self, timer: Timer) -> Option<String> {
        self.reader.get_ref().set_read_timeout(Some(timer.left(PATIENCE))).unwrap();
        self.read_line()
    }

    fn read_event(&mut self) -> bool {
        let Some(line) = self.read_line() else { return false };
        // what any client may rely on
        assert!(line.len() <= antidrift_protocol::MAX_LINE, "{} bytes", line.len());
        assert!(!line.chars().any(char::is_control), "a control character: {line:?}");
        self.events.push(Event::parse(line.as_bytes()).unwrap_or_else(|e| panic!("{e}: {line}")));
        self.lines.push(line);
        true
    }

    /// `None` when nothing more comes (now).
    fn read_line(&mut self) -> Option<String> {
        match self.reader.read_until(b'\n', &mut self.partial) {
            Ok(_) if self.partial.ends_with(b"\n") => {
                self.partial.pop();
                let line = std::mem::take(&mut self.partial);
                Some(String::from_utf8(line).expect("the daemon writes UTF-8"))
            }
            Ok(_) => None,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionReset => None,
                _ => panic!("the stream broke: {error}"),
            },
        }
    }
}

/// Sends one request on a connection of its own, and gives the whole answer.
#[track_caller]
pub fn ask(socket: &Path, cmd: &str, args: &Value) -> Value {
    let mut stream = UnixStream::connect(socket).expect("the daemon listens");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = json!({"id": 1, "cmd": cmd, "args": args});
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("an answer");
    serde_json::from_str(&line).expect("the answer is JSON")
}

/// Short ways to what tests look at.
pub trait StateExt {
    /// The drift status, in a session.
    fn status(&self) -> Option<DriftStatus>;
    /// The title of the focused window.
    fn title(&self) -> Option<&str>;
}

impl StateExt for State {
    fn status(&self) -> Option<DriftStatus> {
        self.drift.as_ref().map(|drift| drift.status)
    }

    fn title(&self) -> Option<&str> {
        self.window.as_ref().map(|window| window.title.as_str())
    }
}

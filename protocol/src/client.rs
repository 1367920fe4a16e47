//! A blocking client: connect, ask, or follow the stream. No runtime, no threads.

mod error;

use std::{
    io::{self, Read, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use interprocess::{
    ConnectWaitMode,
    local_socket::{
        ConnectOptions, GenericFilePath, ToFsName,
        traits::{Stream as _, StreamCommon},
    },
    os::unix::uds_local_socket::Stream,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{
    Command, ErrorCode, ErrorObject, Event, Greeting, Hello, MAX_FIELD, MAX_LINE, MAX_MESSAGE,
    PROTOCOL, Reply, Request, Subscribe, Subscribed, Topic,
    bounds::cut,
    frame::{Frame, LineDecoder},
    paths::{PathError, SocketPath},
    text,
};

pub use error::ClientError;

/// How long a connection may take to be accepted.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How long an answer may take.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Until a socket whose queue is full is tried again.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    buffer: Vec<u8>,
    lines: LineDecoder,
    name: String,
    next_id: u64,
}

impl Client {
    /// Connects within [`CONNECT_LIMIT`], and checks that it is our own daemon. `name` is the
    /// client's name and version, for the daemon's log; at most 1 KiB.
    ///
    /// # Errors
    ///
    /// All but [`ClientError::Refused`].
    pub fn connect(socket: &SocketPath, name: impl Into<String>) -> Result<Self, ClientError> {
        Self::connect_within(socket, name, CONNECT_LIMIT)
    }

    /// As [`connect`](Self::connect), with a limit of the caller's.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub fn connect_within(
        socket: &SocketPath,
        name: impl Into<String>,
        limit: Duration,
    ) -> Result<Self, ClientError> {
        let path = &socket.path;
        match socket.check_dir() {
            Err(PathError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(ClientError::NotRunning(path.clone()));
            }
            other => other?,
        }
        let stream = open(path, &Deadline::after(limit))?;
        let peer = stream.peer_creds().map_err(ClientError::Broken)?.euid();
        if let Some(uid) = peer.filter(|&uid| uid != rustix::process::geteuid().as_raw()) {
            return Err(ClientError::Foreign { path: path.clone(), uid });
        }
        let lines = LineDecoder::default();
        Ok(Self { stream, buffer: Vec::new(), lines, name: name.into(), next_id: 0 })
    }

    /// Asks one thing. The greeting goes out in the same write, so that a daemon that speaks
    /// another protocol refuses before it acts. `limit` is for the whole exchange, however slowly
    /// the answer comes in.
    ///
    /// After [`ClientError::NoAnswer`] the next question may be asked: an answer that comes too
    /// late is passed over. If the daemon did not even take the request, the connection is closed.
    ///
    /// # Errors
    ///
    /// Every [`ClientError`].
    pub fn ask<T: DeserializeOwned>(
        &mut self,
        command: Command,
        limit: Duration,
    ) -> Result<T, ClientError> {
        let deadline = Deadline::after(limit);
        let hello = self.number(Command::Hello(Hello {
            client: cut(&self.name, MAX_FIELD).to_owned(),
            protocol: PROTOCOL,
        }));
        let request = self.number(command);
        let line = request.to_line();
        if line.len() > MAX_LINE + 1 {
            // The daemon could only say that the line is too long, and not what is.
            request.command.check().map_err(ClientError::Refused)?;
        }
        self.send((hello.to_line() + &line).as_bytes(), &deadline)?;
        let greeting = self.answer(hello.id, &deadline);
        let server = self.agree(greeting)?;
        self.answer(request.id, &deadline).map_err(|error| match error {
            ClientError::Refused(error) if error.code == ErrorCode::UnknownCommand => {
                // We misspell none: it came into being after that daemon.
                let (ours, server, error) = (&self.name, named(&server), quoted(&error));
                ClientError::Incompatible(format!(
                    "{server} does not know what {ours} asks for ({error}): {OLDER_DAEMON}"
                ))
            }
            error => error,
        })
    }

    /// Turns the connection into a stream of events, within [`ANSWER_LIMIT`].
    ///
    /// # Errors
    ///
    /// Every [`ClientError`].
    pub fn subscribe(self, topics: Option<Vec<Topic>>) -> Result<Events, ClientError> {
        self.subscribe_within(topics, ANSWER_LIMIT)
    }

    /// As [`subscribe`](Self::subscribe), with a limit of the caller's for the answer. The events
    /// themselves have none.
    ///
    /// # Errors
    ///
    /// Every [`ClientError`].
    pub fn subscribe_within(
        mut self,
        topics: Option<Vec<Topic>>,
        limit: Duration,
    ) -> Result<Events, ClientError> {
        let subscribe = Command::Subscribe(Subscribe { topics });
        let Subscribed { instance } = self.ask(subscribe, limit)?;
        self.stream.set_recv_timeout(None).map_err(ClientError::Broken)?;
        Ok(Events { client: self, instance })
    }

    fn number(&mut self, command: Command) -> Request {
        self.next_id += 1;
        Request { id: Some(self.next_id), command }
    }

    /// Whether the answer to the greeting lets the two go on; then the daemon's name and version.
    fn agree(&self, greeting: Result<Greeting, ClientError>) -> Result<String, ClientError> {
        let ours = &self.name;
        let error = match greeting {
            // Zero: the daemon did not say, and took our number as it stood.
            Ok(Greeting { server, protocol: PROTOCOL | 0, .. }) => return Ok(server),
            Ok(Greeting { server, protocol, .. }) => {
                return Err(other_protocol(ours, &server, protocol));
            }
            Err(ClientError::Refused(error)) => error,
            Err(error) => return Err(error),
        };
        let text = |key| error.data.get(key).and_then(|value| value.as_str()).unwrap_or("");
        Err(match error.code {
            ErrorCode::UnsupportedProtocol => {
                let theirs = error.data.get("protocol").and_then(|value| value.as_u64());
                match theirs.filter(|&theirs| theirs != PROTOCOL) {
                    Some(theirs) => other_protocol(ours, text("server"), theirs),
                    None => ClientError::Incompatible(format!(
                        "{ours} speaks protocol {PROTOCOL}, which the daemon does not ({}): \
                         {UPDATE_OLDER}",
                        quoted(&error)
                    )),
                }
            }
            ErrorCode::UnknownCommand | ErrorCode::InvalidRequest => {
                ClientError::Incompatible(format!(
                    "the daemon does not understand how {ours} (protocol {PROTOCOL}) greets it ({}), \
                     so it is of another version: {UPDATE_OLDER}",
                    quoted(&error)
                ))
            }
            _ => ClientError::Refused(error),
        })
    }

    fn send(&mut self, bytes: &[u8], deadline: &Deadline) -> Result<(), ClientError> {
        match self.write(bytes, deadline) {
            // It may have said why before it closed the connection: reading tells.
            Err(ClientError::Closed) => Ok(()),
            Err(error) => {
                // Half a line may be out; nothing may be appended to it.
                let _ = net::shutdown(&self.stream, net::Shutdown::Both);
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8], deadline: &Deadline) -> Result<(), ClientError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.stream.set_send_timeout(deadline.left()?).map_err(ClientError::Broken)?;
            match (&self.stream).write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error, deadline.limit)),
            }
        }
        Ok(())
    }

    fn answer<T: DeserializeOwned>(
        &mut self,
        id: Option<u64>,
        deadline: &Deadline,
    ) -> Result<T, ClientError> {
        loop {
            let line = self.line(Some(deadline))?;
            let reply = Reply::<Box<RawValue>>::parse(&line).map_err(not_understood)?;
            match reply.result {
                // The answer to something that was given up.
                _ if reply.id.is_some() && reply.id < id => {}
                // Without a number it is about the connection.
                Err(error) if reply.id == id || reply.id.is_none() => {
                    return Err(ClientError::Refused(error));
                }
                Ok(answer) if reply.id == id => {
                    return serde_json::from_str(answer.get()).map_err(not_understood);
                }
                _ => {
                    let problem = "it answers a request that was not made";
                    return Err(ClientError::NotUnderstood(problem.into()));
                }
            }
        }
    }

    fn line(&mut self, deadline: Option<&Deadline>) -> Result<Vec<u8>, ClientError> {
        loop {
            if let Some(line) = self.take_line()? {
                return Ok(line);
            }
            self.fill(deadline)?;
        }
    }

    /// A line that is there already.
    fn take_line(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        match self.lines.next(&mut self.buffer) {
            None => Ok(None),
            Some(Frame::Line(line)) => Ok(Some(line)),
            Some(Frame::TooLong) => {
                Err(ClientError::NotUnderstood(format!("a line is longer than {MAX_LINE} bytes")))
            }
        }
    }

    /// Waits for more bytes.
    fn fill(&mut self, deadline: Option<&Deadline>) -> Result<(), ClientError> {
        let mut chunk = [0; 8192];
        loop {
            if let Some(deadline) = deadline {
                self.stream.set_recv_timeout(deadline.left()?).map_err(ClientError::Broken)?;
            }
            match (&self.stream).read(&mut chunk) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(read) => {
                    self.buffer.extend_from_slice(&chunk[..read]);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let limit = deadline.map_or(ANSWER_LIMIT, |deadline| deadline.limit);
                    return Err(failed(error, limit));
                }
            }
        }
    }
}

/// Why reading or writing failed.
fn failed(error: io::Error, limit: Duration) -> ClientError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::NoAnswer(limit),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ClientError::Closed,
        _ => ClientError::Broken(error),
    }
}

/// Connects to a socket.
fn open(path: &Path, deadline: &Deadline) -> Result<Stream, ClientError> {
    let unusable = |source| PathError::Unusable { path: path.into(), source };
    loop {
        let address = path.to_fs_name::<GenericFilePath>().map_err(unusable)?;
        let wait = deadline.left()?.map_or(ConnectWaitMode::Unbounded, ConnectWaitMode::Timeout);
        let error = match ConnectOptions::new().name(address).wait_mode(wait).connect_sync_as() {
            // While the queue of a socket is full, connecting without blocking fails at once and
            // leaves a stream that looks connected, as poll(2) reports one that never was.
            Ok(stream) => match net::getpeername(&stream) {
                Ok(_) => return Ok(stream),
                Err(error) => error.into(),
            },
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                return Err(ClientError::NotRunning(path.into()));
            }
            io::ErrorKind::TimedOut => return Err(ClientError::NoAnswer(deadline.limit)),
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::NotConnected | io::ErrorKind::WouldBlock => thread::sleep(QUEUE_PAUSE),
            _ => return Err(unusable(error).into()),
        }
    }
}

fn other_protocol(ours: &str, server: &str, theirs: u64) -> ClientError {
    let server = named(server);
    let advice = if theirs < PROTOCOL {
        OLDER_DAEMON.to_owned()
    } else {
        format!("{ours} is the older one, update it")
    };
    ClientError::Incompatible(format!(
        "{ours} speaks protocol {PROTOCOL}, but {server} speaks {theirs}: {advice}"
    ))
}

/// What to do when nobody can know which of the two is the older one.
const UPDATE_OLDER: &str = "update both and restart the daemon (`antidriftd --replace`)";
const OLDER_DAEMON: &str =
    "the daemon is the older one, update and restart it (`antidriftd --replace`)";

/// The daemon as it calls itself.
fn named(server: &str) -> String {
    let said = text::terminal(server, SAID);
    if said.trim().is_empty() { "the daemon".to_owned() } else { said }
}

fn quoted(error: &ErrorObject) -> String {
    text::terminal(&error.message, SAID)
}

/// Most characters of what a daemon of another version says: the advice behind it is to be seen.
const SAID: usize = 80;

fn not_understood(error: serde_json::Error) -> ClientError {
    ClientError::NotUnderstood(cut(&error.to_string(), MAX_MESSAGE).to_owned())
}

/// A stream of events. The first is the whole state.
#[derive(Debug)]
pub struct Events {
    client: Client,
    instance: String,
}

impl Events {
    /// Names the daemon's run: after another one everything heard before is void.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Waits for the next event, without a limit.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] when the daemon has gone, [`ClientError::Refused`] if it says why
    /// it ends the stream, [`ClientError::NotUnderstood`] for a line that is no event.
    pub fn next_event(&mut self) -> Result<Event, ClientError> {
        let line = self.client.line(None)?;
        event(&line)
    }

    /// As [`next_event`](Self::next_event), but the line as the daemon wrote it, without its line
    /// break: for those who pass on what this version does not know.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] when the daemon has gone.
    pub fn next_line(&mut self) -> Result<Vec<u8>, ClientError> {
        self.client.line(None)
    }

    /// The next event if it has arrived whole, without waiting. Who waits for the descriptor
    /// together with others takes events until there is none first: what was read along with an
    /// earlier one no longer shows there.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event).
    pub fn ready(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(line) = self.client.take_line()? {
                return event(&line).map(Some);
            }
            let mut fds = [PollFd::new(&self.client.stream, PollFlags::IN)];
            match poll(&mut fds, Some(&Timespec::default())) {
                Ok(0) | Err(Errno::INTR) => return Ok(None),
                Ok(_) => self.client.fill(None)?,
                Err(error) => return Err(ClientError::Broken(error.into())),
            }
        }
    }
}

fn event(line: &[u8]) -> Result<Event, ClientError> {
    Event::parse(line).map_err(|error| match Reply::<Box<RawValue>>::parse(line) {
        Ok(Reply { result: Err(error), .. }) => ClientError::Refused(error),
        _ => not_understood(error),
    })
}

/// To wait for events together with other things; see [`Events::ready`].
impl std::os::fd::AsFd for Events {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.client.stream.as_fd()
    }
}

/// An end for a whole exchange: a peer that sends one byte a second must not stretch it.
struct Deadline {
    /// `None` for a limit that no clock reaches.
    end: Option<Instant>,
    limit: Duration,
}

#[expect(clippy::disallowed_methods, reason = "a client's own time limit")]
impl Deadline {
    fn after(limit: Duration) -> Self {
        Self { end: Instant::now().checked_add(limit), limit }
    }

    /// What is left, never zero; `None` without an end.
    fn left(&self) -> Result<Option<Duration>, ClientError> {
        let Some(end) = self.end else { return Ok(None) };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ClientError::NoAnswer(self.limit)) } else { Ok(Some(left)) }
    }
}

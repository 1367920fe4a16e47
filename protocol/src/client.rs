//! A blocking client: connect, ask, or follow the stream. No runtime, no threads.

use std::{
    io::{self, Read, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use interprocess::local_socket::traits::Stream as _;
use interprocess::{
    ConnectWaitMode,
    local_socket::{ConnectOptions, GenericFilePath, ToFsName, traits::StreamCommon},
    os::unix::uds_local_socket::Stream,
};
use serde::de::DeserializeOwned;

use crate::{
    Command, ErrorCode, ErrorObject, Event, Greeting, Hello, PROTOCOL, Reply, Request, Subscribe,
    Subscribed, Topic,
    frame::{Frame, LineDecoder},
    paths::{PathError, SocketPath},
};

/// How long a connection may take to be accepted.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How long an answer may take.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Why the daemon could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens there.
    #[error("the daemon is not running (nothing listens on {})", .0.display())]
    NotRunning(PathBuf),
    /// The path or its directory is not to be trusted, or cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Somebody else's program listens there.
    #[error("{} is served by user {uid}, not by you; it is not used", path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// Whose it is.
        uid: u32,
    },
    /// It does not accept the connection or does not answer.
    #[error("the daemon does not answer (waited {} s)", .0.as_secs())]
    NoAnswer(Duration),
    /// The connection broke.
    #[error("the connection to the daemon broke: {0}")]
    Broken(io::Error),
    /// It ended the connection without an answer.
    #[error("the daemon closed the connection without an answer")]
    Closed,
    /// It speaks another protocol.
    #[error("{0}")]
    Incompatible(String),
    /// It answered with something that is no answer.
    #[error("the daemon's answer was not understood: {0}")]
    NotUnderstood(String),
    /// It refused the request.
    #[error("{0}")]
    Refused(ErrorObject),
}

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
    /// Connects, and checks that it is our own daemon. `name` is the client's name and version, for
    /// the daemon's log.
    ///
    /// # Errors
    ///
    /// All but [`ClientError::Refused`].
    pub fn connect(socket: &SocketPath, name: impl Into<String>) -> Result<Self, ClientError> {
        let path = &socket.path;
        match socket.check_dir() {
            Err(PathError::Unusable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(ClientError::NotRunning(path.clone()));
            }
            other => other?,
        }
        let unusable = |source| PathError::Unusable { path: path.clone(), source };
        let address = path.as_path().to_fs_name::<GenericFilePath>().map_err(unusable)?;
        let options =
            ConnectOptions::new().name(address).wait_mode(ConnectWaitMode::Timeout(CONNECT_LIMIT));
        let stream = match options.connect_sync_as::<Stream>() {
            Ok(stream) => stream,
            Err(error) => {
                return Err(match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                        ClientError::NotRunning(path.clone())
                    }
                    // A full backlog: whoever should accept does not.
                    io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                        ClientError::NoAnswer(CONNECT_LIMIT)
                    }
                    _ => unusable(error).into(),
                });
            }
        };
        let peer = stream.peer_creds().map_err(ClientError::Broken)?.euid();
        if let Some(uid) = peer.filter(|&uid| uid != rustix::process::geteuid().as_raw()) {
            return Err(ClientError::Foreign { path: path.clone(), uid });
        }
        let lines = LineDecoder::default();
        Ok(Self { stream, buffer: Vec::new(), lines, name: name.into(), next_id: 0 })
    }

    /// Asks one thing. The greeting goes out in the same write, so that a daemon that speaks
    /// another protocol refuses before it acts. `limit` is for the whole answer.
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
        let hello = Command::Hello(Hello { client: self.name.clone(), protocol: PROTOCOL });
        let lines = self.number(hello).to_line() + &self.number(command).to_line();
        self.send(lines.as_bytes(), &deadline)?;
        match self.answer::<Greeting>(&deadline) {
            Ok(_) => {}
            // A daemon from before the greeting, or one that is too old for us.
            Err(ClientError::Refused(error)) if error.code == ErrorCode::UnsupportedProtocol => {
                return Err(ClientError::Incompatible(error.message));
            }
            Err(error) => return Err(error),
        }
        self.answer(&deadline)
    }

    /// Turns the connection into a stream of events.
    ///
    /// # Errors
    ///
    /// Every [`ClientError`].
    pub fn subscribe(mut self, topics: Option<Vec<Topic>>) -> Result<Events, ClientError> {
        let subscribe = Command::Subscribe(Subscribe { topics });
        let Subscribed { instance } = self.ask(subscribe, ANSWER_LIMIT)?;
        self.stream.set_recv_timeout(None).map_err(ClientError::Broken)?;
        Ok(Events { client: self, instance })
    }

    fn number(&mut self, command: Command) -> Request {
        self.next_id += 1;
        Request { id: Some(self.next_id), command }
    }

    fn send(&mut self, bytes: &[u8], deadline: &Deadline) -> Result<(), ClientError> {
        self.stream.set_send_timeout(Some(deadline.left()?)).map_err(ClientError::Broken)?;
        (&self.stream).write_all(bytes).or_else(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                Err(ClientError::NoAnswer(deadline.limit))
            }
            // The daemon may have said why before it closed (it is busy): that is read next, and
            // if it said nothing, that is found there too.
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(ClientError::Broken(error)),
        })
    }

    fn answer<T: DeserializeOwned>(&mut self, deadline: &Deadline) -> Result<T, ClientError> {
        let line = self.line(Some(deadline))?;
        let reply =
            Reply::parse(&line).map_err(|error| ClientError::NotUnderstood(error.to_string()))?;
        reply.result.map_err(ClientError::Refused)
    }

    fn line(&mut self, deadline: Option<&Deadline>) -> Result<Vec<u8>, ClientError> {
        loop {
            match self.lines.next(&mut self.buffer) {
                Some(Frame::Line(line)) => return Ok(line),
                Some(Frame::TooLong) => {
                    return Err(ClientError::NotUnderstood("a line is too long".into()));
                }
                None => {}
            }
            if let Some(deadline) = deadline {
                let left = Some(deadline.left()?);
                self.stream.set_recv_timeout(left).map_err(ClientError::Broken)?;
            }
            let mut chunk = [0; 8192];
            match (&self.stream).read(&mut chunk) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(read) => self.buffer.extend_from_slice(&chunk[..read]),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        let limit = deadline.map_or(ANSWER_LIMIT, |deadline| deadline.limit);
                        return Err(ClientError::NoAnswer(limit));
                    }
                    io::ErrorKind::ConnectionReset => return Err(ClientError::Closed),
                    _ => return Err(ClientError::Broken(error)),
                },
            }
        }
    }
}

/// A stream of events. The first is the whole state.
#[derive(Debug)]
pub struct Events {
    client: Client,
    instance: String,
}

impl Events {
    /// Names the daemon's run.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Waits for the next event, without a limit.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] when the daemon has gone, [`ClientError::NotUnderstood`] for a line
    /// that is no event.
    pub fn next_event(&mut self) -> Result<Event, ClientError> {
        let line = self.next_line()?;
        Event::parse(&line).map_err(|error| ClientError::NotUnderstood(error.to_string()))
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
}

impl std::os::fd::AsFd for Events {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.client.stream.as_fd()
    }
}

/// An end for a whole exchange: a peer that sends one byte a second must not stretch it.
struct Deadline {
    end: Instant,
    limit: Duration,
}

#[expect(clippy::disallowed_methods, reason = "a client's own time limit")]
impl Deadline {
    fn after(limit: Duration) -> Self {
        Self { end: Instant::now() + limit, limit }
    }

    fn left(&self) -> Result<Duration, ClientError> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ClientError::NoAnswer(self.limit)) } else { Ok(left) }
    }
}

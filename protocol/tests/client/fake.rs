//! A daemon that says what a test wants, and the lines it says.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    thread,
    time::{Duration, Instant},
};

use antidrift_protocol::{
    Command, ErrorObject, Greeting, NoArgs, Reply, State, Status, Timestamp,
    client::{Client, ClientError},
    paths::SocketPath,
};

use crate::{LONG, NAME};

/// A socket with a thread that serves one connection.
pub(crate) struct Fake {
    dir: tempfile::TempDir,
    server: thread::JoinHandle<()>,
}

impl Fake {
    pub(crate) fn new(serve: impl FnOnce(Peer) + Send + 'static) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("s.sock")).unwrap();
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap());
            serve(Peer { stream, lines });
        });
        Self { dir, server }
    }

    /// A server that reads both lines and answers with these bytes.
    pub(crate) fn saying(answer: impl AsRef<[u8]> + Send + 'static) -> Self {
        Self::new(move |mut peer| {
            peer.read();
            peer.read();
            peer.write(answer.as_ref());
            peer.wait_for_end();
        })
    }

    pub(crate) fn socket(&self) -> SocketPath {
        SocketPath::chosen(&self.dir.path().join("s.sock")).unwrap()
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect_within(&self.socket(), NAME, LONG).unwrap()
    }

    pub(crate) fn ask(&self, limit: Duration) -> Result<Status, ClientError> {
        self.connect().ask(status(), limit)
    }

    pub(crate) fn end(self) {
        self.server.join().unwrap();
    }
}

pub(crate) struct Peer {
    pub(crate) stream: UnixStream,
    pub(crate) lines: BufReader<UnixStream>,
}

impl Peer {
    pub(crate) fn read(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Writes, unless the client has gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    pub(crate) fn wait_for_end(&mut self) {
        while self.lines.read_line(&mut String::new()).is_ok_and(|read| read > 0) {}
    }
}

pub(crate) fn status() -> Command {
    Command::Status(NoArgs {})
}

pub(crate) fn greeting(id: u64, protocol: u64) -> String {
    let server = "daemon 7.1".into();
    let greeting = Greeting { server, protocol, instance: "i".into(), max_line: 131_072 };
    Reply { id: Some(id), result: Ok(greeting) }.to_line()
}

pub(crate) fn state(id: u64, seq: u64) -> String {
    let status = Status { seq, at: Timestamp::default(), state: State::default() };
    Reply { id: Some(id), result: Ok(status) }.to_line()
}

pub(crate) fn refusal(id: Option<u64>, error: ErrorObject) -> String {
    Reply::<()> { id, result: Err(error) }.to_line()
}

#[expect(clippy::disallowed_methods, reason = "measures the limit under test")]
pub(crate) fn timed<T>(what: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (what(), start.elapsed())
}

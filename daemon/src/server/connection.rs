//! One connection: lines in, replies out, in order.

use std::{io, time::Duration};

use antidrift_protocol::{
    Answer, Command, ErrorCode, ErrorObject, Greeting, Hello, MAX_LINE, PROTOCOL, Refusal, Reply,
    Request, Subscribe, Subscribed, Topic,
    frame::{Frame, LineDecoder},
};
use interprocess::os::unix::uds_local_socket::tokio::Stream;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::oneshot,
};

use super::{
    lineage,
    listen::Shared,
    places::{Doing, Place},
    subscribe,
};
use crate::controller::{Message, shutting_down};

/// How long a client may take nothing while a reply waits.
pub(super) const WRITE_LIMIT: Duration = Duration::from_secs(10);
/// How long what follows an over-long line is discarded, so that the client sees the error before
/// it sees a broken pipe.
const DISCARD_LIMIT: Duration = Duration::from_secs(1);
/// How often everybody else gets a turn before a newcomer is told that there is no place: most
/// requests are answered within one, and a crowd that asks all at once must not turn others away.
const TURNS: usize = 64;
/// Bytes asked for in one read.
const CHUNK: usize = 4096;

/// Why a connection ends.
pub(super) enum End {
    /// It is over: the client left, or was told why before.
    Over,
    /// The line was too long, and the client has been told; the rest is to be discarded.
    Flooded,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        // A client that is gone; there is nobody to tell.
        Self::Over
    }
}

/// A client.
pub(super) struct Connection {
    pub(super) stream: Stream,
    /// Who is at the other end, as the kernel says.
    process: Option<u32>,
    pub(super) shared: Shared,
    lines: LineDecoder,
    pub(super) buffer: Vec<u8>,
    place: Place,
}

/// Serves a client until one side ends it.
pub(super) async fn serve(mut stream: Stream, process: Option<u32>, shared: Shared) {
    let mut place = shared.places.enter();
    for _ in 0..TURNS {
        if place.is_some() {
            break;
        }
        tokio::task::yield_now().await;
        place = shared.places.enter();
    }
    let Some(place) = place else {
        let error =
            ErrorObject::new(ErrorCode::Busy, "the daemon has no free connection; try again");
        let reply = Reply { id: None, result: Err(error) as Result<Answer, _> };
        let _ = write(&mut stream, reply.to_line().as_bytes()).await;
        return;
    };
    let (lines, buffer) = (LineDecoder::default(), Vec::new());
    Connection { stream, process, shared, lines, buffer, place }.serve().await;
}

impl Connection {
    async fn serve(mut self) {
        let (evicted, stop) = (self.place.evicted.clone(), self.shared.stop.clone());
        let end = tokio::select! {
            end = self.converse() => end,
            () = evicted.cancelled() => Err(End::Over),
        };
        if let Err(End::Flooded) = end {
            // Its place stays taken, as an idle one: whoever floods is counted like all others, and
            // makes room for them.
            let Self { mut stream, place: _place, buffer, .. } = self;
            drop(buffer);
            let _ = stream.shutdown().await;
            let mut waste = [0; CHUNK];
            let discard = async { while let Ok(1..) = stream.read(&mut waste).await {} };
            tokio::select! {
                () = stop.cancelled() => {}
                () = evicted.cancelled() => {}
                _ = tokio::time::timeout(DISCARD_LIMIT, discard) => {}
            }
        }
    }

    async fn converse(&mut self) -> Result<(), End> {
        let stop = self.shared.stop.clone();
        loop {
            while let Some(frame) = self.lines.next(&mut self.buffer) {
                // The place may have been given away just now; then nothing is begun.
                if !self.place.set(Doing::Asking) {
                    return Err(End::Over);
                }
                self.take(frame).await?;
            }
            self.place.set(Doing::Idle);
            // An idle client costs its buffer no more than it needs.
            if self.buffer.is_empty() {
                self.buffer = Vec::new();
            }
            self.buffer.reserve(CHUNK);
            let read = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                read = self.stream.read_buf(&mut self.buffer) => read?,
            };
            if read == 0 {
                // The last line may lack its line break; a request that was cut is no JSON.
                if !self.buffer.is_empty() {
                    let line = std::mem::take(&mut self.buffer);
                    self.take(Frame::Line(line)).await?;
                }
                return Ok(());
            }
        }
    }

    async fn take(&mut self, frame: Frame) -> Result<(), End> {
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong => {
                let message = format!("a line must be at most {MAX_LINE} bytes; closing");
                let error = ErrorObject::new(ErrorCode::LineTooLong, message);
                self.reply(None, Err(error)).await?;
                return Err(End::Flooded);
            }
        };
        let Request { id, command } = match Request::parse(&line) {
            Ok(request) => request,
            Err(Refusal { id, error }) => return Ok(self.reply(id, Err(error)).await?),
        };
        tracing::debug!(request = command.name(), "asked");
        match command {
            Command::Hello(hello) => self.greet(id, &hello).await,
            Command::Propose(propose) => self.propose(id, propose).await,
            Command::History(range) => self.history(id, range).await,
            Command::Forget(_) => self.forget(id).await,
            Command::Windows(_) => self.windows(id).await,
            Command::CheckJudge(_) => self.check_judge(id).await,
            Command::Reload(_) => self.reload(id).await,
            Command::Subscribe(subscribe) => self.subscribe(id, subscribe).await,
            command => {
                let result = self.tell(command).await;
                Ok(self.reply(id, result).await?)
            }
        }
    }

    /// Has the session do it.
    pub(super) async fn tell(&self, command: Command) -> Result<Answer, ErrorObject> {
        let lineage = if means_a_window(&command) { lineage::of(self.process) } else { Vec::new() };
        let (reply, answer) = oneshot::channel();
        let message = Message::Request { command: Box::new(command), lineage, reply };
        // A closed channel on either side means that the controller has ended.
        match self.shared.asked.controller.send(message).await {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(shutting_down())),
            Err(_) => Err(shutting_down()),
        }
    }

    async fn greet(&mut self, id: Option<u64>, hello: &Hello) -> Result<(), End> {
        let server = concat!("antidriftd ", env!("CARGO_PKG_VERSION"));
        if hello.protocol != PROTOCOL {
            self.reply(id, Err(ErrorObject::unsupported_protocol(server))).await?;
            return Err(End::Over);
        }
        let greeting = Greeting {
            server: server.to_owned(),
            protocol: PROTOCOL,
            instance: self.shared.instance.clone(),
            max_line: MAX_LINE as u64,
        };
        Ok(self.reply(id, Ok(Answer::Hello(greeting))).await?)
    }

    async fn reload(&mut self, id: Option<u64>) -> Result<(), End> {
        let (asking, answer) = oneshot::channel();
        let result = match self.shared.asked.reload.send(asking).await {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(shutting_down())),
            Err(_) => Err(shutting_down()),
        };
        Ok(self.reply(id, result.map(Answer::Reload)).await?)
    }

    async fn subscribe(&mut self, id: Option<u64>, subscribe: Subscribe) -> Result<(), End> {
        if !self.place.set(Doing::Subscribed) {
            let error = ErrorObject::new(ErrorCode::Busy, "there are too many subscribers");
            self.reply(id, Err(error)).await?;
            return Err(End::Over);
        }
        let topics = subscribe.topics.unwrap_or_else(|| vec![Topic::All]);
        let (reply, subscription) = oneshot::channel();
        let sent = self.shared.asked.controller.send(Message::Subscribe { topics, reply }).await;
        let subscription = match sent {
            Ok(()) => subscription.await.ok(),
            Err(_) => None,
        };
        let Some(subscription) = subscription else {
            self.reply(id, Err(shutting_down())).await?;
            return Err(End::Over);
        };
        let instance = self.shared.instance.clone();
        self.reply(id, Ok(Answer::Subscribe(Subscribed { instance }))).await?;
        self.buffer = Vec::new();
        subscribe::follow(&mut self.stream, &subscription).await;
        Err(End::Over)
    }

    pub(super) async fn reply(
        &mut self,
        id: Option<u64>,
        result: Result<Answer, ErrorObject>,
    ) -> io::Result<()> {
        // A client that does not take its reply holds no place that another one needs.
        self.place.answered();
        write(&mut self.stream, Reply { id, result }.to_line().as_bytes()).await
    }
}

/// Whether it matters where a request was typed.
fn means_a_window(command: &Command) -> bool {
    matches!(
        command,
        Command::Ontask(_)
            | Command::Refocus(_)
            | Command::Detour(_)
            | Command::Explain(_)
            | Command::Preview(_)
    )
}

/// Writes everything, as long as the client takes something every now and then.
pub(super) async fn write(stream: &mut Stream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = tokio::time::timeout(WRITE_LIMIT, stream.write(bytes))
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

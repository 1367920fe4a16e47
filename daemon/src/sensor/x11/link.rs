//! The connection's ends: a stream whose waits can be ended from another thread, and timers that are
//! part of the same wait.
//!
//! x11rb buffers events while it waits for replies, so a readable descriptor and a waiting event
//! are not the same thing. All of a connection is therefore used from one thread, and its events
//! are drained before [`Link::wait`].

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use x11rb::errors::{ConnectError, DisplayParsingError};
use x11rb::reexports::x11rb_protocol::{
    parse_display::{self, ConnectAddress},
    xauth,
};
use x11rb::rust_connection::{DefaultStream, PollMode, Stream};
use x11rb::utils::RawFdContainer;

use super::Conn;

/// The TCP port of display 0.
const FIRST_PORT: u16 = 6000;

/// Ends every wait of the sensor's thread, once and for good.
#[derive(Debug)]
pub(super) struct Stop {
    /// Written once and never read, so it stays readable.
    event: OwnedFd,
    requested: AtomicBool,
}

impl Stop {
    pub(super) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, requested: AtomicBool::new(false) })
    }

    pub(super) fn request(&self) {
        self.requested.store(true, Ordering::Release);
        // it can only fail when the counter is full, and then it is readable
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    pub(super) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Acquire)
    }

    /// Waits; true when told to stop meanwhile.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let mut fds = [PollFd::new(&self.event, PollFlags::IN)];
        let timeout =
            Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        // an interrupted pause is a short pause
        let _ = poll(&mut fds, Some(&timeout));
        self.is_requested()
    }
}

/// A timer that sleeps in the kernel, so that waiting needs no clock to be read.
#[derive(Debug)]
pub(super) struct Timer(OwnedFd);

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    pub(super) fn once(&self, after: Duration) -> io::Result<()> {
        self.set(after, Duration::ZERO)
    }

    pub(super) fn every(&self, interval: Duration) -> io::Result<()> {
        self.set(interval, interval)
    }

    pub(super) fn disarm(&self) -> io::Result<()> {
        self.set(Duration::ZERO, Duration::ZERO)
    }

    fn set(&self, first: Duration, interval: Duration) -> io::Result<()> {
        let spec =
            |d: Duration| Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() };
        let new = Itimerspec { it_interval: spec(interval), it_value: spec(first) };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &new)?;
        Ok(())
    }

    fn clear(&self) {
        // nothing to read only means that it has not fired since it was set
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    Server,
    /// The one at this place in the list.
    Timer(usize),
}

/// The stream to the X server. Told to stop, each wait on it fails, also one for the reply of a
/// server that hangs.
///
/// x11rb polls before each request that it buffers, and reads until nothing is left. Both are
/// left out where the answer is known: that halves the system calls of a switch. A wait is always
/// a real one, so a wrong guess costs a call and loses nothing.
#[derive(Debug)]
pub(super) struct Link {
    stream: DefaultStream,
    stop: Arc<Stop>,
    /// The last read took less than it could have.
    drained: AtomicBool,
    /// The last write found no room.
    full: AtomicBool,
}

impl Link {
    /// Sleeps until the server has sent something or one of the timers has run out.
    pub(super) fn wait(&self, timers: &[&Timer]) -> io::Result<Ready> {
        if timers.is_empty() {
            self.poll(PollMode::Readable)?;
            return Ok(Ready::Server);
        }
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.fd(), PollFlags::IN),
            PollFd::new(&self.stop.event, PollFlags::IN),
        ];
        fds.extend(timers.iter().map(|timer| PollFd::new(&timer.0, PollFlags::IN)));
        poll_all(&mut fds)?;
        self.drained.store(false, Ordering::Relaxed);
        if !fds[1].revents().is_empty() {
            return Err(stopped());
        }
        let run_out = fds[2..].iter().position(|fd| !fd.revents().is_empty());
        Ok(match run_out {
            Some(at) => {
                timers[at].clear();
                Ready::Timer(at)
            }
            None => Ready::Server,
        })
    }

    fn wrote(&self, written: io::Result<usize>) -> io::Result<usize> {
        let full = written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        self.full.store(full, Ordering::Relaxed);
        written
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Stream for Link {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        // «is there room to write» is asked with both; the write itself tells
        if matches!(mode, PollMode::ReadAndWritable) && !self.full.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        let mut fds = [
            PollFd::from_borrowed_fd(self.fd(), flags),
            PollFd::new(&self.stop.event, PollFlags::IN),
        ];
        poll_all(&mut fds)?;
        self.drained.store(false, Ordering::Relaxed);
        if fds[1].revents().is_empty() { Ok(()) } else { Err(stopped()) }
    }

    fn read(&self, buf: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        if self.drained.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let read = self.stream.read(buf, fds)?;
        // 0 is the end of the stream, which has to be seen again
        self.drained.store(read > 0 && read < buf.len(), Ordering::Relaxed);
        Ok(read)
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.wrote(self.stream.write(buf, fds))
    }

    fn write_vectored(
        &self,
        bufs: &[IoSlice<'_>],
        fds: &mut Vec<RawFdContainer>,
    ) -> io::Result<usize> {
        self.wrote(self.stream.write_vectored(bufs, fds))
    }
}

fn poll_all(fds: &mut [PollFd<'_>]) -> io::Result<()> {
    loop {
        match poll(fds, None) {
            Err(Errno::INTR) => {}
            other => return other.map(drop).map_err(Into::into),
        }
    }
}

fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "told to stop")
}

/// Connects as `RustConnection::connect` does, over a stream that can be stopped.
pub(super) fn connect(display: &str, stop: &Arc<Stop>) -> Result<(Conn, usize), ConnectError> {
    let parsed = parse_display::parse_display(Some(display))?;
    // x11rb adds them up without a look.
    if parsed.display.checked_add(FIRST_PORT).is_none() {
        return Err(DisplayParsingError::MalformedValue(display.into()).into());
    }
    let screen = usize::from(parsed.screen);
    // The first: what an address that is tried only in its place says is no cause.
    let mut failure = None;
    for address in parsed.connect_instruction() {
        let (stream, (family, host)) = match DefaultStream::connect(&address) {
            Ok(connected) => connected,
            Err(error) => {
                failure.get_or_insert_with(|| named(&address, &error));
                continue;
            }
        };
        // without an authority file many servers let the user in all the same
        let auth = xauth::get_auth(family, &host, parsed.display).ok().flatten();
        let (name, data) = auth.unwrap_or_default();
        let link = Link {
            stream,
            stop: Arc::clone(stop),
            drained: AtomicBool::new(false),
            full: AtomicBool::new(false),
        };
        let conn = Conn::connect_to_stream_with_auth_info(link, screen, name, data)?;
        return Ok((conn, screen));
    }
    Err(failure.map_or(ConnectError::UnknownError, ConnectError::IoError))
}

/// An error with the place that could not be connected to.
fn named(address: &ConnectAddress<'_>, error: &io::Error) -> io::Error {
    let place = match address {
        ConnectAddress::Socket(path) => path.clone(),
        ConnectAddress::Hostname(host, port) => format!("{host}, port {port}"),
        other => format!("{other:?}"),
    };
    io::Error::new(error.kind(), format!("{place}: {error}"))
}

//! The thread that writes to standard output, so that a reader that has stopped, or a terminal that
//! is held, never holds up anything else. What was not written yet makes room for what is newer.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    stdio,
};

use super::{
    Happening,
    screen::{Frame, Screen},
};
use crate::out;

/// Edges that wait for a slow reader; as many as the daemon keeps for one.
const EDGES: usize = 64;
/// How long a terminal may hold up the end.
const LAST: Duration = Duration::from_millis(300);

/// The least that a pipe can hold: a page.
const PAGE: usize = 4096;

/// Lets a pipe take a line only when the one before it was read. polybar 3.6 shows the first of the
/// lines that it finds, and the others only when something more comes. Anything but a pipe stays as
/// it is, and so does a pipe that holds too much already.
///
/// Not for i3blocks: it reads one line for each write, and 1.5 may miss the very first write. What it
/// missed must not be in the way of the next.
pub(super) fn one_line_at_a_time() {
    let _ = rustix::pipe::fcntl_setpipe_size(stdio::stdout(), PAGE);
}

/// Waits until standard output takes something, or will never do.
fn wait_for_room() {
    let mut stdout = [PollFd::from_borrowed_fd(stdio::stdout(), PollFlags::OUT)];
    while poll(&mut stdout, None) == Err(Errno::INTR) {}
}

/// Something to write.
#[derive(Debug, PartialEq)]
pub(super) enum Item {
    /// A line that says how things are now: an older one is worthless beside it.
    State(String),
    /// A line about something that happened.
    Edge(String),
    /// The whole screen.
    Frame(Frame),
    /// The screen is given back.
    Leave,
}

#[derive(Debug, Default)]
struct Mailbox {
    items: VecDeque<Item>,
    /// Whether the writer is at work.
    busy: bool,
}

impl Mailbox {
    fn push(&mut self, item: Item) {
        match item {
            Item::State(_) => self.items.retain(|item| !matches!(item, Item::State(_))),
            Item::Frame(frame) => {
                let mut anew = frame.anew;
                if let Some(Item::Frame(older)) = self.items.back() {
                    anew |= older.anew;
                    self.items.pop_back();
                }
                self.items.push_back(Item::Frame(Frame { anew, ..frame }));
                return;
            }
            Item::Edge(_) => {
                let edges = self.items.iter().filter(|item| matches!(item, Item::Edge(_))).count();
                if edges >= EDGES
                    && let Some(at) = self.items.iter().position(|it| matches!(it, Item::Edge(_)))
                {
                    self.items.remove(at);
                }
            }
            Item::Leave => {}
        }
        self.items.push_back(item);
    }
}

#[derive(Debug, Default)]
struct Shared {
    mailbox: Mutex<Mailbox>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side that has something to say.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
}

impl Writer {
    pub(super) fn start(tell: impl Fn(Happening) -> bool + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        thread::Builder::new().name("output".into()).spawn(move || {
            if let Err(error) = write_on(&for_thread) {
                tell(Happening::Output(error));
            }
        })?;
        Ok(Self { shared })
    }

    pub(super) fn push(&self, item: Item) {
        self.shared.lock().push(item);
        self.shared.changed.notify_all();
    }

    /// Waits until all is written, but not for long.
    pub(super) fn finish(&self) {
        let waiting = |mailbox: &mut Mailbox| mailbox.busy || !mailbox.items.is_empty();
        drop(self.shared.changed.wait_timeout_while(self.shared.lock(), LAST, waiting));
    }
}

fn write_on(shared: &Shared) -> io::Result<()> {
    let mut screen = Screen::default();
    // States that were skipped may lead back to the one that was written last.
    let mut last = String::new();
    loop {
        let idle = |mailbox: &mut Mailbox| mailbox.items.is_empty();
        drop(shared.changed.wait_while(shared.lock(), idle));
        // What is pushed meanwhile takes the place of what is older.
        wait_for_room();
        let item = {
            let mut mailbox = shared.lock();
            mailbox.busy = true;
            mailbox.items.pop_front()
        };
        let written = match item {
            Some(Item::State(line)) if line == last => Ok(()),
            Some(Item::State(line) | Item::Edge(line)) => {
                let written = out::write_record(stdio::stdout(), &line);
                last = line;
                written
            }
            Some(Item::Frame(frame)) => {
                out::write_all(stdio::stdout(), screen.draw(frame).as_bytes())
            }
            Some(Item::Leave) => out::write_all(stdio::stdout(), screen.leave().as_bytes()),
            None => Ok(()),
        };
        shared.lock().busy = false;
        shared.changed.notify_all();
        written?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(line: &str, anew: bool) -> Frame {
        Frame { lines: vec![line.to_owned()], anew }
    }

    #[test]
    fn newer_states_replace_what_waits_and_edges_are_kept_in_order() {
        let mut mailbox = Mailbox::default();
        for item in ["s1", "e1", "s2", "e2", "s3"] {
            mailbox.push(if item.starts_with('s') {
                Item::State(item.to_owned())
            } else {
                Item::Edge(item.to_owned())
            });
        }
        let expected = [Item::Edge("e1".into()), Item::Edge("e2".into()), Item::State("s3".into())];
        assert_eq!(mailbox.items, expected);
        for number in 0..100 {
            mailbox.push(Item::Edge(number.to_string()));
        }
        assert_eq!(mailbox.items.len(), EDGES + 1);
        assert_eq!(mailbox.items.back(), Some(&Item::Edge("99".into())));
    }

    #[test]
    fn a_skipped_frame_leaves_its_clearing_behind() {
        let mut mailbox = Mailbox::default();
        mailbox.push(Item::Frame(frame("a", true)));
        mailbox.push(Item::Frame(frame("b", false)));
        assert_eq!(mailbox.items, [Item::Frame(frame("b", true))]);
        mailbox.push(Item::Leave);
        mailbox.push(Item::Frame(frame("c", true)));
        assert_eq!(mailbox.items.len(), 3);
    }
}

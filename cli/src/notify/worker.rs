//! The thread that owns every notify-send, so that nobody else ever waits for one.
//!
//! A popup with buttons keeps its notify-send until it is answered. It counts as *starting* until
//! the number of its popup is printed (by then the server has taken it) and as *standing* after
//! that. One may start at a time, and has [`START_LIMIT`] for it; so at most one can hang.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, OwnedFd},
    process::{Command, ExitStatus},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use super::{
    capabilities,
    child::{Running, wait},
    popup::{Choice, Kind, Popup, Subject},
};
use crate::clock;

/// A server that takes a popup does so in a blink; without one, notify-send waits a minute.
const START_LIMIT: Duration = Duration::from_secs(5);
/// Longest life of a popup's process. Longer than the pauses between reminders, which replace it.
const STAND_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Popups that wait for their turn: one about drift, one about time and a few others.
const QUEUE: usize = 4;
/// How long the owner waits for the last goodbye: to a program that is just being ended, and to all
/// others at once.
const FAREWELL: Duration = Duration::from_millis(800);

/// What the owner hears.
#[derive(Debug)]
pub(crate) enum Told {
    /// A button was pressed.
    Pressed { popup: Kind, choice: Choice },
    /// Popups do not work as they should.
    Trouble(String),
}

#[derive(Debug)]
enum Order {
    Raise(Popup),
    Withdraw(Subject),
    Quit,
}

/// The owner's side.
#[derive(Debug)]
pub(crate) struct Notifier {
    // Bounded by what the worker takes out at once: it never waits for long.
    orders: mpsc::Sender<Order>,
    wake: Arc<OwnedFd>,
    gone: mpsc::Receiver<()>,
}

impl Notifier {
    /// Starts the thread.
    pub(crate) fn start(tell: impl Fn(Told) + Send + 'static) -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let (leaving, gone) = mpsc::channel();
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let worker = Worker::new(inbox, Arc::clone(&wake), Box::new(tell));
        thread::Builder::new().name("popups".into()).spawn(move || {
            worker.run();
            let _ = leaving.send(());
        })?;
        Ok(Self { orders, wake, gone })
    }

    pub(crate) fn raise(&self, popup: Popup) {
        self.order(Order::Raise(popup));
    }

    pub(crate) fn withdraw(&self, subject: Subject) {
        self.order(Order::Withdraw(subject));
    }

    /// Withdraws what is shown and leaves no process behind.
    pub(crate) fn quit(self) {
        self.order(Order::Quit);
        let _ = self.gone.recv_timeout(FAREWELL);
    }

    fn order(&self, order: Order) {
        if self.orders.send(order).is_ok() {
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }
}

struct Worker {
    inbox: mpsc::Receiver<Order>,
    wake: Arc<OwnedFd>,
    tell: Box<dyn Fn(Told) + Send>,
    queue: VecDeque<Popup>,
    starting: Option<Shown>,
    /// At most one of each subject that asks something.
    standing: Vec<Shown>,
    /// Asked of the server before the first popup.
    markup: Option<bool>,
    /// Whether this notify-send can wait for an answer.
    buttons: bool,
    quit: bool,
}

/// What a popup's program has said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    /// The popup's number: it stands.
    Shown,
    /// An answer, or nonsense.
    Over,
}

struct Shown {
    popup: Popup,
    running: Running,
    /// When it must have started or gone.
    limit: Duration,
    with_buttons: bool,
}

impl Worker {
    fn new(
        inbox: mpsc::Receiver<Order>,
        wake: Arc<OwnedFd>,
        tell: Box<dyn Fn(Told) + Send>,
    ) -> Self {
        Self {
            inbox,
            wake,
            tell,
            queue: VecDeque::new(),
            starting: None,
            standing: Vec::new(),
            markup: None,
            buttons: true,
            quit: false,
        }
    }

    fn run(mut self) {
        while !self.quit {
            self.take_orders();
            self.look_at_starting();
            self.look_at_standing();
            if !self.quit && self.starting.is_none() && !self.queue.is_empty() {
                self.start_next();
                continue;
            }
            if !self.quit {
                self.wait();
            }
        }
        let all = self.starting.take().into_iter().chain(self.standing);
        Running::end_all(all.map(|shown| shown.running));
    }

    fn take_orders(&mut self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.wake, &mut count);
        loop {
            match self.inbox.try_recv() {
                Ok(Order::Raise(popup)) => {
                    if popup.has_buttons(true) {
                        self.forget(popup.subject());
                    }
                    if self.queue.len() == QUEUE {
                        self.queue.pop_front();
                    }
                    self.queue.push_back(popup);
                }
                Ok(Order::Withdraw(subject)) => self.forget(subject),
                Ok(Order::Quit) | Err(mpsc::TryRecvError::Disconnected) => {
                    self.quit = true;
                    return;
                }
                Err(mpsc::TryRecvError::Empty) => return,
            }
        }
    }

    /// Whatever is shown, or about to be, about a subject is over.
    fn forget(&mut self, subject: Subject) {
        self.queue.retain(|popup| popup.subject() != subject);
        let is_over = |shown: &Shown| shown.popup.subject() == subject;
        let starting = self.starting.take_if(|shown| is_over(shown));
        let standing = self.standing.extract_if(.., |shown| is_over(shown));
        Running::end_all(standing.chain(starting).map(|shown| shown.running));
    }

    fn wait(&self) {
        let shown = || self.starting.iter().chain(&self.standing);
        let mut fds: Vec<PollFd<'_>> = shown()
            .flat_map(|shown| shown.running.descriptors())
            .chain([self.wake.as_fd()])
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let limit = shown().map(|shown| shown.limit).min();
        wait(&mut fds, limit.map(|limit| limit.saturating_sub(clock::now())));
    }

    fn start_next(&mut self) {
        let markup = match self.markup {
            Some(markup) => markup,
            None => {
                let Some(markup) = self.ask_for_markup() else { return };
                self.markup = Some(markup);
                markup
            }
        };
        if let Some(popup) = self.queue.pop_front() {
            self.start(popup, markup, self.buttons);
        }
    }

    fn start(&mut self, popup: Popup, markup: bool, buttons: bool) {
        let with_buttons = popup.has_buttons(buttons);
        let mut command = Command::new("notify-send");
        command.args(popup.arguments(markup, buttons));
        match Running::spawn(command, with_buttons) {
            Ok(running) => {
                let limit = clock::now() + START_LIMIT;
                self.starting = Some(Shown { popup, running, limit, with_buttons });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.trouble(
                "notify-send was not found, so there are no popups; install it (libnotify-bin) or \
                 say --no-notify",
            ),
            Err(error) => self.trouble(&format!("notify-send cannot be run: {error}")),
        }
    }

    fn look_at_starting(&mut self) {
        let Some(mut shown) = self.starting.take() else { return };
        if let Some(status) = shown.running.ended() {
            self.act(&mut shown);
            if !status.success() {
                self.failed(shown, status);
            }
            return;
        }
        let said = if shown.with_buttons { self.act(&mut shown) } else { Said::Nothing };
        if said == Said::Shown {
            shown.limit = clock::now() + STAND_LIMIT;
            self.standing.push(shown);
        } else if said == Said::Over {
            shown.running.end();
        } else if shown.limit <= clock::now() {
            shown.running.end();
            self.trouble(
                "the notification service does not answer, so popups may be missing; is one \
                 running?",
            );
        } else {
            self.starting = Some(shown);
        }
    }

    fn look_at_standing(&mut self) {
        for mut shown in std::mem::take(&mut self.standing) {
            let ended = shown.running.ended().is_some();
            let over = self.act(&mut shown) == Said::Over;
            if over || shown.limit <= clock::now() {
                shown.running.end();
            } else if !ended {
                self.standing.push(shown);
            }
        }
    }

    /// Reads what it prints: first the popup's number, then the answer. One answer ends it, and so
    /// does anything else: a program that only chatters shows no popup.
    fn act(&self, shown: &mut Shown) -> Said {
        let mut said = Said::Nothing;
        for line in shown.running.lines().iter().filter(|line| !line.is_empty()) {
            match shown.popup.answer(line) {
                Some(choice) => {
                    (self.tell)(Told::Pressed { popup: shown.popup.kind, choice });
                    return Said::Over;
                }
                None if line.bytes().all(|byte| byte.is_ascii_digit()) => said = Said::Shown,
                None => return Said::Over,
            }
        }
        said
    }

    /// An old notify-send (before 0.7.10) knows no buttons; whatever it was, the same without them
    /// tells which.
    fn failed(&mut self, mut shown: Shown, status: ExitStatus) {
        let said = crate::render::message(&shown.running.complaint());
        if shown.with_buttons {
            let popup = shown.popup.clone();
            drop(shown);
            let markup = self.markup.unwrap_or(capabilities::ASSUMED);
            if self.plain_works(popup, markup) {
                self.buttons = false;
                self.trouble(
                    "this notify-send is too old for buttons; answer popups with `antidrift \
                     refocus`, `antidrift ontask` or `antidrift complete`",
                );
                return;
            }
        }
        let said = if said.is_empty() { status.to_string() } else { said };
        self.trouble(&format!("notify-send failed, so there are no popups: {said}"));
    }

    fn plain_works(&mut self, popup: Popup, markup: bool) -> bool {
        self.start(popup, markup, false);
        let Some(mut plain) = self.starting.take() else { return false };
        let status = self.end_of(&mut plain.running, plain.limit);
        plain.running.end();
        status.is_some_and(|status| status.success())
    }

    /// `None`: there is no time for it now.
    fn ask_for_markup(&mut self) -> Option<bool> {
        let Some(mut asking) = capabilities::ask(|command| Running::spawn(command, false)) else {
            return Some(capabilities::ASSUMED);
        };
        let limit = clock::now() + capabilities::LIMIT;
        let ended = self.end_of(&mut asking, limit);
        if self.quit {
            return None;
        }
        let answer = ended.and_then(|_| capabilities::reads_markup(&asking.said()));
        Some(answer.unwrap_or(capabilities::ASSUMED))
    }

    /// Waits for the end of one program until `limit`, taking orders meanwhile.
    fn end_of(&mut self, running: &mut Running, limit: Duration) -> Option<ExitStatus> {
        loop {
            self.take_orders();
            running.take_in();
            if let Some(status) = running.ended() {
                return Some(status);
            }
            let left = limit.saturating_sub(clock::now());
            if self.quit || left.is_zero() {
                return None;
            }
            let mut fds: Vec<PollFd<'_>> = running
                .descriptors()
                .chain([self.wake.as_fd()])
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            wait(&mut fds, Some(left));
        }
    }

    fn trouble(&self, text: &str) {
        (self.tell)(Told::Trouble(text.to_owned()));
    }
}

//! `antidrift watch`: the input and output around the [`model`].
//!
//! One thread waits for one thing each (the stream, keys, signals, the lock, the reader's end), and
//! all of them tell this one, which owns the model and never waits for anything else. Nothing ticks
//! while nothing is counted down on a screen.

mod follow;
mod lines;
mod model;
mod output;
mod popups;
mod requests;
mod screen;
mod terminal;
mod view;

use std::{fs::File, io, sync::mpsc, thread, time::Duration};

use antidrift_protocol::{Event, EventBody, paths::SocketPath};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    stdio,
};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH},
    iterator::Signals,
};

use self::{
    model::{Ask, Counting, Effect, Input, Link, Model},
    output::{Item, Writer},
    screen::Frame,
    view::{Look, Size},
};
use crate::{
    args,
    bar::Bar,
    clock, exit,
    exit::Failure,
    notify::{self, Notifier, Told},
    out,
    render::Paint,
};

/// What the threads can be ahead of the model. The stream's thread waits then, and the daemon
/// treats us as any slow reader.
const INBOX: usize = 64;

/// What the threads tell.
#[derive(Debug)]
enum Happening {
    Input(Input),
    Event {
        event: Box<Event>,
        age: Duration,
        /// The line as the daemon wrote it.
        raw: String,
    },
    Signal(i32),
    /// We hold the lock, if it can be held at all.
    Lock(io::Result<File>),
    /// Standard output takes no more.
    Output(io::Error),
    /// Nobody reads our lines any more.
    ReaderGone,
}

/// Where the state is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Screen,
    /// A line for a bar.
    Bar,
    Lines,
    Json,
    /// Popups only.
    Silent,
}

pub(crate) fn run(socket: SocketPath, args: &args::Watch) -> Result<(), Failure> {
    let bar = Bar::of(&args.bar)?;
    let mode = match args {
        args::Watch { notify_only: true, .. } => Mode::Silent,
        args::Watch { json: true, .. } => Mode::Json,
        _ if bar.is_some() => Mode::Bar,
        _ if terminal::interactive() => Mode::Screen,
        _ => Mode::Lines,
    };
    // A bar shows it all the time.
    let popups = !args.no_notify && mode != Mode::Bar;
    let (sender, inbox) = mpsc::sync_channel(INBOX);
    let mut shell = Shell::start(socket, mode, bar, popups, &sender).map_err(Failure::Output)?;
    let done = shell.live(&inbox);
    shell.leave();
    match done {
        // A terminal that is gone is a reader that is gone.
        Err(Failure::Output(_)) if mode == Mode::Screen => Ok(()),
        done => done,
    }
}

type Sender = mpsc::SyncSender<Happening>;

struct Shell {
    mode: Mode,
    bar: Option<Bar>,
    model: Model,
    writer: Writer,
    asks: mpsc::Sender<Ask>,
    sender: Sender,
    notifier: Option<Notifier>,
    /// Held to the end.
    lock: Option<File>,
    /// Wakes the keys' thread when we are in the foreground again.
    resume: Option<mpsc::Sender<()>>,
    size: Size,
    paint: Paint,
    /// Whether the screen is ours to draw on.
    drawing: bool,
}

impl Shell {
    fn start(
        socket: SocketPath,
        mode: Mode,
        bar: Option<Bar>,
        popups: bool,
        sender: &Sender,
    ) -> io::Result<Self> {
        // First of all: from here on a signal ends us in order.
        let signals = signals(mode)?;
        spawn("signals", sender, move |tell| {
            let mut signals = signals;
            for signal in signals.forever() {
                if !tell(Happening::Signal(signal)) {
                    return;
                }
            }
        })?;
        let for_writer = sender.clone();
        let writer = Writer::start(move |happening| for_writer.send(happening).is_ok())?;
        if matches!(mode, Mode::Lines | Mode::Json | Mode::Bar) {
            spawn("reader", sender, |tell| reader_gone(tell))?;
        }
        if popups {
            let socket = socket.clone();
            spawn("lock", sender, move |tell| {
                tell(Happening::Lock(notify::hold(&socket)));
            })?;
        }
        // A person's keys and buttons: never more than one key and a few buttons at a time.
        let (asks, inbox) = mpsc::channel();
        let for_requests = socket.clone();
        spawn("requests", sender, move |tell| requests::serve(&for_requests, inbox, tell))?;
        spawn("stream", sender, move |tell| follow::follow(&socket, tell))?;

        let mut shell = Self {
            mode,
            bar,
            model: Model::new(popups),
            writer,
            asks,
            sender: sender.clone(),
            notifier: None,
            lock: None,
            resume: None,
            size: terminal::size(),
            paint: Paint::new(out::colours(stdio::stdout())),
            drawing: mode == Mode::Screen,
        };
        if mode == Mode::Screen {
            terminal::survive_panics();
            if terminal::has_keys() {
                terminal::take_keys()?;
                let (resume, resumed) = mpsc::channel();
                spawn("keys", sender, move |tell| terminal::read_keys(&resumed, tell))?;
                shell.resume = Some(resume);
            }
            shell.show(true);
        }
        Ok(shell)
    }

    /// Until something ends it.
    fn live(&mut self, inbox: &mpsc::Receiver<Happening>) -> Result<(), Failure> {
        loop {
            let now = clock::now();
            let happening = match self.model.deadline(now, self.counting()) {
                // We hold a sender ourselves, so there is always one.
                Some(deadline) => inbox.recv_timeout(deadline.saturating_sub(now)),
                None => inbox.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            }
            .unwrap_or(Happening::Input(Input::Tick));
            let input = match happening {
                Happening::Input(input) => {
                    self.announce(&input);
                    input
                }
                Happening::Event { event, age, raw } => {
                    self.pass_on(&event, raw);
                    Input::Event { event, age }
                }
                Happening::Lock(lock) => self.hold(lock),
                Happening::Signal(SIGWINCH) => {
                    self.size = terminal::size();
                    self.show(true);
                    continue;
                }
                Happening::Signal(SIGTSTP) => {
                    self.suspend();
                    continue;
                }
                Happening::Signal(SIGCONT) => {
                    self.resume();
                    continue;
                }
                Happening::Signal(_) | Happening::ReaderGone => return Ok(()),
                Happening::Output(error) => return Err(Failure::Output(error)),
            };
            for effect in self.model.handle(input, clock::now()) {
                match effect {
                    Effect::Quit => return Ok(()),
                    effect => self.perform(effect),
                }
            }
            self.show(false);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Ask(ask) => {
                let _ = self.asks.send(ask);
            }
            Effect::Raise(popup) => {
                if let Some(notifier) = &self.notifier {
                    notifier.raise(popup);
                }
            }
            Effect::Withdraw(subject) => {
                if let Some(notifier) = &self.notifier {
                    notifier.withdraw(subject);
                }
            }
            // On the screen it is a part of the page; a log has one line for each.
            Effect::Say(text) if self.mode != Mode::Screen => {
                out::complain(&text.replace('\n', "; "));
            }
            Effect::Say(_) | Effect::Quit => {}
        }
    }

    fn hold(&mut self, lock: io::Result<File>) -> Input {
        let sender = self.sender.clone();
        let notifier = Notifier::start(move |told| {
            let input = match told {
                Told::Pressed { popup, choice } => Input::Pressed { popup, choice },
                Told::Trouble(text) => Input::Trouble(text),
            };
            let _ = sender.send(Happening::Input(input));
        });
        match notifier {
            Ok(notifier) => self.notifier = Some(notifier),
            Err(error) => return Input::Trouble(format!("popups cannot be raised: {error}")),
        }
        match lock {
            Ok(lock) => self.lock = Some(lock),
            // Twice is better than never.
            Err(error) => out::warn(&format!(
                "the lock for popups cannot be taken, so several watches may show each: {error}"
            )),
        }
        Input::Holder
    }

    /// The daemon's line for those who read JSON.
    fn pass_on(&self, event: &Event, raw: String) {
        if self.mode == Mode::Json {
            self.writer.push(match event.body {
                EventBody::State(_) => Item::State(raw),
                _ => Item::Edge(raw),
            });
        }
    }

    /// Our own lines for those who read JSON.
    fn announce(&self, input: &Input) {
        if self.mode != Mode::Json {
            return;
        }
        match input {
            Input::Connected { instance } => {
                self.writer.push(Item::Edge(lines::connected(instance)));
            }
            Input::Lost(error) if self.model.link != Link::Down => {
                self.writer.push(Item::Edge(lines::disconnected(&exit::client_message(error))));
            }
            _ => {}
        }
    }

    /// What of the time is shown.
    fn counting(&self) -> Counting {
        match &self.bar {
            Some(bar) if self.mode == Mode::Bar => Counting::Bar(bar.clock),
            _ if self.drawing => Counting::Screen,
            _ => Counting::Nothing,
        }
    }

    fn show(&self, anew: bool) {
        match self.mode {
            Mode::Screen if self.drawing => {
                let look = Look { size: self.size, paint: self.paint, local: clock::local };
                let frame = view::frame(&self.model, clock::now(), look);
                self.writer.push(Item::Frame(Frame { anew, ..frame }));
            }
            Mode::Bar => {
                let Some(bar) = &self.bar else { return };
                if let Some(face) = self.model.face(clock::now(), bar.clock, clock::local) {
                    self.writer.push(Item::State(bar.style.line(&face)));
                }
            }
            Mode::Lines => {
                if let Some(line) = lines::text(&self.model, clock::local) {
                    self.writer.push(Item::State(line));
                }
            }
            Mode::Screen | Mode::Json | Mode::Silent => {}
        }
    }

    fn suspend(&mut self) {
        self.drawing = false;
        self.writer.push(Item::Leave);
        self.writer.finish();
        terminal::give_back();
        // Stops here, until it is continued; that is a signal of its own.
        let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
    }

    fn resume(&mut self) {
        // Continued in the background, the terminal is the shell's.
        self.drawing = out::foreground(stdio::stdout());
        if !self.drawing {
            return;
        }
        if let Some(resume) = &self.resume {
            let _ = terminal::take_keys();
            let _ = resume.send(());
        }
        self.size = terminal::size();
        self.show(true);
    }

    fn leave(self) {
        if self.mode == Mode::Screen {
            self.writer.push(Item::Leave);
        }
        if let Some(notifier) = self.notifier {
            notifier.quit();
        }
        self.writer.finish();
        terminal::give_back();
    }
}

/// A thread that tells us things until nobody listens.
fn spawn(
    name: &str,
    sender: &Sender,
    work: impl FnOnce(&dyn Fn(Happening) -> bool) + Send + 'static,
) -> io::Result<()> {
    let sender = sender.clone();
    let tell = move |happening| sender.send(happening).is_ok();
    thread::Builder::new().name(name.into()).spawn(move || work(&tell)).map(|_| ())
}

fn signals(mode: Mode) -> io::Result<Signals> {
    let mut wanted = vec![SIGTERM, SIGINT];
    if !hangups_are_ignored() {
        wanted.push(SIGHUP);
    }
    if mode == Mode::Screen {
        wanted.extend([SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]);
    }
    Signals::new(wanted)
}

/// Whether we were started by nohup or the like, and are meant to outlive the terminal.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}

/// Waits for the other side of a pipe to be closed, so that a watch whose bar has gone goes too,
/// and not only when there is something to say.
fn reader_gone(tell: &dyn Fn(Happening) -> bool) {
    loop {
        let mut stdout = [PollFd::from_borrowed_fd(stdio::stdout(), PollFlags::empty())];
        match poll(&mut stdout, None) {
            Err(Errno::INTR) => {}
            Err(_) => return,
            Ok(_) => {
                tell(Happening::ReaderGone);
                return;
            }
        }
    }
}

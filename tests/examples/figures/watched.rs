//! What is measured: the daemon, a floor or another program, and the lines that it says.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

use antidrift_tests::{Daemon, Home, PATIENCE, Process};

use crate::screen::{Screen, title};

/// How long a line may take before it counts as missing.
const MISSING: Duration = Duration::from_secs(10);

/// A program that says where the focus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The daemon, over its socket.
    Ours,
    /// The daemon with a session under way in which every window is allowed.
    Session,
    /// The floor, over its socket.
    Floor,
    /// `xprop -root -spy`, which reads neither class nor title.
    Xprop,
}

/// A running program.
pub(crate) struct Watched {
    pub(crate) process: Process,
    pub(crate) home: Home,
    /// From its start until its socket took a connection.
    pub(crate) ready: Duration,
    kind: Kind,
    lines: Receiver<(Instant, String)>,
    said: Arc<AtomicUsize>,
}

impl Watched {
    pub(crate) fn start(kind: Kind, screen: &Screen) -> Self {
        Self::start_with(kind, screen, "")
    }

    /// Starts it with this configuration, if it is ours, and listens.
    pub(crate) fn start_with(kind: Kind, screen: &Screen, configuration: &str) -> Self {
        let home = Home::new();
        let floor_socket = home.path().join("floor.sock");
        let mut command = match kind {
            Kind::Ours | Kind::Session => {
                home.configure(configuration);
                Daemon::command(&home)
            }
            Kind::Floor => {
                let mut command = home.command(floor("floor_watch"));
                command.arg(&floor_socket);
                command
            }
            Kind::Xprop => {
                let mut command = home.command("xprop");
                command.args(["-root", "-spy", "_NET_ACTIVE_WINDOW"]);
                command
            }
        };
        let output = if kind == Kind::Xprop { Stdio::piped() } else { Stdio::null() };
        command.env("DISPLAY", screen.desktop.display()).stdout(output).stderr(Stdio::null());
        let start = Instant::now();
        let mut process = Process::spawn(&mut command, "x11-utils");
        let socket = match kind {
            Kind::Ours | Kind::Session => Some(home.socket()),
            Kind::Floor => Some(floor_socket),
            Kind::Xprop => None,
        };
        let stream = socket.map(|socket| connect(&socket, start));
        let ready = start.elapsed();
        let source: Box<dyn Read + Send> = match stream {
            Some(mut stream) => {
                if kind == Kind::Session {
                    begin(&home.socket(), "Figures");
                }
                if kind != Kind::Floor {
                    stream.write_all(b"{\"cmd\":\"subscribe\"}\n").unwrap();
                }
                Box::new(stream)
            }
            None => Box::new(process.take_stdout().unwrap()),
        };
        let (lines, said) = listen(source);
        Self { process, home, ready, kind, lines, said }
    }

    /// What a line says that names a window of the screen.
    pub(crate) fn token(&self, screen: &Screen, at: usize) -> String {
        match self.kind {
            Kind::Xprop => format!("{:#x}", screen.id(at)),
            _ => title(at),
        }
    }

    /// When a line came that has this text, if it came.
    pub(crate) fn wait(&self, token: &str) -> Option<Instant> {
        let end = Instant::now() + MISSING;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (time, line) = self.lines.recv_timeout(left).ok()?;
            if line.contains(token) {
                return Some(time);
            }
        }
    }

    /// All lines up to the first that came after `since` and has this text, if it came.
    pub(crate) fn until(&self, token: &str, since: Instant) -> Vec<(Instant, String)> {
        let (mut lines, end) = (Vec::new(), Instant::now() + MISSING);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok((time, line)) = self.lines.recv_timeout(left) else { return lines };
            let found = time >= since && line.contains(token);
            lines.push((time, line));
            if found {
                return lines;
            }
        }
    }

    /// Forgets the lines that wait; how many there were since the last time.
    pub(crate) fn drain(&self) -> usize {
        while self.lines.try_recv().is_ok() {}
        self.said.swap(0, Ordering::Relaxed)
    }

    /// Switches until it keeps up.
    pub(crate) fn warm_up(&self, screen: &Screen) {
        for at in 0..crate::screen::WINDOWS + 1 {
            let at = at % crate::screen::WINDOWS;
            screen.activate(at);
            self.wait(&self.token(screen, at));
        }
        self.drain();
    }

    /// KiB of memory: its share of all (PSS), and what it shares with nobody.
    pub(crate) fn memory(&self) -> (f64, f64) {
        let path = format!("/proc/{}/smaps_rollup", self.process.id());
        let text = fs::read_to_string(path).unwrap_or_default();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
        };
        (field("Pss:"), field("Private_Clean:") + field("Private_Dirty:"))
    }
}

/// A floor that was built along with this program.
pub(crate) fn floor(name: &str) -> PathBuf {
    let path = env::current_exe().unwrap().with_file_name(name);
    assert!(path.is_file(), "{} is missing: run contrib/bench", path.display());
    path
}

/// Starts a session in which windows of these classes are allowed.
pub(crate) fn begin(socket: &Path, class: &str) {
    let classes: Vec<_> = (0..crate::screen::WINDOWS).map(|at| format!("{class}{at}")).collect();
    let args = serde_json::json!({
        "text": "measure what it costs", "timebox_secs": 7200,
        "allowed": { "window_classes": classes },
    });
    let answer = antidrift_tests::ask(socket, "start", &args);
    assert!(answer.get("ok").is_some(), "{answer}");
}

/// Runs a command without output.
pub(crate) fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// Connects as soon as that is possible.
pub(crate) fn connect(socket: &Path, start: Instant) -> UnixStream {
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return stream,
            Err(error) => {
                assert!(start.elapsed() < PATIENCE, "{}: {error}", socket.display());
                thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

/// Reads lines in a thread that does nothing else, with the time at which each was there.
fn listen(source: Box<dyn Read + Send>) -> (Receiver<(Instant, String)>, Arc<AtomicUsize>) {
    let ((sender, lines), said) = (channel(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&said);
    thread::spawn(move || {
        let mut reader = BufReader::new(source);
        let mut line = Vec::new();
        while let Ok(1..) = reader.read_until(b'\n', &mut line) {
            let time = Instant::now();
            count.fetch_add(1, Ordering::Relaxed);
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if sender.send((time, text)).is_err() {
                return;
            }
        }
    });
    (lines, said)
}

//! `watch` on a terminal: a pseudo-terminal with the test at its other side.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::{
    fs,
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use antidrift_tests::{holds_for, until_still};
use rustix::{
    process::Signal,
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use serde_json::{Value, json};
use support::*;

struct Terminal {
    child: Child,
    master: File,
    /// All that was written, and what came since it was looked at last.
    raw: Arc<Mutex<Vec<u8>>>,
}

fn resize(master: &File, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

impl Terminal {
    fn start(daemon: &FakeDaemon, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave: OwnedFd = ioctl_tiocgptpeer(&master, flags).unwrap();
        let master = File::from(master);
        resize(&master, 24, 80);
        let side = || Stdio::from(slave.try_clone().unwrap());
        // A session of its own, with the terminal as its controlling one.
        let mut command = Command::new("/usr/bin/setsid");
        command
            .args(["--ctty", env!("CARGO_BIN_EXE_antidrift"), "watch"])
            .args(args)
            .env_clear()
            .env("TERM", "xterm-256color")
            .env("PATH", "/nonexistent")
            .env("XDG_RUNTIME_DIR", daemon.dir.path())
            .envs(environment.iter().copied())
            .stdin(side())
            .stdout(side())
            .stderr(side());
        let child = command.spawn().unwrap();
        drop((command, slave));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, into) = (master.try_clone().unwrap(), Arc::clone(&raw));
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                lock(&into).extend_from_slice(&chunk[..read]);
            }
        });
        Self { child, master, raw }
    }

    fn raw(&self) -> String {
        String::from_utf8_lossy(&lock(&self.raw)).into_owned()
    }

    fn screen(&self) -> Vec<String> {
        screen(&self.raw())
    }

    fn wait_for(&self, text: &str) -> Vec<String> {
        wait_for(&format!("{text:?} on the screen"), || {
            let screen = self.screen();
            screen.iter().any(|line| line.contains(text)).then_some(screen)
        })
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    fn wait_for_keys(&self) {
        wait_for("keys to be taken one by one", || self.is_raw().then_some(()));
    }

    /// Ended well, with the terminal as it was.
    fn ended(&mut self) {
        assert_eq!(wait_for_end(&mut self.child).code(), Some(0));
        assert!(!self.is_raw());
        let echo = tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ECHO);
        assert!(echo);
        wait_for("the shell's screen", || {
            let raw = self.raw();
            raw.trim_end().ends_with("\u{1b}[?25h\u{1b}[?1049l").then_some(())
        });
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As much of a terminal as is needed: rows, clearing, no colours.
fn screen(raw: &str) -> Vec<String> {
    let mut rows = vec![String::new(); 100];
    let (mut row, mut rest) = (0, raw);
    while let Some(at) = rest.find('\u{1b}') {
        rows[row].push_str(&rest[..at]);
        let tail = &rest[at + 2..];
        if rest[at + 1..].starts_with(']') {
            // The title, on no row.
            rest = tail.split_once('\u{7}').map_or("", |(_, rest)| rest);
            continue;
        }
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(tail.len() - 1);
        match &tail[..=end] {
            "2J" => rows.iter_mut().for_each(String::clear),
            other => {
                if let Some(position) = other.strip_suffix(";1H") {
                    row = position.parse::<usize>().unwrap() - 1;
                    rows[row].clear();
                }
            }
        }
        rest = &tail[end + 1..];
    }
    rows[row].push_str(rest);
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

fn daemon(first: &Value) -> FakeDaemon {
    let daemon = FakeDaemon::start(|request| {
        let added = json!({"kind": "window_class", "value": "firefox"});
        Some(match request["cmd"].as_str() {
            Some("refocus") => ok(
                request,
                &json!({"seq": 9, "saved": true, "warning": null,
                "window": window(), "activated": null}),
            ),
            Some("ontask") => ok(
                request,
                &json!({"seq": 9, "saved": true, "warning": null,
                "window": window(), "added": added}),
            ),
            Some("complete") => ok(
                request,
                &json!({"seq": 9, "saved": true, "warning": null,
                "review": {}}),
            ),
            _ => String::new(),
        })
    });
    daemon.first(&event("state", 1, first));
    daemon
}

/// A session that lasts far longer than the machine's clock makes of the state's age.
fn session(status: &str) -> Value {
    let mut state = active(status);
    state["commitment"]["timebox_secs"] = json!(86_400);
    state
}

#[test]
fn a_session_counts_down_and_only_that_line_is_written() {
    let daemon = daemon(&session("ontask"));
    let mut terminal = Terminal::start(&daemon, &["--no-notify"], &[]);
    let first = terminal.wait_for("on task");
    assert_eq!(first[0], "draft the report");
    wait_for("two more ticks", || {
        let ticks = terminal.raw().matches("\u{1b}[2;1H").count();
        (ticks >= 3).then_some(())
    });
    assert_eq!(terminal.raw().matches("draft the report").count(), 1);
    assert_ne!(terminal.screen()[1], first[1]);
    terminal.wait_for_keys();
    terminal.press("q");
    terminal.ended();
}

#[test]
fn nothing_ticks_without_a_session() {
    let daemon = daemon(&planning());
    let terminal = Terminal::start(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("no session");
    let switches = || {
        let status = fs::read_to_string(format!("/proc/{}/status", terminal.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("voluntary")).unwrap();
        line.rsplit('\t').next().unwrap().parse::<u64>().unwrap()
    };
    terminal.wait_for_keys();
    let look = || (switches(), terminal.raw());
    let rest = until_still(Duration::from_millis(200), "the watch rests", look);
    holds_for(Duration::from_millis(1500), "nothing happens", || look() == rest);
}

#[test]
fn keys_answer_an_alert_and_a_window_that_was_left() {
    let daemon = daemon(&session("drifting"));
    let mut terminal = Terminal::start(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("[t] this is on task");
    terminal.wait_for("Reddit is unrelated");
    terminal.wait_for_keys();
    // An arrow key is no answer.
    terminal.press("\u{1b}[B");
    terminal.press("b");
    terminal.wait_for("back to task; no verdict stands");
    let named = json!({"alert": 7, "or_left": true});
    assert_eq!(daemon.asked("refocus")[0]["args"], named);
    daemon.tell(&event("alert_cleared", 2, &json!({"alert": 7, "why": "moved"})));
    daemon.tell(&event("state", 2, &session("ontask")));
    terminal.wait_for("you left firefox: reddit");
    terminal.press("t");
    terminal.wait_for("on task from now on");
    assert_eq!(daemon.asked("ontask")[0]["args"], named);
    // No question, no answer.
    terminal.press("e");
    daemon.tell(&event("state", 3, &session("drifting")));
    terminal.wait_for("[e] end session");
    terminal.press("e");
    terminal.wait_for("session ended");
    assert_eq!(daemon.asked("complete").len(), 1);
    assert_eq!(daemon.asked("ontask").len(), 1);
    terminal.press("q");
    terminal.ended();
}

#[test]
fn signals_end_it_within_a_second_and_give_the_terminal_back() {
    let daemon = daemon(&session("drifting"));
    for (sent, held) in [
        (Signal::TERM, false),
        (Signal::INT, false),
        (Signal::HUP, false),
        (Signal::QUIT, false),
        (Signal::TERM, true),
    ] {
        let mut terminal = Terminal::start(&daemon, &[], &[]);
        terminal.wait_for("Possible drift");
        terminal.wait_for_keys();
        if held {
            // Ctrl-S: the terminal takes nothing, not even the countdown's next second.
            terminal.press("\u{13}");
            until_still(Duration::from_millis(1100), "the screen stands still", || terminal.raw());
        }
        let begin = now();
        signal(&terminal.child, sent);
        if held {
            assert_eq!(wait_for_end(&mut terminal.child).code(), Some(0));
        } else {
            terminal.ended();
        }
        assert!(now() - begin < Duration::from_secs(1));
        assert!(!terminal.is_raw());
    }
    // Ctrl-C is one of them.
    let mut terminal = Terminal::start(&daemon, &[], &[]);
    terminal.wait_for_keys();
    terminal.press("\u{3}");
    terminal.ended();
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let daemon = daemon(&session("drifting"));
    let mut terminal = Terminal::start(&daemon, &[], &[]);
    terminal.wait_for("Possible drift");
    signal(&terminal.child, Signal::STOP);
    signal(&terminal.child, Signal::CONT);
    let null = File::open("/dev/null").unwrap();
    // The reading thread holds the other copy; it ends with the hang-up.
    terminal.master = null;
    signal(&terminal.child, Signal::HUP);
    assert!(wait_for_end(&mut terminal.child).code().is_some());
}

#[test]
fn suspended_it_leaves_the_terminal_to_the_shell() {
    let daemon = daemon(&session("ontask"));
    let mut terminal = Terminal::start(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("on task");
    terminal.wait_for_keys();
    terminal.press("\u{1a}");
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", terminal.child.id())).unwrap();
        stat.rsplit(')').next().unwrap().trim().chars().next().unwrap()
    };
    wait_for("it to stop", || (state() == 'T').then_some(()));
    assert!(!terminal.is_raw());
    assert!(terminal.raw().ends_with("\u{1b}[?25h\u{1b}[?1049l"), "{:?}", terminal.raw());
    daemon.tell(&event("state", 2, &session("drifting")));
    signal(&terminal.child, Signal::CONT);
    terminal.wait_for("Possible drift");
    terminal.wait_for_keys();
    terminal.press("b");
    terminal.wait_for("back to task;");
    terminal.press("q");
    terminal.ended();
}

#[test]
fn a_resize_draws_it_anew() {
    let daemon = daemon(&session("drifting"));
    let terminal = Terminal::start(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("[q] quit");
    resize(&terminal.master, 24, 20);
    let narrow = wait_for("a narrow screen", || {
        let screen = terminal.screen();
        screen.iter().any(|line| line == "firefox: reddit: th…").then_some(screen)
    });
    assert!(narrow.iter().all(|line| line.chars().count() <= 20), "{narrow:?}");
    resize(&terminal.master, 3, 80);
    wait_for("a low screen", || (terminal.screen().len() <= 3).then_some(()));
}

#[test]
fn titles_do_nothing_to_the_terminal_and_colours_can_be_off() {
    let mut state = session("drifting");
    let hostile = "ok\u{1b}[31mred\u{1b}]0;pwned\u{7}\u{9b}5mx\rspoof";
    state["drift"]["reason"] = json!(hostile);
    state["window"]["title"] = json!(hostile);
    state["commitment"]["text"] = json!(hostile);
    let daemon = daemon(&state);
    for (environment, coloured) in [(&[][..], true), (&[("NO_COLOR", "1")], false)] {
        let terminal = Terminal::start(&daemon, &["--no-notify"], environment);
        terminal.wait_for("okredx spoof");
        let raw = terminal.raw().replace("\u{1b}]0;antidrift watch\u{7}", "(our own title)");
        assert!(raw.contains("(our own title)"));
        for evil in ["[31m", "pwned", "\u{9b}", "\u{7}"] {
            assert!(!raw.contains(evil), "{evil:?}: {raw:?}");
        }
        assert_eq!(raw.contains("\u{1b}[1;33m"), coloured);
        assert_eq!(raw.contains("\u{1b}[1m"), coloured);
    }
}

#[test]
fn a_terminal_that_knows_no_sequences_gets_lines() {
    let daemon = daemon(&session("ontask"));
    let terminal = Terminal::start(&daemon, &["--no-notify"], &[("TERM", "dumb")]);
    terminal.wait_for("on task: draft the report");
    assert!(!terminal.raw().contains('\u{1b}'));
}

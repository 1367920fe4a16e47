//! `watch` on a terminal: a pseudo-terminal with the test at its other side.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::{
    fs::{self, File},
    time::Duration,
};

use antidrift_tests::{Timer, holds_for, until, until_still};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::{
    terminal::{Terminal, resize},
    *,
};

/// A live view, at a terminal.
fn watch(daemon: &FakeDaemon, args: &[&str], environment: &[(&str, &str)]) -> Terminal {
    Terminal::start(daemon, &[&["watch"], args].concat(), environment)
}

/// Ended well, with the terminal as it was.
fn ended(terminal: &mut Terminal) {
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(0));
    assert!(terminal.is_cooked());
    until("the shell's screen", || {
        let raw = terminal.raw();
        raw.trim_end().ends_with("\u{1b}[?25h\u{1b}[?1049l").then_some(())
    });
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
            Some("pause" | "resume" | "extend") => {
                ok(request, &json!({"seq": 9, "saved": true, "warning": null}))
            }
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
    let mut terminal = watch(&daemon, &["--no-notify"], &[]);
    let first = terminal.wait_for("on task");
    assert_eq!(first[0], "draft the report");
    until("two more ticks", || {
        let ticks = terminal.raw().matches("\u{1b}[2;1H").count();
        (ticks >= 3).then_some(())
    });
    assert_eq!(terminal.raw().matches("draft the report").count(), 1);
    assert_ne!(terminal.screen()[1], first[1]);
    terminal.wait_for_keys();
    terminal.press("q");
    ended(&mut terminal);
}

#[test]
fn nothing_ticks_without_a_session() {
    let daemon = daemon(&planning());
    let terminal = watch(&daemon, &["--no-notify"], &[]);
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
    let mut terminal = watch(&daemon, &["--no-notify"], &[]);
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
    // No question, no answer; by the key behind it we know that it has been read.
    terminal.press("ep");
    terminal.wait_for("paused; antidrift resume goes on");
    daemon.tell(&event("state", 3, &session("drifting")));
    terminal.wait_for("[e] end session");
    terminal.press("e");
    terminal.wait_for("session ended");
    assert_eq!(daemon.asked("complete").len(), 1);
    assert_eq!(daemon.asked("ontask").len(), 1);
    terminal.press("q");
    ended(&mut terminal);
}

#[test]
fn keys_pause_and_go_on_and_give_more_time_when_it_is_up() {
    // The time is up when the daemon says so, whatever the machine's clock says of the states.
    let session = |status| {
        let mut state = active(status);
        state["commitment"]["timebox_secs"] = Value::Null;
        state
    };
    let daemon = daemon(&session("ontask"));
    let mut terminal = watch(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("[p] pause   [q] quit");
    terminal.wait_for_keys();
    // Not now.
    terminal.press("+");
    terminal.press("p");
    terminal.wait_for("paused; antidrift resume goes on");
    assert_eq!(daemon.asked("pause")[0]["args"], Value::Null);
    let mut state = session("idle");
    state["paused"] = json!({"since_at": "2026-11-30T09:12:44Z", "until_at": null});
    daemon.tell(&event("state", 2, &state));
    terminal.wait_for("[p] resume   [q] quit");
    terminal.press("p");
    terminal.wait_for("back to task");
    assert_eq!(daemon.asked("resume").len(), 1);
    daemon.tell(&event("state", 3, &session("ontask")));
    daemon.tell(&event("timebox_elapsed", 4, &json!({})));
    terminal.wait_for("[+] 10 more minutes   [p] pause   [q] quit");
    assert!(daemon.asked("extend").is_empty());
    terminal.press("+");
    terminal.wait_for("10 min more");
    assert_eq!(daemon.asked("extend")[0]["args"], json!({"secs": 600}));
    daemon.tell(&event("state", 5, &session("ontask")));
    until("the key to go", || {
        (!terminal.screen().iter().any(|line| line.contains("[+]"))).then_some(())
    });
    terminal.press("q");
    ended(&mut terminal);
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
        let mut terminal = watch(&daemon, &[], &[]);
        terminal.wait_for("Possible drift");
        terminal.wait_for_keys();
        if held {
            // Ctrl-S: the terminal takes nothing, not even the countdown's next second.
            terminal.press("\u{13}");
            until_still(Duration::from_millis(1100), "the screen stands still", || terminal.raw());
        }
        let timer = Timer::start();
        signal(&terminal.child, sent);
        if held {
            assert_eq!(wait_for_end(&mut terminal.child).code(), Some(0));
        } else {
            ended(&mut terminal);
        }
        assert!(timer.passed() < Duration::from_secs(1));
        assert!(!terminal.is_raw());
    }
    // Ctrl-C is one of them.
    let mut terminal = watch(&daemon, &[], &[]);
    terminal.wait_for_keys();
    terminal.press("\u{3}");
    ended(&mut terminal);
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let daemon = daemon(&session("drifting"));
    let mut terminal = watch(&daemon, &[], &[]);
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
    let mut terminal = watch(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("on task");
    terminal.wait_for_keys();
    terminal.press("\u{1a}");
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", terminal.child.id())).unwrap();
        stat.rsplit(')').next().unwrap().trim().chars().next().unwrap()
    };
    until("it to stop", || (state() == 'T').then_some(()));
    assert!(!terminal.is_raw());
    until("the shell's screen", || {
        terminal.raw().ends_with("\u{1b}[?25h\u{1b}[?1049l").then_some(())
    });
    daemon.tell(&event("state", 2, &session("drifting")));
    signal(&terminal.child, Signal::CONT);
    terminal.wait_for("Possible drift");
    terminal.wait_for_keys();
    terminal.press("b");
    terminal.wait_for("back to task;");
    terminal.press("q");
    ended(&mut terminal);
}

#[test]
fn a_resize_draws_it_anew() {
    let daemon = daemon(&session("drifting"));
    let terminal = watch(&daemon, &["--no-notify"], &[]);
    terminal.wait_for("[q] quit");
    resize(&terminal.master, 24, 20);
    let narrow = until("a narrow screen", || {
        let screen = terminal.screen();
        screen.iter().any(|line| line == "firefox: reddit: th…").then_some(screen)
    });
    assert!(narrow.iter().all(|line| line.chars().count() <= 20), "{narrow:?}");
    resize(&terminal.master, 3, 80);
    until("a low screen", || (terminal.screen().len() <= 3).then_some(()));
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
        let terminal = watch(&daemon, &["--no-notify"], environment);
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
    let terminal = watch(&daemon, &["--no-notify"], &[("TERM", "dumb")]);
    terminal.wait_for("on task: draft the report");
    assert!(!terminal.raw().contains('\u{1b}'));
}

//! `watch` in a pipe.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::{
    io::{Read, Write as _},
    process::Stdio,
    time::Duration,
};

use antidrift_protocol::{Answer, ErrorCode};
use antidrift_tests::{Timer, holds_for, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use support::*;

fn watch(daemon: &FakeDaemon, args: &[&str]) -> Running {
    let mut command = client(daemon.dir.path());
    command.arg("watch").args(args);
    Running::spawn(command)
}

fn quiet() -> FakeDaemon {
    let daemon = FakeDaemon::start(|_| Some(String::new()));
    daemon.first(&event("state", 1, &planning()));
    daemon
}

fn with_title(status: &str, title: &str) -> Value {
    let mut state = active(status);
    state["window"]["title"] = json!(title);
    state
}

#[test]
fn one_line_a_change_at_once_and_none_for_what_looks_the_same() {
    let daemon = quiet();
    let watch = watch(&daemon, &["--no-notify"]);
    assert_eq!(watch.line(), "no session");
    for seq in 2..20 {
        daemon.tell(&event("state", seq, &planning()));
    }
    daemon.tell(&event("nonsense", 20, &json!({"new": 1})));
    let timer = Timer::start();
    daemon.tell(&event("state", 21, &active("pending")));
    assert_eq!(watch.line(), "checking: draft the report");
    assert!(timer.passed() < Duration::from_millis(500));
    daemon.tell(&event("state", 22, &active("ontask")));
    assert_eq!(watch.line(), "on task: draft the report");
    daemon.tell(&event("state", 23, &active("drifting")));
    assert_eq!(watch.line(), "drifting: Reddit is unrelated [firefox: reddit: the front page]");
    assert_eq!(watch.errors(), "");
}

#[test]
fn pauses_detours_absences_and_overtime_are_lines_of_their_own() {
    let daemon = quiet();
    let mut command = client(daemon.dir.path());
    command.args(["watch", "--no-notify"]).env("TZ", "XXX-1");
    let watch = Running::spawn(command);
    assert_eq!(watch.line(), "no session");
    let (begin, end) = ("2026-11-30T09:12:44Z", "2026-11-30T09:22:44Z");
    let detour = json!({"text": "the flag", "since_at": begin, "until_at": end, "window": null});
    let pause = |until| json!({"since_at": begin, "until_at": until});
    for (seq, (member, value, line)) in (2_u64..).zip([
        ("paused", pause(None), "paused: draft the report"),
        ("paused", pause(Some(end)), "paused until 10:22: draft the report"),
        ("away", json!("idle"), "away (idle): draft the report"),
        ("away", json!("locked"), "away (locked): draft the report"),
        ("away", json!("suspended"), "away (suspended): draft the report"),
        ("detour", detour, "on a detour until 10:22: the flag"),
        ("away", Value::Null, "on task: draft the report"),
    ]) {
        let mut state = active("ontask");
        state[member] = value;
        daemon.tell(&event("state", seq, &state));
        assert_eq!(watch.line(), line);
    }
    // An event without a state: nothing that stands in one has changed.
    daemon.tell(&event("timebox_elapsed", 20, &json!({})));
    assert_eq!(watch.line(), "on task, over time: draft the report");
    daemon.tell(&event("state", 21, &active("ontask")));
    assert_eq!(watch.line(), "on task: draft the report");
}

#[test]
fn a_burst_ends_in_the_present_state() {
    let daemon = quiet();
    let watch = watch(&daemon, &["--no-notify"]);
    watch.line();
    let burst: String = (2..12)
        .map(|seq| event("state", seq, &with_title("drifting", &format!("n{seq}"))))
        .collect();
    daemon.tell(&burst);
    watch.line_with("n11");
    assert!(watch.more().is_empty());
}

#[test]
fn each_line_is_one_write() {
    use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
    // What is written at once arrives at once, and nothing is joined.
    let packets = SocketType::SEQPACKET;
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, packets, SocketFlags::CLOEXEC, None).unwrap();
    for (args, lines) in
        [(&["watch", "--no-notify"][..], 3), (&["watch", "--json", "--no-notify"], 4)]
    {
        let daemon = quiet();
        let mut command = client(daemon.dir.path());
        let stdout = Stdio::from(theirs.try_clone().unwrap());
        let mut child = command.args(args).stdout(stdout).spawn().unwrap();
        drop(command);
        daemon.wait_for_subscribers(1);
        for (seq, status) in [(2, "pending"), (3, "drifting")] {
            daemon.tell(&event("state", seq, &active(status)));
        }
        let mut packet = [0; 65536];
        let mut seen = 0;
        loop {
            let (length, _) = recv(&ours, &mut packet[..], RecvFlags::empty()).unwrap();
            let text = std::str::from_utf8(&packet[..length]).unwrap();
            assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "{text:?}");
            seen += 1;
            if text.contains("Reddit") {
                break;
            }
        }
        // Those between may have been skipped.
        assert!(seen <= lines, "{seen}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn json_lines_parse_for_every_title_and_pass_on_what_is_new() {
    let daemon = quiet();
    let watch = watch(&daemon, &["--json", "--no-notify"]);
    let parse = |line: String| serde_json::from_str::<Value>(&line).unwrap();
    let connected = parse(watch.line());
    assert_eq!(
        (&connected["event"], &connected["data"]["instance"]),
        (&json!("connected"), &json!("one"))
    );
    assert_eq!(parse(watch.line())["data"]["phase"], "planning");
    for title in
        ["a\tb\u{7}c", "R&D <b>x</b> \"q\"", "\u{1b}[31m\u{9b}31m", "\u{2028}\u{202e}x", "\\"]
    {
        daemon.tell(&event("state", 2, &with_title("ontask", title)));
        let line = watch.line();
        assert!(!line.chars().any(char::is_control), "{line}");
        assert_eq!(parse(line)["data"]["window"]["title"], title);
    }
    daemon.tell(&event("moonrise", 3, &json!({"phase": "full"})));
    assert_eq!(parse(watch.line())["event"], "moonrise");
    daemon.hang_up();
    assert_eq!(parse(watch.line())["event"], "disconnected");
    assert_eq!(parse(watch.line())["event"], "connected");
}

#[test]
fn without_a_daemon_it_says_so_once_and_comes_back_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_owned();
    let mut command = client(&path);
    command.args(["watch", "--no-notify"]);
    let watch = Running::spawn(command);
    assert_eq!(watch.line(), "no daemon");
    until("a message", || watch.errors().contains("start it").then_some(()));
    // Long enough for a few tries.
    holds_for(Duration::from_millis(1200), "it is said once", || {
        watch.errors().lines().count() == 1 && watch.more().is_empty()
    });

    let daemon = FakeDaemon::start_in(dir, |_| Some(String::new()));
    daemon.first(&event("state", 1, &planning()));
    assert_eq!(watch.line(), "no session");
    daemon.hang_up();
    assert_eq!(watch.line(), "no daemon");
    daemon.instance("two");
    daemon.first(&event("state", 1, &active("ontask")));
    assert_eq!(watch.line(), "on task: draft the report");
}

#[test]
fn a_daemon_that_does_not_fit_is_named_and_waited_for() {
    let mut fits = false;
    let daemon = FakeDaemon::start(move |request| {
        if std::mem::replace(&mut fits, true) {
            return Some(String::new());
        }
        let message = "this daemon speaks protocol 9";
        Some(refusal(request, ErrorCode::UnsupportedProtocol, message))
    });
    daemon.first(&event("state", 1, &planning()));
    let watch = watch(&daemon, &["--no-notify"]);
    assert_eq!(watch.line_with("no session"), "no session");
    assert!(
        watch.errors().contains("protocol 9") && watch.errors().contains("antidriftd --replace")
    );
}

#[test]
fn unreadable_states_are_complained_about_once() {
    let daemon = FakeDaemon::start(|_| Some(String::new()));
    daemon.first("{\"event\":\"state\",\"seq\":1,\"at\":\"2026-11-30T09:12:44Z\",\"data\":[5]}\n");
    let watch = watch(&daemon, &["--no-notify"]);
    assert_eq!(watch.line(), "no daemon");
    until("a few tries", || (daemon.asked("subscribe").len() > 2).then_some(()));
    assert_eq!(watch.errors().lines().count(), 1, "{}", watch.errors());
}

#[test]
fn it_goes_on_every_signal_within_a_second() {
    let silent = tempfile::tempdir().unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(socket_in(silent.path())).unwrap();
    let nobody = tempfile::tempdir().unwrap();
    let daemon = quiet();
    for (dir, name) in [
        (daemon.dir.path(), "idle"),
        (silent.path(), "stopped daemon"),
        (nobody.path(), "no daemon"),
    ] {
        for sent in [Signal::TERM, Signal::INT, Signal::HUP] {
            let mut command = client(dir);
            command.arg("watch");
            let mut watch = Running::spawn(command);
            // Whatever it is at, once it can be told.
            until("its handlers", || catches(&watch, sent).then_some(()));
            let timer = Timer::start();
            signal(&watch.child, sent);
            let status = wait_for_end(&mut watch.child);
            assert_eq!(status.code(), Some(0), "{name}");
            assert!(timer.passed() < Duration::from_secs(1), "{name}");
        }
    }
}

fn catches(watch: &Running, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", watch.child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn a_reader_that_goes_ends_it_quietly() {
    let daemon = quiet();
    let mut command = client(daemon.dir.path());
    let mut child = command.args(["watch", "--no-notify"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0; 11];
    stdout.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"no session\n");
    // Even without another event.
    drop(stdout);
    assert_eq!(wait_for_end(&mut child).code(), Some(0));
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");

    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = finish(command.stdout(Stdio::from(full)).spawn().unwrap());
    assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 1), "{ran:?}");
}

#[test]
fn a_slow_reader_gets_the_newest_state() {
    let daemon = quiet();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = client(daemon.dir.path());
    let mut child =
        command.args(["watch", "--no-notify"]).stdout(Stdio::from(writer)).spawn().unwrap();
    drop(command);
    daemon.wait_for_subscribers(1);
    // Far more than a pipe holds, each line different; then the last word.
    let long = "x".repeat(190);
    for seq in 2..2000 {
        daemon.tell(&event("state", seq, &with_title("drifting", &format!("{seq} {long}"))));
    }
    daemon.tell(&event("state", 2000, &with_title("drifting", "the last")));
    // The stream is taken in although nobody reads: the daemon is not held up.
    let mut asked = std::os::unix::net::UnixStream::connect(&daemon.socket).unwrap();
    asked.write_all(b"{\"cmd\":\"hello\"}\n").unwrap();
    let mut all = String::new();
    let mut chunk = [0; 4096];
    while !all.contains("the last") {
        let read = reader.read(&mut chunk).unwrap();
        assert!(read > 0, "ended early");
        all.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
    }
    assert!(all.lines().count() < 1000, "{} lines were kept", all.lines().count());
    assert!(all.ends_with("the last]\n"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn notify_only_says_nothing_on_its_output() {
    let daemon = FakeDaemon::start(|request| {
        Some(match request["cmd"].as_str() {
            Some("hello") => reply(request["id"].as_u64(), Answer::Hello(greeting("one"))),
            _ => String::new(),
        })
    });
    daemon.first(&event("state", 1, &active("drifting")));
    let mut watch = watch(&daemon, &["--notify-only"]);
    daemon.wait_for_subscribers(1);
    until("word of the missing notify-send", || {
        watch.errors().contains("notify-send was not found").then_some(())
    });
    signal(&watch.child, Signal::TERM);
    assert_eq!(wait_for_end(&mut watch.child).code(), Some(0));
    assert!(watch.more().is_empty());
    assert_eq!(watch.errors().lines().count(), 1);
}

//! Lines for bars: one a change, in the form of each bar, whatever becomes of the daemon.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::{
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    process::Stdio,
    time::Duration,
};

use antidrift_tests::{PATIENCE, holds_for, until};
use serde_json::{Value, json};
use support::*;

fn watch(daemon: &FakeDaemon, args: &[&str]) -> Running {
    let mut command = client(daemon.dir.path());
    command.arg("watch").args(args);
    Running::spawn(command)
}

fn daemon(first: &Value) -> FakeDaemon {
    let daemon = FakeDaemon::start(|_| Some(String::new()));
    daemon.first(&event("state", 1, first));
    daemon
}

#[test]
fn a_stream_follows_the_daemon_and_goes_on_without_it() {
    let daemon = daemon(&planning());
    let watch = watch(&daemon, &["--format", "polybar"]);
    assert_eq!(watch.line(), "%{F#808080}no session%{F-}");
    daemon.tell(&event("state", 2, &active("drifting")));
    assert_eq!(watch.line(), "%{F#e5484d}drifting: Reddit is unrelated%{F-}");
    daemon.first(&event("state", 3, &active("ontask")));
    daemon.tell(&event("state", 3, &active("ontask")));
    assert!(watch.line().starts_with("%{F#"));
    daemon.hang_up();
    assert_eq!(watch.line_with("no daemon"), "%{F#808080}no daemon%{F-}");
    assert!(watch.line_with("draft").starts_with("%{F#"), "and back by itself");
    // polybar would show it in place of the line.
    assert_eq!(watch.errors(), "");
}

#[test]
fn a_bar_raises_no_popups() {
    let daemon = daemon(&planning());
    let mut command = client(daemon.dir.path());
    command.args(["watch", "--format", "plain"]);
    let watch = Running::spawn(command);
    assert_eq!(watch.line(), "no session");
    daemon.tell(&event("alert_raised", 2, &json!({"alert": 7, "reason": "no"})));
    daemon.tell(&event("state", 2, &active("drifting")));
    assert_eq!(watch.line(), "drifting: Reddit is unrelated");
    // A watch that raises popups warns where there is no notify-send, as there is none here.
    assert_eq!(watch.errors(), "");
}

/// On a socket that keeps writes apart each line is a message of its own.
#[test]
fn one_write_a_line() {
    let daemon = daemon(&planning());
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    let mut command = client(daemon.dir.path());
    command.args(["watch", "--format", "waybar"]).stdout(OwnedFd::from(theirs));
    let mut child = command.spawn().unwrap();
    ours.set_read_timeout(Some(PATIENCE)).unwrap();
    let next = || {
        let mut buffer = [0; 4096];
        let length = ours.recv(&mut buffer).unwrap();
        let line = str::from_utf8(&buffer[..length]).unwrap();
        assert_eq!(line.matches('\n').count(), 1, "{line:?}");
        serde_json::from_str::<Value>(line.strip_suffix('\n').unwrap()).unwrap()
    };
    assert_eq!(next()["class"], "planning");
    for seq in 2..8 {
        daemon.tell(&event("state", seq, &active("pending")));
        daemon.tell(&event("state", seq + 100, &active("drifting")));
    }
    while next()["class"] != "drifting" {}
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_poll_gives_a_line_also_without_a_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), &["status", "--format", "i3blocks"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "<span color='#808080'>no daemon</span>\n"));
    // polybar takes standard error for the line, too.
    assert_eq!(ran.err, "");
    let ran = run(dir.path(), &["status", "--format", "waybar"]);
    let tooltip = serde_json::from_str::<Value>(&ran.out).unwrap()["tooltip"].clone();
    assert!(tooltip.as_str().unwrap().contains("start it with `antidriftd`"), "{tooltip}");
    let ran = run(dir.path(), &["status", "--template", "{state}"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "down\n"));
    let ran = run(dir.path(), &["status", "--template", "{sate}"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("there is no field {sate}; there are state, says"), "{}", ran.err);
    let ran = run(dir.path(), &["status", "--format", "i3blocks", "--hide-when-idle"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "\n"));
}

#[test]
fn an_option_that_would_do_nothing_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (line, said) in [
        (&["status", "--max-width", "9"][..], "--max-width goes with --format or --template"),
        (&["watch", "--seconds"], "--seconds goes with"),
        (&["watch", "--json", "--hide-when-idle"], "--hide-when-idle goes with"),
        (&["status", "--json", "--format", "plain"], "cannot be used with"),
    ] {
        let ran = run(dir.path(), line);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{line:?}: {ran:?}");
    }
}

/// polybar shows the first of the lines that it finds: no second one may wait in the pipe.
#[test]
fn a_line_is_written_when_the_one_before_it_was_read() {
    let daemon = daemon(&planning());
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = client(daemon.dir.path());
    command.args(["watch", "--format", "plain"]).stdout(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    let waiting = || rustix::io::ioctl_fionread(&reader).unwrap();
    let first = "no session\n".len() as u64;
    until("the first line", || (waiting() == first).then_some(()));
    for seq in 2..200 {
        daemon.tell(&event("state", seq, &active("pending")));
        daemon.tell(&event("state", seq, &active("drifting")));
    }
    // Nothing tells when the client has taken them all in.
    holds_for(Duration::from_millis(500), "one line waits", || waiting() == first);
    let mut all = String::new();
    let mut chunk = [0; 4096];
    while !all.ends_with("drifting: Reddit is unrelated\n") {
        let read = reader.read(&mut chunk).unwrap();
        assert!(read > 0, "it ended");
        all.push_str(str::from_utf8(&chunk[..read]).unwrap());
    }
    assert_eq!(all, "no session\ndrifting: Reddit is unrelated\n");
    drop(reader);
    assert_eq!(wait_for_end(&mut child).code(), Some(0), "it goes with its reader");
}

/// A watch for i3blocks whose standard input is this.
fn blocks(daemon: &FakeDaemon, stdin: impl Into<Stdio>) -> Running {
    let mut command = client(daemon.dir.path());
    command.args(["watch", "--format", "i3blocks"]).stdin(stdin);
    let watch = Running::spawn(command);
    assert!(watch.line().contains("drifting"));
    watch
}

fn drifting() -> FakeDaemon {
    let status = json!({"seq": 1, "at": "2026-11-30T09:12:44Z", "state": active("drifting")});
    let daemon = FakeDaemon::start(answering("status", status));
    daemon.first(&event("state", 1, &active("drifting")));
    daemon
}

#[test]
fn i3blocks_writes_its_clicks_to_the_stream() {
    let daemon = drifting();
    let (reader, mut writer) = std::io::pipe().unwrap();
    let watch = blocks(&daemon, reader);
    for line in ["4\n", "\n", "nonsense\n", "1\n"] {
        writer.write_all(line.as_bytes()).unwrap();
    }
    until("the click", || daemon.asked("refocus").pop());
    // Without further clicks the lines go on.
    drop(writer);
    daemon.tell(&event("state", 2, &planning()));
    assert!(watch.line_with("no session").contains("span"));
    assert_eq!((daemon.asked("status").len(), watch.errors()), (1, String::new()));
}

/// i3blocks 1.4 leaves its own standard input to what it starts; it has asked for signals on it.
#[test]
fn clicks_that_are_for_i3blocks_itself_are_left_to_it() {
    let daemon = drifting();
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&reader).unwrap() | rustix::fs::OFlags::ASYNC;
    rustix::fs::fcntl_setfl(&reader, flags).unwrap();
    let _watch = blocks(&daemon, reader.try_clone().unwrap());
    writer.write_all(b"1\n").unwrap();
    holds_for(Duration::from_millis(300), "the click is not taken", || {
        rustix::io::ioctl_fionread(&reader).unwrap() == 2
    });
    assert_eq!(daemon.asked("status").len(), 0);
}

#[test]
fn a_click_asks_for_what_it_means() {
    let status = json!({"seq": 1, "at": "2026-11-30T09:12:44Z", "state": active("drifting")});
    let daemon = FakeDaemon::start(answering("status", status));
    for button in ["0", "5"] {
        assert_eq!(run(daemon.dir.path(), &["click", button]).code, Some(0));
    }
    assert_eq!(daemon.requests(), Vec::<Value>::new(), "the wheel means nothing");
    let ran = run(daemon.dir.path(), &["click", "1"]);
    assert_eq!(daemon.asked("refocus")[0]["args"]["alert"], 7, "{ran:?}");
    assert_eq!(run(daemon.dir.path(), &["click", "up"]).code, Some(2));
}

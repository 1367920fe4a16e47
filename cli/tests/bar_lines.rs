//! Lines for bars: one a change, in the form of each bar, whatever becomes of the daemon.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::os::{fd::OwnedFd, unix::net::UnixDatagram};

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
    // The time that the invented session was started at is long gone.
    daemon.tell(&event("state", 3, &active("ontask")));
    assert!(watch.line().starts_with("%{F#"));
    daemon.hang_up();
    assert_eq!(watch.line_with("no daemon"), "%{F#808080}no daemon%{F-}");
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
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    let ran = run(dir.path(), &["status", "--template", "{state}"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "down\n"));
    let ran = run(dir.path(), &["status", "--template", "{sate}"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("there is no field {sate}; there are state, says"), "{}", ran.err);
    let ran = run(dir.path(), &["status", "--format", "i3blocks", "--hide-when-idle"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "\n"));
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

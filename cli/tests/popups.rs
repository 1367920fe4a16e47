//! Popups: a notify-send made of a script, first on PATH.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use antidrift_tests::{Timer, is_gone, until, until_gone};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use support::*;

struct Desk {
    daemon: FakeDaemon,
    bin: PathBuf,
    log: PathBuf,
    dbus_log: PathBuf,
}

/// Writes its arguments to the log, one a line, with a mark at both ends, then goes on with `then`.
fn script(dir: &Path, name: &str, log: &Path, then: &str) {
    let path = dir.join(name);
    // Written aside, so that nobody runs half a script.
    let aside = dir.join(format!("{name}.new"));
    let log = log.display();
    let text = format!(
        "#!/bin/sh\n{{ echo \"<$$\"; for a in \"$@\"; do printf '%s\\n' \"$a\"; done; echo '>'; }} >> {log}\n{then}\n"
    );
    fs::write(&aside, text).unwrap();
    fs::set_permissions(&aside, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&aside, &path).unwrap();
}

/// What a popup does until somebody presses a button: says its number, goes when interrupted.
const STANDS: &str = "echo 7; trap 'exit 0' INT; sleep 1000 & wait";

impl Desk {
    fn new(notify_send: &str) -> Self {
        Self::raising(notify_send, Value::Null)
    }

    /// One whose daemon says this of the window that it was to raise.
    fn raising(notify_send: &str, activated: Value) -> Self {
        let daemon = FakeDaemon::start(move |request| {
            Some(match request["cmd"].as_str() {
                Some("refocus") => ok(
                    request,
                    &json!({"seq": 9, "saved": true, "warning": null,
                    "window": null, "activated": activated}),
                ),
                Some("ontask") => ok(
                    request,
                    &json!({"seq": 9, "saved": true, "warning": null,
                    "window": null, "added": null}),
                ),
                Some("complete") => ok(
                    request,
                    &json!({"seq": 9, "saved": true, "warning": null,
                    "review": {}}),
                ),
                Some("extend") => ok(request, &json!({"seq": 9, "saved": true, "warning": null})),
                _ => String::new(),
            })
        });
        daemon.first(&event("state", 1, &active("ontask")));
        let bin = daemon.dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let log = daemon.dir.path().join("log");
        fs::write(&log, "").unwrap();
        let dbus_log = daemon.dir.path().join("dbus.log");
        let desk = Self { daemon, bin, log, dbus_log };
        script(&desk.bin, "notify-send", &desk.log, notify_send);
        let markup = "echo 'string \"body\" string \"body-markup\"'";
        script(&desk.bin, "dbus-send", &desk.dbus_log, markup);
        desk
    }

    fn command(&self) -> Command {
        let mut command = client(self.daemon.dir.path());
        let path = format!("{}:/usr/bin:/bin", self.bin.display());
        command.env("PATH", path).arg("watch");
        command
    }

    fn watch(&self) -> Running {
        let watch = Running::spawn(self.command());
        self.daemon.wait_for_subscribers(1);
        watch
    }

    /// The calls so far: number of the process and arguments.
    fn calls(&self) -> Vec<(u32, Vec<String>)> {
        let text = fs::read_to_string(&self.log).unwrap();
        let whole = text.rfind("\n>\n").map_or("", |end| &text[..end + 2]);
        let mut calls = Vec::new();
        let mut open: Option<(u32, Vec<String>)> = None;
        for line in whole.lines() {
            match (&mut open, line) {
                (None, line) => open = Some((line[1..].parse().unwrap(), Vec::new())),
                (Some(_), ">") => calls.extend(open.take()),
                (Some((_, arguments)), line) => arguments.push(line.to_owned()),
            }
        }
        calls
    }

    fn wait_for_calls(&self, count: usize) -> Vec<(u32, Vec<String>)> {
        until(&format!("{count} popups"), || {
            let calls = self.calls();
            (calls.len() >= count).then_some(calls)
        })
    }

    fn raise(&self, alert: u64, title: &str) {
        let mut window = window();
        window["title"] = json!(title);
        let data = json!({"alert": alert, "window": window, "reason": "Reddit is unrelated"});
        self.daemon.tell(&event("alert_raised", alert, &data));
    }

    fn clear(&self, alert: u64, why: &str) {
        self.daemon.tell(&event("alert_cleared", alert, &json!({"alert": alert, "why": why})));
    }
}

/// A watch that is killed ends nobody, so the test does: each program leads a group of its own.
impl Drop for Desk {
    fn drop(&mut self) {
        let bin = self.bin.to_str().unwrap();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let pids = processes.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
        for leader in pids {
            let line = fs::read_to_string(format!("/proc/{leader}/cmdline")).unwrap_or_default();
            if line.contains(bin) {
                let _ = kill_process_group(Pid::from_raw(leader).unwrap(), Signal::KILL);
            }
        }
    }
}

fn body(call: &(u32, Vec<String>)) -> String {
    let dashes = call.1.iter().position(|argument| argument == "--").unwrap();
    call.1[dashes + 2..].join("\n")
}

#[test]
fn an_alert_has_three_answers_and_its_texts_behind_the_dashes() {
    let desk = Desk::new(STANDS);
    let _watch = desk.watch();
    desk.raise(7, "-10% R&D <b>x</b> C:\\new");
    let call = desk.wait_for_calls(1).remove(0);
    for argument in [
        "--action=default=Back to task",
        "--action=ontask=This is on task",
        "--action=end=End session",
        "--print-id",
        "Possible drift",
    ] {
        assert!(call.1.iter().any(|given| given == argument), "{argument}: {call:?}");
    }
    assert_eq!(
        body(&call),
        "You set out to: draft the report\nReddit is unrelated\nfirefox: -10% R&amp;D &lt;b&gt;x&lt;/b&gt; C:\\\\new"
    );
    // Gone with its alert.
    assert!(!is_gone(call.0));
    desk.clear(7, "moved");
    until_gone(call.0);
}

#[test]
fn each_button_asks_for_its_alert() {
    for (action, cmd, args) in [
        ("default", "refocus", json!({"alert": 7})),
        ("ontask", "ontask", json!({"alert": 7})),
        ("end", "complete", Value::Null),
    ] {
        let desk = Desk::new(&format!("echo 7; echo {action}"));
        let _watch = desk.watch();
        desk.raise(7, "reddit");
        let asked = until("the request", || desk.daemon.asked(cmd).pop());
        assert_eq!(asked["args"], args, "{action}");
    }
}

#[test]
fn a_window_that_could_not_be_raised_is_told_of_and_one_that_was_is_not() {
    for (activated, said) in [(json!(false), true), (json!(true), false), (Value::Null, false)] {
        let desk = Desk::raising("echo 7; echo default", activated.clone());
        let mut watch = desk.watch();
        desk.raise(7, "reddit");
        until("the request", || desk.daemon.asked("refocus").pop());
        if said {
            until("the complaint", || watch.errors().contains("raised").then_some(()));
        }
        // What is answered is told before what comes after it.
        signal(&watch.child, Signal::TERM);
        wait_for_end(&mut watch.child);
        let errors = watch.errors();
        assert_eq!(errors.lines().count(), usize::from(said), "{activated}: {errors}");
    }
}

#[test]
fn one_that_only_chatters_is_ended_and_presses_no_button_twice() {
    for (script, presses) in [("exec yes", 0), ("exec yes ontask", 1), ("echo 7; exec yes end", 1)]
    {
        let desk = Desk::new(script);
        let _watch = desk.watch();
        desk.raise(7, "reddit");
        let call = desk.wait_for_calls(1).remove(0);
        until_gone(call.0);
        let asked = || desk.daemon.asked("ontask").len() + desk.daemon.asked("complete").len();
        until("the one press", || (asked() == presses).then_some(()));
        // A later alert has a popup again, so nothing of the first one is still being read.
        desk.raise(8, "video");
        until_gone(desk.wait_for_calls(2)[1].0);
        until("the second press", || (asked() == 2 * presses).then_some(()));
    }
}

#[test]
fn a_button_of_an_alert_that_is_over_does_nothing() {
    // It answers only when it is withdrawn.
    let desk = Desk::new("echo 7; trap 'echo end; exit 0' INT; sleep 1000 & wait");
    let watch = desk.watch();
    desk.raise(7, "reddit");
    let call = desk.wait_for_calls(1).remove(0);
    desk.clear(7, "ontask");
    until_gone(call.0);
    desk.daemon.tell(&event("state", 9, &planning()));
    watch.line_with("no session");
    assert!(desk.daemon.asked("complete").is_empty());
    assert_eq!(watch.errors(), "");
}

#[test]
fn a_new_alert_replaces_the_old_popup_and_one_context_has_one_a_minute() {
    let desk = Desk::new(STANDS);
    let _watch = desk.watch();
    desk.raise(1, "reddit");
    let first = desk.wait_for_calls(1)[0].0;
    desk.raise(2, "news");
    let second = desk.wait_for_calls(2)[1].0;
    until_gone(first);
    for alert in 3..30 {
        desk.raise(alert, "reddit");
    }
    desk.raise(30, "video");
    let calls = desk.wait_for_calls(3);
    until_gone(second);
    assert_eq!(calls.len(), 3);
    assert!(body(&calls[2]).contains("video"));
}

#[test]
fn one_that_hangs_holds_up_nothing_and_is_alone() {
    let desk = Desk::new("trap '' INT TERM HUP; sleep 1000 & wait; sleep 1000");
    let mut watch = desk.watch();
    for alert in 1..30 {
        desk.raise(alert, &format!("page {}", char::from(b'a' + alert as u8)));
    }
    desk.daemon.tell(&event("state", 40, &active("drifting")));
    let timer = Timer::start();
    watch.line_with("drifting");
    assert!(timer.passed() < Duration::from_millis(500));
    // Whatever runs by now, it is one.
    desk.wait_for_calls(1);
    desk.raise(50, "another page");
    let calls = desk.wait_for_calls(2);
    let running = calls.iter().filter(|call| !is_gone(call.0)).count();
    assert!(running <= 1, "{running} hang");

    // It is gone on a signal at once, and so are they.
    let timer = Timer::start();
    signal(&watch.child, Signal::TERM);
    assert_eq!(wait_for_end(&mut watch.child).code(), Some(0));
    assert!(timer.passed() < Duration::from_secs(1));
    for call in desk.calls() {
        until_gone(call.0);
    }
}

#[test]
fn a_service_that_does_not_answer_is_given_up_and_said_once() {
    let desk = Desk::new("trap '' INT; sleep 1000 & wait; sleep 1000");
    // Not even the question for its capabilities.
    script(&desk.bin, "dbus-send", &desk.dbus_log, "sleep 1000");
    let watch = desk.watch();
    desk.raise(1, "reddit");
    let call = desk.wait_for_calls(1).remove(0);
    // What is not known is taken for markup.
    assert!(!body(&call).is_empty());
    until("word of it", || watch.errors().contains("does not answer").then_some(()));
    until_gone(call.0);
    assert_eq!(watch.errors().lines().count(), 1);
}

#[test]
fn failing_ones_are_said_once_and_the_text_goes_on() {
    let desk = Desk::new("echo 'no bus <\u{1b}[31m>' >&2; exit 1");
    let watch = desk.watch();
    for alert in 1..4 {
        desk.raise(alert, &"x".repeat(alert as usize));
        // With buttons and without.
        desk.wait_for_calls(2 * alert as usize);
    }
    desk.daemon.tell(&event("state", 9, &active("drifting")));
    watch.line_with("drifting");
    let errors = watch.errors();
    assert!(errors.contains("notify-send failed") && errors.contains("no bus <>"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

/// Buttons came with 0.8, numbers with 0.7.10; nothing of ours needs a popup to be replaced by number.
#[test]
fn an_old_notify_send_gets_no_buttons() {
    for lacks in ["--action", "--print-id"] {
        let old = format!("case \"$*\" in *{lacks}*) echo 'Unknown option' >&2; exit 1;; esac");
        let desk = Desk::new(&old);
        let watch = desk.watch();
        desk.raise(1, "reddit");
        let is_plain = |call: &(u32, Vec<String>)| {
            let new = |argument: &String| {
                ["--action", "--print-id", "--replace-id"].iter().any(|it| argument.starts_with(it))
            };
            !call.1.iter().any(new)
        };
        let calls = desk.wait_for_calls(2);
        assert!(is_plain(&calls[1]), "{calls:?}");
        until("word of it", || watch.errors().contains("too old for buttons").then_some(()));
        desk.raise(2, "news");
        let calls = desk.wait_for_calls(3);
        assert!(is_plain(&calls[2]), "remembered: {calls:?}");
    }
}

#[test]
fn a_server_without_markup_gets_plain_text() {
    let desk = Desk::new(STANDS);
    script(&desk.bin, "dbus-send", &desk.dbus_log, "echo 'string \"body\"'");
    let _watch = desk.watch();
    desk.raise(1, "R&D");
    assert!(body(&desk.wait_for_calls(1)[0]).contains("R&D"));
}

#[test]
fn of_two_watches_one_raises_and_the_other_takes_over() {
    let desk = Desk::new(STANDS);
    let mut first = desk.watch();
    desk.raise(1, "reddit");
    desk.wait_for_calls(1);
    // A watch that connects while an alert stands shows it; but the popup is the first one's.
    desk.daemon.first(&event("state", 1, &active("drifting")));
    let second = Running::spawn(desk.command());
    second.line_with("drifting");
    assert_eq!(desk.calls().len(), 1);
    signal(&first.child, Signal::TERM);
    assert_eq!(wait_for_end(&mut first.child).code(), Some(0));
    let calls = desk.wait_for_calls(2);
    until_gone(calls[0].0);
    assert!(!is_gone(calls[1].0));
    assert_eq!(calls.len(), 2);
}

#[test]
fn the_timebox_and_the_daemons_end() {
    let desk = Desk::new(STANDS);
    let _watch = desk.watch();
    desk.daemon.tell(&event("state", 2, &active("ontask")));
    desk.daemon.tell(&event("timebox_elapsed", 2, &json!({})));
    let time_up = desk.wait_for_calls(1).remove(0);
    for argument in
        ["Time is up", "--action=default=10 more minutes", "--action=end=End session", "--print-id"]
    {
        assert!(time_up.1.iter().any(|given| given == argument), "{argument}: {time_up:?}");
    }
    assert_eq!(body(&time_up), "draft the report");
    // It stands beside one about drift.
    desk.raise(7, "reddit");
    let drift = desk.wait_for_calls(2)[1].0;
    desk.clear(7, "moved");
    until_gone(drift);
    assert!(!is_gone(time_up.0));
    desk.raise(8, "video");
    let drift = desk.wait_for_calls(3)[2].0;
    desk.daemon.tell(&event("shutdown", 8, &json!({"reason": "stopped"})));
    until_gone(drift);
    until_gone(time_up.0);
}

#[test]
fn the_end_of_the_timebox_asks_for_more_time_or_the_end_of_the_session() {
    for (action, cmd, args) in
        [("default", "extend", json!({"secs": 600})), ("end", "complete", Value::Null)]
    {
        let desk = Desk::new(&format!("echo 7; echo {action}"));
        let _watch = desk.watch();
        desk.daemon.tell(&event("timebox_elapsed", 2, &json!({})));
        let asked = until("the request", || desk.daemon.asked(cmd).pop());
        assert_eq!(asked["args"], args, "{action}");
    }
}

#[test]
fn more_time_or_the_end_of_the_session_withdraws_the_question() {
    let mut review = active("ontask");
    review["phase"] = json!("review");
    for state in [active("ontask"), review, planning()] {
        // It answers only when it is withdrawn.
        let desk = Desk::new("echo 7; trap 'echo end; exit 0' INT; sleep 1000 & wait");
        let watch = desk.watch();
        desk.daemon.tell(&event("timebox_elapsed", 2, &json!({})));
        let call = desk.wait_for_calls(1).remove(0);
        watch.line_with("over time");
        assert!(!is_gone(call.0));
        desk.daemon.tell(&event("state", 3, &state));
        until_gone(call.0);
        desk.daemon.tell(&event("state", 4, &json!({"phase": "unheard of"})));
        watch.line_with("unknown");
        assert!(desk.daemon.asked("complete").is_empty());
        assert_eq!(watch.errors(), "");
    }
}

#[test]
fn several_popups_hold_up_the_end_no_longer_than_one() {
    let desk = Desk::new("echo 7; trap '' INT; sleep 1000 & wait");
    let mut watch = desk.watch();
    desk.daemon.tell(&event("timebox_elapsed", 2, &json!({})));
    desk.wait_for_calls(1);
    desk.raise(7, "reddit");
    desk.wait_for_calls(2);
    // And one that asks nothing, and so is only starting.
    desk.daemon.tell(&event("notice", 8, &json!({"kind": "pause_ended", "text": "back"})));
    let calls = desk.wait_for_calls(3);
    assert!(calls[2].1.iter().any(|argument| argument == "The pause is over"), "{calls:?}");
    assert!(!calls[2].1.iter().any(|argument| argument.contains("action")), "{calls:?}");
    signal(&watch.child, Signal::TERM);
    assert_eq!(wait_for_end(&mut watch.child).code(), Some(0));
    for (number, _) in calls {
        until_gone(number);
    }
}

#[test]
fn no_notify_raises_nothing() {
    let desk = Desk::new(STANDS);
    let mut command = desk.command();
    command.arg("--no-notify");
    let watch = Running::spawn(command);
    desk.daemon.wait_for_subscribers(1);
    desk.raise(7, "reddit");
    desk.daemon.tell(&event("state", 9, &active("drifting")));
    watch.line_with("drifting");
    assert!(desk.calls().is_empty());
    assert!(!desk.daemon.socket.with_file_name("notify.lock").exists());
}

#[test]
fn nothing_of_a_test_outlives_it() {
    let desk = Desk::new(
        "echo 7; trap '' INT; sleep 1000 & echo $! > sleeper.new; mv sleeper.new sleeper; wait",
    );
    let mut command = desk.command();
    command.current_dir(desk.daemon.dir.path());
    let watch = Running::spawn(command);
    desk.daemon.wait_for_subscribers(1);
    desk.raise(7, "reddit");
    let popup = desk.wait_for_calls(1)[0].0;
    let file = desk.daemon.dir.path().join("sleeper");
    let sleeper = until("its child", || fs::read_to_string(&file).ok());
    drop(watch);
    assert!(!is_gone(popup), "a watch that is killed leaves it");
    drop(desk);
    until_gone(popup);
    until_gone(sleeper.trim().parse().unwrap());
}

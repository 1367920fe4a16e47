//! `review` and `forget` at a terminal: what is asked, and what is done about the answer.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use serde_json::{Value, json};
use support::{terminal::Terminal, *};

const CTRL_C: &str = "\u{3}";

/// A daemon with a session under review.
fn daemon(outcome: Value, note: Value) -> FakeDaemon {
    FakeDaemon::start(move |request| {
        let given = &request["args"];
        let or = |given: &Value, known: &Value| {
            if given.is_null() { known.clone() } else { given.clone() }
        };
        Some(match request["cmd"].as_str() {
            Some("review") => ok(
                request,
                &json!({"seq": 2, "saved": true, "warning": null, "record": {
                    "started_at": "2026-12-03T09:00:00Z", "ended_at": "2026-12-03T09:10:00Z",
                    "text": "the report", "success_condition": "sent to Ann",
                    "outcome": or(&given["outcome"], &outcome), "note": or(&given["note"], &note),
                    "timeline": [{"spent": "ontask", "secs": 400}, {"spent": "drifting", "secs": 200}],
                }}),
            ),
            Some("forget") => ok(request, &json!({"sessions": 3})),
            _ => String::new(),
        })
    })
}

fn answer(terminal: &mut Terminal, questions: &[(&str, &str)]) {
    for (question, typed) in questions {
        terminal.wait_for_raw(question);
        terminal.press(&format!("{typed}\r"));
    }
}

fn ends(terminal: &mut Terminal, code: i32) -> String {
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(code), "{:?}", terminal.raw());
    assert!(terminal.is_cooked());
    terminal.raw()
}

#[test]
fn how_it_went_is_asked_below_the_review() {
    let daemon = daemon(Value::Null, Value::Null);
    let mut terminal = Terminal::start(&daemon, &["review"], &[("TZ", "UTC")]);
    terminal.wait_for("done when sent to Ann");
    answer(
        &mut terminal,
        &[
            ("done, partial or abandoned: ", "fine"),
            ("say done, partial or abandoned", "p"),
            ("note: ", "half of it"),
        ],
    );
    let raw = ends(&mut terminal, 0);
    assert!(raw.contains("\u{1b}[32m███"), "{raw:?}");
    terminal.wait_for_raw("partial, «half of it»");
    let asked = daemon.asked("review");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1]["args"], json!({"outcome": "partial", "note": "half of it"}));
}

#[test]
fn what_is_left_as_it_was_changes_nothing() {
    let daemon = daemon(json!("done"), json!("it\u{1b}[31m is"));
    let mut terminal = Terminal::start(&daemon, &["review"], &[("NO_COLOR", "1"), ("TZ", "UTC")]);
    answer(&mut terminal, &[("abandoned: done", ""), ("note: it is", "")]);
    let raw = ends(&mut terminal, 0);
    assert!(!raw.contains("\u{1b}[32m"), "{raw:?}");
    assert_eq!(daemon.asked("review").len(), 1);
}

#[test]
fn ctrl_c_notes_and_forgets_nothing() {
    let daemon = daemon(Value::Null, Value::Null);
    for (args, question, said) in [
        (&["review"], "abandoned: ", "nothing was noted"),
        (&["forget"], "yes or no: ", "nothing was forgotten"),
    ] {
        let mut terminal = Terminal::start(&daemon, args, &[("TZ", "UTC")]);
        terminal.wait_for_raw(question);
        terminal.press(CTRL_C);
        ends(&mut terminal, 130);
        terminal.wait_for_raw(said);
    }
    assert_eq!((daemon.asked("review").len(), daemon.asked("forget").len()), (1, 0));
}

#[test]
fn what_is_said_on_the_command_line_is_not_asked() {
    let daemon = daemon(Value::Null, Value::Null);
    let args = ["review", "--outcome", "abandoned"];
    let mut terminal = Terminal::start(&daemon, &args, &[("TZ", "UTC")]);
    ends(&mut terminal, 0);
    let raw = terminal.wait_for_raw("outcome   abandoned");
    assert!(!raw.contains("note:"), "{raw:?}");
    assert_eq!(daemon.asked("review")[0]["args"], json!({"outcome": "abandoned"}));
}

#[test]
fn only_yes_forgets() {
    let daemon = daemon(Value::Null, Value::Null);
    for (typed, said, asked) in [
        ("", "nothing was forgotten", 0),
        ("no", "nothing was forgotten", 0),
        ("Yes", "3 sessions forgotten", 1),
    ] {
        let mut terminal = Terminal::start(&daemon, &["forget"], &[]);
        answer(&mut terminal, &[("yes or no: ", typed)]);
        ends(&mut terminal, 0);
        terminal.wait_for_raw(said);
        assert_eq!(daemon.asked("forget").len(), asked);
    }
    let mut terminal = Terminal::start(&daemon, &["forget", "--yes"], &[]);
    assert!(!ends(&mut terminal, 0).contains("yes or no"));
}

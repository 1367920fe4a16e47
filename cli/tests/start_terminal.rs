//! `start` at a terminal without a text: the few questions, with keys pressed.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use antidrift_tests::until;
use serde_json::{Value, json};
use support::{terminal::Terminal, *};

const CTRL_C: &str = "\u{3}";

/// A daemon with a preset.
fn daemon(state: Value) -> FakeDaemon {
    FakeDaemon::start(move |request| {
        let at = "2026-11-30T09:12:44.120Z";
        Some(match request["cmd"].as_str() {
            Some("status") => ok(request, &json!({"seq": 1, "at": at, "state": state})),
            Some("presets") => ok(
                request,
                &json!({"presets": [{"name": "writing", "timebox_secs": 3000, "next_action": "open it",
                    "allowed": {"window_classes": ["Editor"]}}], "last": null}),
            ),
            Some("start") => ok(
                request,
                &json!({"seq": 2, "at": at, "saved": true, "warning": null,
                    "state": active("idle"), "notes": []}),
            ),
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

fn started(daemon: &FakeDaemon, terminal: &mut Terminal) -> Value {
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(0), "{:?}", terminal.raw());
    assert!(terminal.is_cooked());
    daemon.asked("start").remove(0)["args"].take()
}

#[test]
fn what_is_missing_is_asked() {
    let daemon = daemon(planning());
    let mut terminal = Terminal::start(&daemon, &["start", "--next", "open it"], &[]);
    answer(&mut terminal, &[("what do you set out to do: ", "")]);
    until("it is asked again", || {
        (terminal.raw().matches("what do you set out to do: ").count() > 1).then_some(())
    });
    answer(
        &mut terminal,
        &[
            ("what do you set out to do: ", "draft the report"),
            ("done when: ", ""),
            ("timebox: ", "soon"),
            ("is no duration", "\u{15}25m"),
            ("allow classes: ", "Editor, Code"),
        ],
    );
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["text"], "draft the report");
    assert_eq!(asked["next_action"], "open it");
    assert_eq!(asked.get("success_condition"), None);
    assert_eq!(asked["timebox_secs"], 1500);
    assert_eq!(asked["allowed"]["window_classes"], json!(["Editor", "Code"]));
}

#[test]
fn what_a_preset_says_is_there_to_be_edited() {
    let daemon = daemon(planning());
    let mut terminal = Terminal::start(&daemon, &["start", "@writing"], &[]);
    answer(
        &mut terminal,
        &[
            ("what do you set out to do: ", "chapter 2"),
            ("next: open it", " at once"),
            ("done when: ", ""),
            ("timebox: 50m", ""),
            ("allow classes: Editor", ""),
        ],
    );
    let asked = started(&daemon, &mut terminal);
    assert_eq!(
        (&asked["text"], &asked["next_action"]),
        (&json!("chapter 2"), &json!("open it at once"))
    );
    assert_eq!(asked["timebox_secs"], 3000);
    assert_eq!(asked["allowed"]["window_classes"], json!(["Editor"]));
}

#[test]
fn nothing_is_asked_in_vain_and_ctrl_c_starts_nothing() {
    let busy = daemon(active("idle"));
    let mut terminal = Terminal::start(&busy, &["start"], &[]);
    terminal.wait_for_raw("a session is active already");
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(1));

    let daemon = daemon(planning());
    let mut terminal = Terminal::start(&daemon, &["start"], &[]);
    terminal.wait_for_raw("what do you set out to do: ");
    terminal.press(CTRL_C);
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(130), "{:?}", terminal.raw());
    assert!(daemon.asked("start").is_empty());
}

//! `start --coach` at a terminal: what the coach proposes, shown field by field, with keys pressed.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::sync::mpsc;

use antidrift_protocol::ErrorCode;
use serde_json::{Value, json};
use support::{terminal::Terminal, *};

const KILL_LINE: &str = "\u{15}";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

const FIELDS: [(&str, &str); 4] = [
    ("next: ", "open the folder"),
    ("done when: ", "the form is sent"),
    ("timebox: ", "25m"),
    ("allow classes: ", "Editor, Evince"),
];

fn proposed() -> Value {
    json!({
        "proposal": {
            "next_action": "open the folder", "success_condition": "the form is sent",
            "timebox_secs": 1500,
            "allowed": {"window_classes": ["Editor", "Evince"], "window_titles": [],
                "window_title_substrings": [], "domains": [], "commands": []},
        },
        "unseen": ["Evince"],
    })
}

/// A daemon whose coach answers with this, once it may.
fn daemon(state: Value, proposed: Value, may: Option<mpsc::Receiver<()>>) -> FakeDaemon {
    FakeDaemon::start(move |request| {
        Some(match request["cmd"].as_str() {
            Some("status") => {
                ok(request, &json!({"seq": 1, "at": "2026-11-30T09:12:44.120Z", "state": state}))
            }
            Some("propose") => {
                if let Some(may) = &may {
                    let _ = may.recv();
                }
                ok(request, &proposed)
            }
            Some("start") if state["phase"] == "active" => {
                refusal(request, ErrorCode::SessionExists, "a session is active already")
            }
            Some("start") => ok(
                request,
                &json!({"seq": 2, "at": "2026-11-30T09:12:44.120Z", "saved": true,
                    "warning": null, "state": active("idle"), "notes": []}),
            ),
            _ => String::new(),
        })
    })
}

fn ready() -> FakeDaemon {
    daemon(planning(), proposed(), None)
}

fn start(daemon: &FakeDaemon, options: &[&str]) -> Terminal {
    Terminal::start(daemon, &[&["start", "--coach", "the tax return"], options].concat(), &[])
}

/// What the daemon was asked to start, once the client has ended well.
fn started(daemon: &FakeDaemon, terminal: &mut Terminal) -> Value {
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(0), "{:?}", terminal.raw());
    assert!(terminal.is_cooked());
    daemon.asked("start").remove(0)["args"].take()
}

#[track_caller]
fn cancelled(daemon: &FakeDaemon, terminal: &mut Terminal, undone: &str) {
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(130), "{:?}", terminal.raw());
    assert!(terminal.is_cooked());
    // On a line of its own.
    let raw = terminal.wait_for_raw(&format!("antidrift: cancelled; {undone}\r\n"));
    let before = raw.split("antidrift: cancelled").next().unwrap();
    assert!(before.ends_with(['\n', 'K']), "{raw:?}");
    assert!(daemon.asked("start").is_empty(), "the session is as it was");
}

#[test]
fn each_field_is_there_already_and_can_be_accepted() {
    let daemon = ready();
    let mut terminal = start(&daemon, &[]);
    for (name, text) in FIELDS {
        terminal.wait_for_raw(&format!("{name}{text}"));
        terminal.press("\r");
    }
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["text"], "the tax return");
    assert_eq!(asked["next_action"], "open the folder");
    assert_eq!(asked["success_condition"], "the form is sent");
    assert_eq!(asked["timebox_secs"], 1500);
    assert_eq!(asked["allowed"]["window_classes"], json!(["Editor", "Evince"]));
    // Before the fields, so that it can be thought of there.
    let raw = terminal.raw();
    assert!(raw.find("lately: Evince").unwrap() < raw.find("next: ").unwrap(), "{raw:?}");
}

#[test]
fn each_field_can_be_edited() {
    let daemon = ready();
    let mut terminal = start(&daemon, &[]);
    let typed = [
        // At the end of what is there, at its beginning, anew, and emptied of one of two.
        " at last".to_owned(),
        "\u{1}surely ".to_owned(),
        format!("{KILL_LINE}1h30"),
        format!("{KILL_LINE}Editor, Code,"),
    ];
    for ((name, text), typed) in FIELDS.into_iter().zip(typed) {
        terminal.wait_for_raw(&format!("{name}{text}"));
        terminal.press(&format!("{typed}\r"));
    }
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["next_action"], "open the folder at last");
    assert_eq!(asked["success_condition"], "surely the form is sent");
    assert_eq!(asked["timebox_secs"], 5400);
    assert_eq!(asked["allowed"]["window_classes"], json!(["Editor", "Code"]));
}

#[test]
fn each_field_can_be_left_empty() {
    let daemon = ready();
    let mut terminal = start(&daemon, &[]);
    for (name, text) in FIELDS {
        terminal.wait_for_raw(&format!("{name}{text}"));
        terminal.press(&format!("{KILL_LINE}\r"));
    }
    let asked = started(&daemon, &mut terminal);
    for field in ["next_action", "success_condition", "timebox_secs"] {
        assert_eq!(asked[field], Value::Null, "{field}");
    }
    assert!(asked["allowed"]["window_classes"].as_array().is_none_or(Vec::is_empty), "{asked}");
}

#[test]
fn what_was_given_is_not_asked_for() {
    let daemon = ready();
    let options = ["--next", "mine", "--for", "10m", "--allow", "Mine"];
    let mut terminal = start(&daemon, &options);
    terminal.wait_for_raw("done when: the form is sent");
    terminal.press("\r");
    let asked = started(&daemon, &mut terminal);
    assert_eq!((&asked["next_action"], &asked["timebox_secs"]), (&json!("mine"), &json!(600)));
    assert_eq!(asked["allowed"]["window_classes"], json!(["Mine"]));
    let raw = terminal.raw();
    for (name, _) in [FIELDS[0], FIELDS[2], FIELDS[3]] {
        assert!(!raw.contains(name), "{raw:?}");
    }
    assert!(!raw.contains("lately"), "its classes are not taken: {raw:?}");
}

#[test]
fn a_timebox_that_is_none_is_asked_for_again_as_it_was_typed() {
    let daemon = ready();
    let mut terminal = start(&daemon, &["--next", "a", "--success", "b", "--allow", "c"]);
    terminal.wait_for_raw("timebox: 25m");
    terminal.press(&format!("{KILL_LINE}soon\r"));
    terminal.wait_for_raw("timebox: soon");
    terminal.press(&format!("{KILL_LINE}2h\r"));
    assert_eq!(started(&daemon, &mut terminal)["timebox_secs"], 7200);
}

#[test]
fn ctrl_c_and_ctrl_d_at_any_field_start_nothing() {
    for given_up in 0..FIELDS.len() {
        // As everywhere, Ctrl-D is the end of an empty line only.
        for keys in [CTRL_C.to_owned(), format!("{KILL_LINE}{CTRL_D}")] {
            let daemon = ready();
            let mut terminal = start(&daemon, &[]);
            for (at, (name, text)) in FIELDS.into_iter().enumerate() {
                terminal.wait_for_raw(&format!("{name}{text}"));
                if at == given_up {
                    terminal.press(&keys);
                    break;
                }
                terminal.press("\r");
            }
            cancelled(&daemon, &mut terminal, "nothing was started");
        }
    }
}

#[test]
fn the_wait_shows_its_time_and_ctrl_c_and_ctrl_d_end_it() {
    let coach = ["coach", "the tax return"];
    let start = ["start", "--coach", "the tax return"];
    for (keys, command, undone) in [
        (CTRL_C, &start[..], "nothing was started"),
        (CTRL_D, &start, "nothing was started"),
        (CTRL_C, &coach, "the coach was not waited for"),
        (CTRL_D, &coach, "the coach was not waited for"),
    ] {
        let (_hold, may) = mpsc::channel();
        let daemon = daemon(planning(), proposed(), Some(may));
        let mut terminal = Terminal::start(&daemon, command, &[]);
        terminal.wait_for_raw("asking the coach, 0 s (Ctrl-C cancels)");
        terminal.wait_for_raw("asking the coach, 1 s");
        terminal.press(keys);
        cancelled(&daemon, &mut terminal, undone);
    }
}

/// Who presses Enter for want of patience must not accept what they have not seen.
#[test]
fn keys_that_were_pressed_during_the_wait_answer_nothing() {
    let (let_go, may) = mpsc::channel();
    let daemon = daemon(planning(), proposed(), Some(may));
    let mut terminal = start(&daemon, &[]);
    terminal.wait_for_raw("asking the coach");
    terminal.press("\r\rhalf a line");
    terminal.wait_for_raw("half a line");
    let_go.send(()).unwrap();
    for (name, text) in FIELDS {
        terminal.wait_for_raw(&format!("{name}{text}"));
        terminal.press("\r");
    }
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["next_action"], "open the folder");
    assert_eq!(asked["allowed"]["window_classes"], json!(["Editor", "Evince"]));
    let raw = terminal.raw();
    assert!(raw.contains("\r\u{1b}[K"), "the sign of life is taken away: {raw:?}");
}

/// The daemon cleans what a model says; a terminal is not left to that.
#[test]
fn a_hostile_proposal_is_shown_clean_and_taken_as_it_was_shown() {
    let hostile = "ok\u{1b}[31mred\u{1b}]0;pwned\u{7}\u{9b}5mx\u{202e}\rspoof\nline";
    let clean = "okredx spoof line";
    let mut proposed = proposed();
    let proposal = &mut proposed["proposal"];
    proposal["next_action"] = json!(hostile);
    proposal["success_condition"] = json!(hostile);
    proposal["allowed"]["window_classes"] = json!([hostile, "a, b"]);
    proposed["unseen"] = json!([hostile]);
    let daemon = daemon(planning(), proposed, None);
    let mut terminal = start(&daemon, &[]);
    let classes = format!("{clean}, a, b");
    for (name, text) in [FIELDS[0].0, FIELDS[1].0, FIELDS[2].0, FIELDS[3].0]
        .into_iter()
        .zip([clean, clean, "25m", &classes])
    {
        terminal.wait_for_raw(&format!("{name}{text}"));
        terminal.press("\r");
    }
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["next_action"], clean);
    assert_eq!(asked["success_condition"], clean);
    // A list that nobody touched is the one that was proposed, commas and all.
    assert_eq!(asked["allowed"]["window_classes"], json!([clean, "a, b"]));
    let raw = terminal.raw();
    for evil in ["[31m", "pwned", "\u{9b}", "\u{7}", "\u{202e}"] {
        assert!(!raw.contains(evil), "{evil:?}: {raw:?}");
    }
}

#[test]
fn a_long_list_of_classes_is_not_cut() {
    let classes: Vec<String> = (0..16).map(|n| format!("Class{n:02}-{}", "x".repeat(50))).collect();
    let mut proposed = proposed();
    proposed["proposal"]["allowed"]["window_classes"] = json!(classes);
    let daemon = daemon(planning(), proposed, None);
    let options = ["--next", "a", "--success", "b", "--for", "5"];
    let mut terminal = start(&daemon, &options);
    terminal.wait_for_raw("Class15");
    terminal.press(", Mine\r");
    let mut wanted = classes;
    wanted.push("Mine".to_owned());
    assert_eq!(started(&daemon, &mut terminal)["allowed"]["window_classes"], json!(wanted));
}

#[test]
fn a_terminal_that_knows_no_sequences_asks_in_lines() {
    let daemon = ready();
    let args = ["start", "--coach", "the tax return"];
    let mut terminal = Terminal::start(&daemon, &args, &[("TERM", "dumb")]);
    for ((name, text), typed) in FIELDS.into_iter().zip(["", "paid", "", ""]) {
        let name = name.trim_end_matches(": ");
        terminal.wait_for_raw(&format!("{name} [{text}]: "));
        terminal.press(&format!("{typed}\r"));
    }
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["next_action"], "open the folder");
    assert_eq!(asked["success_condition"], "paid");
    assert_eq!(asked["timebox_secs"], 1500);
    assert!(!terminal.raw().contains('\u{1b}'), "{:?}", terminal.raw());
}

#[test]
fn while_a_session_is_active_no_coach_is_asked() {
    let daemon = daemon(active("ontask"), proposed(), None);
    let mut terminal = start(&daemon, &[]);
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(1));
    terminal.wait_for_raw("a session is active already");
    assert!(daemon.asked("propose").is_empty());
}

#[test]
fn with_yes_nobody_is_asked() {
    let daemon = ready();
    let mut terminal = start(&daemon, &["--yes"]);
    let asked = started(&daemon, &mut terminal);
    assert_eq!(asked["next_action"], "open the folder");
    assert!(!terminal.raw().contains("next: "));
}

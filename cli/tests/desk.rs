//! The commands about windows and what is allowed, against a daemon that is played.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use antidrift_protocol::ErrorCode;
use serde_json::{Value, json};
use support::{terminal::Terminal, *};

fn windows(classes: &[&str], omitted: u64) -> Value {
    let window = |class: &&str| {
        json!({"class": class, "instance": "i", "title": "a\u{1b}[31m title", "domain": null,
            "command": null})
    };
    json!({"windows": classes.iter().map(window).collect::<Vec<_>>(), "omitted": omitted})
}

fn allowance(classes: &[&str]) -> Value {
    json!({"seq": 2, "saved": true, "warning": null, "allowed": {"window_classes": classes,
        "window_titles": ["RFC 9110"], "window_title_substrings": [], "domains": [],
        "commands": []}})
}

/// A daemon that allows these classes and lists these windows, or says that it sees none.
fn daemon(allowed: &'static [&str], open: Option<&'static [&str]>) -> FakeDaemon {
    FakeDaemon::start(move |request| {
        Some(match (request["cmd"].as_str(), open) {
            (Some("allow"), _) => ok(request, &allowance(allowed)),
            (Some("windows"), Some(open)) => ok(request, &windows(open, 0)),
            (Some("windows"), None) => {
                refusal(request, ErrorCode::NoDisplay, "there is no X display: DISPLAY is not set")
            }
            _ => String::new(),
        })
    })
}

#[test]
fn windows_are_a_table_or_the_daemons_json() {
    let daemon = FakeDaemon::start(answering("windows", windows(&["Code", "firefox"], 3)));
    let ran = run(daemon.dir.path(), &["windows"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            Some(0),
            "CLASS    INSTANCE  TITLE\nCode     i         a title\nfirefox  i         a title\n\
             and 3 more\n"
        )
    );
    let ran = run(daemon.dir.path(), &["windows", "--json"]);
    assert_eq!(ran.out.lines().count(), 1);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap(), windows(&["Code", "firefox"], 3));
    assert!(!ran.out.contains('\u{1b}'));
    assert_eq!(daemon.asked("windows").len(), 2);
}

#[test]
fn a_terminal_gets_lines_of_its_width() {
    let title = "x".repeat(150);
    let window = json!({"class": "Code", "instance": "code", "title": title});
    let answer = json!({"windows": [window], "omitted": 0});
    let daemon = FakeDaemon::start(answering("windows", answer));
    let whole = run(daemon.dir.path(), &["windows"]);
    assert!(whole.out.ends_with(&format!("  {title}\n")), "{whole:?}");

    let mut terminal = Terminal::start(&daemon, &["windows"], &[]);
    assert_eq!(wait_for_end(&mut terminal.child).code(), Some(0));
    let shown = terminal.wait_for_raw("…\r\n");
    let cut = format!("Code   code      {}…", "x".repeat(62));
    assert_eq!(shown.lines().collect::<Vec<_>>(), ["CLASS  INSTANCE  TITLE", cut.as_str()]);
}

#[test]
fn without_a_display_windows_says_who_knows_more() {
    let daemon = daemon(&[], None);
    let ran = run(daemon.dir.path(), &["windows"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("DISPLAY is not set; `antidrift doctor`"), "{}", ran.err);
}

#[test]
fn what_is_named_is_sent_and_what_is_allowed_now_is_shown() {
    let daemon = daemon(&["code"], Some(&["Code"]));
    let lists = |classes: &[&str]| {
        json!({"window_classes": classes, "window_titles": ["RFC, 9110"],
            "window_title_substrings": ["rust"], "domains": ["docs.rs"], "commands": ["vim"]})
    };
    let rest = [
        "--whole-title",
        "RFC, 9110",
        "--title",
        "rust",
        "--domain",
        "docs.rs, ",
        "--command",
        "vim",
    ];
    for (args, expected) in [
        (&["allow"][..], Value::Null),
        (&["allow", "list"], Value::Null),
        (
            &[&["allow", "add", "code, CODE,"], &rest[..]].concat(),
            json!({"add": lists(&["code", "CODE"])}),
        ),
        (&[&["allow", "rm", "code"], &rest[..]].concat(), json!({"remove": lists(&["code"])})),
    ] {
        let ran = run(daemon.dir.path(), args);
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (Some(0), "class       code\nwhole-title RFC 9110\n", ""),
            "{args:?}"
        );
        assert_eq!(daemon.asked("allow").pop().unwrap()["args"], expected, "{args:?}");
    }
    let ran = run(daemon.dir.path(), &["allow", "list", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap(), allowance(&["code"]));
    // Only who adds a class wants to know which there are.
    assert_eq!(daemon.asked("windows").len(), 1);
}

#[test]
fn a_list_of_nothing_changes_nothing() {
    let daemon = daemon(&["code"], Some(&["Code"]));
    for line in [["allow", "add", ","], ["allow", "rm", " "]] {
        let ran = run(daemon.dir.path(), &line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.err.contains("CLASS must not be blank"), "{}", ran.err);
    }
    assert!(daemon.requests().is_empty());
}

#[test]
fn a_class_that_no_window_has_is_noted_where_windows_are_seen() {
    for (open, note) in [
        (
            Some(&["firefox", "XTERM"][..]),
            "antidrift: warning: no open window has the class code; antidrift windows lists them\n",
        ),
        (
            Some(&[]),
            "antidrift: warning: no open window has any of the classes code, xterm; \
             antidrift windows lists them\n",
        ),
        (Some(&["Code", "xterm"]), ""),
        (None, ""),
    ] {
        let daemon = daemon(&["code", "xterm"], open);
        let ran = run(daemon.dir.path(), &["allow", "add", "code,xterm"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), note), "{open:?}");
    }
}

#[test]
fn what_is_not_allowed_cannot_be_taken_out_and_where_to_look_is_said() {
    let daemon = FakeDaemon::start(|request| {
        let said = "«vim» is not among the allowed window classes";
        let hello = request["cmd"] == "hello";
        Some(if hello { String::new() } else { refusal(request, ErrorCode::NoEntry, said) })
    });
    let ran = run(daemon.dir.path(), &["allow", "rm", "vim"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert_eq!(
        ran.err,
        "antidrift: «vim» is not among the allowed window classes; `antidrift allow list` shows \
         what is\n"
    );
}

#[test]
fn refocus_raises_only_when_asked_and_says_when_it_could_not() {
    const SORRY: &str = "the window that was on task last could not be raised: there was none yet, \
                         it is closed, or the window manager keeps the focus\n";
    for (args, asked, activated, said) in [
        (&["refocus"][..], Value::Null, Value::Null, ""),
        (&["refocus", "--activate"], json!({"activate": true}), json!(true), ""),
        (&["refocus", "--activate"], json!({"activate": true}), json!(false), SORRY),
    ] {
        let answer = json!({"seq": 2, "saved": true, "warning": null, "window": null,
            "activated": activated});
        let daemon = FakeDaemon::start(answering("refocus", answer));
        let ran = run(daemon.dir.path(), args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
        assert_eq!(ran.out, format!("back to task\n{said}"), "{args:?}");
        assert_eq!(daemon.asked("refocus").pop().unwrap()["args"], asked);
    }
}

#[test]
fn pick_asks_nobody_to_click_in_vain() {
    // No daemon, no session, no display: in this order.
    let nowhere = tempfile::tempdir().unwrap();
    let ran = run(nowhere.path(), &["pick"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let idle = FakeDaemon::start(|request| {
        let hello = request["cmd"] == "hello";
        let said = "no session is active; begin one with antidrift start";
        Some(if hello { String::new() } else { refusal(request, ErrorCode::NotActive, said) })
    });
    let ran = run(idle.dir.path(), &["pick"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("antidrift start") && !ran.err.contains("Click"), "{}", ran.err);
    let daemon = daemon(&["code"], Some(&[]));
    let ran = run(daemon.dir.path(), &["pick"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with("antidrift: DISPLAY is not set"), "{}", ran.err);
    for display in ["", "nonsense\u{1b}[31m", ":4000000000", ":59000"] {
        let mut command = client(daemon.dir.path());
        let ran = finish(command.arg("pick").env("DISPLAY", display).spawn().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let err = ran.err.trim_end();
        assert!(err.lines().count() == 1 && !err.contains(char::is_control), "{err:?}");
        assert!(!err.contains("Click"), "{err}");
    }
    let changed = daemon.asked("allow").iter().any(|request| !request["args"].is_null());
    assert!(!changed, "nothing was changed");
}

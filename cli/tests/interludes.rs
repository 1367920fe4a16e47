//! `pause`, `resume`, `extend` and `detour`.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use antidrift_protocol::ErrorCode;
use serde_json::{Value, json};
use support::*;

/// A daemon that does everything, and is then in `state`; five past nine by its clock.
fn daemon(state: Value) -> FakeDaemon {
    FakeDaemon::start(move |request| {
        Some(match request["cmd"].as_str() {
            Some("pause" | "resume" | "extend" | "detour") => {
                ok(request, &json!({"seq": 9, "saved": true, "warning": null}))
            }
            Some("status") => {
                let status = json!({"seq": 9, "at": "2026-11-30T09:05:00Z", "state": state});
                ok(request, &status)
            }
            _ => String::new(),
        })
    })
}

/// Runs the client in a zone one hour before UTC.
fn run_in_zone(daemon: &FakeDaemon, args: &[&str]) -> Ran {
    finish(client(daemon.dir.path()).env("TZ", "XXX-1").args(args).spawn().unwrap())
}

fn with(member: &str, value: Value) -> Value {
    let mut state = active("idle");
    state[member] = value;
    state
}

fn paused(until: Option<&str>) -> Value {
    with("paused", json!({"since_at": "2026-11-30T09:05:00Z", "until_at": until}))
}

/// What one command was asked with, and what it printed.
#[track_caller]
fn asks(state: Value, args: &[&str]) -> (Value, String) {
    let daemon = daemon(state);
    let ran = run_in_zone(&daemon, args);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}: {ran:?}");
    let asked = daemon.asked(args[0]);
    assert_eq!(asked.len(), 1, "{args:?}");
    (asked[0]["args"].clone(), ran.out)
}

#[test]
fn each_asks_for_what_was_typed_and_says_what_it_came_to() {
    let detour = || {
        with(
            "detour",
            json!({"text": "look up\u{1b}[31m the flag", "since_at": "2026-11-30T09:05:00Z",
                "until_at": "2026-11-30T09:10:00Z", "window": null}),
        )
    };
    for (state, args, asked, said) in [
        (paused(None), &["pause"][..], Value::Null, "paused; antidrift resume goes on\n"),
        (
            paused(Some("2026-11-30T09:15:00Z")),
            &["pause", "10m"],
            json!({"secs": 600}),
            "paused until 10:15 (10 min)\n",
        ),
        (
            paused(Some("2026-12-01T06:05:00Z")),
            &["pause", "21h"],
            json!({"secs": 75_600}),
            "paused until Tue 07:05 (21 h 00 min)\n",
        ),
        (active("ontask"), &["resume"], Value::Null, "back to: draft the report\n"),
        (
            active("ontask"),
            &["extend", "10"],
            json!({"secs": 600}),
            "10 min more: until 10:17, 12 min left\n",
        ),
        (
            detour(),
            &["detour", "5m", "look", "up", "the flag"],
            json!({"secs": 300, "text": "look up the flag"}),
            "detour until 10:10: look up the flag\n",
        ),
        (
            detour(),
            &["detour", "1h30", "--", "-v", "--for"],
            json!({"secs": 5400, "text": "-v --for"}),
            "detour until 10:10: look up the flag\n",
        ),
    ] {
        assert_eq!(asks(state, args), (asked, said.to_owned()), "{args:?}");
    }
}

#[test]
fn until_a_time_of_day_is_one_word_or_two() {
    for args in [
        &["pause", "until", "14:30"][..],
        &["pause", "until 14:30"],
        &["detour", "until", "14:30", "x"],
        &["detour", "until 14:30", "x"],
    ] {
        let (asked, _) = asks(active("idle"), args);
        let secs = asked["secs"].as_u64().unwrap();
        assert!((1..=86_400).contains(&secs), "{args:?}: {asked}");
        let end = asked_at(&asked);
        assert!(end.as_millis().rem_euclid(86_400_000) / 60_000 == (14 - 1) * 60 + 30, "{end}");
        if args[0] == "detour" {
            assert_eq!(asked["text"], "x");
        }
    }
    // In a zone that nobody knows it is the time of UTC, rather than nothing at all.
    let daemon = daemon(active("idle"));
    let mut odd = client(daemon.dir.path());
    let ran = odd.env("TZ", "Nowhere/Nothing").args(["pause", "until", "14:30"]);
    assert_eq!(finish(ran.spawn().unwrap()).code, Some(0));
}

/// When a request of just now ends, within a second or so.
fn asked_at(asked: &Value) -> antidrift_protocol::Timestamp {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap();
    let millis = i64::try_from(now.as_millis()).unwrap();
    let secs = asked["secs"].as_i64().unwrap();
    antidrift_protocol::Timestamp::from_millis(millis + secs * 1000)
}

#[test]
fn more_time_until_a_time_of_day_adds_what_is_missing() {
    // 736 s are left: a minute from midnight to midnight is always more.
    let mut state = active("ontask");
    let daemon = daemon(state.clone());
    let ran = run_in_zone(&daemon, &["extend", "until", "14:30"]);
    let asked = daemon.asked("extend").pop().map(|it| it["args"]["secs"].as_u64().unwrap());
    match asked {
        Some(secs) => assert!((1..=86_400 - 736).contains(&secs), "{secs}"),
        // Unless that is in less than a quarter of an hour.
        None => assert!(ran.err.contains("until then already"), "{ran:?}"),
    }
    state["commitment"]["remaining_secs"] = json!(86_400);
    let daemon = self::daemon(state);
    let ran = run_in_zone(&daemon, &["extend", "until", "14:30"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.err.contains("until then already") && ran.err.lines().count() == 1, "{ran:?}");
    assert!(daemon.asked("extend").is_empty());
}

#[test]
fn what_is_no_duration_is_one_line_with_an_example_and_asks_for_nothing() {
    let daemon = daemon(active("ontask"));
    let long = "x".repeat(5000);
    for time in [
        "soon",
        "",
        "0",
        "0m",
        "-5m",
        "-1h30",
        "25h",
        "1441m",
        "1430",
        "until 25:00",
        "until",
        "--soon",
        "\u{1b}]0;pwned\u{7}5m",
        &long,
    ] {
        for args in [
            &["pause", time][..],
            &["extend", time],
            &["detour", time, "x"],
            &["start", "x", "--for", time],
        ] {
            let ran = run_in_zone(&daemon, args);
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
            assert_eq!(ran.err.lines().count(), 1, "{args:?}: {}", ran.err);
            let helps = ["25m", "45m", "14:30", "24h"].iter().any(|form| ran.err.contains(form));
            assert!(ran.err.starts_with("antidrift: «") && helps, "{args:?}: {}", ran.err);
            assert!(ran.err.len() < 200 && !ran.err.contains(['\u{1b}', '\u{7}']), "{}", ran.err);
        }
    }
    for args in [&["detour", "5m", " "][..], &["detour", "until", "14:30"]] {
        let ran = run_in_zone(&daemon, args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_eq!(ran.err, "antidrift: the text must not be blank\n");
    }
    assert!(daemon.requests().is_empty());
}

#[test]
fn what_was_done_is_done_although_nothing_more_can_be_learnt() {
    let daemon = FakeDaemon::start(|request| match request["cmd"].as_str() {
        Some("status") => None,
        Some("hello") => Some(String::new()),
        _ => Some(ok(request, &json!({"seq": 9, "saved": false, "warning": "disk full"}))),
    });
    for (args, said) in [
        (&["pause", "10m"][..], "paused; antidrift resume goes on\n"),
        (&["resume"], "back to task\n"),
        (&["extend", "10m"], "10 min more\n"),
        (&["detour", "5m", "x"], "on a detour\n"),
    ] {
        let ran = run_in_zone(&daemon, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), said), "{args:?}: {ran:?}");
        assert_eq!(ran.err, "antidrift: warning: done, but not saved: disk full\n");
    }
}

#[test]
fn refusals_are_one_line() {
    for (args, code, message) in [
        (&["pause"][..], ErrorCode::NotActive, "no session is active"),
        (&["resume"], ErrorCode::NotPaused, "there is neither a pause nor a detour to end"),
        (&["extend", "10m"], ErrorCode::NoTimebox, "it was started without --for"),
        (&["detour", "5m", "x"], ErrorCode::NotActive, "no session is active"),
    ] {
        let daemon = FakeDaemon::start(move |request| {
            let hello = request["cmd"] == "hello";
            Some(if hello { String::new() } else { refusal(request, code, message) })
        });
        let ran = run_in_zone(&daemon, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.err.contains(message) && ran.err.lines().count() == 1, "{}", ran.err);
    }
    let nobody = tempfile::tempdir().unwrap();
    for args in [&["pause"][..], &["resume"], &["extend", "10m"], &["detour", "5m", "x"]] {
        let ran = run(nobody.path(), args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.err.contains("start it") && ran.err.lines().count() == 1, "{}", ran.err);
    }
}

use jiff::{ZonedDateTime, tz::TimeZone};

use super::*;

/// A wall with a clock that shows UTC.
pub(crate) fn utc(at: Timestamp) -> ZonedDateTime {
    jiff::Timestamp::from_millisecond(at.as_millis()).unwrap().to_zoned_datetime(TimeZone::UTC)
}

fn drifting() -> Status {
    serde_json::from_value(serde_json::json!({
        "seq": 3, "at": "2026-11-30T09:13:24Z",
        "state": {
            "phase": "active",
            "commitment": {"text": "draft the report", "next_action": "outline section 2",
                "success_condition": null, "timebox_secs": 1500,
                "started_at": "2026-11-30T09:00:00Z", "elapsed_secs": 804, "remaining_secs": 696},
            "allowed": {"window_classes": ["code"], "window_titles": [],
                "window_title_substrings": [], "domains": [], "commands": []},
            "window": {"class": "firefox", "instance": "Navigator",
                "title": "reddit\u{1b}[31m: the front page\u{7}"},
            "drift": {"status": "drifting", "reason": "Reddit is\nunrelated", "source": "judge",
                "alert": 7, "since_at": "2026-11-30T09:12:44Z"},
            "judge": {"backend": "claude", "destination": "cloud", "status": "ready", "calls": 3,
                "last_ok_at": "2026-11-30T09:13:14Z", "last_error_at": "2026-11-30T09:08:20Z",
                "last_error": "no answer within 30 s; timeout_secs gives it longer"},
            "sensor": {"kind": "x11", "status": "ok", "detail": null}
        }
    }))
    .unwrap()
}

#[test]
fn status_shows_what_is_and_what_to_do() {
    let expected = "\
active: draft the report
  next      outline section 2
  time      13 min of 25 min, 11 min left
  allowed   classes code
  window    firefox: reddit: the front page
  drift     drifting for 40 s: Reddit is unrelated
  judge     claude (cloud), ready, 3 calls; last answer 10 s ago
            last error 5 min ago: no answer within 30 s; timeout_secs gives it longer
antidrift refocus (back to task), ontask (this is on task), complete (end session)";
    assert_eq!(status(&drifting(), Paint::new(false), utc), expected);
    let coloured = status(&drifting(), Paint::new(true), utc);
    assert!(coloured.contains("\u{1b}[1;33mdrifting\u{1b}[0m"), "{coloured}");
}

#[test]
fn a_judge_that_is_not_there_is_said_to_be_off_and_why() {
    let mut asked = drifting();
    let judge = &mut asked.state.judge;
    judge.backend = "clade".into();
    judge.last_error = Some("there is no judge \"clade\"".into());
    judge.last_error_at = None;
    for (status_of, rest) in [
        (JudgeStatus::Off, "no window is judged"),
        (JudgeStatus::Ready, "the embedded judge goes on alone"),
    ] {
        asked.state.judge.status = status_of;
        let text = status(&asked, Paint::new(false), utc);
        let expected = format!("  judge     clade is off: there is no judge \"clade\"; {rest}\n");
        assert!(text.contains(&expected) && !text.contains("last error"), "{text}");
    }
}

#[test]
fn a_session_that_has_used_up_its_judgements_says_who_goes_on() {
    let mut spent = drifting();
    spent.state.judge.limit = Some(3);
    let text = status(&spent, Paint::new(false), utc);
    assert!(
        text.contains("all 3 calls of this session used; the embedded judge goes on"),
        "{text}"
    );
    spent.state.judge.limit = Some(4);
    let text = status(&spent, Paint::new(false), utc);
    assert!(text.contains("3 of 4 calls") && !text.contains("used"), "{text}");
}

#[test]
fn an_empty_state_and_unknown_words_are_shown_without_fuss() {
    let unknown: Status = serde_json::from_value(serde_json::json!({
        "seq": 1, "at": "2026-11-30T09:13:24Z", "new": 1,
        "state": {"phase": "pondering", "drift": {"status": "musing"}, "new": {}}
    }))
    .unwrap();
    let text = status(&unknown, Paint::new(false), utc);
    assert!(text.contains("does not know") && text.contains("unknown"), "{text}");
    let planning =
        Status { state: State { phase: Phase::Planning, ..State::default() }, ..unknown };
    let text = status(&planning, Paint::new(false), utc);
    assert!(text.starts_with("no session\n") && text.contains("antidrift start"), "{text}");
}

#[test]
fn overtime_and_reviews() {
    let mut over = drifting();
    if let Some(commitment) = &mut over.state.commitment {
        commitment.elapsed_secs = 1620;
        commitment.remaining_secs = Some(-120);
    }
    let text = status(&over, Paint::new(false), utc);
    assert!(text.contains("27 min of 25 min, 2 min over"), "{text}");
    assert!(text.ends_with("on task), complete (end session)"), "{text}");
    if let Some(drift) = &mut over.state.drift {
        drift.status = DriftStatus::Ontask;
    }
    let text = status(&over, Paint::new(false), utc);
    assert!(text.ends_with("\nantidrift extend 10m (more time), complete (end session)"), "{text}");
    let sums = Review { ontask_secs: 1200, alerts: 1, away_secs: 2520, ..Review::default() };
    assert_eq!(review(&sums), "on task 20 min, drifting 0 s, away 42 min, 1 alert");
    let sums = Review { paused_secs: 600, detour_secs: 300, ..sums };
    assert_eq!(
        review(&sums),
        "on task 20 min, drifting 0 s, away 42 min, paused 10 min, on a detour 5 min, 1 alert"
    );
}

#[test]
fn pauses_absences_and_detours_come_first() {
    let shown = |part: serde_json::Value| {
        let mut state = serde_json::to_value(drifting().state).unwrap();
        state["drift"]["status"] = "idle".into();
        state.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let state = serde_json::from_value(state).unwrap();
        status(&Status { state, ..drifting() }, Paint::new(false), utc)
    };
    let since_at = "2026-11-30T09:10:00Z";
    let pause = |until: Option<&str>| {
        shown(serde_json::json!({"paused": {"since_at": since_at, "until_at": until}}))
    };
    for (text, head, todo) in [
        (pause(None), "paused: draft the report", "antidrift resume goes on"),
        (
            pause(Some("2026-11-30T09:20:00Z")),
            "paused until 09:20: draft the report",
            "antidrift resume goes on",
        ),
        (
            pause(Some("2026-12-01T00:20:00Z")),
            "paused until Tue 00:20: draft the report",
            "antidrift resume goes on",
        ),
        (
            shown(serde_json::json!({"away": "idle"})),
            "away (idle): draft the report",
            "antidrift complete ends the session",
        ),
        (
            shown(serde_json::json!({"away": "locked", "paused": {"since_at": since_at}})),
            "paused: draft the report",
            "antidrift resume goes on",
        ),
        (
            shown(serde_json::json!({"away": "on the moon"})),
            "away: draft the report",
            "antidrift complete ends the session",
        ),
    ] {
        assert_eq!(text.lines().next(), Some(head), "{text}");
        assert_eq!(text.lines().last(), Some(todo), "{text}");
        // The time of the session goes on, and says so.
        assert!(text.contains("\n  time      13 min of 25 min, 11 min left\n"), "{text}");
    }
    let detour = serde_json::json!({"text": "the \u{1b}[31mflag", "since_at": since_at,
        "until_at": "2026-11-30T09:15:00Z", "window": null});
    let text = shown(serde_json::json!({"detour": detour}));
    assert!(text.starts_with("on a detour until 09:15: draft the report\n"), "{text}");
    assert!(text.contains("\n  detour    the flag\n"), "{text}");
    assert!(text.ends_with("\nantidrift resume ends the detour"), "{text}");
    let text = shown(serde_json::json!({"detour": detour, "away": "suspended"}));
    assert!(text.starts_with("away (suspended): draft the report\n"), "{text}");
}

#[test]
fn words_for_a_shell() {
    for (text, word) in [
        ("code", "code"),
        ("a b", "'a b'"),
        ("it's", r"'it'\''s'"),
        ("$(reboot)", "'$(reboot)'"),
        ("-x", "'-x'"),
        ("", "''"),
    ] {
        assert_eq!(shell_word(text), word);
    }
}

/// Titles made to break things, from the judge fixtures, with what notify-send gets for each.
pub(crate) fn hostile_titles() -> Vec<(String, String)> {
    hostile_sinks("notify_send_arg")
}

/// The same, with what one of the sinks gets.
pub(crate) fn hostile_sinks(sink: &str) -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/judge/hostile_titles.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let titles = text.lines().map(|line| {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let part = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let title = if let Some(generator) = case.get("title_gen") {
            let times = generator["times"].as_u64().unwrap() as usize;
            let unit = part(&generator["unit"]).repeat(times);
            part(&generator["prefix"]) + &unit + &part(&generator["suffix"])
        } else if let Some(hex) = case["title_hex"].as_str() {
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            part(&case["title"])
        };
        (title, case["sinks"][sink].as_str().unwrap().to_owned())
    });
    titles.collect()
}

#[test]
fn no_title_acts_on_the_terminal() {
    for (hostile, _) in hostile_titles() {
        let mut state = drifting();
        state.state.window =
            Some(Window { class: hostile.clone(), title: hostile.clone(), ..Window::default() });
        if let Some(commitment) = &mut state.state.commitment {
            commitment.text = hostile.clone();
        }
        if let Some(drift) = &mut state.state.drift {
            drift.reason = Some(hostile.clone());
        }
        let text = status(&state, Paint::new(false), utc);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{hostile:?}");
        assert_eq!(text.lines().count(), 9, "{hostile:?}");

        let json = serde_json::to_string(&hostile).unwrap();
        let line = json_line(&json);
        assert!(!line.chars().any(char::is_control));
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), hostile);
    }
}

use antidrift_protocol::{
    AlertCleared, AlertRaised, ClearedWhy, Detour, Event, EventBody, State, Timestamp, Window,
};
use unicode_width::UnicodeWidthStr as _;

use super::*;
use crate::watch::{lines, model::Input};

const NOW: Duration = Duration::from_secs(5000);
const LOOK: Look = Look {
    size: Size { rows: 24, columns: 60 },
    paint: Paint::new(false),
    local: render::tests::utc,
};

/// The last line while nothing is asked.
const KEYS: &str = "[p] pause   [q] quit";

fn told(model: &mut Model, body: EventBody) {
    let event = Event { seq: 1, at: Timestamp::from_millis(1_796_029_964_000), body };
    model.handle(Input::Event { event: Box::new(event), age: Duration::ZERO }, NOW);
}

fn model() -> Model {
    let mut model = Model::new(false);
    model.handle(Input::Connected { instance: "one".into() }, NOW);
    model
}

fn state(status: &str, title: &str) -> State {
    serde_json::from_value(serde_json::json!({
        "phase": "active",
        "commitment": {"text": "draft the report", "timebox_secs": 1500,
            "started_at": "2020-01-01T00:00:00Z", "elapsed_secs": 764, "remaining_secs": 736},
        "window": {"class": "firefox", "title": title},
        "drift": {"status": status, "reason": title, "alert": (status == "drifting").then_some(7)},
        "judge": {"status": "ready"}, "sensor": {"status": "ok"}
    }))
    .unwrap()
}

fn shown(model: &Model) -> String {
    frame(model, NOW, LOOK).lines.join("\n")
}

fn line(model: &Model) -> Option<String> {
    lines::text(model, render::tests::utc)
}

#[test]
fn each_status_has_its_look() {
    let mut model = model();
    assert_eq!(shown(&model), "connecting…");
    told(&mut model, EventBody::State(Box::new(state("ontask", "main.rs"))));
    let head = "draft the report\n12:16 left of 25 min\n\n";
    assert_eq!(shown(&model), format!("{head}on task   firefox: main.rs\n\n{KEYS}"));
    told(&mut model, EventBody::State(Box::new(state("pending", "main.rs"))));
    assert_eq!(shown(&model), format!("{head}checking…   firefox: main.rs\n\n{KEYS}"));
    told(&mut model, EventBody::State(Box::new(state("drifting", "reddit"))));
    let block = "Possible drift\nreddit\nfirefox: reddit\n\n\
                 [b] back to task   [t] this is on task   [e] end session\n[p] pause   [q] quit";
    assert_eq!(shown(&model), format!("{head}{block}"));
    let cleared = AlertCleared { alert: 7, why: ClearedWhy::Moved };
    told(&mut model, EventBody::AlertCleared(cleared));
    told(&mut model, EventBody::State(Box::new(state("ontask", "term"))));
    let left = "on task   firefox: term\n\nyou left firefox: reddit\n\
                t = it was on task, b = back to task, e = end session";
    assert_eq!(shown(&model), format!("{head}{left}\n\n{KEYS}"));
    told(&mut model, EventBody::State(Box::default()));
    assert!(shown(&model).contains("no session"));
}

#[test]
fn a_judge_that_fails_or_is_not_there_is_told_of() {
    let mut model = model();
    let mut state = state("idle", "a");
    for (status, at, expected) in [
        (JudgeStatus::Off, None, "the judge «clade» is off: no such judge; no window is judged"),
        (
            JudgeStatus::BackingOff,
            Some(Timestamp::from_millis(1)),
            "the judge failed: no such judge",
        ),
    ] {
        state.judge.status = status;
        state.judge.backend = "clade".into();
        (state.judge.last_error, state.judge.last_error_at) = (Some("no such judge".into()), at);
        told(&mut model, EventBody::State(Box::new(state.clone())));
        assert!(shown(&model).ends_with(&format!("\n\n{expected}")), "{}", shown(&model));
    }
}

#[test]
fn the_countdown_is_one_line_and_its_block_does_not_move_it() {
    let mut model = model();
    told(&mut model, EventBody::State(Box::new(state("ontask", "a"))));
    let at = |model: &Model, secs| frame(model, NOW + Duration::from_secs(secs), LOOK).lines;
    let (now, next) = (at(&model, 0), at(&model, 1));
    let differing: Vec<_> = now.iter().zip(&next).filter(|(a, b)| a != b).collect();
    assert_eq!(
        differing,
        [(&"12:16 left of 25 min".to_owned(), &"12:15 left of 25 min".to_owned())]
    );
    told(&mut model, EventBody::State(Box::new(state("drifting", "reddit"))));
    assert_eq!(at(&model, 1)[..2], next[..2]);
    assert_eq!(at(&model, 800)[1], "1:04 over 25 min");
}

#[test]
fn a_judge_that_fails_or_is_used_up_is_said() {
    let mut model = model();
    let mut state = state("ontask", "main.rs");
    state.judge.backend = "claude".into();
    state.judge.status = JudgeStatus::BackingOff;
    state.judge.last_error = Some("claude: Not logged in; run claude once and log in".into());
    state.judge.last_error_at = Some(state.drift.as_ref().unwrap().since_at);
    told(&mut model, EventBody::State(Box::new(state.clone())));
    let text = shown(&model);
    assert!(text.contains("the judge failed: claude: Not logged in"), "{text}");
    (state.judge.calls, state.judge.limit) = (40, Some(40));
    told(&mut model, EventBody::State(Box::new(state)));
    let text = shown(&model).replace('\n', " ");
    let said = "claude: all 40 calls of this session used; the embedded judge goes on";
    assert!(text.contains(said), "{text}");
}

#[test]
fn pauses_absences_and_detours_are_shown_with_their_end_and_way_back() {
    let mut model = model();
    let mut show = |part: serde_json::Value| {
        let mut whole = serde_json::to_value(state("idle", "term")).unwrap();
        whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        told(&mut model, EventBody::State(Box::new(serde_json::from_value(whole).unwrap())));
        let shown = shown(&model);
        let rest = shown.strip_prefix("draft the report\n12:16 left of 25 min\n\n");
        (rest.unwrap_or_else(|| panic!("{shown}")).to_owned(), line(&model).unwrap())
    };
    let since_at = "2026-11-30T09:10:00Z";
    let until_at = "2026-11-30T09:20:00Z";
    let pause = |until: Option<&str>| serde_json::json!({"away": null, "paused": {"since_at": since_at, "until_at": until}});
    let pair = |shown: &str, line: &str| (shown.to_owned(), line.to_owned());
    assert_eq!(
        show(pause(None)),
        pair("paused\n\n[p] resume   [q] quit", "paused: draft the report")
    );
    assert_eq!(
        show(pause(Some(until_at))),
        pair("paused until 09:20\n\n[p] resume   [q] quit", "paused until 09:20: draft the report")
    );
    assert_eq!(
        show(serde_json::json!({"away": "locked"})),
        pair(&format!("away (locked)\n\n{KEYS}"), "away (locked): draft the report")
    );
    let detour =
        serde_json::json!({"text": "the flag", "since_at": since_at, "until_at": until_at});
    assert_eq!(
        show(serde_json::json!({"detour": detour})),
        pair(
            "on a detour until 09:20: the flag\n\n[p] resume   [q] quit",
            "on a detour until 09:20: the flag"
        )
    );
    assert_eq!(
        show(serde_json::json!({"detour": detour, "away": "idle"})),
        pair("away (idle)\n\n[p] resume   [q] quit", "away (idle): draft the report")
    );
}

#[test]
fn overtime_offers_more_time() {
    let mut model = model();
    let mut over = state("ontask", "a");
    if let Some(commitment) = &mut over.commitment {
        (commitment.elapsed_secs, commitment.remaining_secs) = (1564, Some(-64));
    }
    told(&mut model, EventBody::State(Box::new(over)));
    let text = shown(&model);
    assert!(text.contains("\n1:04 over 25 min\n"), "{text}");
    assert!(text.ends_with("\n[+] 10 more minutes   [p] pause   [q] quit"), "{text}");
    assert_eq!(line(&model).as_deref(), Some("on task, over time: draft the report"));
    // The word comes without a state: nothing in one would differ.
    told(&mut model, EventBody::State(Box::new(state("ontask", "a"))));
    assert_eq!(line(&model).as_deref(), Some("on task: draft the report"));
    told(&mut model, EventBody::TimeboxElapsed);
    assert_eq!(line(&model).as_deref(), Some("on task, over time: draft the report"));
    assert!(shown(&model).contains("[+] 10 more minutes"));
}

#[test]
fn no_daemon_says_why() {
    let mut model = model();
    let gone = antidrift_protocol::client::ClientError::NotRunning("/run/a.sock".into());
    model.handle(Input::Lost(gone), NOW);
    let text = shown(&model).replace('\n', " ");
    assert!(text.contains("no daemon") && text.contains("/run/a.sock") && text.contains("[q]"));
    assert_eq!(line(&model).as_deref(), Some("no daemon"));
}

#[test]
fn no_text_leaves_its_line_or_acts_on_the_terminal() {
    for (hostile, _) in render::tests::hostile_titles() {
        let mut model = model();
        let mut hostile_state = state("drifting", &hostile);
        if let Some(commitment) = &mut hostile_state.commitment {
            commitment.text = hostile.clone();
            commitment.next_action = Some(hostile.clone());
        }
        let detour = Detour { text: hostile.clone(), ..Detour::default() };
        let aside = State { detour: Some(detour), ..state("ontask", "a") };
        told(&mut model, EventBody::State(Box::new(aside)));
        let shown = shown(&model) + &line(&model).unwrap();
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{hostile:?}");
        hostile_state.judge.last_error = Some(hostile.clone());
        hostile_state.judge.status = JudgeStatus::BackingOff;
        told(&mut model, EventBody::State(Box::new(hostile_state)));
        told(
            &mut model,
            EventBody::AlertRaised(AlertRaised {
                alert: 8,
                window: Some(Window { class: hostile.clone(), ..Window::default() }),
                reason: Some(hostile.clone()),
                quiet: false,
            }),
        );
        for columns in [1, 2, 7, 40, 200] {
            let size = Size { rows: 12, columns };
            let frame = frame(&model, NOW, Look { size, ..LOOK });
            assert!(frame.lines.len() <= 12);
            for line in &frame.lines {
                assert!(!line.chars().any(char::is_control), "{hostile:?}");
                assert!(line.width() <= columns.max(2), "{columns}: {line:?}");
            }
        }
        let line = line(&model).unwrap();
        assert!(!line.chars().any(char::is_control), "{hostile:?}");
    }
}

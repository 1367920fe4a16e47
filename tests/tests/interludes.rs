//! Pause, more time and detour, with real windows and the real notification service.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{ClearedWhy, DriftStatus, EventBody, NoticeKind, Phase, State};
use antidrift_tests::{Manager, Scene, Shown, StateExt as _, Watch, holds_for, until};

fn scene() -> Scene {
    let scene = Scene::on(Manager::Openbox).dunst().settings(|it| it.debounce = 1.0).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene
}

/// Waits for a notice, and gives its text.
#[track_caller]
fn notice(scene: &mut Scene, kind: NoticeKind) -> String {
    scene.subscriber.until_event(kind.as_str(), |event| match event {
        EventBody::Notice(notice) if notice.kind == kind => Some(notice.text.clone()),
        _ => None,
    })
}

/// How many notices there were.
fn notices(scene: &mut Scene) -> usize {
    let is_notice = |event: &&antidrift_protocol::Event| {
        matches!(event.body, EventBody::Notice(_) | EventBody::TimeboxElapsed)
    };
    scene.subscriber.events().iter().filter(is_notice).count()
}

/// The popup with these fixed words.
#[track_caller]
fn popup(scene: &Scene, summary: &str) -> Shown {
    until(summary, || scene.dunst().shown().into_iter().find(|shown| shown.summary == summary))
}

#[test]
fn a_pause_ends_the_alert_and_nothing_is_judged_or_alerted_until_resume() {
    let mut scene = scene();
    scene.begin("the report");
    let mut watch = scene.watch(&[]);
    let desktop = scene.desktop();
    desktop.open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    scene.dunst().until_displayed(1);
    assert_eq!(scene.cli(&["pause"]).ok(), "paused; antidrift resume goes on\n");
    let why = scene.subscriber.until_event("alert_cleared", |event| match event {
        EventBody::AlertCleared(cleared) => Some(cleared.why),
        _ => None,
    });
    assert_eq!(why, ClearedWhy::Paused);
    scene.dunst().until_displayed(0);
    watch.until_text("paused: the report");
    assert!(scene.cli(&["status"]).ok().starts_with("paused: the report\n"));
    assert!(scene.cli(&["why"]).ok().starts_with("pause "));
    scene.judge.drifts("Video", "a video is not the report");
    let (calls, alerts) = (scene.judge.calls().len(), scene.subscriber.alerts());
    desktop.open("Player", "Video");
    scene.subscriber.until_titled("Video", DriftStatus::Idle);
    // Longer than it takes a window to settle and the judge to be asked.
    holds_for(Duration::from_millis(1500), "nothing is said", || {
        scene.judge.calls().len() == calls
            && scene.subscriber.alerts() == alerts
            && scene.dunst().displayed() == 0
    });
    assert_eq!(scene.cli(&["resume"]).ok(), "back to: the report\n");
    scene.subscriber.until_titled("Video", DriftStatus::Drifting);
    scene.dunst().until_displayed(1);
    watch.until_text("a video is not the report");
    assert_eq!(notices(&mut scene), 0, "who resumes need not be told");
    let refused = scene.cli(&["resume"]).fails(1);
    assert!(refused.contains("neither a pause nor a detour"), "{refused}");
    let review = scene.cli(&["complete"]).ok();
    assert!(review.contains(", paused "), "{review}");
}

#[test]
fn a_timed_pause_ends_with_one_notice() {
    let mut scene = scene();
    scene.begin("the report");
    let mut watch = scene.watch(&[]);
    watch.until_text("the report");
    let said = scene.cli(&["pause", "1s"]).ok();
    assert!(said.starts_with("paused until ") && said.ends_with(" (1 s)\n"), "{said}");
    watch.until_text("paused until ");
    assert_eq!(notice(&mut scene, NoticeKind::PauseEnded), "back to «the report»");
    let shown = popup(&scene, "The pause is over");
    assert_eq!((shown.body.as_str(), shown.actions.len()), ("back to «the report»", 0));
    watch.until("the session goes on", |line| !line.starts_with("paused"));
    holds_for(Duration::from_millis(1500), "it is said once", || {
        scene.dunst().shown().len() == 1 && notices(&mut scene) == 1
    });
}

#[test]
fn a_pause_survives_a_crash_and_one_that_ran_out_meanwhile_is_over() {
    let mut scene = scene();
    scene.begin("the report");
    scene.cli(&["pause", "10m"]).ok();
    let before = scene.subscriber.until("a pause", |state| state.paused.is_some());
    scene.kill_daemon();
    scene.start_daemon();
    assert_eq!(scene.subscriber.state().paused, before.paused);
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Idle);
    holds_for(Duration::from_millis(1000), "it is paused", || scene.subscriber.alerts() == 0);
    scene.cli(&["resume"]).ok();
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);

    scene.cli(&["pause", "1s"]).ok();
    let state = scene.subscriber.until("a pause", |state| state.paused.is_some());
    let until_at = state.paused.unwrap().until_at.unwrap();
    scene.kill_daemon();
    let wall = || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    until("its end", || (wall() > until_at.as_millis()).then_some(()));
    scene.start_daemon();
    let state = scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    assert_eq!(state.paused, None);
}

/// A session in overtime, with the popup that asks about it.
fn overtime() -> (Scene, Watch, Shown) {
    let mut scene = scene();
    let mut watch = scene.watch(&[]);
    watch.until_text("no session");
    until("the watch", || scene.home.socket().with_file_name("notify.lock").exists().then_some(()));
    scene.cli(&["start", "the report", "--for", "1s"]).ok();
    scene.subscriber.until_event("timebox_elapsed", |event| {
        matches!(event, EventBody::TimeboxElapsed).then_some(())
    });
    let shown = popup(&scene, "Time is up");
    scene.dunst().until_displayed(1);
    (scene, watch, shown)
}

/// More than nine minutes are left.
fn has_more_time(state: &State) -> bool {
    state.commitment.as_ref().and_then(|it| it.remaining_secs).is_some_and(|left| left > 540)
}

#[test]
fn overtime_asks_for_more_time_with_a_button() {
    for by in ["the menu", "the default action", "a click"] {
        let (mut scene, mut watch, shown) = overtime();
        assert_eq!(shown.body, "the report");
        let buttons = [("default", "10 more minutes"), ("end", "End session")];
        let shown: Vec<_> = shown.actions.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(shown, buttons);
        watch.until_text(", over time: the report");
        match by {
            "the menu" => scene.dunst().press("10 more minutes"),
            "a click" => scene.dunst().click(&scene.desktop(), 2),
            _ => scene.dunst().press_default(),
        }
        scene.subscriber.until(by, has_more_time);
        scene.dunst().until_displayed(0);
        watch.until("no overtime", |line| !line.contains("over time"));
        assert_eq!(scene.subscriber.state().phase, Phase::Active);
    }
}

#[test]
fn overtime_asks_for_the_end_of_the_session_too() {
    let (mut scene, _watch, _) = overtime();
    scene.dunst().press("End session");
    scene.subscriber.until("review", |state| state.phase == Phase::Review);
    scene.dunst().until_displayed(0);
}

#[test]
fn the_question_about_overtime_goes_when_it_is_answered_elsewhere() {
    for command in [&["extend", "10m"][..], &["complete"]] {
        let (scene, mut watch, _) = overtime();
        let said = scene.cli(command).ok();
        if command[0] == "extend" {
            assert!(said.starts_with("10 min more: until "), "{said}");
        }
        scene.dunst().until_displayed(0);
        assert_eq!(scene.dunst().shown().len(), 1);
        assert!(watch.process().is_running());
    }
}

#[test]
fn a_detour_allows_every_window_for_its_time_and_then_names_the_one_that_was_left() {
    let mut scene = scene();
    scene.cli(&["start", "the report", "--allow", "Editor"]).ok();
    let mut watch = scene.watch(&[]);
    let desktop = scene.desktop();
    desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    let said = scene.cli(&["detour", "5s", "look up", "the flag"]).ok();
    assert!(said.starts_with("detour until ") && said.ends_with(": look up the flag\n"), "{said}");
    watch.until("the detour", |line| {
        line.starts_with("on a detour until ") && line.ends_with(": look up the flag")
    });
    desktop.open("Fun", "Football live");
    let state = scene.subscriber.until_titled("Football live", DriftStatus::Ontask);
    assert_eq!(state.detour.unwrap().window.unwrap().title, "report.md");
    assert!(scene.cli(&["why"]).ok().starts_with("detour "));
    let text = notice(&mut scene, NoticeKind::DetourEnded);
    assert_eq!(text, "back to «the report»; you left «report.md»");
    assert_eq!((scene.subscriber.alerts(), scene.judge.calls().len()), (0, 0));
    assert_eq!(popup(&scene, "The detour is over").body, text);
    // What was allowed for a while is not allowed any more.
    let state = scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    assert_eq!(state.allowed.unwrap().window_classes, ["Editor"]);
    assert_eq!(notices(&mut scene), 1);
    let review = scene.cli(&["complete"]).ok();
    assert!(review.contains(", on a detour "), "{review}");
}

#[test]
fn all_four_need_a_session_and_more_time_a_timebox() {
    let mut scene = Scene::without_display().no_judge().start();
    for args in [&["pause"][..], &["resume"], &["extend", "10m"], &["detour", "5m", "x"]] {
        let refused = scene.cli(args).fails(1);
        assert!(refused.contains("no session is active"), "{refused}");
    }
    let state = scene.begin("the report");
    assert_eq!(state.status(), Some(DriftStatus::Idle));
    let refused = scene.cli(&["extend", "10m"]).fails(1);
    assert!(refused.contains("without --for") && refused.lines().count() == 1, "{refused}");
    scene.cli(&["complete"]).ok();
    scene.cli(&["start", "the report", "--for", "23h"]).ok();
    let refused = scene.cli(&["extend", "2h"]).fails(1);
    assert!(refused.contains("a day") && refused.lines().count() == 1, "{refused}");
    scene.cli(&["extend", "30m"]).ok();
}

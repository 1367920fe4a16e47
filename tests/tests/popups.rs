//! Popups on the real notification service, and what pressing them does.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{ClearedWhy, DriftStatus, EventBody, Phase};
use antidrift_tests::{Manager, Scene, Shown, Watch, holds_for, until};

/// A session with a watch, a drifting window in front and its popup on the screen.
fn popup(scene: &mut Scene) -> (Watch, Shown) {
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    let watch = scene.watch(&[]);
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    scene.dunst().until_displayed(1);
    let shown = until("the popup's text", || scene.dunst().shown().pop());
    (watch, shown)
}

fn scene() -> Scene {
    Scene::on(Manager::Openbox).dunst().settings(|it| it.debounce = 1.0).start()
}

/// The button whose label holds this word.
fn label(shown: &Shown, word: &str) -> String {
    let holds = |(_, label): &&(String, String)| label.contains(word);
    shown.actions.iter().find(holds).unwrap_or_else(|| panic!("{word} in {shown:?}")).1.clone()
}

fn cleared(scene: &mut Scene) -> ClearedWhy {
    scene.subscriber.until_event("alert_cleared", |event| match event {
        EventBody::AlertCleared(cleared) => Some(cleared.why),
        _ => None,
    })
}

#[test]
fn an_alert_is_a_popup_on_the_screen_with_three_answers() {
    let mut scene = scene();
    let desktop = scene.desktop();
    let corner = (700, 0, 324, 300);
    let before = desktop.pixels(corner);
    let (_watch, shown) = popup(&mut scene);
    assert!(shown.body.contains("Football is not the report"), "{shown:?}");
    assert!(!shown.summary.contains("Football"), "fixed words: {shown:?}");
    let names: Vec<_> = shown.actions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 3, "{shown:?}");
    assert_eq!(names[0], "default", "the one that a mouse can press");
    assert_eq!(label(&shown, "Back to task"), shown.actions[0].1);
    label(&shown, "This is on task");
    label(&shown, "End session");
    let (x, y, width, height) = until("its window", || desktop.shown("Dunst").pop());
    assert!(x >= 0 && y >= 0 && width > 100 && height > 20);
    until("its pixels", || (desktop.pixels(corner) != before).then_some(()));
    assert_eq!(scene.dunst().complaints(), "");
}

#[test]
fn back_to_task_is_refocus() {
    for by_menu in [false, true] {
        let mut scene = scene();
        let (_watch, shown) = popup(&mut scene);
        if by_menu {
            scene.dunst().press(&label(&shown, "Back to task"));
        } else {
            scene.dunst().press_default();
        }
        assert_eq!(cleared(&mut scene), ClearedWhy::Refocus);
        let state = scene.subscriber.until_status(DriftStatus::Idle);
        assert!(state.allowed.unwrap().window_classes.is_empty());
        scene.dunst().until_displayed(0);
    }
}

#[test]
fn back_to_task_is_a_click_with_the_middle_button() {
    let mut scene = scene();
    let (_watch, _) = popup(&mut scene);
    scene.dunst().click(&scene.desktop(), 2);
    assert_eq!(cleared(&mut scene), ClearedWhy::Refocus);
    scene.dunst().until_displayed(0);
}

#[test]
fn this_is_on_task_is_ontask() {
    let mut scene = scene();
    let (_watch, shown) = popup(&mut scene);
    scene.dunst().press(&label(&shown, "This is on task"));
    assert_eq!(cleared(&mut scene), ClearedWhy::Ontask);
    let state = scene.subscriber.until_status(DriftStatus::Ontask);
    assert_eq!(state.allowed.unwrap().window_classes, ["Fun"]);
    scene.dunst().until_displayed(0);
}

#[test]
fn end_session_is_complete() {
    let mut scene = scene();
    let (_watch, shown) = popup(&mut scene);
    scene.dunst().press(&label(&shown, "End session"));
    assert_eq!(cleared(&mut scene), ClearedWhy::Completed);
    scene.subscriber.until("review", |state| state.phase == Phase::Review);
    scene.dunst().until_displayed(0);
}

#[test]
fn a_popup_that_is_closed_answers_nothing() {
    let mut scene = scene();
    let (_watch, _) = popup(&mut scene);
    scene.dunst().click(&scene.desktop(), 1);
    scene.dunst().until_displayed(0);
    holds_for(Duration::from_millis(500), "the alert stands", || {
        let state = scene.subscriber.state();
        state.drift.unwrap().status == DriftStatus::Drifting
    });
}

#[test]
fn a_popup_goes_when_its_drift_ends() {
    let mut scene = scene();
    let (mut watch, _) = popup(&mut scene);
    // by the client
    scene.cli(&["ontask"]).ok();
    scene.dunst().until_displayed(0);
    // by leaving the window
    scene.judge.drifts("Video", "a video is not the report");
    let desktop = scene.desktop();
    desktop.open("Player", "Video");
    scene.dunst().until_displayed(1);
    desktop.open("Fun", "Football tonight");
    scene.subscriber.until_titled("Football tonight", DriftStatus::Ontask);
    scene.dunst().until_displayed(0);
    // with the watch itself
    scene.judge.drifts("Game", "a game is not the report");
    desktop.open("Game", "Game");
    scene.dunst().until_displayed(1);
    watch.process().terminate();
    scene.dunst().until_displayed(0);
    assert_eq!(scene.dunst().shown().len(), 3);
}

/// The popup of an alert that is over: its service went on showing it, a person presses it.
#[test]
fn a_stale_button_acts_on_nothing() {
    let mut scene = scene();
    let (mut watch, _) = popup(&mut scene);
    // held, the watch cannot withdraw its popup
    watch.process().signal(rustix::process::Signal::STOP);
    scene.desktop().open("Editor", "report.md");
    let before = scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert_eq!(scene.dunst().displayed(), 1);
    scene.dunst().press("This is on task");
    scene.dunst().until_displayed(0);
    watch.process().signal(rustix::process::Signal::CONT);
    holds_for(Duration::from_secs(1), "nothing is allowed", || {
        scene.subscriber.state().allowed == before.allowed
    });
    assert!(watch.process().is_running());
}

#[test]
fn two_watches_raise_one_popup_and_the_second_takes_over() {
    let mut scene = scene();
    let mut second = scene.watch(&["--notify-only"]);
    until("the second watch", || second.process().is_running().then_some(()));
    let (mut first, _) = popup(&mut scene);
    holds_for(Duration::from_millis(700), "one popup", || scene.dunst().displayed() == 1);
    assert_eq!(scene.dunst().shown().len(), 1);
    second.process().terminate();
    scene.judge.drifts("Video", "a video is not the report");
    scene.desktop().open("Player", "Video");
    until("the other watch's popup", || {
        scene.dunst().shown().iter().find(|it| it.body.contains("a video")).cloned()
    });
    scene.dunst().until_displayed(1);
    assert!(first.process().is_running());
}

#[test]
fn f64_f65_a_title_is_read_as_it_is() {
    let mut scene = scene();
    scene.cli(&["start", "--", "- [ ] plan"]).ok();
    let _watch = scene.watch(&[]);
    let desktop = scene.desktop();
    let titles =
        ["Tom & Jerry", "We <3 dunst", "a < b", "<img src=x>", "-10% sale", "--help", "a\\nb %s"];
    for (n, title) in titles.iter().enumerate() {
        let class = format!("Fun{n}");
        scene.judge.drifts(&format!("{class}\""), &format!("R&D <b>no</b> {n}"));
        desktop.open(&class, title);
        scene.subscriber.until_titled(title, DriftStatus::Drifting);
        let escaped = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let shown = until("its popup", || {
            let all = scene.dunst().shown();
            all.iter().find(|shown| shown.body.contains(&escaped)).cloned()
        });
        assert!(shown.body.contains(&format!("R&amp;D &lt;b&gt;no&lt;/b&gt; {n}")), "{shown:?}");
        scene.dunst().until_displayed(1);
    }
    assert_eq!(scene.dunst().complaints(), "");
}

#[test]
fn f62_f63_a_service_that_hangs_or_is_missing_holds_nothing_up() {
    let mut scene = scene();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    let mut watch = scene.watch(&[]);
    watch.until("anything", |_| true);
    let desktop = scene.desktop();
    scene.dunst.as_mut().unwrap().process().signal(rustix::process::Signal::STOP);
    desktop.open("Fun", "Football live");
    watch.until_text("Football is not the report");
    scene.cli(&["ontask"]).ok();
    scene.subscriber.until_status(DriftStatus::Ontask);
    // and one that is gone altogether
    scene.dunst = None;
    scene.judge.drifts("Video", "a video is not the report");
    desktop.open("Player", "Video");
    watch.until_text("a video is not the report");
    watch.process().terminate();
    assert!(watch.complaints().lines().count() <= 2, "{}", watch.complaints());
}

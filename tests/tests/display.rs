//! X servers that are missing, die and come back, and sessions that are not X11's.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{DriftStatus, Phase, SensorStatus};
use antidrift_tests::{Manager, Scene, StateExt as _, holds_for, until, until_still};

#[test]
fn without_a_display_everything_else_works() {
    let mut scene = Scene::without_display().start();
    let state = scene
        .subscriber
        .until("no display", |state| state.sensor.status == SensorStatus::Unavailable);
    let detail = state.sensor.detail.unwrap();
    assert!(detail.contains("DISPLAY"), "{detail}");
    let said = scene.cli(&["start", "the report", "--allow", "Editor"]).ok();
    assert!(said.contains("DISPLAY"), "{said}");
    assert!(scene.cli(&["status"]).ok().contains("DISPLAY"));
    scene.cli(&["ontask", "--class", "Mail"]).ok();
    scene.cli(&["refocus"]).ok();
    scene.cli(&["ontask"]).fails(1);
    scene.cli(&["complete"]).ok();
    scene.cli(&["end"]).ok();
    assert_eq!(scene.daemon().log_lines("DISPLAY"), 1, "{}", scene.daemon().log());
}

/// A display that names a server which is not there: one line, calm retries, and tracking when it
/// comes.
#[test]
fn f19_f20_a_server_that_dies_is_waited_for_quietly() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.cli(&["start", "the report", "--allow", "Editor"]).ok();
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_status(DriftStatus::Drifting);
    scene.desktop().kill_server();
    let state = scene.subscriber.until("connecting", |state| {
        state.sensor.status == SensorStatus::Connecting && state.window.is_none()
    });
    assert_eq!((state.phase, state.status()), (Phase::Active, Some(DriftStatus::Idle)));
    let detail = state.sensor.detail.unwrap();
    assert!(scene.cli(&["status"]).ok().contains(&detail));
    // which one it was, and what the system said
    let display = scene.desktop().display().to_owned();
    let why = format!(
        "no X server at {display} (/tmp/.X11-unix/X{}: Connection refused",
        display.trim_start_matches(':')
    );
    until("the cause", || scene.status().sensor.detail?.starts_with(&why).then_some(()));
    let said = scene.cli(&["pick"]).fails(1);
    assert!(said.contains(&why), "{said}");
    let mut none = scene.client(&["pick"]);
    none.env("DISPLAY", ":65000");
    let said = scene.run(none).fails(1);
    assert!(said.contains("no display of that number"), "{said}");
    let (_, before) = scene.daemon().process().cost();
    holds_for(Duration::from_secs(2), "it runs", || scene.daemon().process().is_running());
    let (_, after) = scene.daemon().process().cost();
    assert!(after - before < 200_000_000, "{} ns of CPU in 2 s", after - before);
    assert!(scene.daemon().log_lines("WARN") <= 1, "{}", scene.daemon().log());
    let desktop = scene.restart_desktop();
    scene.subscriber.until("a sensor", |state| state.sensor.status == SensorStatus::Ok);
    desktop.open("Editor", "report.md");
    let state = scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert_eq!(state.commitment.unwrap().text, "the report");
    // the whole day as well: daemon and server gone and back
    scene.stop_daemon();
    scene.desktop().kill_server();
    scene.start_daemon();
    scene.subscriber.until("connecting", |it| it.sensor.status == SensorStatus::Connecting);
    let desktop = scene.restart_desktop();
    desktop.open("Editor", "next.md");
    scene.subscriber.until_titled("next.md", DriftStatus::Ontask);
}

#[test]
fn on_wayland_a_person_is_told_what_is_not_seen() {
    for (name, value) in [("WAYLAND_DISPLAY", "wayland-0"), ("XDG_SESSION_TYPE", "wayland")] {
        let mut scene = Scene::on(Manager::Openbox).env(name, value).start();
        let state = scene.subscriber.until("a detail", |state| {
            state.sensor.status == SensorStatus::Ok && state.sensor.detail.is_some()
        });
        let detail = state.sensor.detail.unwrap();
        assert!(detail.contains("XWayland") || detail.contains("Xwayland"), "{detail}");
        assert!(scene.cli(&["start", "the report"]).ok().contains(&detail));
        assert!(scene.cli(&["status"]).ok().contains(&detail));
        scene.desktop().open("Editor", "report.md");
        scene.subscriber.until_title("report.md");
    }
    // without any X server
    let mut scene = Scene::without_display().env("WAYLAND_DISPLAY", "wayland-0").start();
    let state = scene
        .subscriber
        .until("unavailable", |state| state.sensor.status == SensorStatus::Unavailable);
    assert!(state.sensor.detail.is_some());
}

#[test]
fn nothing_happens_while_nothing_happens() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.cli(&["start", "the report", "--for", "1h", "--allow", "Editor"]).ok();
    scene.desktop().open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    let socket = scene.home.socket();
    let mut more: Vec<_> = (0..3).map(|_| antidrift_tests::Subscriber::connect(&socket)).collect();
    // the end of what is under way: a title at rest, a save, a look at what covers the screen
    let mut cost = || scene.daemon().process().cost();
    let rest = until_still(Duration::from_secs(1), "the daemon rests", &mut cost);
    holds_for(Duration::from_secs(4), "no switches and no CPU time", || cost() == rest);
    // they all still listen
    scene.desktop().open("Editor", "next.md");
    for subscriber in &mut more {
        subscriber.until_title("next.md");
    }
}

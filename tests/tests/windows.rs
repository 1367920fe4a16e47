//! Windows by name: what is open, what is allowed, and back to the one that was left.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{DriftSource, DriftStatus};
use antidrift_tests::{
    Desktop, Manager, Scene, SceneBuilder, Settings, StateExt as _, TestWindow, Watch, holds_for,
    on_every_desktop, until,
};
use serde_json::Value;

/// A session in which a window about football drifts.
fn begin(scene: SceneBuilder) -> Scene {
    let mut scene = scene.start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    scene
}

on_every_desktop! {
    fn open_windows_are_listed(manager: Manager) {
        let scene = Scene::on(manager).no_judge().start();
        assert_eq!(scene.cli(&["windows"]).ok(), "no window is open\n");
        let desktop = scene.desktop();
        desktop.open("Editor", "report.md");
        desktop.open("Fun", "Football live");
        let table = "CLASS   INSTANCE  TITLE\n\
                     Editor  editor    report.md\n\
                     Fun     fun       Football live\n";
        until("both are listed", || (scene.cli(&["windows"]).ok() == table).then_some(()));
        let json: Value = serde_json::from_str(&scene.cli(&["windows", "--json"]).ok()).unwrap();
        assert_eq!(json["windows"][1]["title"], "Football live");
    }
}

#[test]
fn what_is_allowed_changes_the_verdict_at_once() {
    let mut scene = begin(Scene::on(Manager::Openbox));
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_status(DriftStatus::Drifting);
    assert_eq!(scene.cli(&["allow", "add", "FUN"]).ok(), "class       FUN\n");
    let state = scene.subscriber.until_status(DriftStatus::Ontask);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Rule));
    let said = scene.cli(&["allow", "add", "nonesuch"]);
    assert_eq!((said.code, said.stdout.as_str()), (0, "class       FUN\nclass       nonesuch\n"));
    assert!(said.stderr.contains("no open window has the class nonesuch;"), "{said:?}");
    let said = scene.cli(&["allow", "rm", "emacs"]).fails(1);
    assert!(said.contains("«emacs»") && said.contains("antidrift allow list"), "{said}");
    assert_eq!(scene.cli(&["allow", "rm", "fun,nonesuch"]).ok().lines().count(), 1);
    scene.subscriber.until_status(DriftStatus::Drifting);
    // what ontask allowed by its title goes by its title
    scene.cli(&["ontask", "--title"]).ok();
    scene.subscriber.until_status(DriftStatus::Ontask);
    assert_eq!(scene.cli(&["allow"]).ok(), "whole-title Football live\n");
    scene.cli(&["allow", "rm", "--whole-title", "football LIVE"]).ok();
    scene.subscriber.until_status(DriftStatus::Drifting);
}

/// Shows another workspace of i3.
fn workspace(desktop: &Desktop, name: &str) {
    let output = desktop.command("i3-msg").args(["workspace", name]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// On task in one window, drifting in another: with i3 on another workspace.
fn drift_away<'a>(scene: &mut Scene, desktop: &'a Desktop) -> (TestWindow<'a>, TestWindow<'a>) {
    let editor = desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    if desktop.manager() == Manager::I3 {
        workspace(desktop, "elsewhere");
    }
    let fun = desktop.open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    (editor, fun)
}

on_every_desktop! {
    fn refocus_raises_the_window_that_was_left_if_asked_to(manager: Manager) {
        let mut scene = begin(Scene::on(manager));
        let desktop = scene.desktop();
        let (editor, fun) = drift_away(&mut scene, &desktop);
        let said = scene.cli(&["refocus"]).ok();
        assert_eq!(said.lines().count(), 1, "{said}");
        holds_for(Duration::from_millis(300), "the focus stays", || {
            scene.subscriber.state().title() == Some("Football live")
        });
        let said = scene.cli(&["refocus", "--activate"]).ok();
        assert_eq!(said.lines().count(), 1, "{said}");
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
        if manager == Manager::I3 {
            assert_eq!(desktop.number(desktop.root(), "_NET_CURRENT_DESKTOP"), 0);
        }
        // and if it is closed, that is said
        fun.focus();
        scene.subscriber.until_title("Football live");
        editor.destroy();
        let said = scene.cli(&["refocus", "--activate"]).ok();
        let sorry = "the window that was on task last could not be raised";
        assert!(said.starts_with("back to task") && said.contains(sorry), "{said}");
        assert_eq!(scene.status().title(), Some("Football live"));
    }
}

/// A drifting window with its popup.
fn popup<'a>(scene: &mut Scene, desktop: &'a Desktop) -> (TestWindow<'a>, TestWindow<'a>, Watch) {
    let watch = scene.watch(&["--notify-only"]);
    let (editor, fun) = drift_away(scene, desktop);
    scene.dunst().until_displayed(1);
    (editor, fun, watch)
}

#[test]
fn the_button_of_a_popup_raises_the_window_that_was_left() {
    for manager in [Manager::Openbox, Manager::I3] {
        let mut scene = begin(Scene::on(manager).dunst());
        let desktop = scene.desktop();
        let (editor, _, watch) = popup(&mut scene, &desktop);
        scene.dunst().press("Back to task");
        until("it has the focus", || (desktop.active() == editor.id()).then_some(()));
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
        assert_eq!(watch.complaints(), "");
    }
}

#[test]
fn a_button_raises_nothing_where_that_is_switched_off() {
    let quiet = |it: &mut Settings| it.drift = "[notify]\nactivate = false".into();
    let mut scene = begin(Scene::on(Manager::Openbox).dunst().settings(quiet));
    let desktop = scene.desktop();
    let (_, fun, watch) = popup(&mut scene, &desktop);
    scene.dunst().press("Back to task");
    scene.subscriber.until_status(DriftStatus::Idle);
    holds_for(Duration::from_millis(500), "the focus stays", || desktop.active() == fun.id());
    assert_eq!(watch.complaints(), "");
    // but who asks for it has it
    scene.cli(&["refocus", "--activate"]).ok();
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
}

#[test]
fn a_button_that_cannot_raise_the_window_says_so() {
    let mut scene = begin(Scene::on(Manager::Openbox).dunst());
    let desktop = scene.desktop();
    let (editor, _, watch) = popup(&mut scene, &desktop);
    editor.destroy();
    scene.dunst().press("Back to task");
    let sorry = "the window that was on task last could not be raised";
    until("it is said", || watch.complaints().contains(sorry).then_some(()));
}

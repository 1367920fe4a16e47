//! `antidrift pick`: a window chosen by a click, as a person clicks.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{DriftSource, DriftStatus};
use antidrift_tests::{
    Desktop, Manager, Scene, Watch, WindowSpec, holds_for, on_every_desktop, until,
};
use x11rb::{
    CURRENT_TIME, NONE,
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, GrabMode, GrabStatus},
    },
};

/// A session in which a window about football drifts.
fn scene(manager: Manager) -> Scene {
    let mut scene = Scene::on(manager).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    scene
}

fn classes(scene: &Scene) -> Vec<String> {
    scene.status().allowed.unwrap().window_classes
}

/// `antidrift pick`, waiting for the click.
fn picking(scene: &Scene, args: &[&str]) -> Watch {
    let pick = scene.start_client(&[&["pick"], args].concat());
    until("it asks for a click", || pick.complaints().contains("Click the window").then_some(()));
    pick
}

/// What a pick that worked said.
fn picked(mut pick: Watch) -> String {
    assert_eq!(pick.process().wait(), 0, "{}", pick.complaints());
    pick.until_text("")
}

/// What one that did not complained about.
fn not_picked(mut pick: Watch) -> String {
    assert_eq!(pick.process().wait(), 1);
    let complaints = pick.complaints();
    complaints.lines().last().unwrap().to_owned()
}

/// Has a window hear of clicks.
fn heed(desktop: &Desktop, window: u32) {
    let mask = EventMask::BUTTON_PRESS | EventMask::BUTTON_RELEASE;
    let aux = ChangeWindowAttributesAux::new().event_mask(mask);
    desktop.conn().change_window_attributes(window, &aux).unwrap();
    desktop.sync();
}

/// Whether a window has heard of a click since it was asked last.
fn heard(desktop: &Desktop) -> bool {
    desktop.conn().get_input_focus().unwrap().reply().unwrap();
    let mut heard = false;
    while let Some(event) = desktop.conn().poll_for_event().unwrap() {
        heard |= matches!(event, Event::ButtonPress(_) | Event::ButtonRelease(_));
    }
    heard
}

on_every_desktop! {
    fn a_click_allows_the_class_and_reaches_no_window(manager: Manager) {
        let mut scene = scene(manager);
        let desktop = scene.desktop();
        let editor = desktop.open("Editor", "report.md");
        let fun = desktop.open("Fun", "Football live");
        let state = scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
        let alert = state.drift.unwrap().alert;
        for window in [&editor, &fun] {
            heed(&desktop, window.id());
        }
        let pick = picking(&scene, &[]);
        desktop.click(editor.spot(), 1);
        assert_eq!(picked(pick), "on task from now on: every window of Editor");
        assert_eq!(classes(&scene), ["Editor"]);
        let pick = picking(&scene, &[]);
        desktop.click(editor.spot(), 1);
        assert_eq!(picked(pick), "allowed already: Editor: report.md");
        // the window that drifts was not meant
        assert_eq!(scene.status().drift.unwrap().alert, alert);
        let mut pick = picking(&scene, &[]);
        desktop.hold_button(fun.spot(), 1);
        holds_for(Duration::from_millis(200), "it waits for the other half of the click", || {
            pick.process().is_running()
        });
        desktop.let_go(1);
        assert_eq!(picked(pick), "on task from now on: every window of Fun");
        scene.subscriber.until_status(DriftStatus::Ontask);
        assert_eq!(classes(&scene), ["Editor", "Fun"]);
        assert!(!heard(&desktop));
        desktop.click(fun.spot(), 1);
        until("a click that nobody takes away", || heard(&desktop).then_some(()));
    }
}

on_every_desktop! {
    fn the_right_button_escape_and_ctrl_c_pick_nothing(manager: Manager) {
        let scene = scene(manager);
        let desktop = scene.desktop();
        let editor = desktop.open("Editor", "report.md");
        heed(&desktop, editor.id());
        let pick = picking(&scene, &[]);
        desktop.click(editor.spot(), 2);
        desktop.click(editor.spot(), 3);
        assert_eq!(not_picked(pick), "antidrift: nothing was picked");
        for _ in 0..2 {
            let pick = picking(&scene, &[]);
            desktop.press("Escape");
            assert_eq!(not_picked(pick), "antidrift: nothing was picked");
            // and once more with the numbers locked
            desktop.press("Num_Lock");
        }
        let mut pick = picking(&scene, &[]);
        pick.process().signal(rustix::process::Signal::INT);
        assert_eq!(pick.process().wait(), -2);
        assert!(!heard(&desktop));
        // the pointer is free again
        desktop.click(editor.spot(), 1);
        until("a click that nobody takes away", || heard(&desktop).then_some(()));
        assert!(classes(&scene).is_empty());
    }
}

#[test]
fn a_class_in_any_encoding_is_the_one_that_the_daemon_reads() {
    let mut scene = scene(Manager::Openbox);
    let desktop = scene.desktop();
    let cases = [
        ("STRING", &b"beta\0B\xe9ta\0"[..]),
        ("UTF8_STRING", "beta\0Bétä\0".as_bytes()),
        ("UTF8_STRING", b"gamma\0Gam\xffma\0"),
        ("COMPOUND_TEXT", b"delta\0D\xe9lta\0"),
    ];
    for (n, (kind, bytes)) in cases.into_iter().enumerate() {
        let title = format!("Football {n}");
        let window = WindowSpec::new(&title).unmapped().open(&desktop);
        window.set("WM_CLASS", kind, bytes);
        window.map();
        window.focus();
        scene.subscriber.until_titled(&title, DriftStatus::Drifting);
        let pick = picking(&scene, &[]);
        desktop.click(window.spot(), 1);
        picked(pick);
        let state = scene.subscriber.until_status(DriftStatus::Ontask);
        assert_eq!(state.drift.unwrap().source, Some(DriftSource::Rule), "{kind}");
        window.destroy();
        scene.subscriber.until("no window", |state| state.window.is_none());
    }
    assert_eq!(classes(&scene), ["Béta", "Bétä", "Gam\u{fffd}ma", "Délta"]);
}

#[test]
fn a_title_is_allowed_as_the_daemon_makes_it_its_own() {
    let mut scene = scene(Manager::Openbox);
    let desktop = scene.desktop();
    let firefox = desktop.open("firefox", "(3) Football \u{1b}[31mcafé — Mozilla Firefox");
    scene.subscriber.until_status(DriftStatus::Drifting);
    let pick = picking(&scene, &["--title"]);
    desktop.click(firefox.spot(), 1);
    assert!(picked(pick).starts_with("on task from now on: «(3) Football café"));
    let state = scene.subscriber.until_status(DriftStatus::Ontask);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Rule));
    firefox.set_title("(4) Football café — Mozilla Firefox");
    scene.subscriber.until_titled("(4) Football café — Mozilla Firefox", DriftStatus::Ontask);
    firefox.set_title("Football scores — Mozilla Firefox");
    scene.subscriber.until_titled("Football scores — Mozilla Firefox", DriftStatus::Drifting);
    // the old property alone, as old programs write it
    firefox.remove("_NET_WM_NAME");
    firefox.set("WM_NAME", "STRING", b"Football t\xeates");
    scene.subscriber.until_titled("Football têtes", DriftStatus::Drifting);
    let pick = picking(&scene, &["--title"]);
    desktop.click(firefox.spot(), 1);
    picked(pick);
    scene.subscriber.until_status(DriftStatus::Ontask);
}

#[test]
fn what_cannot_be_allowed_is_told_with_another_way() {
    let scene = scene(Manager::Openbox);
    let desktop = scene.desktop();
    let nameless = WindowSpec::new("a title").without_class().open(&desktop);
    let untitled = WindowSpec::new("").class("Silent").without_title().open(&desktop);
    let long = WindowSpec::new(&"long ".repeat(60)).open(&desktop);
    let japanese = WindowSpec::new("").without_title().open(&desktop);
    japanese.set("WM_NAME", "COMPOUND_TEXT", b"\x1b$(B$3$s\x1b(B");
    for (window, args, said) in [
        (&nameless, &[][..], "no class; antidrift pick --title"),
        (&untitled, &["--title"], "no title; antidrift pick"),
        (&long, &["--title"], "longer than 256 bytes; allow a part of it"),
        (&japanese, &["--title"], "an encoding that is not read here; allow a part of it"),
    ] {
        window.focus();
        let pick = picking(&scene, args);
        desktop.click(window.spot(), 1);
        let complaint = not_picked(pick);
        assert!(complaint.contains(said), "{complaint}");
    }
    let pick = picking(&scene, &[]);
    desktop.click((1020, 765), 1);
    assert_eq!(not_picked(pick), "antidrift: there is no window there, only the background");
    assert!(scene.status().allowed.unwrap().is_empty());
}

#[test]
fn a_title_bar_is_its_windows_and_a_menu_is_nobodys() {
    for manager in [Manager::Openbox, Manager::I3, Manager::Bspwm] {
        let scene = scene(manager);
        let desktop = scene.desktop();
        desktop.open("Other", "other.md");
        let editor = desktop.open("Editor", "report.md");
        editor.spot();
        if manager != Manager::Bspwm {
            // a few pixels above the window
            let (x, y) = editor.origin();
            let pick = picking(&scene, &[]);
            desktop.click((x + 20, y - 5), 1);
            assert_eq!(picked(pick), "on task from now on: every window of Editor");
        }
        let allowed = classes(&scene);
        let menu = WindowSpec::new("menu").class("Menu").override_redirect().open(&desktop);
        let pick = picking(&scene, &[]);
        desktop.click(menu.spot(), 1);
        assert!(not_picked(pick).contains("click inside the window"));
        assert_eq!(classes(&scene), allowed);
    }
}

/// i3 draws the tabs of windows on the frame around all of them.
#[test]
fn a_tab_that_could_be_any_windows_is_not_guessed_at() {
    let scene = scene(Manager::I3);
    let desktop = scene.desktop();
    desktop.open("Other", "other.md");
    let editor = desktop.open("Editor", "report.md");
    let output = desktop.command("i3-msg").args(["layout", "tabbed"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    until("it has the whole width", || (editor.origin().0 < 100).then_some(()));
    let pick = picking(&scene, &[]);
    desktop.click((20, 5), 1);
    assert!(not_picked(pick).contains("click inside the window"));
    let pick = picking(&scene, &[]);
    desktop.click(editor.spot(), 1);
    assert_eq!(picked(pick), "on task from now on: every window of Editor");
}

#[test]
fn a_pointer_that_another_program_holds_is_not_waited_for_long() {
    let scene = scene(Manager::Openbox);
    let desktop = scene.desktop();
    let hold = || {
        let (conn, root) = (desktop.conn(), desktop.root());
        let (mask, mode) = (EventMask::BUTTON_PRESS, GrabMode::ASYNC);
        let asked = conn.grab_pointer(false, root, mask, mode, mode, NONE, NONE, CURRENT_TIME);
        asked.unwrap().reply().unwrap().status
    };
    assert_eq!(hold(), GrabStatus::SUCCESS);
    let said = scene.cli(&["pick"]).fails(1);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("another program holds the pointer"), "{said}");
    desktop.conn().ungrab_pointer(CURRENT_TIME).unwrap();
    desktop.sync();
    let _pick = picking(&scene, &[]);
    assert_eq!(hold(), GrabStatus::ALREADY_GRABBED);
}

//! The examples for status bars, as they are, in the real bars.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use antidrift_protocol::{ClearedWhy, DriftStatus, EventBody, Phase};
use antidrift_tests::{Desktop, Manager, Process, Scene, until};

/// Where a bar shows our text, and a point on it.
struct Place {
    area: (i16, i16, u16, u16),
    point: (i16, i16),
}

fn contrib(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/bars").join(file)
}

/// A desktop with i3, this in its configuration, and what a bar finds there.
fn scene(i3: &str) -> Scene {
    let scene = Scene::on(Manager::Bare).settings(|it| it.debounce = 0.1).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.judge.ontask("Report", "the report itself");
    scene.desktop().manage(Manager::I3, i3, &|name| scene.program(name));
    scene
}

/// Whether the bar shows something in this colour.
fn shows(desktop: &Desktop, place: &Place, colour: &str) -> bool {
    let number = u32::from_str_radix(&colour[1..], 16).unwrap().to_le_bytes();
    // Rounded on the way through fonts and pictures.
    let near = |(is, wanted): (&u8, &u8)| is.abs_diff(*wanted) <= 3;
    desktop.pixels(place.area).chunks_exact(4).any(|pixel| pixel.iter().zip(&number[..3]).all(near))
}

/// Leads a session through its states and answers by clicks, while a bar is at the top.
fn lead_and_click(scene: &mut Scene, place: &Place) {
    let desktop = scene.desktop();
    let until_shown = |desktop: &Desktop, what: &str, colour: &str| {
        until(&format!("{what} in {colour}"), || shows(desktop, place, colour).then_some(()));
    };
    until_shown(&desktop, "no session", "#808080");
    scene.begin("the report");
    until_shown(&desktop, "a session", "#8fa1b3");
    desktop.open("Writer", "Report");
    until_shown(&desktop, "on task", "#3fa266");
    let fun = desktop.open("Fun", "Football live");
    until_shown(&desktop, "drifting", "#e5484d");

    desktop.click(place.point, 1);
    let why = scene.subscriber.until_event("alert_cleared", |event| match event {
        EventBody::AlertCleared(cleared) => Some(cleared.why),
        _ => None,
    });
    assert_eq!(why, ClearedWhy::Refocus, "a click with the left button is back to task");
    // The window that was on task is raised by it, so this one has to be gone to again.
    until("the window that was on task", || (desktop.active() != fun.id()).then_some(()));
    fun.focus();
    scene.subscriber.until("drift again", |state| {
        state.drift.as_ref().is_some_and(|drift| drift.status == DriftStatus::Drifting)
    });
    desktop.click(place.point, 2);
    scene.subscriber.until("its class allowed", |state| {
        state.allowed.as_ref().is_some_and(|allowed| allowed.window_classes == ["Fun"])
    });
    until_shown(&desktop, "on task", "#3fa266");
    desktop.click(place.point, 3);
    scene.subscriber.until("the review", |state| state.phase == Phase::Review);
    until_shown(&desktop, "the review", "#8fa1b3");
}

#[test]
fn polybar_shows_the_state_and_its_clicks_answer() {
    let mut scene = scene("");
    let config = scene.home.path().join("polybar.ini");
    let bar = "[bar/test]\nwidth = 100%\nheight = 24\nbackground = #000000\nforeground = #ffffff\n\
               font-0 = \"DejaVu Sans:bold:size=14\"\nmodules-left = antidrift\n";
    let include = contrib("polybar/antidrift.ini");
    fs::write(&config, format!("include-file = {}\n{bar}", include.display())).unwrap();
    let mut command = scene.program("polybar");
    command.arg(format!("--config={}", config.display())).arg("test");
    let _polybar = Process::spawn(&mut command, "polybar");
    lead_and_click(&mut scene, &Place { area: (0, 0, 500, 24), point: (12, 12) });
}

#[test]
fn i3blocks_shows_the_state_and_its_clicks_answer() {
    let mut scene = scene(&format!(
        "bar {{\n  position top\n  workspace_buttons no\n  tray_output none\n  \
         font pango:DejaVu Sans Bold 14\n  status_command i3blocks -c {}\n}}\n",
        contrib("i3blocks/antidrift.conf").display()
    ));
    lead_and_click(&mut scene, &Place { area: (424, 0, 600, 20), point: (1004, 10) });
}

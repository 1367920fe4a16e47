//! `antidrift doctor`, with everything there and with things missing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use antidrift_tests::{Manager, Scene};

#[test]
fn with_everything_there_all_is_well() {
    let config = "[drift]\nsettle_secs = 0.1\n";
    let scene =
        Scene::on(Manager::Openbox).dunst().settings(|it| it.whole = Some(config.into())).start();
    let ran = scene.cli(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for (what, part) in [
        ("daemon", "answers on"),
        ("display", "windows are seen"),
        ("judge", "embedded judged a sample window rightly"),
        ("notify-send", "notify-send"),
        ("notifications", "a notification service answers"),
        ("state directory", "antidrift"),
    ] {
        let line = ran.stdout.lines().find(|line| line.starts_with(&format!("ok {what}")));
        assert!(line.is_some_and(|line| line.contains(part)), "{what}: {}", ran.stdout);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_remedy() {
    let config =
        "[judge]\nbackend = \"command\"\ncommand = [\"sh\", \"-c\", \"echo quota >&2; exit 3\"]\n";
    let mut scene = Scene::without_display().settings(|it| it.whole = Some(config.into())).start();
    let ran = scene.cli(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let line = |what: &str| {
        let found = ran.stdout.lines().find(|line| line.starts_with(&format!("!! {what}")));
        found.unwrap_or_else(|| panic!("no {what}: {}", ran.stdout)).to_owned()
    };
    assert!(line("display").contains("DISPLAY"));
    assert!(line("judge").contains("quota"));
    scene.stop_daemon();
    let ran = scene.cli(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.starts_with("!! daemon") && ran.stdout.contains("start it"), "{ran:?}");
    assert!(ran.stdout.contains("state directory"), "the rest is looked at all the same");
}

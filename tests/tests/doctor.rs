//! `antidrift doctor`, with everything there and with things missing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, os::unix::fs::PermissionsExt as _};

use antidrift_tests::{Manager, Outcome, Scene, SceneBuilder};
use rustix::process::Signal;

/// The line about one thing, which must be wrong.
#[track_caller]
fn wrong(ran: &Outcome, what: &str) -> String {
    assert_eq!(ran.code, 1, "{ran:?}");
    let found = ran.stdout.lines().find_map(|line| line.strip_prefix(&format!("!! {what:16} ")));
    found.unwrap_or_else(|| panic!("no {what}: {}", ran.stdout)).to_owned()
}

fn with_config(config: &str) -> SceneBuilder {
    let config = config.to_owned();
    Scene::without_display().settings(|it| it.whole = Some(config))
}

#[test]
fn with_everything_there_all_is_well() {
    let config = "[drift]\nsettle_secs = 0.1\n";
    let scene =
        Scene::on(Manager::Openbox).dunst().settings(|it| it.whole = Some(config.into())).start();
    let ran = scene.cli(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for (what, part) in [
        ("daemon", "answers on"),
        ("display", "a window manager names the active one"),
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
    assert!(wrong(&ran, "display").contains("DISPLAY"));
    assert!(wrong(&ran, "judge").contains("quota"));
    assert!(wrong(&ran, "notifications").contains("DBUS_SESSION_BUS_ADDRESS is not set"));
    scene.stop_daemon();
    let ran = scene.cli(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.starts_with("!! daemon") && ran.stdout.contains("start it"), "{ran:?}");
    assert!(ran.stdout.contains("state directory"), "the rest is looked at all the same");
}

#[test]
fn a_daemon_that_does_not_answer_is_said_and_the_rest_is_looked_at() {
    let mut scene = with_config("").start();
    scene.daemon().process().signal(Signal::STOP);
    let ran = scene.cli(&["doctor"]);
    scene.daemon().process().signal(Signal::CONT);
    let line = wrong(&ran, "daemon");
    assert!(line.contains("antidriftd --replace"), "{line}");
    assert!(ran.stdout.contains("state directory"), "{ran:?}");
}

#[test]
fn a_notification_service_that_hangs_is_none() {
    let scene = with_config("").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere").start();
    for script in ["exec sleep 600", "trap '' TERM INT; while :; do sleep 1; done", "exit 1"] {
        scene.home.install("dbus-send", &format!("#!/bin/sh\n{script}\n"));
        let line = wrong(&scene.cli(&["doctor"]), "notifications");
        assert!(line.contains("start one, such as dunst"), "{script}: {line}");
    }
}

#[test]
fn every_judge_that_is_not_there_has_its_remedy() {
    let gone = "http://127.0.0.1:9/v1";
    for (config, parts) in [
        ("backend = \"gemini\"".to_owned(), ["gemini: no such program on PATH", "; install it"]),
        ("backend = \"clade\"".to_owned(), ["there is no judge", "did you mean «claude»"]),
        (
            "backend = \"http\"\n[judge.http]\nmodel = \"q\"\nbase_url = \"https://x.example\""
                .to_owned(),
            ["built without https", "--features https"],
        ),
        (
            format!("backend = \"http\"\n[judge.http]\nmodel = \"q\"\nbase_url = {gone:?}"),
            ["http q: ", "is a server running at http://127.0.0.1:9/v1?"],
        ),
        (
            "backend = \"http\"\n[judge.http]\nmodel = \"q\"\nbase_url = \"http://x.example\""
                .to_owned(),
            ["x.example is another machine", "allow_remote = true"],
        ),
        (
            "backend = \"command\"\ntimeout_secs = 0.5\ncommand = [\"sleep\", \"600\"]".to_owned(),
            ["sleep: no answer within 0.5 s", "timeout_secs"],
        ),
        (
            "backend = \"command\"\ncommand = [\"sh\", \"-c\", \"echo Sure thing\"]".to_owned(),
            ["no answer in the form that was asked for", "another model"],
        ),
        (
            "backend = \"command\"\ncommand = [\"sh\", \"-c\", \"echo '{\\\"on_task\\\": true}'\"]"
                .to_owned(),
            ["called a video of cats", "on_task"],
        ),
    ] {
        let scene = with_config(&format!("[judge]\n{config}\n")).env("PATH", "/usr/bin:/bin");
        let line = wrong(&scene.start().cli(&["doctor"]), "judge");
        for part in parts {
            assert!(line.contains(part), "{config}: {line}");
        }
    }
}

#[test]
fn no_judge_by_choice_is_nothing_wrong() {
    let scene = with_config("[judge]\nbackend = \"none\"\n").start();
    let ran = scene.cli(&["doctor"]);
    assert!(ran.stdout.contains("ok judge            none, as configured"), "{ran:?}");
}

#[test]
fn a_state_directory_that_cannot_be_used_is_named() {
    let scene = with_config("").start();
    let state = scene.home.path().join("state");
    fs::remove_dir_all(&state).unwrap();
    // Root may write anywhere, but not below a file.
    fs::write(&state, "").unwrap();
    let line = wrong(&scene.cli(&["doctor"]), "state directory");
    assert!(line.contains("is no directory") && line.contains("XDG_STATE_HOME"), "{line}");
    if rustix::process::geteuid().is_root() {
        return;
    }
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    let line = wrong(&scene.cli(&["doctor"]), "state directory");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(line.contains("cannot be written to") && line.contains("XDG_STATE_HOME"), "{line}");
}

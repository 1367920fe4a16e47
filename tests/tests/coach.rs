//! The coach, with a stand-in that is a real child process.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use antidrift_tests::{Manager, Scene};

const ANSWER: &str = r#"{"next_action": "open the folder", "success_condition": "the form is sent", "timebox_minutes": 25, "allowed_window_classes": ["Editor"]}"#;

fn script(dir: &Path, body: &str) -> String {
    let path = dir.join("coach");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("[judge]\nbackend = \"none\"\n[coach]\ncommand = [{:?}]\n", path.to_str().unwrap())
}

fn scene(dir: &Path, body: &str) -> Scene {
    let config = script(dir, body);
    Scene::without_display().settings(move |it| it.whole = Some(config.clone())).start()
}

#[test]
fn it_proposes_and_nothing_is_started() {
    let dir = tempfile::tempdir().unwrap();
    let body = format!("cat > {}/asked; echo '{ANSWER}'", dir.path().display());
    let scene = scene(dir.path(), &body);
    let said = scene.cli(&["coach", "the", "tax", "return"]).ok();
    assert_eq!(
        said,
        "next      open the folder\ndone when the form is sent\ntimebox   25 min\nallow     Editor (not seen lately)\n"
    );
    let asked = fs::read_to_string(dir.path().join("asked")).unwrap();
    assert!(asked.contains(r#"{"intent":"the tax return""#), "{asked}");
    let json = scene.cli(&["coach", "--json", "x"]).ok();
    assert!(json.contains("\"timebox_secs\":1500"), "{json}");
    assert!(scene.cli(&["status"]).ok().contains("no session"));
}

/// Windows that nobody has looked at yet are known, too; those of a password manager to nobody else.
#[test]
fn it_is_told_of_the_open_windows_and_marks_what_is_not_among_them() {
    let dir = tempfile::tempdir().unwrap();
    let answer = ANSWER.replace("[\"Editor\"]", "[\"editor\", \"Chess\"]");
    let config =
        script(dir.path(), &format!("cat > {}/asked; echo '{answer}'", dir.path().display()));
    let scene = Scene::on(Manager::Openbox).settings(move |it| it.whole = Some(config)).start();
    let desktop = scene.desktop();
    desktop.open("Editor", "report.md");
    desktop.open("KeePassXC", "passwords");
    desktop.open("Firefox", "start page");
    // One that begins now has seen none of the others in front.
    let mut scene = scene;
    scene.stop_daemon();
    scene.start_daemon();
    scene.subscriber.until_title("start page");
    let said = scene.cli(&["coach", "the", "tax", "return"]).ok();
    assert!(said.ends_with("allow     editor, Chess (not seen lately)\n"), "{said}");
    let asked = fs::read_to_string(dir.path().join("asked")).unwrap();
    assert!(asked.contains(r#""window_classes":["Firefox","Editor"]"#), "{asked}");
}

#[test]
fn start_takes_what_it_proposes_and_what_is_given_wins() {
    let dir = tempfile::tempdir().unwrap();
    let scene = scene(dir.path(), &format!("cat > /dev/null; echo '{ANSWER}'"));
    let start = ["start", "--coach", "--yes", "--next", "mine", "the", "tax", "return"];
    let ran = scene.cli(&start);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("the tax return (25 min)") && ran.stdout.contains("Editor"));
    assert!(ran.stderr.contains("lately: Editor"), "{ran:?}");
    let commitment = scene.status().commitment.unwrap();
    assert_eq!(commitment.text, "the tax return");
    assert_eq!(commitment.next_action.as_deref(), Some("mine"));
    assert_eq!(commitment.success_condition.as_deref(), Some("the form is sent"));
}

#[test]
fn a_coach_that_fails_is_said_and_starts_nothing() {
    for (body, part) in [
        ("echo 'Error: quota used up' >&2; exit 1", "quota used up"),
        ("cat > /dev/null; echo 'What is the deadline?'", "form that was asked for"),
        ("cat > /dev/null; echo '{\"next_action\": \"\", \"timebox_minutes\": 900}'", "wrong type"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let scene = scene(dir.path(), body);
        let ran = scene.cli(&["start", "--coach", "--yes", "x"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(part), "{ran:?}");
        assert!(scene.status().commitment.is_none());
    }
}

#[test]
fn without_a_coach_it_says_how_to_have_one() {
    let scene = Scene::without_display().no_judge().start();
    let ran = scene.cli(&["coach", "x"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("[coach]"), "{ran:?}");
}

#[test]
fn who_hangs_up_cancels_it_and_the_next_one_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let body = format!(
        "cat > /dev/null; if [ -e {0}/once ]; then echo '{ANSWER}'; else touch {0}/once; exec sleep 600; fi",
        dir.path().display()
    );
    let scene = scene(dir.path(), &body);
    let mut first = scene.client(&["coach", "x"]).spawn().unwrap();
    antidrift_tests::until("the coach runs", || dir.path().join("once").exists().then_some(()));
    first.kill().unwrap();
    first.wait().unwrap();
    antidrift_tests::until("the next one is served", || {
        (scene.cli(&["coach", "x"]).code == 0).then_some(())
    });
}

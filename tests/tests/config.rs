//! The configuration: written, checked, shown, and read again while the daemon runs.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use antidrift_protocol::{Away, DriftStatus};
use antidrift_tests::{Home, Manager, Outcome, Scene, cli, holds_for, until};
use rustix::process::Signal;
use serde_json::json;

fn antidrift(home: &Home, args: &[&str]) -> Outcome {
    cli::run(cli::command(home, args), home.path())
}

#[test]
fn a_configuration_is_written_checked_and_shown_without_a_daemon() {
    let home = Home::new();
    let file = home.config_file();
    assert_eq!(
        antidrift(&home, &["config", "check"]).ok(),
        format!("there is no {}: the defaults hold\n", file.display())
    );
    let said = antidrift(&home, &["config", "init"]).ok();
    assert_eq!(said, format!("{} is written; change it, then antidrift reload\n", file.display()));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(antidrift(&home, &["config", "init", "--print"]).ok(), text);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        antidrift(&home, &["config", "check"]).ok(),
        format!("no fault in {}\n", file.display())
    );
    let mine = "[notify]\nbudget = 3\n";
    home.configure(mine);
    let refused = antidrift(&home, &["config", "init"]).fails(1);
    assert!(refused.contains("is there already and stays as it is"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), mine);

    let dump = antidrift(&home, &["config", "dump"]).ok();
    let expected = format!("\nbudget = 3  # {}:2\n", file.display());
    assert!(dump.contains(&expected), "{dump}");
    assert!(dump.contains("\nsettle_secs = 2  # default\n"), "{dump}");
    let mut command = cli::command(&home, &["config", "dump"]);
    command.env("ANTIDRIFT_AI_BACKEND", "none");
    let dump = cli::run(command, home.path()).ok();
    assert!(dump.contains("\nbackend = \"none\"  # $ANTIDRIFT_AI_BACKEND\n"), "{dump}");
}

#[test]
fn a_fault_is_named_with_its_place_and_what_was_meant() {
    let home = Home::new();
    let file = home.config_file();
    home.configure("[judge]\nbackend = \"none\"\n[notify]\n  buget = 3\n");
    for command in [&["config", "check"][..], &["config", "dump"]] {
        let said = antidrift(&home, command).fails(2);
        assert!(said.starts_with(&format!("antidriftd: {}:4:3: ", file.display())), "{said}");
        assert!(said.contains("did you mean `budget`?"), "{said}");
        assert_eq!(said.lines().count(), 1);
    }
    let other = home.path().join("other.toml");
    fs::write(&other, "[judge]\nbackend = \"claude\"\n").unwrap();
    let named = ["config", "check", "--config", other.to_str().unwrap()];
    let said = antidrift(&home, &named).ok();
    assert!(said.contains("no fault in") && said.contains("the judge would be off"), "{said}");
    let missing = home.path().join("missing.toml");
    let named = ["config", "check", "--config", missing.to_str().unwrap()];
    assert!(antidrift(&home, &named).fails(2).contains("No such file"));
    // A link to nowhere is not written through.
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(home.path().join("elsewhere"), &file).unwrap();
    assert!(antidrift(&home, &["config", "init"]).fails(1).contains("is there already"));
    assert!(!home.path().join("elsewhere").exists());
}

#[test]
fn a_reload_takes_over_what_has_changed() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    let desktop = scene.desktop();
    desktop.open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    assert_eq!(scene.cli(&["reload"]).ok(), "reloaded: nothing has changed\n");
    assert_eq!(scene.status().drift.unwrap().status, DriftStatus::Drifting);

    // Without a judge nothing is drift.
    let settings = "[drift]\nsettle_secs = 0.1\ndebounce_secs = 0.2\n[away]\nidle_secs = 300\n";
    scene.home.configure(&format!("[judge]\nbackend = \"none\"\n{settings}"));
    let said = scene.cli(&["reload"]).ok();
    assert!(said.starts_with("reloaded: judge.backend, judge.command"), "{said}");
    scene.subscriber.until_titled("Football live", DriftStatus::Idle);
    assert_eq!(scene.status().judge.backend, "none");

    // The embedded one finds by itself what is a game.
    scene.home.configure(settings);
    scene.cli(&["reload"]).ok();
    assert_eq!(scene.status().judge.backend, "embedded");
    desktop.open("steam", "Steam");
    let state = scene.subscriber.until_titled("Steam", DriftStatus::Drifting);
    assert_eq!(state.commitment.unwrap().text, "the report", "the session goes on");
}

#[test]
fn sighup_reloads_and_a_faulty_configuration_changes_nothing() {
    let mut scene = Scene::without_display().no_judge().start();
    scene.begin("the report");
    let file = scene.home.config_file();
    scene.home.configure("[judge]\nbackend = 5\n");
    let refused = scene.cli(&["reload"]).fails(1);
    assert!(refused.contains(&format!("{}:2:11: ", file.display())), "{refused}");
    let answer = scene.ask("reload", &json!({}));
    assert_eq!(answer["error"]["code"], "bad_config");
    scene.daemon().process().signal(Signal::HUP);
    let kept = "the configuration before is kept";
    until("the log says so", || (scene.daemon().log_lines(kept) == 3).then_some(()));
    assert_eq!(scene.status().judge.backend, "none");
    assert_eq!(scene.status().commitment.unwrap().text, "the report");

    scene.home.configure("");
    scene.daemon().process().signal(Signal::HUP);
    scene.subscriber.until("the new judge", |state| state.judge.backend == "embedded");
    // A file that is gone means the defaults.
    fs::remove_file(&file).unwrap();
    assert_eq!(scene.cli(&["reload"]).ok(), "reloaded: nothing has changed\n");
}

#[test]
fn a_configuration_that_cannot_be_read_for_long_holds_nobody_up() {
    let mut scene = Scene::without_display().no_judge().start();
    let file = scene.home.config_file();
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    scene.daemon().process().signal(Signal::HUP);
    holds_for(Duration::from_millis(300), "it answers", || {
        scene.cli(&["status"]).ok().starts_with("no session")
    });
    scene.stop_daemon();
}

#[test]
fn idleness_is_looked_at_otherwise_from_then_on() {
    let mut scene = Scene::on(Manager::Openbox).no_judge().settings(|it| it.idle = 0.0).start();
    scene.begin("the report");
    let desktop = scene.desktop();
    desktop.open("Editor", "the report");
    scene.subscriber.until_title("the report");
    scene.home.configure("[judge]\nbackend = \"none\"\n[away]\nidle_secs = 1\n");
    let said = scene.cli(&["reload"]).ok();
    assert!(said.contains("away.idle_secs"), "{said}");
    scene.subscriber.until("away", |state| state.away == Some(Away::Idle));
    scene.home.configure("[judge]\nbackend = \"none\"\n[away]\nidle_secs = 0\n");
    scene.cli(&["reload"]).ok();
    scene.subscriber.until("present", |state| state.away.is_none());
    assert_eq!(scene.status().window.unwrap().title, "the report");
}

#[test]
fn a_model_in_the_cloud_is_said_when_it_is_taken_over() {
    let scene = Scene::without_display().no_judge().start();
    scene.home.install("claude", "#!/bin/sh\necho none\n");
    scene.home.configure("[judge]\nbackend = \"claude\"\n");
    let said = scene.cli(&["reload"]).ok();
    assert!(said.contains("note: the class and title of windows"), "{said}");
    assert!(said.contains("go to claude (cloud)"), "{said}");
    scene.home.configure("[judge]\nbackend = \"codex\"\n");
    let said = scene.cli(&["reload"]).ok();
    assert!(said.contains("note: the judge is off: "), "{said}");
}

#[test]
fn a_session_begins_with_a_preset() {
    let mut scene = Scene::without_display().no_judge().start();
    scene.home.configure(
        "[presets.writing]\ntext = \"write the thesis\"\nfor = \"50m\"\nnext = \"open it\"\n\
         allow = [\"libreoffice\"]\n[presets.mail]\nallow = [\"thunderbird\"]\n",
    );
    let refused = scene.cli(&["start", "@writing"]).fails(1);
    assert!(refused.contains("there is no preset @writing; add [presets.writing]"), "{refused}");
    scene.cli(&["reload"]).ok();
    let refused = scene.cli(&["start", "@wrting", "x"]).fails(1);
    assert!(refused.contains("there is @mail, @writing"), "{refused}");

    let said = scene.cli(&["start", "@writing", "chapter", "2", "--allow", "Editor"]).ok();
    assert!(said.starts_with("started: chapter 2 (50 min)\n"), "{said}");
    let state = scene.subscriber.until("a session", |state| state.commitment.is_some());
    assert_eq!(state.allowed.unwrap().window_classes, ["Editor", "libreoffice"]);
    assert_eq!(state.commitment.unwrap().next_action.as_deref(), Some("open it"));
    scene.cli(&["complete"]).ok();
    let said = scene.cli(&["start", "@writing", "--for", "10m"]).ok();
    assert!(said.starts_with("started: write the thesis (10 min)\n"), "{said}");
    scene.cli(&["complete"]).ok();
    let refused = scene.cli(&["start", "@mail"]).fails(2);
    assert!(refused.contains("say what you set out to do"), "{refused}");
}

#[test]
fn the_last_session_begins_again_with_what_was_allowed_also_after_a_crash() {
    let mut scene = Scene::without_display().no_judge().start();
    let refused = scene.cli(&["start", "--again"]).fails(1);
    assert!(refused.contains("there is no earlier session to begin again"), "{refused}");
    scene.cli(&["start", "draft the report", "--for", "25m", "--success", "sent"]).ok();
    scene.cli(&["allow", "add", "Editor"]).ok();
    scene.cli(&["complete"]).ok();
    scene.cli(&["end"]).ok();
    scene.kill_daemon();
    scene.start_daemon();
    let said = scene.cli(&["start", "--again"]).ok();
    assert!(said.starts_with("started: draft the report (25 min)\n"), "{said}");
    assert!(said.contains("Editor"), "{said}");
    let commitment = scene.status().commitment.unwrap();
    assert_eq!(commitment.success_condition.as_deref(), Some("sent"));
    let refused = scene.cli(&["start", "--again"]).fails(1);
    assert!(refused.contains("a session is active already"), "{refused}");
    // Without a word: how things stand.
    assert_eq!(scene.cli(&[]).ok(), scene.cli(&["status"]).ok());
    scene.cli(&["complete"]).ok();
    let said = scene.cli(&["start", "--again", "the summary"]).ok();
    assert!(said.starts_with("started: the summary (25 min)\n"), "{said}");
}

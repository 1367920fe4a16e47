//! What a person answers with the client, and what comes of it on the socket and on the disk.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fs, time::Duration};

use antidrift_protocol::{
    AlertCleared, ClearedWhy, DriftSource, DriftStatus, EventBody, Outcome, Phase, State,
};
use antidrift_tests::{
    Manager, Process, Scene, StateExt as _, Subscriber, antidrift, holds_for, until,
};
use serde_json::json;

fn until_cleared(subscriber: &mut Subscriber) -> AlertCleared {
    subscriber.until_event("alert_cleared", |event| match event {
        EventBody::AlertCleared(cleared) => Some(cleared.clone()),
        _ => None,
    })
}

/// What the snapshot on the disk says.
fn saved(scene: &Scene) -> String {
    let files = fs::read_dir(scene.home.state_dir()).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap_or_default());
    texts.collect()
}

/// A drifting window in front, in a session.
fn drifting(scene: &mut Scene, class: &str) -> u64 {
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    scene.desktop().open(class, "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    scene.subscriber.until_alert().alert
}

#[test]
fn a_session_from_start_to_end() {
    let mut scene = Scene::on(Manager::Openbox).start();
    assert_eq!(scene.status().phase, Phase::Planning);
    for refused in ["refocus", "ontask", "complete", "end"] {
        scene.cli(&[refused]).fails(1);
    }
    let said = scene.cli(&["start", "draft", "the", "report", "--for", "25m", "--next", "outline"]);
    assert!(said.ok().contains("draft the report"));
    let state = scene.subscriber.until("active", |state| state.phase == Phase::Active);
    let commitment = state.commitment.unwrap();
    assert_eq!(commitment.text, "draft the report");
    assert_eq!(commitment.next_action.as_deref(), Some("outline"));
    assert_eq!((commitment.success_condition, commitment.timebox_secs), (None, Some(1500)));
    assert!(saved(&scene).contains("draft the report"));
    scene.cli(&["start", "another"]).fails(1);
    scene.cli(&["end"]).fails(1);
    scene.cli(&["complete", "--outcome", "partial", "--note", "half of it"]).ok();
    let state = scene.subscriber.until("review", |state| state.phase == Phase::Review);
    let review = state.review.unwrap();
    assert_eq!(review.outcome, Some(Outcome::Partial));
    assert_eq!(review.note.as_deref(), Some("half of it"));
    assert_eq!((state.drift, state.allowed), (None, None));
    for refused in ["refocus", "ontask", "complete"] {
        scene.cli(&[refused]).fails(1);
    }
    scene.cli(&["end"]).ok();
    let state = scene.subscriber.until("planning", |state| state.phase == Phase::Planning);
    assert_eq!((state.commitment, state.review), (None, None));
}

#[test]
fn ontask_allows_the_class_of_a_plain_program() {
    let mut scene = Scene::on(Manager::I3).start();
    let alert = drifting(&mut scene, "Fun");
    let said = scene.cli(&["ontask"]).ok();
    assert!(said.contains("Fun"), "{said}");
    assert_eq!(
        until_cleared(&mut scene.subscriber),
        AlertCleared { alert, why: ClearedWhy::Ontask }
    );
    let state = scene.subscriber.until_titled("Football live", DriftStatus::Ontask);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Rule));
    assert_eq!(state.allowed.unwrap().window_classes, ["Fun"]);
    assert!(saved(&scene).contains("Fun"));
    // once more adds nothing
    scene.cli(&["ontask"]).ok();
    assert_eq!(scene.status().allowed.unwrap().window_classes, ["Fun"]);
}

#[test]
fn ontask_allows_the_title_of_a_browser_and_no_other() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let desktop = scene.desktop();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    let browser = desktop.open("firefox", "Football rules — Mozilla Firefox");
    scene.subscriber.until_status(DriftStatus::Drifting);
    scene.cli(&["ontask"]).ok();
    let state = scene.subscriber.until_status(DriftStatus::Ontask);
    let allowed = state.allowed.unwrap();
    assert_eq!((allowed.window_titles.len(), allowed.window_classes.len()), (1, 0));
    assert_eq!(allowed.window_titles, ["Football rules"]);
    browser.set_title("Football rules OK — Mozilla Firefox");
    scene.subscriber.until_status(DriftStatus::Drifting);
}

#[test]
fn ontask_takes_what_a_person_names() {
    let mut scene = Scene::on(Manager::Bare).start();
    scene.begin("the report");
    scene.cli(&["ontask", "--class", "Editor"]).ok();
    scene.cli(&["ontask", "--title", "RFC 9110"]).ok();
    scene.cli(&["ontask", "--domain", "docs.example"]).ok();
    scene.cli(&["ontask", "--command", "make"]).ok();
    let allowed = scene.status().allowed.unwrap();
    assert_eq!(allowed.window_classes, ["Editor"]);
    assert_eq!(allowed.window_title_substrings, ["RFC 9110"]);
    assert_eq!(
        (allowed.domains, allowed.commands),
        (vec!["docs.example".into()], vec!["make".into()])
    );
    scene.cli(&["ontask", "--class", "a", "--domain", "b"]).fails(2);
    // nothing has the focus: nothing is meant
    scene.cli(&["ontask"]).fails(1);
    let desktop = scene.desktop();
    for (class, title) in
        [("Editor", "x"), ("Reader", "the RFC 9110 page"), ("Firefox", "Manual - www.docs.example")]
    {
        desktop.open(class, title);
        let state = scene.subscriber.until_titled(title, DriftStatus::Ontask);
        assert_eq!(state.drift.unwrap().source, Some(DriftSource::Rule), "{title}");
    }
    assert_eq!(scene.judge.calls().len(), 0);
}

#[test]
fn refocus_takes_the_verdict_back_and_allows_nothing() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.debounce = 0.5).start();
    let alert = drifting(&mut scene, "Fun");
    scene.cli(&["refocus"]).ok();
    assert_eq!(
        until_cleared(&mut scene.subscriber),
        AlertCleared { alert, why: ClearedWhy::Refocus }
    );
    let state = scene.subscriber.until_status(DriftStatus::Idle);
    assert_eq!(state.drift.unwrap().source, None);
    assert_eq!(state.allowed.unwrap(), antidrift_protocol::Allowed::default());
    // who never leaves is asked about again, by the judge, after three debounces
    let again = scene.subscriber.until_alert();
    assert!(again.alert > alert);
    assert_eq!(scene.judge.titles(), ["Football live", "Football live"]);
}

#[test]
fn an_answer_typed_in_a_terminal_means_the_window_that_was_left() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let alert = drifting(&mut scene, "Fun");
    scene.desktop().open("XTerm", "shell");
    assert_eq!(
        until_cleared(&mut scene.subscriber),
        AlertCleared { alert, why: ClearedWhy::Moved }
    );
    scene.subscriber.until_title("shell");
    let said = scene.cli(&["ontask"]).ok();
    assert!(said.contains("Fun"), "{said}");
    assert_eq!(scene.status().allowed.unwrap().window_classes, ["Fun"]);
}

/// A terminal by what it does: its class is on no list.
#[test]
fn an_answer_typed_in_a_terminal_that_nobody_knows_means_the_window_that_was_left() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let (go, said) = (scene.home.path().join("go"), scene.home.path().join("said"));
    let script = format!(
        "until [ -e {go} ]; do sleep 0.05; done; {client} ontask > {said}.new; mv {said}.new {said}; \
         sleep 1000",
        go = go.display(),
        client = antidrift().display(),
        said = said.display(),
    );
    let mut terminal = scene.home.command("xterm");
    terminal.env("DISPLAY", scene.desktop().display());
    terminal.args(["-class", "Zterm", "-T", "shell", "-e", "sh", "-c", &script]);
    let alert = drifting(&mut scene, "Fun");
    let _terminal = Process::spawn(&mut terminal, "xterm");
    scene.subscriber.until_title("shell");
    assert_eq!(
        until_cleared(&mut scene.subscriber),
        AlertCleared { alert, why: ClearedWhy::Moved }
    );
    fs::write(&go, "").unwrap();
    let said = until("the answer", || fs::read_to_string(&said).ok());
    assert!(said.contains("Fun"), "{said}");
    assert_eq!(scene.status().allowed.unwrap().window_classes, ["Fun"]);
}

#[test]
fn an_answer_to_an_alert_that_is_over_changes_nothing() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let alert = drifting(&mut scene, "Fun");
    scene.desktop().open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    let before = scene.status().allowed;
    for cmd in ["ontask", "refocus"] {
        let answer = scene.ask(cmd, &json!({"alert": alert}));
        assert_eq!(answer["error"]["code"], "stale_alert", "{answer}");
    }
    assert_eq!(scene.status().allowed, before);
}

#[test]
fn a_restart_keeps_the_session_and_what_was_allowed() {
    for crash in [false, true] {
        let mut scene = Scene::on(Manager::Openbox).start();
        scene.desktop().open("Fun", "Football live");
        scene.cli(&["start", "the report", "--allow", "Editor", "--for", "1h"]).ok();
        scene.cli(&["ontask", "--title", "Manual"]).ok();
        let before = scene.status();
        let instance = scene.subscriber.instance.clone();
        if crash {
            scene.kill_daemon();
        } else {
            scene.stop_daemon();
            let shutdown =
                |event: &EventBody| matches!(event, EventBody::Shutdown(_)).then_some(());
            scene.subscriber.until_event("shutdown", shutdown);
        }
        scene.subscriber.until_closed();
        let complaint = scene.cli(&["status"]).fails(3);
        assert!(complaint.contains("antidriftd"), "it says how to start it: {complaint}");
        scene.start_daemon();
        assert_ne!(scene.subscriber.instance, instance);
        let after = scene.status();
        let (old, new) = (before.commitment.unwrap(), after.commitment.unwrap());
        assert_eq!((old.text, old.started_at), (new.text, new.started_at));
        assert_eq!(before.allowed, after.allowed);
        // and it is at work
        scene.desktop().open("Editor", "report.md");
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    }
}

#[test]
fn a_review_outlives_a_restart() {
    let mut scene = Scene::without_display().start();
    scene.begin("the report");
    scene.cli(&["complete", "--outcome", "done"]).ok();
    let before = scene.subscriber.until("review", |state| state.phase == Phase::Review);
    scene.kill_daemon();
    scene.start_daemon();
    assert_eq!(scene.status().review, before.review);
}

#[test]
fn f05_the_case_of_a_class_does_not_matter() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("page", "not this");
    scene.cli(&["start", "the report", "--allow", "FILES"]).ok();
    let desktop = scene.desktop();
    desktop.open("Files", "home");
    let state = scene.subscriber.until_titled("home", DriftStatus::Ontask);
    // what is shown keeps its case
    assert_eq!(state.window.unwrap().class, "Files");
    let viewer = desktop.open("Viewer", "page");
    scene.subscriber.until_titled("page", DriftStatus::Drifting);
    scene.cli(&["ontask"]).ok();
    scene.subscriber.until_titled("page", DriftStatus::Ontask);
    viewer.set_class("viewer", "viewer");
    let state = scene.subscriber.until("the new class", |state| {
        state.window.as_ref().is_some_and(|window| window.class == "viewer")
    });
    assert_eq!(state.status(), Some(DriftStatus::Ontask));
}

#[test]
fn f34_an_answer_holds_for_the_whole_session_and_no_longer() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let alert = drifting(&mut scene, "Fun");
    let desktop = scene.desktop();
    let editor = desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    let fun = desktop.open("Fun", "Football tonight");
    scene.subscriber.until_titled("Football tonight", DriftStatus::Drifting);
    scene.cli(&["ontask"]).ok();
    let come_and_go = |scene: &mut Scene| {
        for _ in 0..10 {
            editor.focus();
            scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
            fun.focus();
            scene.subscriber.until_titled("Football tonight", DriftStatus::Ontask);
        }
    };
    come_and_go(&mut scene);
    let alerts = scene.subscriber.alerts();
    scene.stop_daemon();
    scene.start_daemon();
    come_and_go(&mut scene);
    assert_eq!((alerts, scene.subscriber.alerts()), (2, 0));
    // a new commitment is judged afresh
    scene.cli(&["complete"]).ok();
    scene.begin("another report");
    let again = scene.subscriber.until_alert().alert;
    assert!(again > alert);
}

#[test]
fn a_timebox_that_has_run_out_is_told_once_and_ends_nothing() {
    let mut scene = Scene::without_display().start();
    scene.cli(&["start", "the report", "--for", "1s"]).ok();
    let elapsed = |event: &EventBody| matches!(event, EventBody::TimeboxElapsed).then_some(());
    scene.subscriber.until_event("timebox_elapsed", elapsed);
    let state = until("overtime", || {
        let state = scene.status();
        (state.commitment.as_ref()?.remaining_secs? < 0).then_some(state)
    });
    assert_eq!(state.phase, Phase::Active);
    let times = |scene: &mut Scene| {
        let is = |event: &&antidrift_protocol::Event| event.body == EventBody::TimeboxElapsed;
        scene.subscriber.events().iter().filter(is).count()
    };
    holds_for(Duration::from_millis(300), "once", || times(&mut scene) == 1);
    scene.stop_daemon();
    scene.start_daemon();
    let state: State = scene.status();
    assert!(state.commitment.unwrap().remaining_secs.unwrap() < 0);
    assert_eq!(times(&mut scene), 0);
}

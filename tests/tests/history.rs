//! Looking back: sessions that are over, kept by the real daemon, over restarts, and told by the real
//! client in every form.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fs, path::PathBuf, time::Duration};

use antidrift_protocol::{DriftStatus, Phase};
use antidrift_tests::{Manager, Outcome, Scene, holds_for, until};
use serde_json::{Value, json};

fn history(scene: &Scene) -> PathBuf {
    scene.home.state_dir().join("history.db")
}

/// A session without a display, begun and ended.
fn pass(scene: &mut Scene, text: &str) {
    scene.begin(text);
    scene.cli(&["complete"]).ok();
    scene.subscriber.until("the review", |state| state.phase == Phase::Review);
}

fn report(scene: &Scene) -> Value {
    serde_json::from_str(&scene.cli(&["report", "--json"]).ok()).unwrap()
}

/// The texts of all that is kept, the earliest first.
fn texts(scene: &Scene) -> Vec<String> {
    let report = report(scene);
    let sessions = report["sessions"].as_array().unwrap().clone();
    sessions.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

/// What waits in the snapshot to be kept.
fn waiting(scene: &Scene) -> usize {
    let text = fs::read_to_string(scene.home.state_dir().join("session.json")).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    saved["snapshot"]["unkept"].as_array().map_or(0, Vec::len)
}

#[track_caller]
fn until_kept(scene: &Scene) {
    until("nothing waits to be kept", || (waiting(scene) == 0).then_some(()));
}

#[test]
fn a_session_is_reviewed_reported_over_restarts_and_forgotten() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("Football", "Football is not the report");
    let desktop = scene.desktop();
    desktop.open("Editor", "report.md");
    let start = ["start", "the report", "--allow", "Editor", "--for", "25m", "--success", "sent"];
    scene.cli(&start).ok();
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    desktop.open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    // Sums are in whole seconds.
    holds_for(Duration::from_millis(1200), "the drift", || scene.subscriber.alerts() == 1);
    scene.cli(&["refocus"]).ok();
    let refused = scene.cli(&["review"]).fails(1);
    assert!(refused.contains("no session to review"), "{refused}");
    let said = scene.cli(&["complete"]).ok();
    assert!(said.contains("antidrift review"), "{said}");

    // Without a terminal nobody is asked.
    let shown = scene.cli(&["review"]).ok();
    for line in
        ["the report\n", "  done when sent\n", "of 25 min planned", "nothing said yet", "1 alert\n"]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(shown.contains("  Fun  back to task after "), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let shown =
        scene.cli(&["review", "--outcome", "partial", "--note", "half\u{1b}[31m of it"]).ok();
    assert!(shown.contains("  outcome   partial, «half of it»\n"), "{shown}");
    scene.kill_daemon();
    scene.start_daemon();
    assert!(scene.cli(&["review"]).ok().contains("partial, «half of it»"));

    let text = scene.cli(&["report"]).ok();
    for line in [": 1 session, ", "focus per day\n", "drift by class\n", "outcomes: 1 partial\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let json = report(&scene);
    let [session] = json["sessions"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&session["text"], &session["planned_secs"]), (&json!("the report"), &json!(1500)));
    assert_eq!(session["answers"][0]["why"], "refocus");
    assert_eq!(session["titles"], json!([]), "titles are not kept");
    assert_eq!(json["days"].as_array().unwrap().len(), 7);
    assert_eq!((&json["totals"]["alerts"], &json["outcomes"]["partial"]), (&json!(1), &json!(1)));

    let csv = scene.cli(&["report", "--week", "--csv"]).ok();
    assert!(csv.starts_with("date,started_at,") && csv.lines().count() == 2, "{csv}");
    assert!(csv.contains(",the report,,sent,partial,half of it,1500,"), "{csv}");
    let file = scene.home.path().join("week.svg");
    assert_eq!(scene.cli(&["report", "--svg", file.to_str().unwrap()]).ok(), "");
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">the report</text>"), "{svg}");
    assert_eq!(scene.cli(&["report", "--svg", "-"]).ok(), svg);
    let aw = scene.cli(&["report", "--month", "--activitywatch"]).ok();
    let aw: Value = serde_json::from_str(&aw).unwrap();
    let bucket = aw["buckets"].as_object().unwrap().values().next().unwrap().clone();
    for event in bucket["events"].as_array().unwrap() {
        assert!(event["timestamp"].is_string() && event["duration"].is_number(), "{event}");
        assert_eq!(event["data"]["title"], "the report");
    }
    // A session this short may have no whole second.
    for line in scene.cli(&["report", "--timewarrior"]).ok().lines() {
        assert!(line.starts_with("inc 2") && line.ends_with("Z # \"the report\""), "{line}");
    }

    let refused = scene.cli(&["forget"]).fails(2);
    assert!(refused.contains("--yes"), "{refused}");
    assert_eq!(texts(&scene), ["the report"]);
    assert_eq!(scene.cli(&["forget", "--yes"]).ok(), "1 session forgotten\n");
    assert!(scene.cli(&["report"]).ok().ends_with(": no session is over\n"));
    assert_eq!(scene.cli(&["forget", "--yes"]).ok(), "there was nothing to forget\n");
}

#[test]
fn what_was_forgotten_under_review_is_not_kept_again_by_the_next_daemon() {
    for crash in [false, true] {
        let mut scene = Scene::without_display().no_judge().start();
        pass(&mut scene, "a secret");
        assert_eq!(scene.cli(&["forget", "--yes"]).ok(), "1 session forgotten\n");
        if crash {
            scene.kill_daemon()
        } else {
            scene.stop_daemon()
        }
        scene.start_daemon();
        assert_eq!(texts(&scene), [""; 0]);
        // It can be reviewed still, and is not kept by that.
        assert!(scene.cli(&["review", "--outcome", "done"]).ok().contains("a secret"));
        assert_eq!(texts(&scene), [""; 0]);
        pass(&mut scene, "the next");
        assert_eq!(texts(&scene), ["the next"]);
    }
}

#[test]
fn what_could_not_be_kept_is_kept_by_the_next_daemon() {
    let mut scene = Scene::without_display().no_judge().start();
    // A directory in its place: nothing can be kept, not even by root.
    let file = history(&scene);
    fs::create_dir_all(&file).unwrap();
    pass(&mut scene, "first");
    pass(&mut scene, "second");
    scene.cli(&["review", "--outcome", "done"]).ok();
    let said = scene.cli(&["report"]).fails(1);
    assert!(said.contains("history.db") && said.lines().count() == 1, "{said}");
    assert_eq!(waiting(&scene), 2);
    scene.kill_daemon();
    fs::remove_dir(&file).unwrap();
    scene.start_daemon();
    until_kept(&scene);
    assert_eq!(texts(&scene), ["first", "second"]);
    assert_eq!(report(&scene)["sessions"][1]["outcome"], "done");
    // And by the same one, once it can be.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    pass(&mut scene, "third");
    assert_eq!(waiting(&scene), 1);
    fs::remove_dir(&file).unwrap();
    assert_eq!(texts(&scene), ["third"]);
    until_kept(&scene);
}

#[test]
fn a_torn_history_stops_nobody_however_often() {
    let mut scene = Scene::without_display().no_judge().start();
    for n in 0..3 {
        scene.stop_daemon();
        fs::write(history(&scene), format!("torn {n}")).unwrap();
        scene.start_daemon();
        pass(&mut scene, &format!("session {n}"));
        assert_eq!(texts(&scene), [format!("session {n}")]);
        until_kept(&scene);
    }
    let aside = |n: u32| scene.home.state_dir().join(format!("history.db.corrupt-{n}"));
    for n in 1..=3 {
        assert!(fs::read_to_string(aside(n)).unwrap().starts_with("torn "), "{n}");
    }
    scene.cli(&["forget", "--yes"]).ok();
    assert!((1..=5).all(|n| !aside(n).exists()), "what was set aside is forgotten, too");
}

#[test]
fn a_session_out_of_the_calendar_does_no_harm() {
    let mut scene = Scene::without_display().no_judge().start();
    for (started, ended) in [
        ("-004712-01-01T00:00:00Z", "-000001-01-01T00:00:00Z"),
        ("-000001-01-01T00:00:00Z", "2026-12-07T00:00:00Z"),
        ("9999-12-30T21:59:59Z", "9999-12-30T21:59:59.999Z"),
        ("2026-12-07T00:00:00Z", "0001-01-01T00:00:00Z"),
    ] {
        pass(&mut scene, "the report");
        scene.stop_daemon();
        let file = scene.home.state_dir().join("session.json");
        let mut saved: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let session = &mut saved["snapshot"]["session"];
        session["started_at"] = json!(started);
        session["review"]["ended_at"] = json!(ended);
        fs::write(&file, saved.to_string()).unwrap();
        scene.start_daemon();
        assert!(
            scene.cli(&["review", "--outcome", "done"]).ok().contains("the report"),
            "{started}"
        );
        for form in [
            "--json",
            "--csv",
            "--svg=-",
            "--timewarrior",
            "--activitywatch",
            "--month",
            "--days=366",
        ] {
            let Outcome { code, stderr, .. } = scene.cli(&["report", form]);
            assert_eq!((code, stderr.as_str()), (0, ""), "{started} {form}");
        }
    }
}

#[test]
fn a_broken_time_zone_is_utc_and_said() {
    let mut scene = Scene::without_display().no_judge().start();
    pass(&mut scene, "the report");
    let pipe = scene.home.path().join("pipe");
    assert!(
        scene
            .run({
                let mut command = scene.program("mkfifo");
                command.arg(&pipe);
                command
            })
            .code
            == 0
    );
    let garbage = scene.home.path().join("garbage");
    fs::write(&garbage, [0xff; 100]).unwrap();
    let (pipe, garbage) = (pipe.to_str().unwrap(), garbage.to_str().unwrap());
    for zone in ["/dev/zero", ":/dev/zero", pipe, garbage, "Mars/Olympus", "\u{1b}[31m"] {
        let mut command = scene.client(&["report", "--json"]);
        command.env("TZ", zone);
        let Outcome { code, stdout, stderr } = scene.run(command);
        assert_eq!(code, 0, "{zone:?}: {stderr}");
        assert!(stderr.contains("is no time zone; days are those of UTC"), "{zone:?}: {stderr}");
        assert!(!stderr.contains('\u{1b}') && stderr.lines().count() == 1, "{stderr:?}");
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["totals"]["sessions"], 1, "{zone:?}");
        let mut command = scene.client(&["review"]);
        command.env("TZ", zone);
        assert_eq!(scene.run(command).code, 0, "{zone:?}");
    }
    for zone in ["Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3", "", "UTC"] {
        let mut command = scene.client(&["report"]);
        command.env("TZ", zone);
        scene.run(command).ok();
    }
}

#[test]
fn more_than_fits_into_a_line_is_told_page_by_page() {
    let mut scene = Scene::without_display().no_judge().start();
    // Some 60 KiB each way: three are too long for one line.
    let long = "x".repeat(4096);
    for n in 0..40 {
        pass(&mut scene, &format!("{n:02}{}", &long[2..]));
    }
    let first = scene.ask("history", &json!({}));
    assert_eq!(first["ok"]["more"], true, "one line does not hold them");
    let told = texts(&scene);
    assert_eq!(told.len(), 40);
    assert!(told.iter().enumerate().all(|(n, text)| text.starts_with(&format!("{n:02}"))));
    assert_eq!(scene.cli(&["forget", "--yes"]).ok(), "40 sessions forgotten\n");
}

#[test]
fn where_nothing_is_kept_that_is_said_and_nothing_is_written() {
    let whole = "[judge]\nbackend = \"none\"\n[history]\nenabled = false\n";
    let mut scene = Scene::without_display().settings(|it| it.whole = Some(whole.into())).start();
    pass(&mut scene, "the report");
    assert!(scene.cli(&["review", "--outcome", "done"]).ok().contains("the report"));
    for args in [&["report"][..], &["forget", "--yes"]] {
        let said = scene.cli(args).fails(1);
        assert!(said.contains("enabled = false") && said.lines().count() == 1, "{said}");
    }
    until_kept(&scene);
    assert!(!history(&scene).exists());
}

#[test]
fn what_is_forgotten_but_may_come_back_is_said() {
    let mut scene = Scene::without_display().no_judge().start();
    pass(&mut scene, "a secret");
    until_kept(&scene);
    // Nothing can be saved: a directory has the name of the snapshot.
    let file = scene.home.state_dir().join("session.json");
    fs::remove_file(&file).unwrap();
    fs::create_dir_all(file.join("in the way")).unwrap();
    let said = scene.cli(&["forget", "--yes"]).fails(1);
    assert!(said.contains("may come back") && said.lines().count() == 1, "{said}");
    assert_eq!(texts(&scene), [""; 0]);
}

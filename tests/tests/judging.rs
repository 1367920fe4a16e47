//! Judgement and cache, with a judge that is a real child process.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fs, time::Duration};

use antidrift_protocol::{DriftSource, DriftStatus, JudgeStatus, SensorStatus};
use antidrift_tests::{
    Manager, Scene, StateExt as _, Timer, WindowSpec, holds_for, until_gone, until_number,
};

#[test]
fn a_local_match_asks_nobody() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("", "nobody may ask");
    let lists = ["--allow", "Editor,Mail", "--allow-title", "Manual"];
    scene.cli(&[&["start", "the report"], &lists[..]].concat()).ok();
    let desktop = scene.desktop();
    for (class, title) in [("Editor", "a"), ("mail", "b"), ("Firefox", "the manual")] {
        desktop.open(class, title);
        let state = scene.subscriber.until_titled(title, DriftStatus::Ontask);
        assert_eq!(state.drift.unwrap().source, Some(DriftSource::Rule));
    }
    let state = scene.status();
    assert_eq!((scene.judge.calls().len(), state.judge.calls), (0, 0));
    assert_eq!(state.judge.verdicts.rule, 3);
}

#[test]
fn a_second_look_uses_the_cache() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("Football", "no");
    scene.begin("the report");
    let desktop = scene.desktop();
    let fun = desktop.open("Fun", "Football");
    scene.subscriber.until_titled("Football", DriftStatus::Drifting);
    let editor = desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    fun.focus();
    let state = scene.subscriber.until_titled("Football", DriftStatus::Drifting);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Cache));
    editor.focus();
    let state = scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Cache));
    assert_eq!(scene.judge.titles(), ["Football", "report.md"]);
    let verdicts = scene.status().judge.verdicts;
    assert_eq!((verdicts.judge, verdicts.cache), (2, 2));
}

/// Staying on one page must not escape the judge.
#[test]
fn a_window_inside_the_debounce_is_looked_at_when_it_ends() {
    let mut scene = Scene::on(Manager::I3).settings(|it| it.debounce = 2.0).start();
    scene.judge.drifts("Football", "no");
    scene.begin("the report");
    let desktop = scene.desktop();
    desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    let timer = Timer::start();
    desktop.open("Fun", "Football");
    scene.subscriber.until_titled("Football", DriftStatus::Pending);
    holds_for(Duration::from_secs(1), "no second judge", || scene.judge.calls().len() == 1);
    // without another event
    scene.subscriber.until_titled("Football", DriftStatus::Drifting);
    assert!(timer.passed() > Duration::from_secs(1));
    assert_eq!(scene.judge.titles(), ["report.md", "Football"]);
}

#[test]
fn windows_that_are_passed_on_the_way_are_not_judged() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.settle = 1.0).start();
    scene.judge.drifts("pass", "no");
    scene.begin("the report");
    let desktop = scene.desktop();
    for title in ["pass 1", "pass 2", "pass 3"] {
        desktop.open(&title.replace(' ', ""), title);
        scene.subscriber.until_title(title);
    }
    desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert_eq!(scene.judge.titles(), ["report.md"]);
    assert_eq!(scene.subscriber.alerts(), 0);
}

/// A verdict that comes late is kept, but is nobody else's.
#[test]
fn one_judge_at_a_time_and_no_borrowed_verdicts() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let gate = scene.judge.file("gate");
    let slow =
        r#"until [ -e gate ]; do sleep 0.05; done; echo '{"on_task": false, "reason": "slow"}'"#;
    scene.judge.rule("slow", slow);
    scene.begin("the report");
    let desktop = scene.desktop();
    let first = desktop.open("Fun", "slow page");
    scene.judge.until_calls(1);
    let state = scene.subscriber.until("running", |it| it.judge.status == JudgeStatus::Running);
    assert_eq!(state.status(), Some(DriftStatus::Pending));
    desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Pending);
    holds_for(Duration::from_millis(700), "one judge", || scene.judge.calls().len() == 1);
    fs::write(gate, "").unwrap();
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert_eq!(scene.subscriber.alerts(), 0);
    first.focus();
    let state = scene.subscriber.until_titled("slow page", DriftStatus::Drifting);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Cache));
    assert_eq!(scene.judge.titles(), ["slow page", "report.md"]);
}

/// A verdict for a session that is over changes nothing.
#[test]
fn a_verdict_after_the_end_of_its_session_is_dropped() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.rule("slow", "echo $$ > pid; exec sleep 600");
    scene.begin("the report");
    scene.desktop().open("Fun", "slow page");
    scene.judge.until_calls(1);
    let pid = until_number(&scene.judge.file("pid"));
    scene.cli(&["complete"]).ok();
    until_gone(pid);
    scene.judge.ontask("slow", "it is the report now");
    scene.begin("another report");
    scene.subscriber.until_titled("slow page", DriftStatus::Ontask);
    assert_eq!((scene.judge.calls().len(), scene.subscriber.alerts()), (2, 0));
}

#[test]
fn without_a_judge_nothing_is_drift() {
    let mut scene = Scene::on(Manager::Openbox).no_judge().start();
    let said = scene.cli(&["start", "the report", "--allow", "Editor"]).ok();
    assert!(said.contains("no judge"), "{said}");
    assert_eq!(said.matches("note:").count(), 1, "{said}");
    scene.desktop().open("Fun", "Football");
    let state = scene.subscriber.until_titled("Football", DriftStatus::Idle);
    assert_eq!(state.judge.status, JudgeStatus::Off);
    scene.desktop().open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
}

/// With no configuration at all but a shorter settling: what everybody gets.
#[test]
fn out_of_the_box_pastime_is_drift_and_the_reason_is_told() {
    let config = "[drift]\nsettle_secs = 0.1\n";
    let mut scene =
        Scene::on(Manager::Openbox).settings(|it| it.whole = Some(config.into())).start();
    scene.begin("write the river report");
    let desktop = scene.desktop();
    desktop.open("firefox", "Funny cats - YouTube — Mozilla Firefox");
    let state = scene
        .subscriber
        .until_titled("Funny cats - YouTube — Mozilla Firefox", DriftStatus::Drifting);
    let drift = state.drift.unwrap();
    assert_eq!(drift.source, Some(DriftSource::Embedded));
    let reason = "YouTube is a video site; nothing in the title fits “write the river report”";
    assert_eq!(drift.reason.as_deref(), Some(reason));
    let why = scene.cli(&["why"]).ok();
    assert!(why.contains("kind video") && why.contains(reason), "{why}");
    desktop.open("firefox", "Ganymede — Mozilla Firefox");
    scene.subscriber.until_titled("Ganymede — Mozilla Firefox", DriftStatus::Idle);
    let judge = scene.status().judge;
    assert_eq!((judge.backend.as_str(), judge.status), ("embedded", JudgeStatus::Ready));
    assert_eq!((judge.calls, judge.verdicts.embedded, judge.last_error), (0, 1, None));
}

#[test]
fn a_judge_that_is_missing_or_unknown_is_off_and_says_so() {
    let missing = "[judge]\nbackend = \"command\"\ncommand = [\"/nowhere/judge\"]\n";
    let unknown = "[judge]\nbackend = \"oracle\"\n";
    for (config, word) in [(missing, "/nowhere/judge"), (unknown, "oracle")] {
        let scene = Scene::without_display().settings(|it| it.whole = Some(config.into())).start();
        let judge = scene.status().judge;
        assert_eq!(judge.status, JudgeStatus::Off, "{config}");
        assert!(judge.last_error.as_deref().is_some_and(|it| it.contains(word)), "{judge:?}");
        for command in [&["status"][..], &["start", "x"]] {
            let said = scene.cli(command).ok();
            assert!(said.contains(word) && said.contains("is off"), "{said}");
        }
        assert_eq!(scene.cli(&["doctor"]).code, 1);
    }
    // the embedded judge is there for the end of a model's allowance, and for before it
    for (more, status) in
        [("max_per_session = 1", JudgeStatus::Off), ("prefilter = true", JudgeStatus::Ready)]
    {
        let config = format!("{unknown}{more}\n");
        let scene = Scene::without_display().settings(|it| it.whole = Some(config)).start();
        assert_eq!(scene.status().judge.status, status, "{more}");
        let goes_on = status == JudgeStatus::Ready;
        for command in [&["status"][..], &["start", "x"], &["doctor"]] {
            let said = scene.cli(command).stdout;
            assert!(said.contains("oracle"), "{said}");
            assert_eq!(said.contains("embedded judge goes on alone"), goes_on, "{said}");
        }
    }
    let scene = Scene::without_display().env("ANTIDRIFT_AI_BACKEND", "none").start();
    assert_eq!(scene.status().judge.status, JudgeStatus::Off);
}

#[test]
fn f07_programs_under_wine_are_told_apart() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("Level", "a game is not the report");
    scene.begin("the report");
    let desktop = scene.desktop();
    let word = WindowSpec::new("Letter").identity("winword.exe", "Wine").open(&desktop);
    word.focus();
    scene.subscriber.until_titled("Letter", DriftStatus::Ontask);
    scene.cli(&["ontask"]).ok();
    WindowSpec::new("Level 1").identity("game.exe", "Wine").open(&desktop).focus();
    scene.subscriber.until_titled("Level 1", DriftStatus::Drifting);
    assert_eq!(scene.judge.titles(), ["Letter", "Level 1"]);
}

#[test]
fn f32_a_title_that_spins_is_one_place() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.settle = 0.5).start();
    scene.begin("the report");
    let mut watch = scene.watch(&["--no-notify"]);
    let desktop = scene.desktop();
    let terminal = desktop.open("XTerm", "⠋ build");
    let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let timer = Timer::start();
    let (mut n, mut slowest) = (0, Duration::ZERO);
    holds_for(Duration::from_secs(5), "the socket answers", || {
        // twelve times a second
        if timer.passed() > Duration::from_millis(83) * n {
            terminal.set_title(&format!("{} build", frames[n as usize % frames.len()]));
            n += 1;
            let asked = Timer::start();
            scene.status();
            slowest = slowest.max(asked.passed());
        }
        true
    });
    scene.subscriber.until_status(DriftStatus::Ontask);
    assert!(n > 40, "{n} frames");
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    assert_eq!(scene.judge.calls().len(), 1);
    let (events, lines) = (scene.subscriber.events().len(), watch.lines().len());
    assert!(events < 20 && lines < 20, "{events} events, {lines} lines of {n} frames");
}

/// The same with words that no rule can know: it never rests, so it is one place as well.
#[test]
fn f32_a_title_that_never_rests_is_judged_once() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.settle = 0.5).start();
    scene.begin("the report");
    let desktop = scene.desktop();
    let terminal = desktop.open("XTerm", "song");
    let timer = Timer::start();
    let mut n = 0;
    holds_for(Duration::from_secs(4), "a handful of calls", || {
        if timer.passed() > Duration::from_millis(83) * n {
            let line = "and so the song goes on and on without an end ";
            let at = n as usize % line.len();
            terminal.set_title(&format!("{}{}", &line[at..], &line[..at]));
            n += 1;
        }
        scene.judge.calls().len() <= 2
    });
    scene.subscriber.until_status(DriftStatus::Ontask);
}

#[test]
fn f33_counters_and_marks_do_not_make_a_new_place() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("Mail", "mail is not the report");
    scene.judge.drifts("Inbox", "mail is not the report");
    scene.judge.drifts("notes", "notes are not the report");
    scene.begin("the report");
    let numbered: Vec<String> = (1..=60).map(|n| format!("({n}) Inbox – Mail")).collect();
    let inbox = ["Inbox", "Inbox (7)", "● Inbox"].map(String::from).to_vec();
    let notes = ["* notes.txt", "notes.txt"].map(String::from).to_vec();
    let desktop = scene.desktop();
    let browser = desktop.open("Firefox", "start page");
    scene.subscriber.until_titled("start page", DriftStatus::Ontask);
    for (n, group) in [numbered, inbox, notes].into_iter().enumerate() {
        browser.set_title(&group[0]);
        scene.subscriber.until_titled(&group[0], DriftStatus::Drifting);
        scene.cli(&["ontask"]).ok();
        scene.subscriber.until_titled(&group[0], DriftStatus::Ontask);
        for title in &group[1..] {
            browser.set_title(title);
            scene.status();
        }
        scene.subscriber.until_titled(group.last().unwrap(), DriftStatus::Ontask);
        assert_eq!(scene.judge.calls().len(), n + 2, "{:?}", scene.judge.titles());
        assert_eq!(scene.subscriber.alerts(), n + 1);
    }
}

#[test]
fn f35_the_judge_reads_to_the_end_of_its_input() {
    let mut scene = Scene::on(Manager::Bare).start();
    scene.judge.rule("page", r#"cat > rest; echo '{"on_task": true}'"#);
    scene.begin("the report");
    scene.desktop().open("Editor", "page");
    scene.subscriber.until_titled("page", DriftStatus::Ontask);
}

#[test]
fn f36_a_judge_that_hangs_is_ended_with_all_its_children() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.judge_timeout = 1.0).start();
    let hang =
        "echo $$ > pid; sleep 600 & echo $! > child; (sleep 600 & echo $! > grandchild); wait";
    scene.judge.rule("slow", hang);
    scene.begin("the report");
    let desktop = scene.desktop();
    desktop.open("Fun", "slow page");
    scene.judge.until_calls(1);
    let pids = ["pid", "child", "grandchild"].map(|name| until_number(&scene.judge.file(name)));
    // meanwhile everything else goes on
    let timer = Timer::start();
    assert_eq!(scene.status().judge.status, JudgeStatus::Running);
    scene.cli(&["status"]).ok();
    assert!(timer.passed() < Duration::from_secs(1));
    desktop.open("Editor", "report.md");
    scene.subscriber.until_title("report.md");
    pids.into_iter().for_each(until_gone);
    let state = scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    assert_eq!(state.status(), Some(DriftStatus::Idle));
    assert_eq!(scene.subscriber.alerts(), 0);
}

#[test]
fn f36_a_grandchild_that_holds_the_pipe_delays_nothing() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let leave = "sleep 600 & echo $! > child; echo '{\"on_task\": false, \"reason\": \"quick\"}'";
    scene.judge.rule("quick", leave);
    scene.begin("the report");
    let timer = Timer::start();
    scene.desktop().open("Fun", "quick page");
    scene.subscriber.until_titled("quick page", DriftStatus::Drifting);
    assert!(timer.passed() < Duration::from_secs(5), "{:?}", timer.passed());
    until_gone(until_number(&scene.judge.file("child")));
}

#[test]
fn f36_a_judge_does_not_outlive_the_daemon() {
    for crash in [false, true] {
        let mut scene = Scene::on(Manager::Bare).start();
        scene.judge.rule("slow", "echo $$ > pid; sleep 600 & echo $! > child; wait");
        scene.begin("the report");
        scene.desktop().open("Fun", "slow page");
        let pids = ["pid", "child"].map(|it| until_number(&scene.judge.file(it)));
        if crash {
            scene.kill_daemon()
        } else {
            scene.stop_daemon()
        }
        pids.into_iter().for_each(until_gone);
    }
}

#[test]
fn f37_a_judge_that_fails_is_left_alone_for_a_while() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.rule("place", "echo 'quota used up' >&2; exit 1");
    scene.begin("the report");
    let desktop = scene.desktop();
    let windows: Vec<_> =
        (0..20).map(|n| (n, desktop.open(&format!("P{n}"), &format!("place {n}")))).collect();
    let state = scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    assert!(state.judge.last_error.is_some());
    for (n, window) in &windows {
        window.focus();
        let title = format!("place {n}");
        scene.subscriber.until_titled(&title, DriftStatus::Idle);
    }
    assert_eq!((scene.judge.calls().len(), scene.subscriber.alerts()), (1, 0));
    let warned = scene.daemon().log_lines("WARN");
    assert_eq!(warned, 1, "{}", scene.daemon().log());
    assert!(scene.cli(&["status"]).ok().contains("judge"));
    // it returns, and nobody has to do anything
    scene.judge.ontask("place", "fine");
    scene.subscriber.until_titled("place 19", DriftStatus::Ontask);
    assert_eq!(scene.status().judge.status, JudgeStatus::Ready);
}

#[test]
fn f38_answers_in_prose_and_fences_are_understood_and_broken_ones_are_none() {
    let fence = "```json\n{\"on_task\": false, \"reason\": \"fenced\"}\n```";
    let prose = "Sure! Here it is: {\"on_task\": false, \"reason\": \"after prose\"}";
    let after = "{\"on_task\": false, \"reason\": \"before prose\"}\nI hope that helps.";
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.says("fence", fence);
    scene.judge.says("prose", prose);
    scene.judge.says("after", after);
    scene.judge.says("comma", "{\"on_task\": false, \"reason\": \"trailing\",}");
    scene.begin("the report");
    let desktop = scene.desktop();
    for (title, reason) in
        [("fence", "fenced"), ("prose", "after prose"), ("after", "before prose")]
    {
        desktop.open(&format!("Class-{title}"), title);
        let state = scene.subscriber.until_titled(title, DriftStatus::Drifting);
        assert_eq!(state.drift.unwrap().reason.as_deref(), Some(reason));
    }
    desktop.open("Class-comma", "comma");
    scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    scene.subscriber.until_titled("comma", DriftStatus::Idle);
    holds_for(Duration::from_secs(1), "no tight retries", || scene.judge.calls().len() == 4);
    assert_eq!(scene.subscriber.alerts(), 3);
}

#[test]
fn a_judge_that_floods_is_cut_off() {
    let mut scene = Scene::on(Manager::Bare).start();
    scene.judge.rule("flood", "yes '{\"on_task\": false}' | head -c 100000000");
    scene.begin("the report");
    scene.subscriber.until("a sensor", |state| state.sensor.status == SensorStatus::Ok);
    let before = scene.daemon().process().resident_kib();
    scene.desktop().open("Fun", "flood");
    scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    let after = scene.daemon().process().resident_kib();
    assert!(after < before + 4096, "{before} to {after} KiB");
    assert_eq!(scene.subscriber.alerts(), 0);
}

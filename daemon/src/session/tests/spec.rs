//! The testing list of the document that the product comes from, item by item.

use antidrift_protocol::Phase;

use super::*;

#[test]
fn local_match_is_ontask_and_the_judge_is_never_called() {
    let mut world = World::started();
    world.see(program("Code"));
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
    world.pass(secs(3600));
    assert_eq!(world.asked.len(), 0);
    assert_eq!(world.state().judge.verdicts.rule, 1);
}

#[test]
fn unmatched_is_pending_then_what_the_judge_says() {
    for (on_task, expected) in [(true, DriftStatus::Ontask), (false, DriftStatus::Drifting)] {
        let mut world = World::started();
        world.see(program("gimp"));
        assert_eq!((world.status(), world.source()), (DriftStatus::Pending, None));
        world.pass(secs(2));
        assert_eq!((world.status(), world.asked.len()), (DriftStatus::Pending, 1));
        world.judge(on_task, "because");
        assert_eq!((world.status(), world.source()), (expected, Some(DriftSource::Judge)));
        assert_eq!(world.drift().reason.as_deref(), Some("because"));
        assert_eq!(world.drift().alert.is_some(), !on_task);
    }
}

#[test]
fn cache_a_second_look_at_a_judged_class_does_not_call_the_judge() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    world.see(program("code"));
    assert_eq!(world.status(), DriftStatus::Ontask);
    world.see(program("steam"));
    assert_eq!(
        world.status(),
        DriftStatus::Pending,
        "drift is shown together with its alert, once settled"
    );
    world.pass(secs(2));
    assert_eq!((world.status(), world.source()), (DriftStatus::Drifting, Some(DriftSource::Cache)));
    world.pass(secs(100));
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn debounce_rapid_unmatched_windows_start_at_most_one_judge_in_ten_seconds() {
    let mut world = World::started();
    world.see(program("first"));
    world.pass(secs(2));
    world.judge(true, "");
    for n in 0..9 {
        world.see(program(&format!("class{n}")));
        world.pass(Duration::from_millis(900));
    }
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn a_slow_result_is_discarded_after_the_session_ends_or_another_starts() {
    for restart in [false, true] {
        let mut world = World::started();
        world.see(program("gimp"));
        world.pass(secs(2));
        let run = world.running.expect("a judgement under way");
        world.complete().unwrap();
        assert_eq!(world.running, None, "the end of a session cancels its judgement");
        if restart {
            world.start("another thing", &[]);
        }
        let seq = world.session.seq();
        let result = Ok(Verdict { on_task: false, reason: "too late".into() });
        let effects = world.step(Input::JudgeDone { run, result });
        assert_eq!(effects.seq, seq);
        assert!(effects.state.is_none() && effects.edges.is_empty());
        let phase = if restart { Phase::Active } else { Phase::Review };
        assert_eq!(world.state().phase, phase);
    }
}

#[test]
fn ontask_appends_the_class_clears_drift_and_survives_a_restart() {
    let mut world = World::started();
    world.drift_on(program("gimp"));
    let Answer::Ontask(answer) = world.ontask().unwrap() else { panic!("another answer") };
    let added = answer.added.unwrap();
    assert_eq!((added.kind.as_str(), added.value.as_str()), ("window_class", "gimp"));
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
    assert_eq!(world.state().allowed.unwrap().window_classes, ["code", "gimp"]);

    let mut world = world.restarted();
    world.see(program("gimp"));
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
    world.pass(secs(60));
    assert_eq!(world.asked.len(), 0);
}

#[test]
fn refocus_clears_drift_and_leaves_the_allowed_context_alone() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    let before = world.state().allowed;
    world.refocus().unwrap();
    assert_eq!((world.status(), world.source()), (DriftStatus::Idle, None));
    assert_eq!(world.state().allowed, before);
}

#[test]
fn restart_restores_the_allowed_context_and_drift_starts_idle() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    let world = world.restarted();
    assert_eq!(world.state().phase, Phase::Active);
    assert_eq!(world.state().allowed.unwrap().window_classes, ["code"]);
    assert_eq!((world.status(), world.drift().alert), (DriftStatus::Idle, None));
}

#[test]
fn nil_judge_leaves_an_unmatched_window_idle_and_local_matching_runs() {
    let judge = JudgeSettings { backend: "none".into(), ..JudgeSettings::default() };
    let mut world = World::with(Settings { judge, ..settings() }, None);
    world.start("draft the report", &["code"]);
    world.see(program("steam"));
    world.pass(secs(3600));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Idle, 0));
    world.see(program("code"));
    assert_eq!(world.status(), DriftStatus::Ontask);
}

#[test]
fn refocus_and_ontask_outside_an_active_session_are_refused() {
    let mut world = World::new();
    world.see(program("steam"));
    for round in 0..2 {
        assert_eq!(code_of(&world.refocus()), ErrorCode::NotActive, "{round}");
        assert_eq!(code_of(&world.ontask()), ErrorCode::NotActive, "{round}");
        if round == 0 {
            world.start("x", &[]);
            world.complete().unwrap();
        }
    }
}

#[test]
fn a_failed_judge_changes_nothing_and_is_asked_again_with_growing_pauses() {
    let mut world = World::started();
    world.see(program("gimp"));
    world.pass(secs(2));
    let first = world.asked[0].1;
    for _ in 0..9 {
        world.judge_fails(FailureKind::ToolFailed);
        assert_eq!((world.status(), world.source()), (DriftStatus::Idle, None));
        while world.running.is_none() {
            world.pass(secs(1));
        }
        assert_eq!(world.status(), DriftStatus::Pending);
    }
    let pauses: Vec<u64> = world.asked.windows(2).map(|it| (it[1].1 - it[0].1).as_secs()).collect();
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 600, 600, 600]);
    assert_eq!(world.asked[0].1, first);
    assert!(world.edges.is_empty(), "a failure is no alert");
    world.judge(true, "");
    assert_eq!(world.status(), DriftStatus::Ontask);
}

#[test]
fn a_spell_of_failures_is_news_when_it_begins_and_when_it_ends() {
    let mut world = World::started();
    let news = |world: &mut World, result| {
        while world.running.is_none() {
            world.pass(secs(1));
        }
        let run = world.running.take().expect("a judgement");
        world.step(Input::JudgeDone { run, result }).judge_news
    };
    let failure = || Failure { kind: FailureKind::TimedOut, message: "slow".into() };
    for class in ["gimp", "other"] {
        world.see(program(class));
        assert_eq!(news(&mut world, Err(failure())), Some(JudgeNews::Fails("slow".into())));
        assert_eq!(news(&mut world, Err(failure())), None);
        assert_eq!(news(&mut world, Err(failure())), None);
        let verdict = Verdict { on_task: true, reason: String::new() };
        let recovered = Some(JudgeNews::Recovered { failures: 3 });
        assert_eq!(news(&mut world, Ok(verdict)), recovered);
    }
}

#[test]
fn a_login_error_takes_the_longest_pause_at_once() {
    let mut world = World::started();
    world.see(program("gimp"));
    world.pass(secs(2));
    world.judge_fails(FailureKind::NotLoggedIn);
    world.see(program("other"));
    assert_eq!(world.status(), DriftStatus::Idle, "new windows during a back-off are idle too");
    world.pass(secs(599));
    assert_eq!(world.asked.len(), 1);
    world.pass(secs(1));
    assert_eq!(world.asked.len(), 2);
}

#[test]
fn a_judgement_has_thirty_seconds() {
    let mut world = World::started();
    world.see(program("gimp"));
    world.pass(secs(2));
    world.pass(secs(29));
    assert_eq!((world.status(), world.running.is_some()), (DriftStatus::Pending, true));
    world.pass(secs(1));
    assert_eq!((world.status(), world.running), (DriftStatus::Idle, None));
    let judge = world.state().judge;
    assert!(judge.last_error.unwrap().contains("30 s"));
}

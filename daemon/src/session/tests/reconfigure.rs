//! Another configuration while a session goes on, and what the next session can begin with.

use antidrift_protocol::{Allow, Preset, Presets};

use super::*;

fn reconfigure(world: &mut World, settings: Settings, anew: bool) -> Effects {
    world.step(Input::Reconfigured { settings: Box::new(settings), anew })
}

fn presets(world: &mut World) -> Presets {
    match world.ask(Command::Presets(NoArgs {})) {
        Ok(Answer::Presets(presets)) => *presets,
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_judge_is_asked_about_the_window_again() {
    let mut world = World::started();
    world.see(program("fun"));
    world.pass(secs(2));
    world.judge(false, "no work");
    assert_eq!(world.status(), DriftStatus::Drifting);
    let other = JudgeSettings { backend: "http".into(), ..settings().judge };
    let _ = reconfigure(&mut world, Settings { judge: other, ..settings() }, true);
    assert_eq!(world.state().judge.backend, "http");
    assert_eq!(world.status(), DriftStatus::Pending, "the word of the other one is void");
    world.pass(secs(10));
    assert_eq!(world.asked.len(), 2);
    world.judge(true, "it is the report");
    assert_eq!(world.status(), DriftStatus::Ontask);
    assert_eq!(world.state().judge.calls, 2, "what was used of the allowance stays used");
}

#[test]
fn a_judgement_under_way_is_given_up() {
    let mut world = World::started();
    world.see(program("fun"));
    world.pass(secs(2));
    assert!(world.running.is_some());
    let none = JudgeSettings { model: false, ..settings().judge };
    let effects = reconfigure(&mut world, Settings { judge: none, ..settings() }, true);
    assert!(effects.cancel_judge);
    assert_eq!(world.status(), DriftStatus::Idle);
}

#[test]
fn what_does_not_change_a_verdict_leaves_the_alert() {
    let mut world = World::started();
    world.see(program("fun"));
    world.pass(secs(2));
    world.judge(false, "no work");
    let alerts = world.edges.len();
    let notify = NotifySettings { budget: None, ..NotifySettings::default() };
    let _ = reconfigure(&mut world, Settings { notify, ..settings() }, false);
    assert_eq!(world.status(), DriftStatus::Drifting);
    assert_eq!(world.edges.len(), alerts);
}

#[test]
fn a_judge_that_rests_after_failures_is_asked_again() {
    let mut world = World::started();
    world.see(program("fun"));
    world.pass(secs(2));
    world.judge_fails(FailureKind::NotLoggedIn);
    world.pass(secs(20));
    assert_eq!(world.asked.len(), 1, "it rests for ten minutes");
    let _ = reconfigure(&mut world, settings(), false);
    assert_eq!(world.asked.len(), 2);
}

#[test]
fn a_class_that_holds_many_contexts_is_judged_by_title_from_then_on() {
    let mut world = World::started();
    world.see(program("fun"));
    world.pass(secs(2));
    world.judge(true, "sports report");
    assert_eq!(world.status(), DriftStatus::Ontask);
    let contexts = Contexts::from_config(Some(&["+fun".to_owned()]), None).unwrap();
    let _ = reconfigure(&mut world, Settings { contexts, ..settings() }, true);
    world.pass(secs(12));
    world.judge(false, "a game");
    assert_eq!(world.status(), DriftStatus::Drifting);
    world.see(Window { title: "The report".into(), ..program("fun") });
    world.pass(secs(12));
    assert_eq!(world.asked.len(), 3, "another title is another context");
}

#[test]
fn the_last_session_is_told_with_what_was_allowed_at_its_end() {
    let mut world = World::new();
    assert_eq!(presets(&mut world).last, None);
    let start = Start {
        text: "draft the report".into(),
        next_action: Some("outline".into()),
        timebox_secs: Some(1500),
        ..Start::default()
    };
    world.ask(Command::Start(start)).unwrap();
    let add = Allowed { window_classes: vec!["code".into()], ..Allowed::default() };
    world.ask(Command::Allow(Allow { add, remove: Allowed::default() })).unwrap();
    world.ask(Command::Extend(antidrift_protocol::Extend { secs: 60 })).unwrap();
    assert_eq!(presets(&mut world).last, None, "it is not over");
    world.complete().unwrap();
    let expected = Preset {
        text: Some("draft the report".into()),
        next_action: Some("outline".into()),
        timebox_secs: Some(1500),
        allowed: Allowed { window_classes: vec!["code".into()], ..Allowed::default() },
        ..Preset::default()
    };
    assert_eq!(presets(&mut world).last.as_ref(), Some(&expected));
    world.end().unwrap();
    let saved = world.saves.last().unwrap().clone();
    saved.check().unwrap();
    let mut next = World::with(settings(), Some(saved));
    assert_eq!(presets(&mut next).last, Some(expected), "it survives a restart");
}

#[test]
fn presets_are_those_of_the_configuration_in_force() {
    let mut world = World::new();
    assert_eq!(presets(&mut world).presets, []);
    let writing = Preset { name: "writing".into(), ..Preset::default() };
    let others = Settings { presets: vec![writing.clone()], ..settings() };
    let _ = reconfigure(&mut world, others, false);
    assert_eq!(presets(&mut world).presets, [writing]);
}

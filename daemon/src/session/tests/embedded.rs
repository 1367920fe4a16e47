//! The embedded judge in a session: alone, before a model, and explained.

use antidrift_protocol::{Pause, TakeDetour};

use super::*;
use crate::{
    ai::embedded::{Aim, Answer as Verdict, Catalogue, judge},
    evidence::context_title,
};

fn alone() -> Settings {
    let judge = JudgeSettings {
        backend: "embedded".into(),
        destination: Some(Destination::Local),
        embedded: Some(Arc::new(Catalogue::default())),
        prefilter: true,
        ..JudgeSettings::default()
    };
    Settings { judge, ..settings() }
}

pub(super) fn before_a_model() -> Settings {
    let settings = settings();
    let embedded = Some(Arc::new(Catalogue::default()));
    Settings {
        judge: JudgeSettings { embedded, prefilter: true, ..settings.judge.clone() },
        ..settings
    }
}

/// What the embedded judge says of a window, asked apart from any session.
pub(super) fn calls_drift(commitment: &str, window: &Window) -> bool {
    let catalogue = Catalogue::default();
    let aim = Aim::new(&catalogue, &[commitment], &["code".into()]);
    let title = context_title(&window.title);
    judge(&catalogue, &aim, &window.class, &title).answer == Verdict::Drifting
}

fn writing(settings: Settings) -> World {
    let mut world = World::with(settings, None);
    world.start("draft the report on river floods", &["code"]);
    world
}

#[test]
fn pastime_is_drift_once_settled_and_needs_no_judge_start() {
    let mut world = writing(alone());
    world.see(page("Funny cats compilation - YouTube"));
    assert_eq!((world.status(), world.source()), (DriftStatus::Pending, None));
    world.pass(secs(2));
    assert_eq!(world.status(), DriftStatus::Drifting);
    assert_eq!(world.source(), Some(DriftSource::Embedded));
    assert_eq!(
        world.drift().reason.as_deref(),
        Some(
            "YouTube is a video site; nothing in the title fits “draft the report on river floods”"
        )
    );
    assert!(world.drift().alert.is_some());
    assert_eq!(world.asked.len(), 0);
    assert_eq!(world.state().judge.calls, 0);
    assert_eq!(world.state().judge.verdicts.embedded, 1);
}

#[test]
fn there_is_no_debounce_between_two_windows() {
    let mut world = writing(alone());
    for title in ["Netflix", "Shop vintage posters - Etsy", "Premier League table - Sky Sports"] {
        world.see(page(title));
        world.pass(secs(2));
        assert_eq!(world.status(), DriftStatus::Drifting, "{title}");
    }
}

#[test]
fn a_tied_title_is_on_task_and_known_at_once_when_it_comes_back() {
    let mut world = writing(alone());
    let tied = page("River floods in Europe: a report - ScienceDirect");
    world.see(tied.clone());
    world.pass(secs(2));
    let on_task = (DriftStatus::Ontask, Some(DriftSource::Embedded));
    assert_eq!((world.status(), world.source()), on_task);
    world.see(page("Netflix"));
    world.see(tied);
    assert_eq!((world.status(), world.source()), on_task);
}

#[test]
fn unsure_is_idle_and_no_failure() {
    let mut world = writing(alone());
    world.see(page("Ganymede"));
    world.pass(secs(2));
    assert_eq!((world.status(), world.source()), (DriftStatus::Idle, None));
    let judge = world.state().judge;
    assert_eq!((judge.last_error, judge.verdicts.embedded), (None, 0));
    world.pass(secs(3600));
    assert_eq!(world.status(), DriftStatus::Idle);
}

#[test]
fn what_the_user_says_wins() {
    let mut world = writing(alone());
    world.see(page("Funny cats compilation - YouTube"));
    world.pass(secs(2));
    world.ontask().unwrap();
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
}

#[test]
fn refocus_leaves_the_window_alone_and_then_it_is_flagged_again() {
    let mut world = writing(alone());
    world.see(page("Funny cats compilation - YouTube"));
    world.pass(secs(2));
    world.refocus().unwrap();
    assert_eq!(world.status(), DriftStatus::Idle);
    world.pass(secs(29));
    assert_eq!(world.status(), DriftStatus::Idle);
    world.pass(secs(2));
    assert_eq!(world.status(), DriftStatus::Drifting);
}

#[test]
fn the_commitment_of_the_next_session_is_another() {
    let mut world = writing(alone());
    let film = page("Heat (1995) - Netflix");
    world.see(film.clone());
    world.pass(secs(2));
    assert_eq!(world.status(), DriftStatus::Drifting);
    world.complete().unwrap();
    world.start("write a review of the film Heat", &[]);
    world.see(program("code"));
    world.see(film);
    world.pass(secs(2));
    assert_ne!(world.status(), DriftStatus::Drifting);
}

#[test]
fn a_model_gets_what_the_embedded_judge_is_unsure_about() {
    let mut world = writing(before_a_model());
    world.see(page("Ganymede"));
    world.pass(secs(2));
    assert_eq!(world.asked.len(), 1);
    world.judge(false, "a moon");
    assert_eq!(world.source(), Some(DriftSource::Judge));
    let verdicts = world.state().judge.verdicts;
    assert_eq!((verdicts.embedded, verdicts.judge), (0, 1));
}

#[test]
fn drift_and_firm_ties_never_reach_the_model() {
    let mut world = writing(before_a_model());
    world.see(page("Funny cats compilation - YouTube"));
    world.pass(secs(20));
    assert_eq!(world.source(), Some(DriftSource::Embedded));
    world.see(page("Report on river floods 2024 - ScienceDirect"));
    world.pass(secs(20));
    assert_eq!(
        (world.status(), world.source()),
        (DriftStatus::Ontask, Some(DriftSource::Embedded))
    );
    assert_eq!(world.asked.len(), 0);
    assert_eq!(world.state().judge.verdicts.embedded, 2);
}

#[test]
fn a_weak_tie_goes_to_the_model_and_holds_where_that_cannot_answer() {
    let mut world = writing(before_a_model());
    let weak = page("Floods - Stack Overflow");
    world.see(weak.clone());
    world.pass(secs(2));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Pending, 1));
    world.judge_fails(FailureKind::NotLoggedIn);
    assert_eq!(
        (world.status(), world.source()),
        (DriftStatus::Ontask, Some(DriftSource::Embedded))
    );
}

#[test]
fn at_the_cap_the_model_is_off_and_the_embedded_judge_goes_on() {
    let mut settings = settings();
    settings.judge.limit = Some(1);
    settings.judge.embedded = Some(Arc::new(Catalogue::default()));
    let mut world = writing(settings);
    world.see(page("Funny cats compilation - YouTube"));
    world.pass(secs(2));
    assert_eq!(world.asked.len(), 1, "the model comes first: there is no prefilter");
    world.judge(true, "a study of cats");
    world.see(page("Ganymede"));
    world.pass(secs(60));
    assert_eq!((world.asked.len(), world.status()), (1, DriftStatus::Idle));
    world.see(page("Netflix"));
    world.pass(secs(60));
    assert_eq!(world.source(), Some(DriftSource::Embedded));
    let judge = world.state().judge;
    assert_eq!((judge.calls, judge.limit), (1, Some(1)));
    let Ok(Answer::Preview(previewed)) = world.ask(Command::Preview(NoArgs {})) else {
        panic!("no preview")
    };
    assert!(previewed.withheld.is_some_and(|why| why.contains("max_per_session")));
    let Ok(Answer::Explain(explained)) = world.ask(Command::Explain(NoArgs {})) else {
        panic!("no explanation")
    };
    assert!(explained.steps.iter().any(|it| it.step == "model" && it.outcome == "used up"));
    world.complete().unwrap();
    world.start("draft the report on river floods", &[]);
    world.see(page("Ganymede"));
    world.pass(secs(60));
    assert_eq!(world.asked.len(), 2, "each session has its own");
}

#[test]
fn a_dialog_of_a_window_that_is_on_task_is_on_task() {
    let mut world = writing(alone());
    let parent = page("Report on river floods 2024 - ScienceDirect");
    world.see(parent.clone());
    world.pass(secs(2));
    let dialog = Window { parent: Some(Box::new(parent)), id: 77, ..program("dialog") };
    world.see(dialog);
    assert_eq!(
        (world.status(), world.source()),
        (DriftStatus::Ontask, Some(DriftSource::Embedded))
    );
}

#[test]
fn every_step_of_a_status_is_explained() {
    let mut world = writing(alone());
    world.see(page("Funny cats compilation - YouTube"));
    world.pass(secs(2));
    let Ok(Answer::Explain(explained)) = world.ask(Command::Explain(NoArgs {})) else {
        panic!("no explanation")
    };
    let steps: Vec<(&str, &str)> =
        explained.steps.iter().map(|it| (it.step.as_str(), it.outcome.as_str())).collect();
    assert_eq!(
        steps,
        [
            ("window", "firefox"),
            ("allowed", "not allowed"),
            ("cache", "empty"),
            ("site or program", "video"),
            ("title", "read"),
            ("phrases", "pastime"),
            ("words in common", "none"),
            ("rule", "drifting"),
            ("model", "none"),
            ("to change it", ""),
        ]
    );
    assert!(explained.steps[0].detail.contains("Funny cats compilation"));
    assert!(explained.steps[9].detail.contains("antidrift ontask"));
}

#[test]
fn what_keeps_a_window_from_being_judged_is_explained_first() {
    let mut world = writing(alone());
    world.see(page("Funny cats compilation - YouTube"));
    world.pass(secs(2));
    let first = |world: &mut World| {
        let Ok(Answer::Explain(explained)) = world.ask(Command::Explain(NoArgs {})) else {
            panic!("no explanation");
        };
        let step = explained.steps[0].clone();
        (step.step, step.outcome, step.detail, explained.steps.len())
    };
    let (name, .., rest) = first(&mut world);
    assert_eq!(name, "window");
    let detour = TakeDetour { secs: 60, text: "the flag".repeat(120) };
    world.ask(Command::Detour(detour)).unwrap();
    let (name, outcome, detail, steps) = first(&mut world);
    assert_eq!((name.as_str(), outcome.as_str()), ("detour", "every window is on task"));
    assert!(detail.contains("antidrift resume") && detail.contains("the flag"), "{detail}");
    assert_eq!(steps, rest + 1);
    world.signs(Absence { locked: true, ..Absence::default() });
    let (name, outcome, ..) = first(&mut world);
    assert_eq!((name.as_str(), outcome.as_str()), ("away", "not judged (locked)"));
    world.ask(Command::Pause(Pause { secs: None })).unwrap();
    let (name, outcome, detail, _) = first(&mut world);
    assert_eq!((name.as_str(), outcome.as_str()), ("pause", "not judged"));
    assert!(detail.contains("antidrift resume"), "{detail}");
    // That is all there is to say without a window.
    world.see_nothing();
    world.pass(secs(1));
    assert_eq!(first(&mut world).3, 1);
}

#[test]
fn there_may_be_nothing_to_explain() {
    let mut world = World::with(alone(), None);
    assert_eq!(code_of(&world.ask(Command::Explain(NoArgs {}))), ErrorCode::NotActive);
    world.start("draft the report", &[]);
    assert_eq!(code_of(&world.ask(Command::Explain(NoArgs {}))), ErrorCode::NoWindow);
}

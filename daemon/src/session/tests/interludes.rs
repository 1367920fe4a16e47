//! Pause, detour and more time.

use antidrift_protocol::{ClearedWhy, Extend, Notice, NoticeKind, Pause, TakeDetour};

use super::*;

impl World {
    fn pause(&mut self, secs: Option<u64>) -> Result<Answer, ErrorObject> {
        self.ask(Command::Pause(Pause { secs }))
    }

    fn resume(&mut self) -> Result<Answer, ErrorObject> {
        self.ask(Command::Resume(NoArgs {}))
    }

    fn extend(&mut self, secs: u64) -> Result<Answer, ErrorObject> {
        self.ask(Command::Extend(Extend { secs }))
    }

    fn detour(&mut self, secs: u64) -> Result<Answer, ErrorObject> {
        self.ask(Command::Detour(TakeDetour { secs, text: "look up the flag".into() }))
    }

    fn notices(&self) -> Vec<Notice> {
        let notice = |edge: &EventBody| match edge {
            EventBody::Notice(notice) => Some(notice.clone()),
            _ => None,
        };
        self.edges.iter().filter_map(notice).collect()
    }

    fn cleared(&self) -> Option<ClearedWhy> {
        self.edges.iter().rev().find_map(|edge| match edge {
            EventBody::AlertCleared(cleared) => Some(cleared.why),
            _ => None,
        })
    }

    fn remaining(&self) -> i64 {
        self.state().commitment.unwrap().remaining_secs.unwrap()
    }
}

#[test]
fn all_four_need_a_session() {
    let mut world = World::new();
    for result in [world.pause(None), world.resume(), world.extend(60), world.detour(60)] {
        assert_eq!(code_of(&result), ErrorCode::NotActive);
    }
}

#[test]
fn a_pause_judges_and_alarms_nothing() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    world.pause(None).unwrap();
    assert_eq!(world.cleared(), Some(ClearedWhy::Paused));
    let paused = world.state().paused.unwrap();
    assert_eq!((paused.since_at, paused.until_at), (world.now.wall, None));
    let (edges, asked) = (world.edges.len(), world.asked.len());
    world.see(program("gimp"));
    world.pass(secs(100_000));
    assert_eq!((world.edges.len(), world.asked.len()), (edges, asked));
    assert_eq!(world.status(), DriftStatus::Idle);
    world.see(program("steam"));
    world.resume().unwrap();
    assert_eq!((world.state().paused, world.status()), (None, DriftStatus::Pending));
    world.pass(secs(2));
    assert_eq!(world.status(), DriftStatus::Drifting);
    assert!(world.notices().is_empty(), "who resumes need not be told");
}

#[test]
fn a_pause_cancels_the_judgement_under_way() {
    let mut world = World::started();
    world.see(program("gimp"));
    world.pass(secs(2));
    assert!(world.running.is_some());
    world.pause(None).unwrap();
    assert_eq!(world.running, None);
}

#[test]
fn a_timed_pause_ends_with_one_notice() {
    let mut world = World::started();
    world.pause(Some(600)).unwrap();
    let until = world.state().paused.unwrap().until_at.unwrap();
    assert_eq!(until.as_millis(), NINE + 600_000);
    world.pass(secs(599));
    assert!(world.edges.is_empty());
    world.pass(secs(1));
    let [notice] = &*world.notices() else { panic!("{:?}", world.edges) };
    assert_eq!(notice.kind, NoticeKind::PauseEnded);
    assert_eq!(notice.text, "back to «draft the report»");
    assert_eq!(world.state().paused, None);
    world.pass(secs(6000));
    assert_eq!(world.edges.len(), 1);
}

#[test]
fn a_later_pause_replaces_the_earlier() {
    let mut world = World::started();
    world.pause(Some(60)).unwrap();
    world.pass(secs(50));
    world.pause(None).unwrap();
    world.pass(secs(5000));
    assert_eq!(world.state().paused.unwrap().until_at, None);
    assert!(world.edges.is_empty());
}

#[test]
fn a_pause_counts_suspend_and_survives_a_restart() {
    let mut world = World::started();
    world.pause(Some(600)).unwrap();
    let mut later = world.restarted();
    assert_eq!(later.state().paused, world.state().paused);
    later.jump(secs(1), secs(599));
    let _ = later.step(Input::Tick);
    assert!(later.state().paused.is_some());
    later.pass(secs(1));
    assert_eq!(later.notices().len(), 1);
    // While no daemon runs, only the clock on the wall goes on.
    world.jump(secs(3600), secs(3600));
    let mut much_later = world.restarted();
    let _ = much_later.step(Input::Tick);
    assert_eq!((much_later.state().paused, much_later.notices().len()), (None, 1));
}

#[test]
fn back_to_task_and_the_end_of_the_session_end_a_pause() {
    let mut world = World::started();
    world.pause(None).unwrap();
    world.refocus().unwrap();
    assert_eq!(world.state().paused, None);
    world.pause(None).unwrap();
    world.complete().unwrap();
    assert_eq!(world.state().paused, None);
    world.start("something else", &[]);
    assert_eq!(world.state().paused, None);
}

#[test]
fn there_must_be_something_to_resume() {
    let mut world = World::started();
    let refused = world.resume();
    assert_eq!(code_of(&refused), ErrorCode::NotPaused);
    assert!(world.saves.len() == 1, "a refusal changes nothing");
}

#[test]
fn on_a_detour_whatever_has_the_focus_is_on_task() {
    let mut world = World::started();
    world.see(page("manual"));
    world.pass(secs(2));
    world.judge(true, "");
    world.drift_on(program("steam"));
    world.detour(300).unwrap();
    assert_eq!(world.cleared(), Some(ClearedWhy::Ontask));
    let drift = world.drift();
    assert_eq!((drift.status, drift.source), (DriftStatus::Ontask, Some(DriftSource::Rule)));
    assert_eq!(drift.reason.as_deref(), Some("you are on a detour: look up the flag"));
    let detour = world.state().detour.unwrap();
    assert_eq!((detour.text.as_str(), detour.since_at), ("look up the flag", world.now.wall));
    assert_eq!(detour.window.unwrap().class, "steam");
    let (edges, asked) = (world.edges.len(), world.asked.len());
    world.see(program("gimp"));
    world.pass(secs(299));
    assert_eq!((world.edges.len(), world.asked.len()), (edges, asked));
    world.see(program("steam"));
    world.pass(secs(1));
    let [notice] = &*world.notices() else { panic!("{:?}", world.edges) };
    assert_eq!(notice.kind, NoticeKind::DetourEnded);
    assert_eq!(notice.text, "back to «draft the report»; you left «steam»");
    assert_eq!(world.status(), DriftStatus::Pending, "nobody is alarmed in the same breath");
    world.pass(secs(2));
    assert_eq!(world.status(), DriftStatus::Drifting, "a detour does not widen what is allowed");
}

#[test]
fn a_detour_typed_into_a_terminal_names_the_window_that_was_on_task() {
    let terminal = || Window { title: "~".into(), ..program("XTerm") };
    let mut world = World::started();
    world.see(terminal());
    world.detour(60).unwrap();
    let left = |world: &World| world.state().detour.unwrap().window.unwrap().class;
    assert_eq!(left(&world), "XTerm", "there is nothing else to name");
    world.resume().unwrap();
    world.see(program("code"));
    world.see(terminal());
    world.detour(60).unwrap();
    assert_eq!(left(&world), "code");
}

#[test]
fn a_detour_is_counted_apart() {
    let mut world = World::started();
    world.see(program("code"));
    world.pass(secs(10));
    world.detour(20).unwrap();
    world.pass(secs(20));
    world.pause(None).unwrap();
    world.pass(secs(30));
    world.signs(Absence { locked: true, ..Absence::default() });
    world.pass(secs(40));
    world.signs(Absence::default());
    let Ok(Answer::Complete(done)) = world.complete() else { panic!() };
    let it = done.review;
    assert_eq!((it.ontask_secs, it.detour_secs, it.paused_secs, it.away_secs), (10, 20, 30, 40));
    assert_eq!((it.other_secs, it.drifting_secs), (0, 0));
}

#[test]
fn a_detour_and_its_sums_survive_a_restart() {
    let mut world = World::started();
    world.see(program("code"));
    world.detour(300).unwrap();
    world.pass(secs(100));
    world.ontask().unwrap();
    let mut later = world.restarted();
    assert_eq!(later.state().detour, world.state().detour);
    later.see(program("steam"));
    assert_eq!(later.status(), DriftStatus::Ontask);
    later.pass(secs(200));
    assert_eq!(later.notices().len(), 1);
    let Ok(Answer::Complete(done)) = later.complete() else { panic!() };
    assert_eq!(done.review.detour_secs, 300);
}

#[test]
fn what_runs_out_while_nobody_is_there_is_one_notice_on_the_return() {
    let mut world = World::new();
    world.timebox(120);
    world.pause(Some(60)).unwrap();
    world.signs(Absence { locked: true, ..Absence::default() });
    world.pass(secs(600));
    assert!(world.edges.is_empty() && world.state().paused.is_some());
    world.signs(Absence::default());
    assert_eq!(world.edges, [EventBody::TimeboxElapsed], "the planned time matters more");
    assert_eq!(world.state().paused, None);
}

#[test]
fn a_timebox_that_runs_out_during_a_pause_waits_for_its_end() {
    let mut world = World::new();
    world.timebox(60);
    world.pause(None).unwrap();
    world.pass(secs(100));
    assert!(world.edges.is_empty());
    world.resume().unwrap();
    assert_eq!(world.edges, [EventBody::TimeboxElapsed]);
}

#[test]
fn more_time_before_the_end_is_added_to_what_is_left() {
    let mut world = World::new();
    world.timebox(100);
    world.pass(secs(40));
    world.extend(30).unwrap();
    assert_eq!(world.remaining(), 90);
    world.pass(secs(89));
    assert!(world.edges.is_empty());
    world.pass(secs(1));
    assert_eq!(world.edges, [EventBody::TimeboxElapsed]);
}

#[test]
fn more_time_in_overtime_counts_from_now_and_is_told_when_it_ends_too() {
    let mut world = World::new();
    world.timebox(100);
    world.pass(secs(1000));
    assert_eq!(world.remaining(), -900);
    world.extend(600).unwrap();
    assert_eq!(world.remaining(), 600);
    let mut later = world.restarted();
    assert_eq!(later.remaining(), 600);
    later.pass(secs(600));
    assert_eq!(later.edges, [EventBody::TimeboxElapsed]);
}

#[test]
fn there_must_be_a_timebox_to_extend_and_it_ends_after_a_day() {
    let mut world = World::started();
    let refused = world.extend(60);
    assert_eq!(code_of(&refused), ErrorCode::NoTimebox);
    let mut world = World::new();
    world.timebox(86_000);
    world.extend(400).unwrap();
    let refused = world.extend(1);
    assert_eq!(code_of(&refused), ErrorCode::InvalidRequest);
    assert_eq!(world.remaining(), 86_400);
}

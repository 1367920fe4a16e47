//! Whether anybody is there, and what that means for drift.

use antidrift_protocol::{Away, ClearedWhy};

use super::*;

fn idle() -> Absence {
    Absence { idle: true, ..Absence::default() }
}

fn locked() -> Absence {
    Absence { locked: true, ..Absence::default() }
}

fn asleep() -> Absence {
    Absence { asleep: true, ..Absence::default() }
}

fn present() -> Absence {
    Absence::default()
}

fn cleared(world: &World) -> Vec<ClearedWhy> {
    let why = |edge: &EventBody| match edge {
        EventBody::AlertCleared(cleared) => Some(cleared.why),
        _ => None,
    };
    world.edges.iter().filter_map(why).collect()
}

fn raised(world: &World) -> usize {
    world.edges.iter().filter(|edge| matches!(edge, EventBody::AlertRaised(_))).count()
}

#[test]
fn leaving_ends_the_alert_and_nothing_is_said_until_the_return() {
    for (signs, away) in
        [(idle(), Away::Idle), (locked(), Away::Locked), (asleep(), Away::Suspended)]
    {
        let mut world = World::started();
        world.drift_on(program("steam"));
        world.signs(signs);
        assert_eq!(world.state().away, Some(away));
        assert_eq!(cleared(&world), [ClearedWhy::Away]);
        assert_eq!((world.status(), world.source()), (DriftStatus::Idle, None));
        let edges = world.edges.len();
        world.pass(secs(8 * 3600));
        assert_eq!(world.edges.len(), edges, "{away:?}: something was said to nobody");
        world.signs(present());
        assert_eq!((world.state().away, world.status()), (None, DriftStatus::Pending));
        world.pass(secs(60));
        assert_eq!((world.status(), raised(&world)), (DriftStatus::Drifting, 2));
        assert_eq!(world.edges.len(), edges + 1, "one alert, and no backlog of reminders");
    }
}

#[test]
fn signs_are_gone_only_when_all_of_them_are() {
    let mut world = World::started();
    world.signs(Absence { idle: true, locked: true, ..Absence::default() });
    assert_eq!(world.state().away, Some(Away::Locked));
    let _ = world.step(Input::Absence(asleep()));
    assert_eq!(world.state().away, Some(Away::Suspended));
    let _ = world.step(Input::Absence(locked()));
    world.signs(idle());
    assert_eq!(world.state().away, Some(Away::Locked), "the login manager says so");
    let _ = world.step(Input::Absence(present()));
    assert_eq!(world.state().away, Some(Away::Idle));
    world.signs(present());
    assert_eq!(world.state().away, None);
}

#[test]
fn nobody_is_judged_while_away() {
    let mut world = World::started();
    world.signs(locked());
    world.see(program("gimp"));
    world.pass(secs(3600));
    assert!(world.asked.is_empty());
    world.signs(present());
    world.pass(secs(3));
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn a_judgement_under_way_is_left_to_end_and_alarms_on_the_return_only() {
    let mut world = World::started();
    world.see(program("steam"));
    world.pass(secs(2));
    world.signs(locked());
    world.judge(false, "a game");
    world.pass(secs(600));
    assert_eq!(raised(&world), 0);
    world.signs(present());
    world.pass(secs(2));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Drifting, 1));
}

#[test]
fn time_away_is_summed_apart() {
    let mut world = World::started();
    world.see(program("code"));
    world.pass(secs(100));
    world.signs(idle());
    world.pass(secs(40));
    world.signs(present());
    world.pass(secs(7));
    // Suspend that nobody announced.
    world.jump(secs(1), secs(3601));
    let _ = world.step(Input::Tick);
    let Ok(Answer::Complete(done)) = world.complete() else { panic!() };
    let review = done.review;
    assert_eq!((review.ontask_secs, review.away_secs), (108, 3640));
    assert_eq!((review.other_secs, review.drifting_secs), (0, 0));
}

#[test]
fn f74_a_sleep_that_nobody_announced_is_time_away() {
    let mut world = World::started();
    let first = world.drift_on(program("steam"));
    world.jump(Duration::ZERO, secs(8 * 3600));
    let _ = world.step(Input::Tick);
    assert_eq!(cleared(&world), [ClearedWhy::Away]);
    assert_eq!(world.status(), DriftStatus::Pending, "it has to settle again");
    world.pass(secs(30));
    assert!(world.alert() > first);
    assert_eq!(raised(&world), 2);
    // Clocks that are read one after the other differ a little.
    world.jump(secs(10), secs(10) + Duration::from_millis(900));
    let _ = world.step(Input::Tick);
    assert_eq!(raised(&world), 2);
}

#[test]
fn f30_a_film_that_is_on_task_needs_no_input() {
    let film = Window { fullscreen: true, ..program("code") };
    let mut world = World::started();
    world.see(film.clone());
    world.signs(idle());
    assert_eq!((world.state().away, world.status()), (None, DriftStatus::Ontask));
    world.pass(secs(3600));
    assert_eq!(world.state().away, None);
    // The film is over: the player leaves the full screen by itself.
    world.see(program("code"));
    assert_eq!(world.state().away, Some(Away::Idle));
    world.see(film);
    assert_eq!(world.state().away, None);
    world.signs(Absence { idle: true, locked: true, ..Absence::default() });
    assert_eq!(world.state().away, Some(Away::Locked));
}

#[test]
fn a_film_that_is_not_on_task_does_not_keep_anybody_there() {
    let mut world = World::started();
    world.drift_on(Window { fullscreen: true, ..program("steam") });
    world.signs(idle());
    assert_eq!(world.state().away, Some(Away::Idle));
}

/// One lecture follows the other by itself.
#[test]
fn f30_the_next_film_is_judged_before_anybody_counts_as_away() {
    let film = |title: &str| Window { fullscreen: true, ..page(title) };
    for (on_task, away) in [(true, None), (false, Some(Away::Idle))] {
        let mut world = World::started();
        world.see(film("lecture one"));
        world.pass(secs(2));
        world.judge(true, "");
        world.signs(idle());
        world.see(film("lecture two"));
        assert_eq!((world.state().away, world.status()), (None, DriftStatus::Pending));
        world.pass(secs(12));
        world.judge(on_task, "");
        assert_eq!(world.state().away, away);
        assert_eq!(raised(&world), 0, "nobody is told who is not there");
    }
    // With no judge to wait for, nothing is known of it.
    let mut world = World::started();
    world.see(film("lecture one"));
    world.signs(idle());
    world.pass(secs(2));
    world.judge_fails(FailureKind::TimedOut);
    assert_eq!(world.state().away, Some(Away::Idle));
}

#[test]
fn the_timebox_that_ran_out_meanwhile_is_told_on_the_return() {
    let mut world = World::new();
    world.timebox(60);
    world.see(program("code"));
    world.signs(locked());
    world.pass(secs(600));
    assert!(world.edges.is_empty());
    world.signs(present());
    world.pass(secs(600));
    assert_eq!(world.edges, [EventBody::TimeboxElapsed]);
}

#[test]
fn a_daemon_that_knows_nothing_takes_everybody_for_present() {
    let mut world = World::started();
    world.signs(locked());
    world.see(program("code"));
    // The display is gone, and with it its word.
    world.absence = Absence::default();
    world.see_nothing();
    assert_eq!(world.state().away, None);
}

#[test]
fn absence_is_shown_without_a_session_too() {
    let mut world = World::new();
    world.signs(locked());
    assert_eq!(world.state().away, Some(Away::Locked));
    assert!(world.saves.is_empty(), "there is nothing to save");
}

#[test]
fn what_was_summed_is_saved_before_a_sleep() {
    let mut world = World::started();
    world.see(program("code"));
    world.pass(secs(50));
    let _ = world.step(Input::Absence(asleep()));
    let saved = world.saves.last().unwrap().session.clone().unwrap();
    assert_eq!(saved.ontask_ms, 50_000);
}

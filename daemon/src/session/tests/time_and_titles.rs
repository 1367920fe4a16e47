//! The timebox, suspend and set clocks; titles that move.

use antidrift_protocol::SensorStatus;

use super::*;

fn with_timebox(secs: u64) -> World {
    let mut world = World::new();
    let timebox_secs = Some(secs);
    let start = Start { text: "x".into(), timebox_secs, ..Start::default() };
    world.ask(Command::Start(start)).unwrap();
    world
}

fn remaining(world: &World) -> i64 {
    world.state().commitment.unwrap().remaining_secs.unwrap()
}

fn elapsed_notices(world: &World) -> usize {
    world.edges.iter().filter(|edge| **edge == EventBody::TimeboxElapsed).count()
}

#[test]
fn a_timebox_runs_into_overtime_with_one_notice() {
    let mut world = with_timebox(1500);
    world.pass(secs(1499));
    assert_eq!((remaining(&world), elapsed_notices(&world)), (1, 0));
    world.pass(secs(1));
    assert_eq!((remaining(&world), elapsed_notices(&world)), (0, 1));
    world.pass(secs(900));
    assert_eq!((remaining(&world), elapsed_notices(&world)), (-900, 1));
    assert_eq!(world.state().phase, antidrift_protocol::Phase::Active);
    let mut world = world.restarted();
    world.pass(secs(10));
    assert_eq!(elapsed_notices(&world), 0, "not again after a restart");
}

#[test]
fn suspend_counts_for_the_timebox_and_for_no_sum() {
    let mut world = with_timebox(36_000);
    world.pass(secs(10));
    world.jump(secs(1), secs(8 * 3600));
    let _ = world.step(Input::Tick);
    assert_eq!(remaining(&world), 36_000 - 10 - 8 * 3600);
    let Answer::Complete(answer) = world.complete().unwrap() else { panic!("another answer") };
    assert_eq!(answer.review.other_secs, 11);
}

#[test]
fn the_time_without_a_daemon_counts_for_the_timebox_and_for_no_sum() {
    let mut world = with_timebox(1500);
    world.pass(secs(100));
    let _ = world.step(Input::Shutdown { reason: "stopped".into() });
    let mut world = world.restarted();
    world.jump(secs(0), secs(0));
    assert_eq!(remaining(&world), 1400);
    world.now.wall = Timestamp::from_millis(NINE + 1_000_000);
    let mut world = world.restarted_from(&world.session.snapshot());
    assert_eq!(remaining(&world), 500);
    let Answer::Complete(answer) = world.complete().unwrap() else { panic!("another answer") };
    assert_eq!(answer.review.other_secs, 100);
}

impl World {
    fn restarted_from(&self, snapshot: &Snapshot) -> Self {
        Self::at(self.session.settings.clone(), Some(snapshot.clone()), self.now)
    }
}

#[test]
fn a_clock_that_is_set_moves_nothing_and_across_a_restart_never_below_zero() {
    let mut world = with_timebox(1500);
    world.pass(secs(100));
    for millis in [0, i64::MAX, i64::MIN, NINE - 86_400_000] {
        world.now.wall = Timestamp::from_millis(millis);
        let _ = world.step(Input::Tick);
        assert_eq!((remaining(&world), elapsed_notices(&world)), (1400, 0), "{millis}");
    }
    let world = world.restarted_from(&world.session.snapshot());
    assert_eq!(remaining(&world), 1500, "a start in the future counts as now");
}

#[test]
fn a_clock_that_runs_backwards_is_held() {
    let mut world = World::started();
    world.see(program("code"));
    world.pass(secs(5));
    world.now.awake -= secs(3);
    let _ = world.step(Input::Tick);
    world.now.awake += secs(4);
    let _ = world.step(Input::Tick);
    let Answer::Complete(answer) = world.complete().unwrap() else { panic!("another answer") };
    assert_eq!(answer.review.ontask_secs, 6);
}

#[test]
fn sums_are_saved_ten_minutes_after_the_last_save() {
    let mut world = World::started();
    world.see(program("code"));
    let saves = world.saves.len();
    world.pass(secs(599));
    assert_eq!(world.saves.len(), saves);
    world.pass(secs(1));
    assert_eq!(world.saves.len(), saves + 1);
    assert_eq!(world.saves.last().unwrap().session.as_ref().unwrap().ontask_ms, 600_000);
}

#[test]
fn r13_a_title_that_never_rests_is_judged_as_one_window() {
    let mut world = World::started();
    for n in 0..50 {
        world.see(page(&format!("{} sold so far", ["one", "two", "six", "ten"][n % 4])));
        world.pass(Duration::from_millis(500));
    }
    assert_eq!(world.asked.len(), 1, "one judgement for a window that never rests");
    world.judge(true, "");
    world.see(page("three sold so far"));
    assert_eq!(world.status(), DriftStatus::Ontask, "and its verdict holds while the title moves");
    world.pass(secs(2));
    assert_eq!(
        world.status(),
        DriftStatus::Pending,
        "a title that rests is a context of its own again"
    );
}

#[test]
fn f33_counters_and_bullets_make_no_new_context() {
    let mut world = World::started();
    for group in [
        vec!["(1) Inbox – Mail", "(2) Inbox – Mail", "(60) Inbox – Mail"],
        vec!["Inbox", "Inbox (7)", "● Inbox"],
        vec!["* notes.txt", "notes.txt"],
    ] {
        world.drift_on(page(group[0]));
        world.ontask().unwrap();
        let asked = world.asked.len();
        for title in group {
            world.see(page(title));
            assert_eq!(world.status(), DriftStatus::Ontask, "{title}");
            world.pass(secs(20));
        }
        assert_eq!(world.asked.len(), asked);
    }
}

#[test]
fn f32_a_spinner_makes_no_line_per_frame() {
    let mut world = World::started();
    let frame = |n: usize| {
        let glyph = ['⠋', '⠙', '⠹', '⠸'][n % 4];
        Window { title: format!("{glyph} build"), ..program("XTerm") }
    };
    world.see(frame(0));
    world.pass(secs(2));
    world.judge(true, "");
    world.states.clear();
    for n in 1..=12 * 60 {
        world.see(frame(n));
        world.pass(Duration::from_millis(83));
    }
    assert!((50..=61).contains(&world.states.len()), "{} lines a minute", world.states.len());
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn a_changed_title_is_shown_at_once_and_the_last_of_a_storm_when_it_rests() {
    let mut world = World::started();
    let title = |n: usize| Window { title: format!("file number {n}.c"), ..program("code") };
    let shown = |world: &World| world.state().window.unwrap().title;
    world.see(title(0));
    world.pass(secs(5));
    world.see(title(1));
    assert_eq!(shown(&world), "file number 1.c");
    world.states.clear();
    for n in 2..1000 {
        world.see(title(n));
        world.pass(Duration::from_millis(10));
    }
    assert!((8..=11).contains(&world.states.len()), "{} lines in 10 s", world.states.len());
    world.pass(Duration::from_millis(90));
    assert_eq!(shown(&world), "file number 999.c");
}

#[test]
fn what_the_sensor_says_of_itself_is_shown_and_noted_at_the_start() {
    let mut world = World::new();
    let health = Health::Unavailable("there is no X display".into());
    let _ = world.step(Input::Observed(Observation {
        health,
        focus: Focus::Nothing,
        absence: Absence::default(),
    }));
    assert_eq!(world.state().sensor.status, SensorStatus::Unavailable);
    let answer = world.ask(Command::Start(Start { text: "x".into(), ..Start::default() }));
    let Answer::Start(answer) = answer.unwrap() else { panic!("another answer") };
    assert_eq!(answer.notes, ["windows are not seen yet: there is no X display"]);
    assert_eq!(answer.state.phase, antidrift_protocol::Phase::Active);
}

#[test]
fn nothing_is_waited_for_while_nothing_can_happen() {
    let mut world = World::new();
    assert_eq!(world.session.next_deadline(world.now), None);
    world.see(program("steam"));
    assert_eq!(world.session.next_deadline(world.now), None, "planning watches and waits not");
    world.start("x", &["steam"]);
    assert_eq!(world.session.next_deadline(world.now), Some(secs(600)), "only to save the sums");
}

#[test]
fn a_session_without_a_judge_begins_with_one_note_of_it() {
    let (missing, none) = (Some("there is no judge \"clade\"".to_owned()), None);
    for (error, prefilter, classes, expected) in [
        (&none, false, &["code"][..], Some("no judge is configured; only what you allow")),
        (&none, false, &[], Some("no judge is configured; nothing is allowed either")),
        (&missing, false, &["code"], Some("the judge is off: there is no judge \"clade\"; only")),
        (&missing, false, &[], Some("the judge is off: there is no judge \"clade\"; nothing is")),
        (&missing, true, &[], Some("«clade» is off, and the embedded judge goes on alone: there")),
        (&none, true, &[], None),
    ] {
        let mut settings = settings();
        settings.judge = JudgeSettings {
            backend: "clade".into(),
            error: error.clone(),
            prefilter,
            ..JudgeSettings::default()
        };
        let mut world = World::with(settings, None);
        let observation = Observation {
            health: Health::Ok(None),
            focus: Focus::Nothing,
            absence: Absence::default(),
        };
        let _ = world.step(Input::Observed(observation));
        let window_classes = classes.iter().map(ToString::to_string).collect();
        let allowed = Allowed { window_classes, ..Allowed::default() };
        let start = Start { text: "x".into(), allowed, ..Start::default() };
        let Ok(Answer::Start(answer)) = world.ask(Command::Start(start)) else { panic!("refused") };
        let begins = |note: &String| expected.is_some_and(|expected| note.starts_with(expected));
        assert_eq!(answer.notes.len(), usize::from(expected.is_some()), "{:?}", answer.notes);
        assert!(answer.notes.iter().all(begins), "{:?}", answer.notes);
    }
}

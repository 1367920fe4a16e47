//! What is kept of a session.

use antidrift_protocol::{
    AlertAnswer, ClearedWhy, GiveReview, MAX_ALERTS, MAX_NAMES, MAX_STRETCHES, Outcome, Record,
    Share, Spent,
};

use super::*;
use crate::history::MAX_WAITING;

impl World {
    /// Ends the session and gives what is kept of it.
    fn finish(&mut self) -> Record {
        let ticket = Ticket(900);
        let command = Command::Complete(Complete::default());
        *self
            .step(Input::Request { ticket, command, lineage: Vec::new() })
            .record
            .expect("a record")
    }

    fn review(&mut self, review: GiveReview) -> (Option<Record>, Result<Answer, ErrorObject>) {
        let ticket = Ticket(901);
        let effects = self.step(Input::Request {
            ticket,
            command: Command::Review(review),
            lineage: Vec::new(),
        });
        (effects.record.map(|record| *record), effects.reply.unwrap().result)
    }
}

fn stretches(record: &Record) -> Vec<(Spent, u64)> {
    record.timeline.iter().map(|it| (it.spent, it.secs)).collect()
}

fn share(name: &str, ontask_secs: u64, drifting_secs: u64, other_secs: u64) -> Share {
    Share { name: name.into(), ontask_secs, drifting_secs, other_secs }
}

#[test]
fn time_is_booked_stretch_by_stretch_and_class_by_class() {
    let mut world = World::new();
    world.timebox(3600);
    world
        .ask(Command::Ontask(Ontask { window_class: Some("code".into()), ..Ontask::default() }))
        .unwrap();
    world.see(program("code"));
    world.pass(secs(100));
    world.drift_on(program("steam")); // twelve seconds until the verdict
    world.pass(secs(30));
    world.see(program("code"));
    world.signs(Absence { locked: true, ..Absence::default() });
    world.pass(secs(50));
    world.signs(Absence::default());
    world.pass(secs(5));
    let record = world.finish();
    assert_eq!(
        stretches(&record),
        [
            (Spent::Ontask, 100),
            (Spent::Other, 12),
            (Spent::Drifting, 30),
            (Spent::Away, 50),
            (Spent::Ontask, 5)
        ]
    );
    assert_eq!(record.classes, [share("code", 105, 0, 0), share("steam", 0, 30, 12)]);
    assert_eq!((record.titles, record.planned_secs), (vec![], Some(3600)));
    assert_eq!(record.alerts, 1);
}

#[test]
fn titles_are_kept_only_where_that_is_wanted() {
    for keep_titles in [false, true] {
        let mut world = World::with(Settings { keep_titles, ..settings() }, None);
        world.start("x", &["firefox"]);
        world.see(page("(3) manual"));
        world.pass(secs(10));
        let expected = if keep_titles { vec![share("manual", 10, 0, 0)] } else { vec![] };
        assert_eq!(world.finish().titles, expected);
    }
}

#[test]
fn how_alerts_ended_is_kept() {
    let mut world = World::started();
    let at = Timestamp::from_millis(NINE + 12_000);
    world.drift_on(program("steam"));
    world.pass(secs(7));
    world.refocus().unwrap();
    let expected = AlertAnswer { at, class: "steam".into(), why: ClearedWhy::Refocus, secs: 7 };
    assert_eq!(world.finish().answers, [expected]);
}

#[test]
fn books_survive_a_restart_and_show_the_time_without_a_daemon() {
    let mut world = World::started();
    world.see(program("code"));
    world.pass(secs(60));
    let _ = world.step(Input::Shutdown { reason: "x".into() });
    world.jump(secs(300), secs(300));
    let mut later = world.restarted();
    later.see(program("code"));
    later.pass(secs(10));
    let record = later.finish();
    assert_eq!(stretches(&record), [(Spent::Ontask, 60), (Spent::Down, 300), (Spent::Ontask, 10)]);
}

#[test]
fn many_short_stretches_add_up_and_stay_within_bounds() {
    let mut world = World::started();
    for n in 0..4000_u64 {
        world.see(program(if n % 2 == 0 { "code" } else { "gimp" }));
        world.pass(Duration::from_micros(2500 + n % 7));
    }
    world.see(program("code"));
    world.pass(secs(100));
    let record = world.finish();
    assert!(record.timeline.len() <= MAX_STRETCHES);
    let [code, gimp] = &*record.classes else { panic!("{:?}", record.classes) };
    assert_eq!((code.ontask_secs, gimp.other_secs), (105, 5));
    let snapshot = world.session.snapshot();
    assert_eq!(snapshot.check(), Ok(()));
}

#[test]
fn what_finds_no_room_is_summed_under_no_name() {
    let mut world = World::started();
    for n in 0..100 {
        world.see(program(&format!("tool{n}")));
        world.pass(secs(1));
    }
    let record = world.finish();
    assert_eq!(record.classes.len(), MAX_NAMES);
    let rest = record.classes.iter().find(|it| it.name.is_empty()).unwrap();
    assert_eq!(rest.other_secs, 100 - (MAX_NAMES as u64 - 1));
}

#[test]
fn the_latest_alerts_are_kept() {
    let mut world = World::started();
    for n in 0..MAX_ALERTS + 5 {
        world.drift_on(program(&format!("tool{n}")));
    }
    let record = world.finish();
    assert_eq!((record.answers.len(), record.alerts), (MAX_ALERTS, MAX_ALERTS as u64 + 5));
    assert_eq!(record.answers[0].class, "tool5");
}

#[test]
fn a_review_can_be_given_after_the_end_and_is_kept() {
    let mut world = World::started();
    let refused = world.review(GiveReview::default()).1;
    assert_eq!(code_of(&refused), ErrorCode::NotInReview);
    let record = world.finish();
    let (kept, told) = world.review(GiveReview::default());
    assert_eq!(kept, None, "nothing was said");
    let Ok(Answer::Review(told)) = told else { panic!() };
    assert_eq!(told.record, record);
    let outcome = Some(Outcome::Partial);
    let (kept, _) = world.review(GiveReview { outcome, note: None });
    assert_eq!(kept, Some(Record { outcome, ..record.clone() }));
    let note = Some("half of it".to_owned());
    let (kept, _) = world.review(GiveReview { outcome: None, note: note.clone() });
    let expected = Record { outcome, note, ..record };
    assert_eq!(kept, Some(expected.clone()));
    assert_eq!(world.state().review.unwrap().outcome, outcome);
    assert_eq!(world.restarted().session.unkept(), [expected]);
}

#[test]
fn sums_that_are_as_large_as_can_be_do_no_harm() {
    let mut world = World::started();
    let mut saved = serde_json::to_value(world.saves.pop().unwrap()).unwrap();
    let session = &mut saved["session"];
    let stretch = |n: usize| {
        let spent = if n.is_multiple_of(2) { "ontask" } else { "drifting" };
        serde_json::json!({"spent": spent, "us": u64::MAX})
    };
    session["ledger"]["timeline"] = (0..MAX_STRETCHES).map(stretch).collect();
    for sum in ["alerts", "popups", "ontask_ms", "away_ms"] {
        session[sum] = u64::MAX.into();
    }
    let snapshot: Snapshot = serde_json::from_value(saved.clone()).unwrap();
    assert_eq!(snapshot.check(), Ok(()));
    let mut later = World::at(settings(), Some(snapshot), world.now);
    later.see(program("code"));
    later.pass(secs(60));
    later.drift_on(program("steam"));
    assert!(later.finish().timeline.len() <= MAX_STRETCHES);
    // Names that are cleaned nowhere else would not fit into a line.
    saved["session"]["ledger"]["classes"] = serde_json::json!([{"name": "\u{1}".repeat(200)}]);
    let snapshot: Snapshot = serde_json::from_value(saved).unwrap();
    assert!(snapshot.check().unwrap_err().contains("books"));
}

#[test]
fn what_is_over_is_remembered_until_it_is_kept() {
    let mut world = World::started();
    let record = world.finish();
    let outcome = Some(Outcome::Done);
    world.review(GiveReview { outcome, note: None }).1.unwrap();
    let reviewed = Record { outcome, ..record.clone() };
    assert_eq!(world.session.unkept(), std::slice::from_ref(&reviewed));
    // The first is there by now, but not what was said since.
    assert!(world.step(Input::Kept(Box::new(record))).save.is_none());
    assert_eq!(world.restarted().session.unkept(), std::slice::from_ref(&reviewed));
    assert!(world.step(Input::Kept(Box::new(reviewed))).save.is_some());
    assert_eq!(world.restarted().session.unkept(), []);
    for _ in 0..MAX_WAITING + 3 {
        world.pass(secs(1));
        world.start("the next", &[]);
        world.finish();
    }
    assert_eq!(world.restarted().session.unkept().len(), MAX_WAITING);
}

#[test]
fn a_session_that_was_forgotten_under_review_is_not_kept_again() {
    let mut world = World::started();
    world.finish();
    world.ask(Command::Forget(NoArgs {})).unwrap();
    let outcome = Some(Outcome::Done);
    let (kept, told) = world.review(GiveReview { outcome, note: None });
    assert!(kept.is_none() && told.is_ok());
    let mut world = world.restarted();
    assert_eq!(world.session.unkept(), []);
    assert_eq!(world.review(GiveReview { outcome, note: None }).0, None);
    assert_eq!(world.state().review.unwrap().outcome, outcome, "it is under review still");
    world.start("the next", &[]);
    assert_eq!(world.session.unkept(), []);
    world.finish();
    assert_eq!(world.session.unkept().len(), 1);
}

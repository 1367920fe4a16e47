//! Settle, the trailing look, one judge at a time, and what becomes of alerts.

use antidrift_protocol::{AlertReminder, ClearedWhy};

use super::*;

fn raised(world: &World) -> Vec<u64> {
    let number = |edge: &EventBody| match edge {
        EventBody::AlertRaised(raised) => Some(raised.alert),
        _ => None,
    };
    world.edges.iter().filter_map(number).collect()
}

fn cleared(world: &World) -> Vec<(u64, ClearedWhy)> {
    let end = |edge: &EventBody| match edge {
        EventBody::AlertCleared(cleared) => Some((cleared.alert, cleared.why)),
        _ => None,
    };
    world.edges.iter().filter_map(end).collect()
}

#[test]
fn r12_flicking_through_windows_asks_nobody_and_alarms_nobody() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    for n in 0..5 {
        world.see(program(&format!("flick{n}")));
        world.pass(Duration::from_millis(1900));
        world.see(program("steam"));
        world.pass(Duration::from_millis(1900));
    }
    assert_eq!((world.asked.len(), raised(&world).len()), (1, 1));
}

#[test]
fn r9_a_window_that_came_inside_the_debounce_is_judged_at_its_end_without_an_event() {
    let mut world = World::started();
    world.see(program("first"));
    world.pass(secs(2));
    world.judge(true, "");
    world.see(program("stays"));
    world.pass(Duration::from_millis(9999));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Pending, 1));
    world.pass(Duration::from_millis(1));
    assert_eq!(world.asked.len(), 2);
    assert_eq!(world.asked[1].1 - world.asked[0].1, secs(10));
}

#[test]
fn r10_no_window_borrows_another_ones_verdict() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    world.see(program("gimp"));
    assert_eq!((world.status(), world.drift().reason), (DriftStatus::Pending, None));
}

#[test]
fn r11_a_verdict_for_a_window_that_was_left_is_cached_and_not_shown() {
    let mut world = World::started();
    world.see(program("steam"));
    world.pass(secs(2));
    world.see(program("gimp"));
    world.pass(secs(20));
    assert_eq!(world.asked.len(), 1, "the newer window waits for the end of the run");
    world.judge(false, "games");
    assert_eq!(raised(&world), [0; 0]);
    assert_eq!(world.asked.len(), 2, "and is asked about at once then, the debounce being over");
    world.judge(true, "");
    world.see(program("steam"));
    world.pass(secs(2));
    assert_eq!(
        (world.status(), world.source(), world.asked.len()),
        (DriftStatus::Drifting, Some(DriftSource::Cache), 2)
    );
}

#[test]
fn r13_one_browser_page_does_not_answer_for_another() {
    let mut world = World::started();
    world.drift_on(page("football"));
    world.see(page("manual"));
    assert_eq!(world.status(), DriftStatus::Pending);
    assert_eq!(cleared(&world)[0].1, ClearedWhy::Moved);
    world.pass(secs(10));
    world.judge(true, "");
    world.see(page("(3) manual"));
    assert_eq!(
        (world.status(), world.source()),
        (DriftStatus::Ontask, Some(DriftSource::Judge)),
        "the same context still"
    );
    world.see(page("football"));
    world.pass(secs(2));
    assert_eq!((world.status(), world.source()), (DriftStatus::Drifting, Some(DriftSource::Cache)));
}

#[test]
fn an_alert_is_raised_once_and_numbers_grow() {
    let mut world = World::started();
    let first = world.drift_on(program("steam"));
    world.pass(secs(60));
    world.see(program("code"));
    world.see(program("steam"));
    world.pass(secs(2));
    let second = world.alert();
    assert!(second > first);
    assert_eq!(raised(&world), [first, second]);
    assert_eq!(cleared(&world), [(first, ClearedWhy::Moved)]);
    assert!(first >= u64::try_from(NINE).unwrap(), "numbers start from the daemon's start");
}

#[test]
fn alerts_end_with_the_reason_why() {
    type Deed = fn(&mut World);
    let cases: [(Deed, ClearedWhy); 6] = [
        (|world| drop(world.ontask()), ClearedWhy::Ontask),
        (|world| drop(world.refocus()), ClearedWhy::Refocus),
        (|world| drop(world.complete()), ClearedWhy::Completed),
        (|world| world.see(program("code")), ClearedWhy::Moved),
        (
            |world| {
                world.see_nothing();
                world.pass(secs(1));
            },
            ClearedWhy::Moved,
        ),
        (
            |world| drop(world.step(Input::Shutdown { reason: "stopped".into() })),
            ClearedWhy::Shutdown,
        ),
    ];
    for (deed, why) in cases {
        let mut world = World::started();
        let alert = world.drift_on(program("steam"));
        deed(&mut world);
        assert_eq!(cleared(&world), [(alert, why)]);
    }
}

#[test]
fn reminders_come_after_two_five_and_then_every_ten_minutes() {
    let mut world = World::started();
    let alert = world.drift_on(program("steam"));
    let began = world.now.awake;
    let mut times = Vec::new();
    for minute in 1..=40 {
        world.edges.clear();
        world.pass(secs(60));
        for edge in &world.edges {
            let EventBody::AlertReminder(AlertReminder { alert: which, n, .. }) = edge else {
                continue;
            };
            assert_eq!((*which, *n), (alert, times.len() as u64 + 1));
            times.push(minute);
        }
    }
    assert_eq!(times, [2, 5, 15, 25, 35]);
    assert_eq!(world.now.awake - began, secs(2400));
}

#[test]
fn a_machine_that_stalled_owes_no_backlog_of_reminders() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    world.edges.clear();
    world.jump(secs(7200), secs(7200));
    let _ = world.step(Input::Tick);
    assert_eq!(world.edges.len(), 1);
}

#[test]
fn the_sums_and_the_alerts_are_in_the_review() {
    let mut world = World::started();
    world.see(program("code"));
    world.pass(secs(100));
    world.drift_on(program("steam"));
    world.pass(secs(50));
    let Answer::Complete(answer) = world.complete().unwrap() else { panic!("another answer") };
    let review = answer.review;
    assert_eq!((review.ontask_secs, review.drifting_secs, review.other_secs), (100, 50, 12));
    assert_eq!(review.alerts, 1);
    assert_eq!(world.state().commitment.unwrap().elapsed_secs, 162);
    world.pass(secs(1000));
    assert_eq!(world.state().commitment.unwrap().elapsed_secs, 162, "a review does not tick");
    assert_eq!(world.restarted().state().review, Some(review));
}

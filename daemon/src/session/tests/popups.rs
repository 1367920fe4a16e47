//! Which alerts deserve a popup, and which window «back to task» goes back to.

use antidrift_protocol::{Allow, Notice, NoticeKind};

use super::*;

/// A session whose judge calls everything drift.
fn with_notify(notify: NotifySettings) -> World {
    let mut world = World::with(Settings { notify, ..settings() }, None);
    world.start("draft the report", &["code"]);
    world
}

fn quiet(edges: &[EventBody]) -> Vec<bool> {
    let quiet = |edge: &EventBody| match edge {
        EventBody::AlertRaised(raised) => Some(raised.quiet),
        EventBody::AlertReminder(reminder) => Some(reminder.quiet),
        _ => None,
    };
    edges.iter().filter_map(quiet).collect()
}

fn notices(world: &World) -> Vec<Notice> {
    let notice = |edge: &EventBody| match edge {
        EventBody::Notice(notice) => Some(notice.clone()),
        _ => None,
    };
    world.edges.iter().filter_map(notice).collect()
}

#[test]
fn r17_within_a_minute_one_context_counts_once() {
    let mut world = with_notify(NotifySettings { budget: Some(2), ..NotifySettings::default() });
    world.drift_on(program("steam"));
    for _ in 0..3 {
        world.see(program("code"));
        world.pass(secs(3));
        world.see(program("steam"));
        world.pass(secs(3));
    }
    assert_eq!(quiet(&world.edges), [false; 4]);
    world.see(program("code"));
    world.pass(secs(60));
    world.see(program("steam"));
    world.pass(secs(3));
    assert_eq!(quiet(&world.edges), [false; 5], "the second of two");
    world.drift_on(program("gimp"));
    assert_eq!(quiet(&world.edges).last(), Some(&true));
}

#[test]
fn when_the_budget_is_spent_that_is_said_once() {
    let mut world = with_notify(NotifySettings { budget: Some(2), ..NotifySettings::default() });
    for (n, class) in ["one", "two", "three", "four"].into_iter().enumerate() {
        world.drift_on(program(class));
        assert_eq!(quiet(&world.edges)[n], n >= 2, "{class}");
        assert_eq!(world.drift().quiet, n >= 2, "{class}");
        assert_eq!(notices(&world).len(), usize::from(n >= 2), "{class}");
    }
    assert_eq!(notices(&world)[0].kind, NoticeKind::BudgetSpent);
    assert!(notices(&world)[0].text.contains("2 popups ([notify] budget)"));
    // It is a session's, also over a restart of the daemon.
    let mut later = world.restarted();
    later.drift_on(program("five"));
    assert_eq!((quiet(&later.edges), notices(&later).len()), (vec![true], 0));
    later.see(program("code"));
    later.complete().unwrap();
    later.start("another", &["code"]);
    later.drift_on(program("six"));
    assert_eq!(quiet(&later.edges), [true, false]);
}

#[test]
fn reminders_count_and_can_be_left_out() {
    let mut world = with_notify(NotifySettings { budget: Some(2), ..NotifySettings::default() });
    world.drift_on(program("steam"));
    world.pass(secs(3600));
    assert_eq!(quiet(&world.edges)[..4], [false, false, true, true]);
    assert_eq!(notices(&world).len(), 1);
    assert!(world.drift().quiet, "nor is there one for who connects now");
    let mut world = with_notify(NotifySettings { repeat: false, ..NotifySettings::default() });
    world.drift_on(program("steam"));
    world.pass(secs(3600));
    assert_eq!(quiet(&world.edges)[..3], [false, true, true]);
    assert!(!world.drift().quiet, "its one popup is for who connects now, too");
}

#[test]
fn without_a_limit_there_is_no_end() {
    let mut world = with_notify(NotifySettings { budget: None, ..NotifySettings::default() });
    for n in 0..40 {
        world.drift_on(program(&format!("tool{n}")));
    }
    assert!(quiet(&world.edges).iter().all(|quiet| !quiet));
}

#[test]
fn a_return_by_oneself_is_told_if_that_is_wanted() {
    for (on_return, told) in [(false, 0), (true, 1)] {
        let mut world = with_notify(NotifySettings { on_return, ..NotifySettings::default() });
        world.drift_on(program("steam"));
        world.pass(secs(100));
        world.see(program("code"));
        world.pass(secs(1));
        assert!(notices(&world).is_empty(), "a window passed on the way is no return");
        world.pass(secs(600));
        assert_eq!(notices(&world).len(), told);
        if let Some(notice) = notices(&world).first() {
            assert_eq!(notice.kind, NoticeKind::Returned);
            assert_eq!(notice.text, "back on task after 1 min");
        }
    }
}

#[test]
fn who_answered_is_not_told_of_the_return() {
    let mut world = with_notify(NotifySettings { on_return: true, ..NotifySettings::default() });
    world.drift_on(program("steam"));
    world.refocus().unwrap();
    world.see(program("code"));
    world.pass(secs(60));
    assert!(notices(&world).is_empty());
}

/// What a `refocus` asks the world to give the focus, and what it answers before that is done.
fn refocused(world: &mut World, refocus: Refocus) -> (Option<String>, Option<bool>) {
    let ticket = Ticket(900);
    let effects = world.step(Input::Request {
        ticket,
        command: Command::Refocus(refocus),
        lineage: Vec::new(),
    });
    let Ok(Answer::Refocus(answer)) = effects.reply.unwrap().result else { panic!() };
    (effects.activate.map(|window| window.class.clone()), answer.activated)
}

#[test]
fn back_to_task_raises_the_last_window_that_was_on_task() {
    let mut world = World::started();
    world.see(program("code"));
    let alert = world.drift_on(program("steam"));
    let asked = Refocus { activate: Some(true), ..Refocus::default() };
    assert_eq!(refocused(&mut world, asked), (Some("code".into()), Some(false)));
    let mut world = World::started();
    world.see(program("code"));
    let second = world.drift_on(program("steam"));
    assert_eq!(second, alert);
    let button = Refocus { alert: Some(second), ..Refocus::default() };
    assert_eq!(refocused(&mut world, button), (Some("code".into()), Some(false)));
    assert_eq!(refocused(&mut world, Refocus::default()), (None, None), "nobody asked for it");
    let never = Refocus { activate: Some(false), ..Refocus::default() };
    assert_eq!(refocused(&mut world, never), (None, None));
}

#[test]
fn buttons_raise_nothing_where_that_is_not_wanted() {
    let mut world = with_notify(NotifySettings { activate: false, ..NotifySettings::default() });
    world.see(program("code"));
    let alert = world.drift_on(program("steam"));
    let button = |activate| Refocus { activate, alert: Some(alert), ..Refocus::default() };
    assert_eq!(refocused(&mut world, button(None)), (None, None));
}

#[test]
fn a_window_that_was_never_on_task_is_not_raised() {
    let mut world = World::started();
    world.see(program("steam"));
    let asked = Refocus { activate: Some(true), ..Refocus::default() };
    assert_eq!(refocused(&mut world, asked), (None, Some(false)));
}

fn classes(entries: &[&str]) -> Allowed {
    let window_classes = entries.iter().map(ToString::to_string).collect();
    Allowed { window_classes, ..Allowed::default() }
}

impl World {
    fn allow(&mut self, add: Allowed, remove: Allowed) -> Result<Allowed, ErrorObject> {
        self.ask(Command::Allow(Allow { add, remove })).map(|answer| match answer {
            Answer::Allow(allowance) => allowance.allowed,
            _ => panic!("another answer"),
        })
    }
}

#[test]
fn the_allowed_context_can_be_told_widened_and_narrowed() {
    let none = Allowed::default;
    let mut world = World::new();
    let refused = world.ask(Command::Allow(Allow::default()));
    assert_eq!(code_of(&refused), ErrorCode::NotActive);
    world.start("draft the report", &["code"]);
    assert_eq!(world.allow(none(), none()).unwrap(), classes(&["code"]));
    assert_eq!(world.saves.len(), 1, "nothing changed");
    world.see(program("gimp"));
    assert_eq!(
        world.allow(classes(&["GIMP", "Code"]), none()).unwrap(),
        classes(&["code", "GIMP"])
    );
    assert_eq!(world.status(), DriftStatus::Ontask);
    assert_eq!(world.allow(none(), classes(&["gimp"])).unwrap(), classes(&["code"]));
    assert_eq!(world.status(), DriftStatus::Pending);
    assert_eq!(world.saves.len(), 3);
    assert_eq!(world.restarted().state().allowed, Some(classes(&["code"])));
}

#[test]
fn what_is_not_there_cannot_be_taken_out_and_then_nothing_changes() {
    let mut world = World::started();
    let refused = world.allow(classes(&["gimp"]), classes(&["code", "steam"])).unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoEntry);
    assert_eq!(refused.message, "«steam» is not among the allowed window classes");
    assert_eq!(world.state().allowed, Some(classes(&["code"])));
    assert_eq!(world.saves.len(), 1);
}

#[test]
fn room_is_made_before_it_is_taken() {
    let full: Vec<String> = (0..64).map(|n| format!("tool{n}")).collect();
    let full: Vec<&str> = full.iter().map(String::as_str).collect();
    let mut world = World::new();
    world.start("x", &full);
    let refused = world.allow(classes(&["more"]), Allowed::default()).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ListFull);
    let allowed = world.allow(classes(&["more"]), classes(&["tool7"])).unwrap();
    assert_eq!(allowed.window_classes.len(), 64);
}

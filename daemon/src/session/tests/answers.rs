//! What `ontask` and `refocus` mean, and what they are refused for.

use antidrift_protocol::{Allowing, JudgeStatus, OfWindow, Selector};

use super::*;

fn terminal() -> Window {
    Window { title: "~".into(), ..program("XTerm") }
}

fn allowing(result: Result<Answer, ErrorObject>) -> Allowing {
    match result.unwrap() {
        Answer::Ontask(answer) => answer,
        other => panic!("another answer: {other:?}"),
    }
}

fn ontask_with(world: &mut World, change: impl FnOnce(&mut Ontask)) -> Result<Answer, ErrorObject> {
    let mut ontask = Ontask::default();
    change(&mut ontask);
    world.ask(Command::Ontask(ontask))
}

#[test]
fn r14_a_browser_page_is_added_by_its_whole_context_title() {
    let mut world = World::started();
    world.drift_on(page("(2) X"));
    let added = allowing(world.ontask()).added.unwrap();
    assert_eq!((added.kind.as_str(), added.value.as_str()), ("window_title", "X"));
    world.see(page("Xylophone lessons"));
    assert_eq!(world.status(), DriftStatus::Pending, "a page called X excuses no other page");
    world.see(page("(7) x"));
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
    assert_eq!(allowing(world.ontask()).added, None, "it was allowed already");
}

#[test]
fn r14_a_window_without_anything_to_go_by_names_the_flags() {
    let mut world = World::started();
    world.see(Window { id: 5, title: String::new(), ..program("firefox") });
    let error = world.ontask().unwrap_err();
    assert_eq!(error.code, ErrorCode::NoWindow);
    assert!(error.message.contains("--class"), "{}", error.message);
}

#[test]
fn r14_a_full_list_is_refused_and_says_how_to_widen() {
    let mut world = World::started();
    for n in 0..64 {
        let domain = Some(format!("host{n}.example"));
        ontask_with(&mut world, |it| it.domain = domain).unwrap();
    }
    let error = ontask_with(&mut world, |it| it.domain = Some("one.more".into())).unwrap_err();
    assert_eq!(error.code, ErrorCode::ListFull);
    assert!(error.message.contains("--class"));
    let again = ontask_with(&mut world, |it| it.domain = Some("HOST1.example.".into()));
    assert_eq!(allowing(again).added, None);
}

/// The client adds its own advice, which names --class, to a refusal that gives none.
#[test]
fn r14_where_a_class_finds_no_room_either_no_class_is_advised() {
    let mut world = World::started();
    for n in 0..64 {
        ontask_with(&mut world, |it| it.domain = Some(format!("host{n}.example"))).unwrap();
    }
    // one more is there from the start
    for n in 1..64 {
        ontask_with(&mut world, |it| it.window_class = Some(format!("tool{n}"))).unwrap();
    }
    for change in [
        |it: &mut Ontask| it.window_class = Some("one-more".into()),
        |it: &mut Ontask| it.domain = Some("one.more".into()),
    ] {
        let error = ontask_with(&mut world, change).unwrap_err();
        assert_eq!(error.code, ErrorCode::ListFull);
        assert!(!error.message.contains("--class"), "{}", error.message);
        assert!(error.message.contains("antidrift start"), "{}", error.message);
    }
}

/// Quotes and bidirectional controls take more room on the wire than in memory.
#[test]
fn r14_an_entry_is_refused_that_fits_only_unescaped() {
    let mut world = World::started();
    for n in 0..63 {
        let entry = format!("{n:03}{}", "x".repeat(253));
        ontask_with(&mut world, |it| it.window_title = Some(entry)).unwrap();
    }
    // 252 bytes of the 16 KiB are left: «code» is there from the start
    let quotes = format!("q{}", "\"".repeat(200));
    let error = ontask_with(&mut world, |it| it.domain = Some(quotes.clone())).unwrap_err();
    assert_eq!(error.code, ErrorCode::ListFull);
    assert!(!error.message.contains("--class"), "{}", error.message);
    let fits = ontask_with(&mut world, |it| it.domain = Some("q".repeat(252)));
    assert_eq!(allowing(fits).added.unwrap().kind, "domain");
}

#[test]
fn each_selector_adds_to_its_own_list() {
    for selector in Selector::ALL {
        let mut world = World::started();
        let before = world.state().allowed.unwrap();
        let args = serde_json::json!({ selector.as_str(): "something" });
        world.ask(Command::Ontask(serde_json::from_value(args).unwrap())).unwrap();
        let after = world.state().allowed.unwrap();
        for list in Selector::ALL {
            let added = after.list(list).len() - before.list(list).len();
            assert_eq!(added, usize::from(list == selector), "{selector:?} in {list:?}");
        }
        assert_eq!(after.list(selector).last().unwrap(), "something");
    }
}

#[test]
fn r15_typed_into_a_terminal_it_means_the_window_that_was_left() {
    let mut world = World::started();
    world.drift_on(program("gimp"));
    world.see(terminal());
    let answer = allowing(world.ontask());
    assert_eq!(answer.window.unwrap().class, "gimp");
    assert_eq!(answer.added.unwrap().value, "gimp");

    let answer = allowing(world.ontask());
    assert_eq!(answer.window.unwrap().class, "XTerm", "the alert has been answered");
}

/// Its class is on no list, but the client descends from the process that put it up.
#[test]
fn r15_a_terminal_that_nobody_knows_is_one_if_the_client_descends_from_it() {
    let unheard_of = || Window { process: Some(300), ..program("Zterm") };
    for (lineage, expected) in [
        (vec![302, 301, 300, 90], "gimp"),
        // from elsewhere, as by a key binding, or not known
        (vec![400, 90], "Zterm"),
        (Vec::new(), "Zterm"),
    ] {
        let mut world = World::started();
        world.drift_on(program("gimp"));
        world.lineage = lineage;
        world.see(unheard_of());
        assert_eq!(world.status(), DriftStatus::Pending);
        let Answer::Explain(answer) = world.ask(Command::Explain(NoArgs {})).unwrap() else {
            panic!("another answer")
        };
        assert_eq!(answer.steps[0].outcome, expected);
        let answer = allowing(world.ontask());
        assert_eq!(answer.added.unwrap().value, expected);
    }
    // without an alert it is itself what is meant
    let mut world = World::started();
    world.lineage = vec![302, 300];
    world.see(unheard_of());
    assert_eq!(allowing(world.ontask()).added.unwrap().value, "Zterm");
}

/// A view that shows the alert on knows which window it speaks of.
#[test]
fn r15_an_alert_whose_window_was_left_is_answered_by_its_number() {
    let by_number = |world: &mut World, alert| {
        ontask_with(world, |it| (it.alert, it.or_left) = (Some(alert), Some(true)))
    };
    let mut world = World::started();
    let alert = world.drift_on(program("gimp"));
    world.see(program("Zterm"));
    assert_eq!(code_of(&by_number(&mut world, alert + 1)), ErrorCode::StaleAlert);
    assert_eq!(allowing(by_number(&mut world, alert)).added.unwrap().value, "gimp");
    assert_eq!(code_of(&by_number(&mut world, alert)), ErrorCode::StaleAlert, "answered");

    // while it stands, too, and when its window has the focus again but has not settled
    let alert = world.drift_on(program("steam"));
    assert_eq!(allowing(by_number(&mut world, alert)).added.unwrap().value, "steam");
    assert_eq!(world.status(), DriftStatus::Ontask);
    let alert = world.drift_on(program("chess"));
    world.see(program("code"));
    world.see(program("chess"));
    let refocus = Refocus { alert: Some(alert), or_left: Some(true), activate: None };
    world.ask(Command::Refocus(refocus)).unwrap();
    assert_eq!(world.status(), DriftStatus::Idle);
    world.pass(secs(20));
    assert_eq!(world.status(), DriftStatus::Idle, "it is left alone for a while");

    let alert = world.drift_on(program("other"));
    world.see(program("code"));
    world.pass(secs(600));
    assert_eq!(code_of(&by_number(&mut world, alert)), ErrorCode::StaleAlert, "long ago");
}

#[test]
fn r15_a_left_alert_is_not_meant_after_ten_minutes_or_from_a_window_that_drifts() {
    let mut world = World::started();
    world.drift_on(program("gimp"));
    world.see(program("code"));
    world.pass(secs(600));
    let answer = allowing(world.ontask());
    assert_eq!(answer.window.unwrap().class, "code");

    world.drift_on(program("steam"));
    world.drift_on(program("other"));
    let answer = allowing(world.ontask());
    assert_eq!(answer.window.unwrap().class, "other");
}

#[test]
fn r15_with_nothing_in_focus_the_left_alert_is_meant_and_else_there_is_no_window() {
    let mut world = World::started();
    assert_eq!(code_of(&world.ontask()), ErrorCode::NoWindow);
    let answer = ontask_with(&mut world, |it| it.window_class = Some("typed".into()));
    assert_eq!(allowing(answer).window, None, "a selector with its value needs no window");

    world.drift_on(program("gimp"));
    world.see_nothing();
    world.pass(secs(1));
    assert_eq!(allowing(world.ontask()).window.unwrap().class, "gimp");
}

#[test]
fn a_button_of_an_alert_that_is_over_changes_nothing() {
    let mut world = World::started();
    let alert = world.drift_on(program("steam"));
    world.see(program("code"));
    let before = world.state();
    let answer = ontask_with(&mut world, |it| it.alert = Some(alert));
    assert_eq!(code_of(&answer), ErrorCode::StaleAlert);
    let refocus = Command::Refocus(Refocus { alert: Some(alert), ..Refocus::default() });
    assert_eq!(code_of(&world.ask(refocus)), ErrorCode::StaleAlert);
    assert_eq!(world.state(), before);

    world.see(program("steam"));
    world.pass(secs(2));
    let (stale, standing) = (alert, world.alert());
    assert_eq!(
        code_of(&ontask_with(&mut world, |it| it.alert = Some(stale))),
        ErrorCode::StaleAlert
    );
    allowing(ontask_with(&mut world, |it| it.alert = Some(standing)));
}

#[test]
fn after_refocus_the_window_is_looked_at_again_when_focus_returns_or_after_three_debounces() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    world.refocus().unwrap();
    world.pass(Duration::from_millis(29_999));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Idle, 1));
    world.pass(Duration::from_millis(1));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Pending, 2), "it never left");
    world.judge(false, "still unrelated");

    world.refocus().unwrap();
    world.see(program("code"));
    world.see(program("steam"));
    assert_eq!(world.status(), DriftStatus::Pending, "the focus returned to it");
    world.pass(secs(10));
    assert_eq!(world.asked.len(), 3);
}

#[test]
fn an_answer_about_the_window_being_judged_cancels_the_judgement() {
    for refocus in [false, true] {
        let mut world = World::started();
        world.see(program("gimp"));
        world.pass(secs(2));
        assert!(world.running.is_some());
        if refocus {
            world.refocus().unwrap()
        } else {
            world.ontask().unwrap()
        };
        assert_eq!(world.running, None);
    }
}

#[test]
fn ontask_with_a_selector_that_does_not_cover_the_window_lets_it_be_judged_again() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    ontask_with(&mut world, |it| it.domain = Some("docs.rs".into())).unwrap();
    assert_eq!((world.status(), world.drift().alert), (DriftStatus::Pending, None));
    world.pass(secs(10));
    assert_eq!(world.asked.len(), 2);
}

#[test]
fn r16_a_dialog_of_an_on_task_window_is_on_task() {
    let mut world = World::started();
    let dialog =
        |parent: Window| Window { parent: Some(Box::new(parent)), ..program("Xdg-desktop-thing") };
    world.see(dialog(program("code")));
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
    world.see(program("gimp"));
    world.pass(secs(12));
    world.judge(true, "");
    world.see(dialog(program("gimp")));
    assert_eq!(world.status(), DriftStatus::Ontask);
    world.see(dialog(program("unknown")));
    assert_eq!(world.status(), DriftStatus::Pending);
}

#[test]
fn r16_a_dialog_of_a_window_whose_domain_is_allowed_is_on_task() {
    let mut world = World::started();
    world
        .ask(Command::Ontask(Ontask { domain: Some("docs.rs".into()), ..Ontask::default() }))
        .unwrap();
    let parent = page("https://docs.rs/serde");
    world.see(Window { parent: Some(Box::new(parent)), ..program("file-chooser") });
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
}

#[test]
fn r15_a_class_or_title_can_be_allowed_without_being_named() {
    for (of_window, kind, value) in [
        (OfWindow::WindowClass, "window_class", "firefox"),
        (OfWindow::WindowTitle, "window_title", "football"),
    ] {
        let mut world = World::started();
        world.drift_on(page("football"));
        world.see(Window { title: "~".into(), ..program("XTerm") });
        let ontask = Ontask { of_window: Some(of_window), ..Ontask::default() };
        let Ok(Answer::Ontask(done)) = world.ask(Command::Ontask(ontask)) else {
            panic!("refused")
        };
        let added = done.added.unwrap();
        assert_eq!((added.kind.as_str(), added.value.as_str()), (kind, value));
        assert_eq!(done.window.unwrap().class, "firefox", "the window that was left is meant");
        assert_ne!(world.status(), DriftStatus::Ontask, "the terminal is not");
    }
    // Refused, it leaves the alert as it is.
    let mut world = World::started();
    let long = Window { title: "x".repeat(900), ..page("") };
    world.drift_on(Window { class: String::new(), ..long });
    world.see(Window { title: "~".into(), ..program("XTerm") });
    let class = Ontask { of_window: Some(OfWindow::WindowClass), ..Ontask::default() };
    assert_eq!(code_of(&world.ask(Command::Ontask(class))), ErrorCode::NoWindow);
    let Ok(Answer::Refocus(done)) = world.refocus() else { panic!("refused") };
    assert_eq!(done.window.unwrap().class, "", "it can still be answered");
}

#[test]
fn a_judge_is_shown_as_ready_again_although_nothing_happens() {
    let mut world = World::started();
    world.see(program("gimp"));
    world.pass(secs(2));
    world.judge_fails(FailureKind::TimedOut);
    world.see(program("code"));
    assert_eq!(world.state().judge.status, JudgeStatus::BackingOff);
    let shown = world.states.len();
    world.pass(secs(11));
    assert_eq!(world.states[shown..].last().unwrap().judge.status, JudgeStatus::Ready);
    assert!(world.session.next_deadline(world.now).is_none_or(|wait| wait > secs(60)));
}

#[test]
fn r16_dialogs_of_the_system_are_passed_over_and_the_status_before_them_holds() {
    let mut world = World::started();
    world.drift_on(program("steam"));
    let before = world.state();
    world.see(program("pinentry-gtk-2"));
    world.pass(secs(30));
    let after = world.state();
    assert_eq!((after.window, after.drift), (before.window, before.drift));
}

#[test]
fn r16_nothing_in_focus_is_shown_after_a_tenth_of_a_second() {
    let mut world = World::started();
    world.see(program("code"));
    world.see_nothing();
    world.pass(Duration::from_millis(74));
    assert!(world.state().window.is_some());
    world.see(program("code"));
    world.see_nothing();
    world.pass(Duration::from_millis(75));
    assert_eq!((world.state().window, world.status()), (None, DriftStatus::Idle));
}

#[test]
fn r16_a_window_without_class_and_title_is_not_judged() {
    let mut world = World::started();
    world.see(Window { id: 9, ..Window::default() });
    world.pass(secs(60));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Idle, 0));
}

#[test]
fn a_second_start_is_refused_and_one_in_the_review_ends_it() {
    let mut world = World::started();
    let start = || Command::Start(Start { text: "another".into(), ..Start::default() });
    assert_eq!(code_of(&world.ask(start())), ErrorCode::SessionExists);
    assert_eq!(code_of(&world.end()), ErrorCode::NotInReview);
    world.complete().unwrap();
    world.ask(start()).unwrap();
    assert_eq!(world.state().commitment.unwrap().text, "another");
    assert_eq!(world.state().allowed.unwrap().window_classes, [""; 0]);
    world.complete().unwrap();
    world.end().unwrap();
    assert_eq!(world.state().phase, antidrift_protocol::Phase::Planning);
    assert_eq!(code_of(&world.end()), ErrorCode::NotInReview);
}

#[test]
fn a_new_commitment_judges_afresh() {
    let mut world = World::started();
    world.drift_on(program("gimp"));
    world.ontask().unwrap();
    world.complete().unwrap();
    world.start("something else", &[]);
    assert_eq!(world.status(), DriftStatus::Pending);
    world.pass(secs(10));
    assert_eq!(world.asked.len(), 2);
}

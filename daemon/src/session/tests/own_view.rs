//! Windows in which our own client runs: they are never judged.

use super::*;

fn terminal(title: &str, command: &str) -> Window {
    Window { title: title.into(), command: Some(command.into()), ..program("XTerm") }
}

fn view() -> Window {
    terminal("antidrift watch", "antidrift")
}

#[test]
fn what_was_before_it_holds() {
    let mut world = World::started();
    world.see(program("code"));
    let (before, states) = (world.state(), world.states.len());
    world.see(view());
    world.pass(secs(30));
    assert_eq!(world.state().window, before.window);
    assert_eq!((world.status(), world.states.len()), (DriftStatus::Ontask, states));

    let alert = world.drift_on(program("steam"));
    world.see(view());
    world.pass(secs(30));
    assert_eq!(world.alert(), alert, "it stands while it is looked at");
    world.ontask().unwrap();
    assert!(world.state().allowed.unwrap().window_classes.contains(&"steam".into()));
    assert_eq!(world.asked.len(), 1, "of the view nobody is asked");
    // after the view comes whatever comes
    world.see(terminal("a game", "nethack"));
    assert_eq!(world.status(), DriftStatus::Pending);
}

#[test]
fn the_terminal_that_it_begins_in_is_judged_no_longer() {
    let mut world = World::started();
    world.see(terminal("shell", "bash"));
    world.pass(secs(1));
    assert_eq!(world.status(), DriftStatus::Pending);
    world.see(view());
    assert_eq!(world.status(), DriftStatus::Idle);
    world.pass(secs(60));
    assert_eq!((world.status(), world.asked.len()), (DriftStatus::Idle, 0));
    world.see(terminal("shell", "bash"));
    assert_eq!(world.status(), DriftStatus::Pending);
    world.pass(secs(2));
    world.judge(true, "the build");
    world.see(view());
    assert_eq!(world.status(), DriftStatus::Ontask, "as before it began");

    // an alert about what ran there before is over, and can still be answered
    let alert = world.drift_on(terminal("films", "mpv"));
    world.see(view());
    assert_eq!(world.status(), DriftStatus::Idle);
    let refocus = Refocus { alert: Some(alert), or_left: Some(true), activate: None };
    world.ask(Command::Refocus(refocus)).unwrap();
}

#[test]
fn an_allowed_terminal_is_on_task_with_it_too() {
    let mut world = World::new();
    world.start("the report", &["XTerm"]);
    world.see(view());
    assert_eq!((world.status(), world.source()), (DriftStatus::Ontask, Some(DriftSource::Rule)));
}

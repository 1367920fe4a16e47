//! What is asked of a display beside watching it: the open windows, and the focus for one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use antidrift_daemon::{desk::Desk as Asking, evidence::Window};
use antidrift_tests::{Desktop, Manager, until};
use rustix::process::Signal;
use support::{MANAGERS, blank, settings, top_level};
use x11rb::protocol::xproto::ConnectionExt as _;

/// Asks as the daemon does, on a runtime of one thread.
fn run<T>(asking: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(asking)
}

fn windows(desk: &Desktop) -> Vec<Window> {
    run(Asking::new(settings(Some(desk.display()))).windows()).unwrap()
}

fn titles(desk: &Desktop) -> Vec<String> {
    windows(desk).into_iter().map(|window| window.title).collect()
}

fn activate(desk: &Desktop, window: Window) -> bool {
    run(Asking::new(settings(Some(desk.display()))).activate(Arc::new(window)))
}

#[test]
fn open_windows_are_listed_with_what_they_say_of_themselves() {
    for manager in MANAGERS {
        let desk = Desktop::start(manager);
        assert!(windows(&desk).is_empty(), "{manager:?}");
        top_level(&desk, "one", "First", "alpha");
        let second = top_level(&desk, "two", "Second", "béta");
        let menu = blank().override_redirect().open(&desk);
        menu.set_title("menu");
        menu.map();
        until("both are managed", || (windows(&desk).len() == 2).then_some(()));
        let listed = windows(&desk);
        assert_eq!(titles(&desk), ["alpha", "béta"], "{manager:?}");
        let Window { id, class, instance, .. } = &listed[1];
        assert_eq!((*id, class.as_str(), instance.as_str()), (second.id(), "Second", "two"));
        second.destroy();
        until("it is gone", || (titles(&desk) == ["alpha"]).then_some(()));
    }
}

#[test]
fn without_a_manager_the_top_levels_that_can_be_seen_are_listed() {
    let desk = Desktop::start(Manager::Bare);
    top_level(&desk, "one", "First", "alpha");
    let hidden = blank().open(&desk);
    hidden.set_title("hidden");
    let menu = blank().override_redirect().open(&desk);
    menu.set_title("menu");
    menu.map();
    desk.sync();
    assert_eq!(titles(&desk), ["alpha"]);
}

#[test]
fn a_window_is_given_the_focus_as_a_pager_does() {
    for manager in MANAGERS {
        let desk = Desktop::start(manager);
        top_level(&desk, "one", "First", "alpha");
        let second = top_level(&desk, "two", "Second", "beta");
        until("both are managed", || (windows(&desk).len() == 2).then_some(()));
        second.focus();
        let first = windows(&desk).swap_remove(0);
        assert!(activate(&desk, first.clone()), "{manager:?}");
        assert_eq!(desk.active(), first.id);
        assert!(activate(&desk, first), "{manager:?}: it has the focus already");
    }
}

#[test]
fn the_workspace_of_the_window_is_shown() {
    let desk = Desktop::start(Manager::I3);
    top_level(&desk, "one", "First", "alpha");
    until("it is managed", || (windows(&desk).len() == 1).then_some(()));
    let first = windows(&desk).swap_remove(0);
    let other = desk.command("i3-msg").args(["workspace", "other"]).output().unwrap();
    assert!(other.status.success(), "{other:?}");
    let desktop = || desk.number(desk.root(), "_NET_CURRENT_DESKTOP");
    top_level(&desk, "two", "Second", "beta");
    until("the other workspace is shown", || (desktop() == 1).then_some(()));
    assert!(activate(&desk, first.clone()));
    assert_eq!((desktop(), desk.active()), (0, first.id));
}

#[test]
fn without_a_manager_the_focus_is_set_and_the_window_raised() {
    let desk = Desktop::start(Manager::Bare);
    let first = top_level(&desk, "one", "First", "alpha");
    let second = top_level(&desk, "two", "Second", "beta");
    second.focus();
    let window = windows(&desk).swap_remove(0);
    assert!(activate(&desk, window));
    assert_eq!(desk.conn().get_input_focus().unwrap().reply().unwrap().focus, first.id());
    let tree = desk.conn().query_tree(desk.root()).unwrap().reply().unwrap();
    assert_eq!(tree.children.last(), Some(&first.id()));
}

#[test]
fn what_is_gone_or_has_another_program_now_is_left_alone() {
    for desk in [Desktop::start(Manager::Openbox), Desktop::start(Manager::Bare)] {
        let first = top_level(&desk, "one", "First", "alpha");
        let second = top_level(&desk, "two", "Second", "beta");
        until("both are seen", || (windows(&desk).len() == 2).then_some(()));
        second.focus();
        let seen = windows(&desk).swap_remove(0);
        assert!(!activate(&desk, Window { class: "Another".into(), ..seen.clone() }));
        first.destroy();
        until("it is gone", || (windows(&desk).len() == 1).then_some(()));
        assert!(!activate(&desk, seen));
        assert_eq!(windows(&desk)[0].id, second.id());
    }
}

/// A manager that names windows and heeds no request, played by the test.
#[test]
fn a_manager_that_leaves_the_focus_elsewhere_is_not_taken_at_its_word() {
    let desk = Desktop::start(Manager::Bare);
    let window = top_level(&desk, "one", "First", "alpha");
    let check = blank().open(&desk);
    check.set_number("_NET_SUPPORTING_WM_CHECK", "WINDOW", check.id());
    desk.set_number(desk.root(), "_NET_SUPPORTING_WM_CHECK", "WINDOW", check.id());
    let active = desk.atom("_NET_ACTIVE_WINDOW");
    desk.set_number(desk.root(), "_NET_SUPPORTED", "ATOM", active);
    desk.set_number(desk.root(), "_NET_CLIENT_LIST", "WINDOW", window.id());
    desk.sync();
    let seen = windows(&desk).swap_remove(0);
    assert!(!activate(&desk, seen));
}

#[test]
fn a_display_that_is_not_there_or_hangs_is_said() {
    let nowhere = settings(None);
    let said = run(Asking::new(nowhere).windows()).unwrap_err();
    assert_eq!(said, "there is no X display: DISPLAY is not set");
    let desk = Desktop::start(Manager::Bare);
    let asking = Asking::new(settings(Some(desk.display())));
    desk.signal_server(Signal::STOP);
    let said = run(asking.windows()).unwrap_err();
    desk.signal_server(Signal::CONT);
    assert_eq!(said, "the X server does not answer");
    desk.kill_server();
    let said = run(asking.windows()).unwrap_err();
    let number = desk.display().trim_start_matches(':');
    let why = format!("no X server at :{number} (/tmp/.X11-unix/X{number}: Connection refused");
    assert!(said.starts_with(&why), "{said}");
    let nobodys = settings(Some(":59000"));
    let said = run(Asking::new(nobodys).windows()).unwrap_err();
    assert!(said.contains("/tmp/.X11-unix/X59000: No such file or directory"), "{said}");
}

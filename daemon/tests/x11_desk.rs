//! What is asked of a display beside watching it: the open windows, and the focus for one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use antidrift_daemon::{desk::Desk as Asking, evidence::Window};
use rustix::process::Signal;
use support::{Desk, Manager, eventually, settings};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

/// Asks as the daemon does, on a runtime of one thread.
fn run<T>(asking: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(asking)
}

fn windows(desk: &Desk) -> Vec<Window> {
    run(Asking::new(settings(Some(&desk.display))).windows()).unwrap()
}

fn titles(desk: &Desk) -> Vec<String> {
    windows(desk).into_iter().map(|window| window.title).collect()
}

fn activate(desk: &Desk, window: Window) -> bool {
    run(Asking::new(settings(Some(&desk.display))).activate(Arc::new(window)))
}

fn active(desk: &Desk) -> u32 {
    desk.number(desk.root, "_NET_ACTIVE_WINDOW")
}

#[test]
fn open_windows_are_listed_with_what_they_say_of_themselves() {
    for manager in Manager::ALL {
        let desk = Desk::with(manager);
        assert!(windows(&desk).is_empty(), "{manager:?}");
        desk.window("one", "First", "alpha");
        let second = desk.window("two", "Second", "béta");
        let menu = desk.unmapped(desk.root, true);
        desk.rename(menu, "menu");
        desk.show(menu);
        eventually("both are managed", || (windows(&desk).len() == 2).then_some(()));
        let listed = windows(&desk);
        assert_eq!(titles(&desk), ["alpha", "béta"], "{manager:?}");
        let Window { id, class, instance, .. } = &listed[1];
        assert_eq!((*id, class.as_str(), instance.as_str()), (second, "Second", "two"));
        desk.destroy(second);
        eventually("it is gone", || (titles(&desk) == ["alpha"]).then_some(()));
    }
}

#[test]
fn without_a_manager_the_top_levels_that_can_be_seen_are_listed() {
    let desk = Desk::bare();
    desk.window("one", "First", "alpha");
    let hidden = desk.unmapped(desk.root, false);
    desk.rename(hidden, "hidden");
    let menu = desk.unmapped(desk.root, true);
    desk.rename(menu, "menu");
    desk.show(menu);
    desk.sync();
    assert_eq!(titles(&desk), ["alpha"]);
}

#[test]
fn a_window_is_given_the_focus_as_a_pager_does() {
    for manager in Manager::ALL {
        let desk = Desk::with(manager);
        desk.window("one", "First", "alpha");
        let second = desk.window("two", "Second", "beta");
        eventually("both are managed", || (windows(&desk).len() == 2).then_some(()));
        desk.focus(second);
        let first = windows(&desk).swap_remove(0);
        assert!(activate(&desk, first.clone()), "{manager:?}");
        assert_eq!(active(&desk), first.id);
        assert!(activate(&desk, first), "{manager:?}: it has the focus already");
    }
}

#[test]
fn the_workspace_of_the_window_is_shown() {
    let desk = Desk::with(Manager::I3);
    desk.window("one", "First", "alpha");
    eventually("it is managed", || (windows(&desk).len() == 1).then_some(()));
    let first = windows(&desk).swap_remove(0);
    let other = desk.command("i3-msg").args(["workspace", "other"]).output().unwrap();
    assert!(other.status.success(), "{other:?}");
    let desktop = || desk.number(desk.root, "_NET_CURRENT_DESKTOP");
    desk.window("two", "Second", "beta");
    eventually("the other workspace is shown", || (desktop() == 1).then_some(()));
    assert!(activate(&desk, first.clone()));
    assert_eq!((desktop(), active(&desk)), (0, first.id));
}

#[test]
fn without_a_manager_the_focus_is_set_and_the_window_raised() {
    let desk = Desk::bare();
    let first = desk.window("one", "First", "alpha");
    let second = desk.window("two", "Second", "beta");
    desk.focus(second);
    let window = windows(&desk).swap_remove(0);
    assert!(activate(&desk, window));
    assert_eq!(desk.conn.get_input_focus().unwrap().reply().unwrap().focus, first);
    let tree = desk.conn.query_tree(desk.root).unwrap().reply().unwrap();
    assert_eq!(tree.children.last(), Some(&first));
}

#[test]
fn what_is_gone_or_has_another_program_now_is_left_alone() {
    for desk in [Desk::with(Manager::Openbox), Desk::bare()] {
        let first = desk.window("one", "First", "alpha");
        let second = desk.window("two", "Second", "beta");
        eventually("both are seen", || (windows(&desk).len() == 2).then_some(()));
        desk.focus(second);
        let seen = windows(&desk).swap_remove(0);
        assert!(!activate(&desk, Window { class: "Another".into(), ..seen.clone() }));
        desk.destroy(first);
        eventually("it is gone", || (windows(&desk).len() == 1).then_some(()));
        assert!(!activate(&desk, seen));
        assert_eq!(windows(&desk)[0].id, second);
    }
}

/// A manager that names windows and heeds no request, played by the test.
#[test]
fn a_manager_that_leaves_the_focus_elsewhere_is_not_taken_at_its_word() {
    let desk = Desk::bare();
    let window = desk.window("one", "First", "alpha");
    let check = desk.unmapped(desk.root, false);
    desk.set_number(check, "_NET_SUPPORTING_WM_CHECK", AtomEnum::WINDOW, check);
    desk.set_number(desk.root, "_NET_SUPPORTING_WM_CHECK", AtomEnum::WINDOW, check);
    let active = desk.atom("_NET_ACTIVE_WINDOW");
    desk.set_number(desk.root, "_NET_SUPPORTED", AtomEnum::ATOM, active);
    desk.set_number(desk.root, "_NET_CLIENT_LIST", AtomEnum::WINDOW, window);
    desk.sync();
    let seen = windows(&desk).swap_remove(0);
    assert!(!activate(&desk, seen));
}

#[test]
fn a_display_that_is_not_there_or_hangs_is_said() {
    let nowhere = settings(None);
    let said = run(Asking::new(nowhere).windows()).unwrap_err();
    assert_eq!(said, "there is no X display: DISPLAY is not set");
    let mut desk = Desk::bare();
    let asking = Asking::new(settings(Some(&desk.display)));
    let server = desk.server().as_ref().unwrap();
    server.signal(Signal::STOP);
    let said = run(asking.windows()).unwrap_err();
    server.signal(Signal::CONT);
    assert_eq!(said, "the X server does not answer");
    *desk.server() = None;
    let said = run(asking.windows()).unwrap_err();
    assert!(said.starts_with(&format!("no X server at {}", desk.display)), "{said}");
}

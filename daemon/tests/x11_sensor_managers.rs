//! What the sensor makes of real window managers: openbox, i3 and bspwm.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::time::Duration;

use antidrift_tests::{Desktop, Manager, Process, holds_for, until};
use support::{MANAGERS, Watch, blank, manage, top_level};
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _};

use antidrift_daemon::sensor::{Focus, Health};

fn is_managed_fully(health: &Health) -> bool {
    *health == Health::Ok(None)
}

#[test]
fn before_the_first_and_after_the_last_window_there_is_none() {
    for manager in MANAGERS {
        let desk = Desktop::start(manager);
        assert!(desk.active() == 0);
        let watch = Watch::on(&desk);
        let first = watch.until("the first look", |_| true);
        assert!(is_managed_fully(&first.health), "{manager:?}: {first:?}");
        assert_eq!(first.focus, Focus::Nothing);
        for title in ["one", "two"] {
            let window = top_level(&desk, "inst", "Class", title);
            watch.until_title(title);
            window.destroy();
            watch.until_nothing();
        }
        assert_eq!(watch.titles_since(1), ["one", "(nothing)", "two", "(nothing)"], "{manager:?}");
    }
}

/// One observation a switch, also where the manager passes through «none» (openbox).
#[test]
fn switches_are_told_once_each() {
    for manager in MANAGERS {
        println!("{manager:?}");
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        let windows: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|title| {
                let window = top_level(&desk, title, "Class", title);
                watch.until_title(title);
                (window, title)
            })
            .collect();
        let before = watch.count();
        let mut expected = Vec::new();
        for n in 0..30 {
            let (window, title) = windows[n % 3];
            window.focus();
            watch.until_title(title);
            expected.push(title);
        }
        assert_eq!(watch.titles_since(before), expected, "{manager:?}");
    }
}

/// The window that has the focus keeps it, for far longer than the patience with «no window».
fn stays(watch: &Watch) {
    let before = watch.count();
    holds_for(Duration::from_millis(150), "the window stays", || watch.count() == before);
}

/// A launcher holds the keyboard for a while. i3 and bspwm go on naming the window below,
/// openbox names none.
#[test]
fn an_override_redirect_launcher_leaves_the_window_below() {
    for manager in Manager::ALL {
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        let below = top_level(&desk, "work", "Work", "work");
        below.focus();
        watch.until_title("work");
        let before = watch.count();
        // While it is there they name no window, and when it ends the focus goes nowhere until they
        // give it back, or the test does: a busy machine takes its time over that.
        let passes_through_none = matches!(manager, Manager::Bare | Manager::Openbox);
        for round in 0..3 {
            let launcher = blank().override_redirect().open(&desk);
            launcher.set_class("rofi", "Rofi");
            launcher.set_title("rofi");
            launcher.map();
            launcher.focus_input();
            stays(&watch);
            // the title of the window below is followed meanwhile
            let title = format!("work {round}");
            below.set_title(&title);
            watch.until_title(&title);
            launcher.destroy();
            if passes_through_none {
                if manager == Manager::Bare {
                    watch.until_nothing();
                }
                below.focus();
            } else {
                stays(&watch);
            }
            // said after the focus is back, so that nothing of its way back comes later
            let title = format!("back {round}");
            below.set_title(&title);
            watch.until_title(&title);
        }
        let next = top_level(&desk, "next", "Next", "next");
        next.focus();
        watch.until_title("next");
        below.focus();
        watch.until_title("back 2");
        let told = watch.titles_since(before);
        let mut told: Vec<_> = told.iter().map(String::as_str).collect();
        if passes_through_none {
            told.retain(|title| *title != "(nothing)");
            told.dedup();
        }
        let expected =
            ["work 0", "back 0", "work 1", "back 1", "work 2", "back 2", "next", "back 2"];
        assert_eq!(told, expected, "{manager:?}");
    }
}

/// The window below ends while a launcher covers it.
#[test]
fn a_covered_window_that_ends_is_not_shown_on() {
    for manager in [Manager::Bare, Manager::Openbox] {
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        let below = top_level(&desk, "work", "Work", "work");
        below.focus();
        watch.until_title("work");
        let launcher = blank().override_redirect().open(&desk);
        launcher.map();
        launcher.focus_input();
        stays(&watch);
        below.destroy();
        watch.until_nothing();
    }
}

/// 500 windows that take the focus and die 0 to 5 ms later.
#[test]
fn windows_that_die_at_once_do_no_harm() {
    for manager in [Manager::Bare, Manager::Openbox] {
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        for n in 0_u64..500 {
            let window = top_level(&desk, "brief", "Brief", "brief");
            desk.conn()
                .set_input_focus(x11rb::protocol::xproto::InputFocus::PARENT, window.id(), 0_u32)
                .unwrap();
            desk.sync();
            std::thread::sleep(Duration::from_micros(n * 1009 % 5000));
            window.destroy();
        }
        watch.until_nothing();
        let last = top_level(&desk, "living", "Living", "living");
        last.focus();
        assert_eq!(watch.until_title("living").id, last.id());
        assert!(!watch.handle.is_finished());
        last.destroy();
        watch.until_nothing();
    }
}

#[test]
fn a_manager_may_come_and_go() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    let window = top_level(&desk, "a", "A", "a");
    window.focus();
    watch.until_title("a");
    for manager in [Manager::Openbox, Manager::I3, Manager::Bspwm] {
        manage(&desk, manager);
        watch.until("trusts the manager", |o| is_managed_fully(&o.health));
        let other = top_level(&desk, "b", "B", "b");
        other.focus();
        watch.until_title("b");
        if manager != Manager::Bspwm {
            // which takes no windows over that were there before it
            window.focus();
            watch.until_title("a");
        }
        desk.end_manager();
        watch.until("no manager", |o| !is_managed_fully(&o.health));
        other.focus();
        watch.until_title("b");
        other.destroy();
        watch.until("not shown on", |o| support::title_of(o) != "b");
        window.focus();
        watch.until_title("a");
    }
}

/// A command that is allowed covers the dialogs of the terminal that it runs in.
#[test]
fn a_dialog_of_a_terminal_tells_what_runs_in_its_owner() {
    let desk = Desktop::start(Manager::Openbox);
    let watch = Watch::on(&desk);
    let mut command = desk.command("xterm");
    let _terminal = Process::spawn(command.args(["-T", "one", "-e", "sleep", "1000"]), "xterm");
    let owner = watch.until_window("sleep", |w| w.command.as_deref() == Some("sleep")).id;
    let dialog = blank().open(&desk);
    dialog.set_class("chooser", "Chooser");
    dialog.set_title("Open");
    dialog.set_number("WM_TRANSIENT_FOR", "WINDOW", owner);
    dialog.map();
    dialog.focus();
    let seen = watch.until_title("Open");
    let parent = seen.parent.unwrap();
    assert_eq!((seen.command, parent.id), (None, owner));
    assert_eq!(parent.command.as_deref(), Some("sleep"));
}

/// A reparenting manager that sets WM_STATE but speaks no EWMH, played by the test.
#[test]
fn the_client_inside_a_frame_is_the_window() {
    let desk = Desktop::start(Manager::Bare);
    let frame = blank().override_redirect().open(&desk);
    let client = blank().inside(&frame).open(&desk);
    client.set_class("client", "Client");
    client.set_title("client");
    client.set_number("WM_STATE", "CARDINAL", 1);
    let child = blank().inside(&client).open(&desk);
    for window in [child, client, frame] {
        window.map();
    }
    let watch = Watch::on(&desk);
    for (n, focused) in [client, child].into_iter().enumerate() {
        focused.focus_input();
        client.set_title(&format!("client {n}"));
        assert_eq!(watch.until_title(&format!("client {n}")).id, client.id());
    }
    // on the frame itself, when that is no override-redirect window
    let plain = ChangeWindowAttributesAux::new().override_redirect(0);
    desk.conn().change_window_attributes(frame.id(), &plain).unwrap();
    let other = top_level(&desk, "other", "Other", "other");
    other.focus_input();
    watch.until_title("other");
    frame.focus_input();
    assert_eq!(watch.until_title("client 1").id, client.id());
}

#[test]
fn a_terminal_tells_what_runs_in_front() {
    let desk = Desktop::start(Manager::Openbox);
    let watch = Watch::on(&desk);
    let terminal = |args: &[&str]| {
        let mut command = desk.command("xterm");
        Process::spawn(command.args(args), "xterm")
    };
    let sleeping = terminal(&["-T", "one", "-e", "sleep", "1000"]);
    let seen = watch.until_window("sleep", |w| w.command.as_deref() == Some("sleep"));
    assert_eq!((seen.class.as_str(), seen.title.as_str()), ("XTerm", "one"));
    drop(sleeping);
    watch.until_nothing();
    // a job of a shell that names itself in the title when it comes to the front
    let gate = tempfile::tempdir().unwrap();
    let go = gate.path().join("go");
    let script = format!(
        "set -m; until [ -e {} ]; do /bin/sleep 0.05; done; printf '\\033]2;editing\\007'; cat",
        go.display()
    );
    let _shell = terminal(&["-T", "shell", "-e", "bash", "-c", &script]);
    watch.until_title("shell");
    fs::write(&go, "").unwrap();
    watch.until_title("editing");
    // the title came before the program; a later one is told along with what runs then
    let window = desk.window(watch.until_title("editing").id);
    let mut n = 0;
    until("cat in front", || {
        if n % 20 == 0 {
            window.set_title(&format!("editing {n}"));
        }
        n += 1;
        match watch.all().pop().unwrap().focus {
            Focus::Window(window) => (window.command.as_deref() == Some("cat")).then_some(()),
            Focus::Nothing => None,
        }
    });
    // another host's pid means nothing here
    window.set("WM_CLIENT_MACHINE", "STRING", b"elsewhere.example");
    window.set_class("xterm", "XTerm");
    watch.until_window("elsewhere", |w| w.command.is_none());
}

//! Window identity, from the properties of real windows to what clients are told.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use antidrift_protocol::{DriftStatus, SensorStatus, Window};
use antidrift_tests::{Manager, Process, Scene, StateExt as _, WindowSpec, on_every_desktop};

fn window(class: &str, instance: &str, title: &str) -> Window {
    let (class, instance, title) = (class.into(), instance.into(), title.into());
    Window { class, instance, title, domain: None, command: None }
}

on_every_desktop! {
    fn f01_a_window_without_class_is_a_window(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        let game = desktop.open("Game", "a game");
        scene.subscriber.until_title("a game");
        // taken away while the daemon looks
        game.remove("WM_CLASS");
        let state = scene.subscriber.until("no class", |state| {
            state.window.as_ref().is_some_and(|window| window.class.is_empty())
        });
        assert_eq!(state.window.unwrap(), window("", "", "a game"));
        // and there when it starts
        scene.stop_daemon();
        scene.start_daemon();
        assert_eq!(scene.subscriber.until_title("a game"), window("", "", "a game"));
        desktop.open("Editor", "report.md");
        assert_eq!(scene.subscriber.until_title("report.md"), window("Editor", "editor", "report.md"));
    }
}

#[test]
fn f02_f03_nothing_is_carried_over_from_the_window_before() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("work.txt", "not this");
    scene.begin("the report");
    let desktop = scene.desktop();
    desktop.open("Fun", "work.txt");
    scene.subscriber.until_titled("work.txt", DriftStatus::Drifting);
    let nameless = WindowSpec::new("no class").without_class().open(&desktop);
    nameless.focus();
    scene.subscriber.until_titled("no class", DriftStatus::Ontask);
    let state = scene.subscriber.state();
    assert_eq!(state.window.unwrap(), window("", "", "no class"));
    WindowSpec::new("").class("Mute").without_title().open(&desktop).focus();
    let state = scene.subscriber.until("a window without title", |state| {
        state.window.as_ref() == Some(&window("Mute", "mute", ""))
    });
    assert_ne!(state.status(), Some(DriftStatus::Drifting));
    // neither: seen, and nobody is asked about it
    scene.subscriber.until_titled("", DriftStatus::Ontask);
    let asked = scene.judge.calls().len();
    WindowSpec::new("").without_class().without_title().open(&desktop).focus();
    let state = scene
        .subscriber
        .until("an anonymous window", |state| state.window.as_ref() == Some(&window("", "", "")));
    assert_eq!(state.status(), Some(DriftStatus::Idle));
    desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert_eq!(scene.judge.calls().len(), asked + 1);
}

#[test]
fn f04_f06_both_names_are_kept_apart_and_whole() {
    let mut scene = Scene::on(Manager::Bare).start();
    scene.cli(&["start", "the report", "--allow", "org.gnome.Nautilus"]).ok();
    let desktop = scene.desktop();
    for (instance, class) in
        [("qemu", "Qemu-system-x86_64"), ("org.gnome", "Nautilus"), ("org", "gnome.Nautilus")]
    {
        WindowSpec::new(class).identity(instance, class).open(&desktop).focus();
        let state = scene.subscriber.until_titled(class, DriftStatus::Ontask);
        assert_eq!(state.window.unwrap(), window(class, instance, class));
        // by the judge: the joined name is nobody's
        assert_eq!(state.drift.unwrap().source, Some(antidrift_protocol::DriftSource::Judge));
    }
    let said = scene.cli(&["status"]).ok();
    assert!(said.contains("gnome.Nautilus"), "{said}");
}

#[test]
fn f08_the_focus_proxy_of_java_is_never_shown() {
    for manager in [Manager::Bare, Manager::Openbox] {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        let top = desktop.open("jetbrains-idea", "proj");
        let proxy = WindowSpec::new("FocusProxy").class("FocusProxy").inside(&top).open(&desktop);
        proxy.focus_input();
        scene.subscriber.until_title("proj");
        let other = desktop.open("Editor", "report.md");
        scene.subscriber.until_title("report.md");
        if manager == Manager::Bare {
            proxy.focus_input()
        } else {
            top.focus()
        }
        scene.subscriber.until_title("proj");
        other.focus();
        scene.subscriber.until_title("report.md");
        assert!(!scene.subscriber.lines().iter().any(|line| line.contains("FocusProxy")));
    }
}

#[test]
fn f09_a_pid_that_is_missing_or_zero_changes_nothing() {
    let mut scene = Scene::on(Manager::Openbox).start();
    let desktop = scene.desktop();
    for (title, pid) in [("none", None), ("zero", Some(0)), ("absurd", Some(u32::MAX))] {
        let spec = WindowSpec::new(title).class("XTerm").unmapped().open(&desktop);
        if let Some(pid) = pid {
            spec.set_number("_NET_WM_PID", "CARDINAL", pid);
        }
        spec.map();
        spec.focus();
        assert_eq!(scene.subscriber.until_title(title), window("XTerm", "xterm", title));
    }
}

#[test]
fn f18_windows_that_die_at_once_do_no_harm() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.begin("the report");
    let desktop = scene.desktop();
    for n in 0..200 {
        let window = WindowSpec::new("brief").class("Brief").open(&desktop);
        window.focus_input();
        std::thread::sleep(std::time::Duration::from_micros(n * 1009 % 5000));
        window.destroy();
    }
    scene.subscriber.until("no window", |state| state.window.is_none());
    desktop.open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    assert!(scene.daemon().process().is_running());
    let log = scene.daemon().log();
    assert!(log.lines().count() < 20, "{log}");
}

#[test]
fn f21_f22_atoms_belong_to_a_server() {
    let mut scene = Scene::on(Manager::Bare).start();
    let detail = scene.subscriber.until("a sensor", |it| it.sensor.status == SensorStatus::Ok);
    for n in 0..300 {
        scene.desktop().set(scene.desktop().root(), &format!("_X{n}"), "STRING", b"1");
    }
    scene.stop_daemon();
    scene.start_daemon();
    let again = scene.subscriber.until("a sensor", |it| it.sensor.status == SensorStatus::Ok);
    assert_eq!(detail.sensor, again.sensor);
    scene.desktop().open("Editor", "report.md");
    assert_eq!(scene.subscriber.until_title("report.md"), window("Editor", "editor", "report.md"));
    assert_eq!(scene.daemon().log_lines("WARN") + scene.daemon().log_lines("ERROR"), 0);
}

/// A real terminal: what runs in front of it counts.
#[test]
fn a_program_in_a_terminal_is_allowed_by_its_name() {
    let mut scene = Scene::on(Manager::Openbox).start();
    scene.judge.drifts("XTerm", "only what is allowed");
    scene.cli(&["start", "the report", "--allow-command", "tail"]).ok();
    let desktop = scene.desktop();
    let mut command = desktop.command("xterm");
    let _terminal =
        Process::spawn(command.args(["-T", "log", "-e", "tail", "-f", "/dev/null"]), "xterm");
    let state = scene.subscriber.until_titled("log", DriftStatus::Ontask);
    let seen = state.window.unwrap();
    assert_eq!((seen.class.as_str(), seen.command.as_deref()), ("XTerm", Some("tail")));
    let mut command = desktop.command("xterm");
    let _other = Process::spawn(command.args(["-T", "sleeper", "-e", "sleep", "1000"]), "xterm");
    let state = scene.subscriber.until_titled("sleeper", DriftStatus::Drifting);
    assert_eq!(state.window.unwrap().command.as_deref(), Some("sleep"));
}

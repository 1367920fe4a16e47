//! Focus semantics on real desktops: what has the focus, what is shown of it, and what comes of it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{DriftSource, DriftStatus, SensorStatus};
use antidrift_tests::{Manager, Scene, StateExt as _, WindowSpec, holds_for, on_every_desktop};

on_every_desktop! {
    fn a_change_of_focus_is_a_change_of_state(manager: Manager) {
        let mut scene = Scene::on(manager).no_judge().start();
        let desktop = scene.desktop();
        let editor = WindowSpec::new("report.md").identity("ed", "Editor").open(&desktop);
        editor.focus();
        let mail = WindowSpec::new("Inbox").identity("mail", "Mail").open(&desktop);
        mail.focus();
        let seen = scene.subscriber.until_title("Inbox");
        assert_eq!((seen.class.as_str(), seen.instance.as_str()), ("Mail", "mail"));
        for _ in 0..5 {
            editor.focus();
            let seen = scene.subscriber.until_title("report.md");
            assert_eq!((seen.class.as_str(), seen.instance.as_str()), ("Editor", "ed"));
            mail.focus();
            scene.subscriber.until_title("Inbox");
        }
        // one line a switch, also where the manager passes through «none»
        let states = scene.subscriber.states();
        let titles: Vec<_> = states.iter().filter_map(|state| state.title()).collect();
        let first = titles.iter().position(|&title| title == "Inbox").unwrap();
        let expected = ["Inbox", "report.md"].into_iter().cycle().take(11);
        assert_eq!(titles[first..], expected.collect::<Vec<_>>());
    }
}

on_every_desktop! {
    fn an_unrelated_window_raises_an_alert(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        scene.judge.drifts("Football", "Football is not the report");
        scene.begin("draft the report");
        desktop.open("Fun", "Football live");
        let alert = scene.subscriber.until_alert();
        assert_eq!(alert.window.unwrap().title, "Football live");
        assert_eq!(alert.reason.as_deref(), Some("Football is not the report"));
        let state = scene.subscriber.until_status(DriftStatus::Drifting);
        let drift = state.drift.unwrap();
        assert_eq!((drift.alert, drift.source), (Some(alert.alert), Some(DriftSource::Judge)));
        assert_eq!(drift.reason.as_deref(), Some("Football is not the report"));
        // it was announced as being looked at, and looked at once
        let pending = |state: &antidrift_protocol::State| {
            state.status() == Some(DriftStatus::Pending) && state.title() == Some("Football live")
        };
        assert!(scene.subscriber.states().iter().any(pending));
        assert_eq!(scene.judge.titles(), ["Football live"]);
        // leaving it ends the alert
        desktop.open("Editor", "report.md");
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
        assert_eq!(scene.judge.titles(), ["Football live", "report.md"]);
    }
}

on_every_desktop! {
    fn f23_f24_no_window_is_not_an_error(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        scene.subscriber.until("a sensor", |state| state.sensor.status == SensorStatus::Ok);
        let state = scene.begin("draft the report");
        assert_eq!((state.window.as_ref(), state.status()), (None, Some(DriftStatus::Idle)));
        let lines = scene.daemon().log().lines().count();
        for title in ["one", "two"] {
            let window = desktop.open("Editor", title);
            scene.subscriber.until_titled(title, DriftStatus::Ontask);
            window.destroy();
            let state = scene.subscriber.until("no window", |state| state.window.is_none());
            assert_eq!(state.status(), Some(DriftStatus::Idle));
        }
        // nothing is written over and over
        let seen = scene.subscriber.events().len();
        holds_for(Duration::from_secs(2), "nothing more is said", || {
            scene.subscriber.events().len() == seen
        });
        assert!(scene.daemon().log().lines().count() <= lines + 2, "{}", scene.daemon().log());
        assert_eq!(scene.subscriber.alerts(), 0);
    }
}

#[test]
fn f25_without_a_window_manager_the_input_focus_counts() {
    let mut scene = Scene::on(Manager::Bare).start();
    let desktop = scene.desktop();
    let first = desktop.open("XTerm", "first");
    scene.subscriber.until_title("first");
    let second = desktop.open("XTerm", "second");
    scene.subscriber.until_title("second");
    for (window, title) in [(first, "first"), (second, "second")] {
        window.focus_input();
        scene.subscriber.until_title(title);
    }
    // and a person is told that this is how it is done
    let state = scene.status();
    assert_eq!(state.sensor.status, SensorStatus::Ok);
    let detail = state.sensor.detail.expect("a detail");
    let said = scene.cli(&["start", "the report"]).ok();
    assert!(said.contains(&detail), "{detail:?} in {said}");
}

on_every_desktop! {
    fn f26_a_launcher_is_no_window(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        scene.judge.drifts("Rofi", "a launcher must not be judged");
        scene.cli(&["start", "--allow", "editor", "the report"]).ok();
        let editor = desktop.open("Editor", "report.md");
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
        let launcher = WindowSpec::new("rofi").identity("rofi", "Rofi").override_redirect();
        let launcher = launcher.open(&desktop);
        launcher.focus_input();
        holds_for(Duration::from_millis(1500), "the window below holds", || {
            let state = scene.subscriber.state();
            state.title() == Some("report.md") && state.status() == Some(DriftStatus::Ontask)
        });
        launcher.destroy();
        editor.focus();
        desktop.open("Editor", "next.md");
        scene.subscriber.until_titled("next.md", DriftStatus::Ontask);
        assert_eq!((scene.judge.calls().len(), scene.subscriber.alerts()), (0, 0));
    }
}

on_every_desktop! {
    fn f27_title_change_of_the_focused_window_is_seen(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        scene.judge.drifts("Video", "a video is not the report");
        scene.begin("the report");
        let other = desktop.open("Mail", "Inbox");
        scene.subscriber.until_titled("Inbox", DriftStatus::Ontask);
        let browser = desktop.open("Firefox", "Docs");
        scene.subscriber.until_titled("Docs", DriftStatus::Ontask);
        browser.set_title("Video");
        scene.subscriber.until_titled("Video", DriftStatus::Drifting);
        // the title of a window without the focus is nobody's concern
        let seen = scene.subscriber.events().len();
        other.set_title("Video two");
        holds_for(Duration::from_millis(500), "nothing is said", || {
            scene.subscriber.events().len() == seen
        });
        assert_eq!(scene.judge.titles(), ["Inbox", "Docs", "Video"]);
    }
}

on_every_desktop! {
    fn f31_dialogs_belong_to_what_they_interrupt(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        let desktop = scene.desktop();
        scene.judge.drifts("Save", "a dialog must not be judged");
        scene.cli(&["start", "--allow", "Editor", "the report"]).ok();
        let editor = desktop.open("Editor", "report.md");
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
        // of another class, but tied to the window
        let spec = WindowSpec::new("Save as").class("Saver").transient_for(&editor);
        let dialog = spec.open(&desktop);
        dialog.focus();
        scene.subscriber.until_titled("Save as", DriftStatus::Ontask);
        dialog.destroy();
        editor.focus();
        scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
        // a portal's, not tied to anything
        let dialog = WindowSpec::new("Save elsewhere").class("Xdg-desktop-portal-gtk");
        let dialog = dialog.open(&desktop);
        dialog.focus();
        holds_for(Duration::from_millis(700), "the status holds", || {
            scene.subscriber.state().status() == Some(DriftStatus::Ontask)
        });
        dialog.destroy();
        desktop.open("Editor", "next.md");
        scene.subscriber.until_titled("next.md", DriftStatus::Ontask);
        assert_eq!((scene.judge.calls().len(), scene.subscriber.alerts()), (0, 0));
    }
}

//! A person who is not there does not drift: no input, lockers, blanked screens, suspend.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_protocol::{Away, ClearedWhy, DriftStatus, EventBody, SensorStatus, State};
use antidrift_tests::{
    Logind, Manager, Scene, SceneBuilder, StateExt as _, TestWindow, WindowSpec, holds_for,
    on_every_desktop, until_still,
};
use serde_json::json;

/// With a login manager that knows the daemon's session.
fn with_logind(scene: SceneBuilder, logind: &Logind) -> SceneBuilder {
    let bus = logind.address();
    scene.env("DBUS_SYSTEM_BUS_ADDRESS", bus).env("XDG_SESSION_ID", Logind::SESSION_ID)
}

/// Begins a session and drifts, so that there is an alert.
fn drift(scene: &mut Scene) {
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_alert();
    scene.subscriber.until_status(DriftStatus::Drifting);
}

fn locker(desktop: &antidrift_tests::Desktop) -> TestWindow<'_> {
    let spec = WindowSpec::new("locker").class("Locker").override_redirect().full_screen();
    spec.open(desktop)
}

/// Waits until the person is away in this way, or there.
#[track_caller]
fn until_away(scene: &mut Scene, away: Option<Away>) -> State {
    scene.subscriber.until(&format!("away being {away:?}"), |state| state.away == away)
}

/// The alert has ended for this reason.
#[track_caller]
fn until_cleared(scene: &mut Scene) {
    let why = scene.subscriber.until_event("alert_cleared", |event| match event {
        EventBody::AlertCleared(cleared) => Some(cleared.why),
        _ => None,
    });
    assert_eq!(why, ClearedWhy::Away);
}

/// Nobody is told anything for a while.
#[track_caller]
fn stays_quiet(scene: &mut Scene, away: Away) {
    let alerts = scene.subscriber.alerts();
    holds_for(Duration::from_millis(1500), "no alert, no reminder, away", || {
        let state = scene.subscriber.state();
        let told =
            scene.subscriber.events().iter().any(|event| {
                matches!(event.body, EventBody::AlertReminder(_) | EventBody::Notice(_))
            });
        let alert = state.drift.as_ref().and_then(|drift| drift.alert);
        scene.subscriber.alerts() == alerts
            && !told
            && alert.is_none()
            && state.away == Some(away)
            && state.status() != Some(DriftStatus::Drifting)
    });
}

/// Back at the drifting window: one alert, once it has settled, and no more.
#[track_caller]
fn until_alarmed_again(scene: &mut Scene, alerts: usize) {
    until_away(scene, None);
    scene.subscriber.until_alert();
    let state = scene.subscriber.until_status(DriftStatus::Drifting);
    assert_eq!(state.title(), Some("Football live"));
    holds_for(Duration::from_millis(700), "one alert", || scene.subscriber.alerts() == alerts);
}

/// Seconds of the session that the review books as away and as drifting.
fn sums(scene: &mut Scene) -> (u64, u64) {
    let review = scene.ask("complete", &json!({}))["ok"]["review"].clone();
    (review["away_secs"].as_u64().unwrap(), review["drifting_secs"].as_u64().unwrap())
}

on_every_desktop! {
    /// No alert of the time below a locker, and one on return.
    fn f28_f68_who_is_locked_out_does_not_drift(manager: Manager) {
        let mut scene = Scene::on(manager).start();
        drift(&mut scene);
        let desktop = scene.desktop();
        let covers = locker(&desktop);
        until_away(&mut scene, Some(Away::Locked));
        until_cleared(&mut scene);
        stays_quiet(&mut scene, Away::Locked);
        // a new window below it changes nothing
        let below = WindowSpec::new("Football again").class("Fun").open(&desktop);
        covers.raise();
        stays_quiet(&mut scene, Away::Locked);
        below.destroy();
        covers.destroy();
        until_alarmed_again(&mut scene, 2);
        assert!(sums(&mut scene).0 >= 2);
    }
}

#[test]
fn f28_a_blanked_screen_is_as_good_as_locked() {
    let mut scene = Scene::on(Manager::Openbox).start();
    drift(&mut scene);
    scene.desktop().run("xset", &["s", "activate"]);
    until_away(&mut scene, Some(Away::Locked));
    until_cleared(&mut scene);
    stays_quiet(&mut scene, Away::Locked);
    scene.desktop().run("xset", &["s", "reset"]);
    until_alarmed_again(&mut scene, 2);
}

#[test]
fn f68_no_popup_wakes_a_locked_screen() {
    let mut scene = Scene::on(Manager::Openbox).dunst().start();
    let _watch = scene.watch(&[]);
    drift(&mut scene);
    scene.dunst().until_displayed(1);
    let desktop = scene.desktop();
    let covers = locker(&desktop);
    until_away(&mut scene, Some(Away::Locked));
    scene.dunst().until_displayed(0);
    let shown = scene.dunst().shown().len();
    holds_for(Duration::from_secs(2), "no popup", || {
        scene.dunst().displayed() == 0 && scene.dunst().shown().len() == shown
    });
    covers.destroy();
    until_alarmed_again(&mut scene, 2);
}

#[test]
fn no_input_is_away_and_any_input_is_back() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.idle = 1.0).start();
    let desktop = scene.desktop();
    drift(&mut scene);
    until_away(&mut scene, Some(Away::Idle));
    until_cleared(&mut scene);
    stays_quiet(&mut scene, Away::Idle);
    desktop.run("xdotool", &["mousemove", "20", "20"]);
    until_away(&mut scene, None);
    scene.subscriber.until_alert();
    until_away(&mut scene, Some(Away::Idle));
    desktop.run("xdotool", &["key", "a"]);
    until_away(&mut scene, None);
    let (away, _) = sums(&mut scene);
    assert!(away >= 1, "{away} s");
}

on_every_desktop! {
    /// A lecture is watched without a key, for as long as it fills the screen.
    fn f30_who_watches_what_is_on_task_is_there(manager: Manager) {
        let mut scene = Scene::on(manager).settings(|it| it.idle = 1.0).start();
        let desktop = scene.desktop();
        scene.judge.drifts("Comedy", "a comedy is no lecture");
        scene.begin("watch the lecture");
        let player = desktop.open("mpv", "Lecture 3");
        scene.subscriber.until_titled("Lecture 3", DriftStatus::Ontask);
        until_away(&mut scene, Some(Away::Idle));
        player.fill_screen(true);
        until_away(&mut scene, None);
        scene.subscriber.until_titled("Lecture 3", DriftStatus::Ontask);
        holds_for(Duration::from_millis(2500), "there, and on task", || {
            let state = scene.subscriber.state();
            state.away.is_none() && state.status() == Some(DriftStatus::Ontask)
        });
        // the same in a window, or with what does not serve the commitment, is nobody watching
        player.fill_screen(false);
        until_away(&mut scene, Some(Away::Idle));
        desktop.run("xdotool", &["mousemove", "20", "20"]);
        until_away(&mut scene, None);
        let other = desktop.open("vlc", "Comedy");
        other.fill_screen(true);
        scene.subscriber.until_titled("Comedy", DriftStatus::Drifting);
        until_away(&mut scene, Some(Away::Idle));
    }
}

/// No bus, no login manager, no word of the display: what is not known is present.
#[test]
fn f29_without_any_source_a_person_is_there() {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.idle = 0.0).start();
    drift(&mut scene);
    holds_for(Duration::from_secs(2), "there, and drifting", || {
        let state = scene.subscriber.state();
        state.away.is_none() && state.status() == Some(DriftStatus::Drifting)
    });
    assert_eq!(scene.daemon().log_lines("WARN"), 0, "{}", scene.daemon().log());
    // and a login manager that is no help
    let mut logind = Logind::start();
    logind.leave();
    let mut scene = with_logind(Scene::on(Manager::Openbox), &logind).start();
    drift(&mut scene);
    assert_eq!(scene.subscriber.state().away, None);
    assert_eq!(scene.daemon().log_lines("WARN"), 0, "{}", scene.daemon().log());
}

#[test]
fn what_the_login_manager_says_counts_without_a_display() {
    let logind = Logind::start();
    logind.hint(true);
    let mut scene = with_logind(Scene::without_display(), &logind).start();
    scene.subscriber.until("no display", |state| state.sensor.status == SensorStatus::Unavailable);
    scene.begin("the report");
    until_away(&mut scene, Some(Away::Locked));
    logind.hint(false);
    until_away(&mut scene, None);
    logind.sleep(true);
    until_away(&mut scene, Some(Away::Suspended));
    logind.sleep(false);
    until_away(&mut scene, None);
}

#[test]
fn f28_a_lock_that_only_the_login_manager_tells_of() {
    let logind = Logind::start();
    let mut scene = with_logind(Scene::on(Manager::Openbox), &logind).start();
    drift(&mut scene);
    logind.lock();
    until_away(&mut scene, Some(Away::Locked));
    until_cleared(&mut scene);
    stays_quiet(&mut scene, Away::Locked);
    logind.unlock();
    until_alarmed_again(&mut scene, 2);
    logind.hint(true);
    until_away(&mut scene, Some(Away::Locked));
    until_cleared(&mut scene);
    // a locker of the display's beside it: the last to go is the end of it
    let desktop = scene.desktop();
    let covers = locker(&desktop);
    stays_quiet(&mut scene, Away::Locked);
    holds_for(Duration::from_secs(2), "long enough to be one", || true);
    logind.hint(false);
    stays_quiet(&mut scene, Away::Locked);
    covers.destroy();
    until_alarmed_again(&mut scene, 3);
}

/// The machine sleeps over and over; each time one alert on waking at most, and none meanwhile.
#[test]
fn f67_f74_sleep_is_no_drift_and_waking_no_flood() {
    let logind = Logind::start();
    let mut scene = with_logind(Scene::on(Manager::Openbox), &logind).start();
    drift(&mut scene);
    logind.sleep(true);
    until_away(&mut scene, Some(Away::Suspended));
    until_cleared(&mut scene);
    stays_quiet(&mut scene, Away::Suspended);
    // locked before it sleeps, and unlocked after it has woken up
    logind.hint(true);
    logind.sleep(false);
    until_away(&mut scene, Some(Away::Locked));
    stays_quiet(&mut scene, Away::Locked);
    logind.hint(false);
    until_alarmed_again(&mut scene, 2);
    let (away, drifting) = sums(&mut scene);
    assert!(away >= 3 && drifting <= away, "{away} s away, {drifting} s drifting");
    // the daemon that dies asleep knows nothing of it afterwards
    scene.ask("end", &json!({}));
    scene.begin("the report");
    logind.sleep(true);
    until_away(&mut scene, Some(Away::Suspended));
    scene.kill_daemon();
    scene.start_daemon();
    let state = scene.subscriber.until("a window", |state| state.window.is_some());
    assert_eq!(state.away, None);
}

#[test]
fn listening_for_all_of_it_costs_nothing() {
    let logind = Logind::start();
    let mut scene = with_logind(Scene::on(Manager::Openbox), &logind).start();
    scene.cli(&["start", "the report", "--for", "1h", "--allow", "Editor"]).ok();
    scene.desktop().open("Editor", "report.md");
    scene.subscriber.until_titled("report.md", DriftStatus::Ontask);
    let mut cost = || scene.daemon().process().cost();
    let rest = until_still(Duration::from_secs(1), "the daemon rests", &mut cost);
    holds_for(Duration::from_secs(4), "no switches and no CPU time", || cost() == rest);
    // it still listens
    logind.sleep(true);
    until_away(&mut scene, Some(Away::Suspended));
}

//! Signs that nobody is there: no input, a blanked screen, a locker; and windows that fill the screen.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use antidrift_daemon::sensor::{Absence, Settings};
use antidrift_tests::{Desktop, Manager, Process, TestWindow, holds_for, until};
use support::{MANAGERS, Watch, blank, settings, top_level};
use x11rb::connection::Connection as _;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::shape::{ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{
    ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, GrabMode, GrabStatus,
    StackMode, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

const SCREEN: (i16, i16, u16, u16) = (0, 0, 1024, 768);

/// Longer than what covers the screen has to stay.
const LONG: Duration = Duration::from_millis(3200);

fn watch(desk: &Desktop, idle_after: Option<Duration>) -> Watch {
    Watch::with(Settings { idle_after, ..settings(Some(desk.display())) })
}

fn until_absence(watch: &Watch, what: &str, so: impl Fn(Absence) -> bool) {
    watch.until(what, |seen| so(seen.absence));
}

/// An override-redirect window at a place, shown on top of all others.
fn cover(desk: &Desktop, (x, y, width, height): (i16, i16, u16, u16)) -> TestWindow<'_> {
    let window = desk.conn().generate_id().unwrap();
    let aux = CreateWindowAux::new().override_redirect(1).background_pixel(0);
    let class = WindowClass::INPUT_OUTPUT;
    desk.conn()
        .create_window(0, window, desk.root(), x, y, width, height, 0, class, 0, &aux)
        .unwrap();
    let window = desk.window(window);
    window.map();
    window
}

fn restack(desk: &Desktop, window: TestWindow<'_>, mode: StackMode) {
    let aux = ConfigureWindowAux::new().stack_mode(mode);
    desk.conn().configure_window(window.id(), &aux).unwrap();
    desk.sync();
}

/// For as long as it takes a locker to be noticed, none is.
fn stays_open(watch: &Watch, what: &str) {
    holds_for(LONG, what, || !watch.all().last().unwrap().absence.locked);
}

#[test]
fn no_input_is_idle_and_input_ends_it() {
    let desk = Desktop::start(Manager::Bare);
    let watch_idle = watch(&desk, Some(Duration::from_millis(300)));
    let never = watch(&desk, None);
    // again and again: an alarm that goes off once only would do for the first time
    for (n, input) in [["mousemove", "5", "5"], ["key", "a", "b"], ["mousemove", "9", "9"]]
        .iter()
        .cycle()
        .take(6)
        .enumerate()
    {
        until_absence(&watch_idle, &format!("idle {n}"), |absence| absence.idle);
        desk.run("xdotool", input);
        until_absence(&watch_idle, &format!("back {n}"), |absence| !absence.idle);
    }
    until_absence(&watch_idle, "idle", |absence| absence.idle);
    // one that starts late is past the threshold already
    let late = watch(&desk, Some(Duration::from_millis(300)));
    let first = late.until("the first look", |_| true);
    assert!(first.absence.idle, "{first:?}");
    desk.run("xdotool", &["mousemove", "1", "1"]);
    until_absence(&late, "back", |absence| !absence.idle);
    until_absence(&late, "idle", |absence| absence.idle);
    assert!(never.all().iter().all(|seen| seen.absence == Absence::default()));
}

/// What a player does to keep the screen on keeps its user present as well.
#[test]
fn a_reset_of_the_screen_saver_is_input() {
    let desk = Desktop::start(Manager::Bare);
    let watch = watch(&desk, Some(Duration::from_millis(300)));
    until_absence(&watch, "idle", |absence| absence.idle);
    desk.run("xset", &["s", "reset"]);
    until_absence(&watch, "back", |absence| !absence.idle);
}

#[test]
fn a_blanked_screen_is_locked() {
    let desk = Desktop::start(Manager::Bare);
    let early = watch(&desk, None);
    until_absence(&early, "present", |absence| absence == Absence::default());
    for _ in 0..2 {
        desk.run("xset", &["s", "activate"]);
        until_absence(&early, "blank", |absence| absence.locked);
        let late = watch(&desk, None);
        let first = late.until("the first look", |_| true);
        assert!(first.absence.locked, "{first:?}");
        desk.run("xset", &["s", "reset"]);
        until_absence(&early, "back", |absence| !absence.locked);
        until_absence(&late, "back", |absence| !absence.locked);
    }
    desk.run("xset", &["s", "activate"]);
    until_absence(&early, "blank", |absence| absence.locked);
    desk.run("xdotool", &["mousemove", "7", "7"]);
    until_absence(&early, "input ends it", |absence| !absence.locked);
}

/// With and without a grab, on each desktop, seen from before and from a late start.
#[test]
fn what_covers_the_screen_and_stays_is_a_locker() {
    for manager in Manager::ALL {
        let desk = Desktop::start(manager);
        let early = watch(&desk, None);
        let below = top_level(&desk, "work", "Work", "work");
        below.focus();
        early.until_title("work");
        for grabs in [false, true] {
            if grabs && manager != Manager::Bare {
                continue;
            }
            let locker = cover(&desk, SCREEN);
            let late = watch(&desk, None);
            if grabs {
                let mode = GrabMode::ASYNC;
                let grab = desk
                    .conn()
                    .grab_keyboard(true, locker.id(), x11rb::CURRENT_TIME, mode, mode)
                    .unwrap();
                assert_eq!(grab.reply().unwrap().status, GrabStatus::SUCCESS);
            }
            until_absence(&early, &format!("locked, {manager:?}"), |absence| absence.locked);
            assert_eq!(early.until_title("work").id, below.id(), "the window below holds");
            until_absence(&late, "locked for the late one", |absence| absence.locked);
            locker.destroy();
            until_absence(&early, "unlocked", |absence| !absence.locked);
            until_absence(&late, "unlocked for the late one", |absence| !absence.locked);
        }
    }
}

#[test]
fn what_leaves_soon_or_leaves_something_open_is_no_locker() {
    let desk = Desktop::start(Manager::Openbox);
    top_level(&desk, "work", "Work", "work");
    let watch = Watch::on(&desk);
    watch.until_title("work");
    // a launcher; a splash that goes in time, and again; half the screen; one below a client
    let launcher = cover(&desk, (100, 100, 600, 400));
    let half = cover(&desk, (0, 0, 1024, 758));
    stays_open(&watch, "a part is covered");
    launcher.destroy();
    half.destroy();
    for _ in 0..3 {
        let splash = cover(&desk, SCREEN);
        holds_for(Duration::from_millis(1200), "a splash", || {
            !watch.all().last().unwrap().absence.locked
        });
        splash.destroy();
        holds_for(Duration::from_millis(600), "between", || {
            !watch.all().last().unwrap().absence.locked
        });
    }
    let below = cover(&desk, SCREEN);
    restack(&desk, below, StackMode::BELOW);
    stays_open(&watch, "a wallpaper below a client");
    restack(&desk, below, StackMode::ABOVE);
    until_absence(&watch, "raised", |absence| absence.locked);
    restack(&desk, below, StackMode::BELOW);
    until_absence(&watch, "lowered", |absence| !absence.locked);
}

#[test]
fn what_lets_clicks_or_sight_through_and_what_cannot_be_seen_is_no_locker() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    watch.until_nothing();
    let (bare, ordering) = (cover(&desk, SCREEN), ClipOrdering::UNSORTED);
    desk.conn().shape_rectangles(SO::SET, SK::INPUT, ordering, bare.id(), 0, 0, &[]).unwrap();
    let drawn = cover(&desk, SCREEN);
    let line = x11rb::protocol::xproto::Rectangle { x: 10, y: 10, width: 200, height: 3 };
    desk.conn()
        .shape_rectangles(SO::SET, SK::BOUNDING, ordering, drawn.id(), 0, 0, &[line])
        .unwrap();
    // a window manager's guard, and a locker's tiny one that shows the screen
    let guard = desk.conn().generate_id().unwrap();
    let aux = CreateWindowAux::new().override_redirect(1);
    let class = WindowClass::INPUT_ONLY;
    desk.conn().create_window(0, guard, desk.root(), 0, 0, 1024, 768, 0, class, 0, &aux).unwrap();
    desk.window(guard).map();
    let tiny = cover(&desk, (0, 0, 1, 1));
    stays_open(&watch, "nothing is hidden");
    tiny.destroy();
    let desktop = cover(&desk, SCREEN);
    let kind = desk.atom("_NET_WM_WINDOW_TYPE_DESKTOP");
    desktop.set_number("_NET_WM_WINDOW_TYPE", "ATOM", kind);
    stays_open(&watch, "an empty desktop");
    // with all of that a locker is one
    let locker = cover(&desk, SCREEN);
    cover(&desk, (350, 250, 100, 100));
    until_absence(&watch, "locked under a dialog of its own", |absence| absence.locked);
    locker.destroy();
    until_absence(&watch, "unlocked", |absence| !absence.locked);
}

/// i3's frames are override-redirect themselves.
#[test]
fn a_client_that_fills_the_screen_is_no_locker() {
    for manager in MANAGERS {
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        let film = top_level(&desk, "mpv", "mpv", "film");
        watch.until_title("film");
        assert!(!watch.until_title("film").fullscreen);
        film.fill_screen(true);
        watch.until_window("full screen", |window| window.fullscreen);
        stays_open(&watch, &format!("{manager:?}"));
        film.fill_screen(false);
        watch.until_window("not full screen", |window| !window.fullscreen);
        // one that comes so
        let call = blank().open(&desk);
        call.set_title("call");
        let state = desk.atom("_NET_WM_STATE_FULLSCREEN");
        call.set_number("_NET_WM_STATE", "ATOM", state);
        call.map();
        watch.until_window("a call", |window| window.title == "call" && window.fullscreen);
    }
}

/// In a storm of titles no change of properties is listened for.
#[test]
fn a_film_whose_title_runs_fills_the_screen_too() {
    let desk = Desktop::start(Manager::Openbox);
    let watch = Watch::on(&desk);
    let film = top_level(&desk, "mpv", "mpv", "film");
    watch.until_title("film");
    let mut n = 0;
    let mut run = |what: &str, fullscreen: bool| {
        until(what, || {
            n += 1;
            film.set_title(&format!("film {n}"));
            desk.sync();
            let last = watch.all().pop().unwrap();
            let window = match last.focus {
                antidrift_daemon::sensor::Focus::Window(window) => window,
                antidrift_daemon::sensor::Focus::Nothing => return None,
            };
            (n > 30 && window.fullscreen == fullscreen).then_some(())
        });
    };
    run("a storm", false);
    film.fill_screen(true);
    run("full screen in a storm", true);
    film.fill_screen(false);
    run("and out of it", false);
}

/// Some lockers have one window for each monitor, and no window is as large as the screen.
#[test]
fn one_window_for_each_monitor_is_a_locker() {
    let desk = Desktop::start(Manager::Bare);
    let output = desk.conn().randr_get_screen_resources(desk.root()).unwrap().reply().unwrap();
    for (name, x, outputs) in [("left", 0, output.outputs), ("right", 512, Vec::new())] {
        let monitor = randr::MonitorInfo {
            name: desk.atom(name),
            x,
            width: 512,
            height: 768,
            outputs,
            ..randr::MonitorInfo::default()
        };
        desk.conn().randr_set_monitor(desk.root(), monitor).unwrap().check().unwrap();
    }
    let watch = Watch::on(&desk);
    watch.until_nothing();
    let left = cover(&desk, (0, 0, 512, 768));
    stays_open(&watch, "a monitor is open");
    let right = cover(&desk, (512, 0, 512, 768));
    until_absence(&watch, "both are covered", |absence| absence.locked);
    left.destroy();
    until_absence(&watch, "one is open", |absence| !absence.locked);
    right.destroy();
}

/// A window that is dragged about makes an event a step; lockers are looked for all the same.
#[test]
fn a_storm_of_moves_costs_next_to_nothing_and_hides_no_locker() {
    let desk = Desktop::start(Manager::Openbox);
    top_level(&desk, "work", "Work", "work");
    let watch = Watch::on(&desk);
    watch.until_title("work");
    let hidden = cover(&desk, (0, 0, 10, 10));
    let drag = |count: i32| {
        for n in 0..count {
            let aux = ConfigureWindowAux::new().x(n % 50);
            desk.conn().configure_window(hidden.id(), &aux).unwrap();
            desk.conn().sync().unwrap();
        }
    };
    drag(20);
    let (before, _) = watch.cost();
    drag(10_000);
    let (after, _) = watch.cost();
    // a look sleeps for each of its replies
    assert!(after - before < 1000, "{} sleeps for 10 000 moves", after - before);
    let locker = cover(&desk, SCREEN);
    restack(&desk, hidden, StackMode::BELOW);
    until("locked in a storm", || {
        drag(10);
        watch.all().last().unwrap().absence.locked.then_some(())
    });
    locker.destroy();
    until("unlocked in a storm", || {
        drag(10);
        (!watch.all().last().unwrap().absence.locked).then_some(())
    });
}

/// A locker that many have.
#[test]
fn i3lock_is_a_locker() {
    let desk = Desktop::start(Manager::I3);
    top_level(&desk, "work", "Work", "work");
    let watch = Watch::on(&desk);
    watch.until_title("work");
    let mut command = desk.command("i3lock");
    let locker = Process::spawn(command.args(["-n", "-c", "203040"]), "i3lock");
    until_absence(&watch, "locked", |absence| absence.locked);
    drop(locker);
    until_absence(&watch, "unlocked", |absence| !absence.locked);
}

/// A compositor's overlay belongs to the server, covers the screen and is on top of all.
#[test]
fn a_compositor_is_no_locker() {
    let desk = Desktop::start(Manager::Openbox);
    top_level(&desk, "work", "Work", "work");
    let watch = Watch::on(&desk);
    watch.until_title("work");
    desk.conn().composite_query_version(0, 4).unwrap().reply().unwrap();
    desk.conn().composite_get_overlay_window(desk.root()).unwrap().reply().unwrap();
    stays_open(&watch, "an overlay");
    let locker = cover(&desk, SCREEN);
    until_absence(&watch, "locked below the overlay", |absence| absence.locked);
    locker.destroy();
    until_absence(&watch, "unlocked", |absence| !absence.locked);
}

/// Without an extension its sign is never given, and nothing is amiss.
#[test]
fn a_server_without_extensions_gives_fewer_signs() {
    let without = ["MIT-SCREEN-SAVER", "RANDR"];
    let args: Vec<&str> = without.iter().flat_map(|name| ["-extension", name]).collect();
    let desk = Desktop::with_server(&args);
    for name in without {
        let found = desk.conn().query_extension(name.as_bytes()).unwrap().reply().unwrap();
        assert!(!found.present, "{name}");
    }
    let watch = watch(&desk, None);
    top_level(&desk, "work", "Work", "work").focus();
    watch.until_title("work");
    desk.run("xset", &["s", "activate"]);
    stays_open(&watch, "nothing tells of the saver");
    let locker = cover(&desk, SCREEN);
    until_absence(&watch, "a locker needs none", |absence| absence.locked);
    locker.destroy();
    until_absence(&watch, "unlocked", |absence| absence == Absence::default());
}

/// Xwayland sees a part of the input and of the screen.
#[test]
fn on_wayland_the_display_gives_no_signs() {
    let desk = Desktop::start(Manager::Bare);
    let idle_after = Some(Duration::from_millis(100));
    let of_x = watch(&desk, idle_after);
    let watch =
        Watch::with(Settings { wayland: true, idle_after, ..settings(Some(desk.display())) });
    cover(&desk, SCREEN);
    desk.run("xset", &["s", "activate"]);
    until_absence(&of_x, "idle and locked", |absence| absence.idle && absence.locked);
    stays_open(&watch, "not said on wayland");
    assert!(watch.all().iter().all(|seen| seen.absence == Absence::default()));
}

#[test]
fn signs_go_with_their_server_and_come_with_the_next() {
    let desk = Desktop::start(Manager::Bare);
    let watch = watch(&desk, Some(Duration::from_millis(200)));
    cover(&desk, SCREEN);
    until_absence(&watch, "idle and locked", |absence| absence.idle && absence.locked);
    desk.kill_server();
    until_absence(&watch, "unknown is present", |absence| absence == Absence::default());
    let desk = desk.again();
    watch.until_nothing();
    until_absence(&watch, "idle again", |absence| absence.idle && !absence.locked);
    cover(&desk, SCREEN);
    until_absence(&watch, "locked again", |absence| absence.locked);
}

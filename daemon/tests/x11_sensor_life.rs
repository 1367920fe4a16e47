//! The sensor's own life: servers that go and come back, stopping, what it costs, storms of titles.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::sync::{Mutex, Once};
use std::time::Duration;

use antidrift_tests::{Desktop, Manager, holds_for, until_still};
use rustix::process::Signal;
use support::{Watch, manage, settings, top_level};

use antidrift_daemon::sensor::{Focus, Health};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LOGGING: Once = Once::new();

struct ToLog;

impl Write for ToLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All tests of this program log to one place; a test finds its lines by its display.
fn start_logging() {
    LOGGING.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_writer(|| ToLog);
        tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    });
}

fn logged(needle: &str) -> usize {
    let log = LOG.lock().unwrap();
    String::from_utf8_lossy(&log).lines().filter(|line| line.contains(needle)).count()
}

fn is_connecting(health: &Health) -> bool {
    matches!(health, Health::Connecting(_))
}

#[test]
fn a_server_that_dies_costs_nothing_and_one_log_line() {
    start_logging();
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    top_level(&desk, "a", "A", "s3cr3t-token").focus();
    watch.until_title("s3cr3t-token");
    desk.kill_server();
    let lost = watch.until("lost", |o| is_connecting(&o.health));
    let Health::Connecting(reason) = lost.health else { unreachable!() };
    assert!(reason.contains(desk.display()) && !reason.contains('\n'), "{reason}");
    assert_eq!(lost.focus, Focus::Nothing);

    let (switches, cpu) = watch.cost();
    // pauses of 0.25, 0.5, 1 and 2 s; connecting takes a few sleeps of its own
    holds_for(Duration::from_secs(3), "few tries, little CPU time", || {
        let (switches_after, cpu_after) = watch.cost();
        switches_after - switches < 40 && cpu_after - cpu < 100_000_000
    });
    assert_eq!(logged(&format!("at {} ", desk.display())), 1);
    assert_eq!(logged("s3cr3t-token"), 0);

    let desk = desk.again();
    watch.until("sees again", |o| matches!(o.health, Health::Ok(_)));
    top_level(&desk, "b", "B", "b").focus();
    watch.until_title("b");
}

#[test]
fn a_server_that_comes_later_is_found() {
    let desk = Desktop::start(Manager::Bare);
    desk.kill_server();
    let watch = Watch::on(&desk);
    watch.until("none there", |o| is_connecting(&o.health));
    let desk = desk.again();
    watch.until_nothing();
    manage(&desk, Manager::Openbox);
    top_level(&desk, "a", "A", "a");
    watch.until_title("a");
}

#[test]
fn without_a_display_it_says_so_and_ends() {
    for (display, word) in [
        (None, "DISPLAY is not set"),
        (Some(""), "DISPLAY is not set"),
        (Some("no display"), "no display"),
        (Some(":65000"), ":65000"),
    ] {
        let watch = Watch::with(settings(display));
        watch.until(
            "unavailable",
            |o| matches!(&o.health, Health::Unavailable(reason) if reason.contains(word)),
        );
        watch.until_ended();
    }
}

#[test]
fn it_can_be_stopped_wherever_it_waits() {
    // for events
    let desk = Desktop::start(Manager::Openbox);
    let idle = Watch::on(&desk);
    idle.until_nothing();
    idle.handle.stop();
    idle.until_ended();
    // for the reply of a server that hangs, once it has found that there is something to ask
    let asking = Watch::on(&desk);
    asking.until_nothing();
    desk.signal_server(Signal::STOP);
    // while connecting to it
    let connecting = Watch::on(&desk);
    for watch in [asking, connecting] {
        watch.handle.stop();
        watch.until_ended();
    }
    desk.signal_server(Signal::CONT);
    // in the pause before it tries again, however long that is
    desk.kill_server();
    let pausing = Watch::on(&desk);
    pausing.until("pausing", |o| is_connecting(&o.health));
    pausing.handle.stop();
    pausing.until_ended();
}

/// Something that accepts connections and never says a word.
#[test]
fn a_mute_server_does_not_hold_it_back() {
    std::fs::create_dir_all("/tmp/.X11-unix").unwrap();
    // above all that tests give to servers, below those that make no TCP port, and free
    let mut numbers = (0..5000).map(|n| 51_000 + (std::process::id() + n) % 5000);
    let free = numbers.find_map(|number| {
        let path = format!("/tmp/.X11-unix/X{number}");
        UnixListener::bind(&path).ok().map(|listener| (number, path, listener))
    });
    let (number, path, listener) = free.unwrap();
    let watch = Watch::with(settings(Some(&format!(":{number}"))));
    let (client, _) = listener.accept().unwrap();
    watch.handle.stop();
    watch.until_ended();
    drop(client);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn nothing_happens_while_nothing_happens() {
    for manager in [Manager::Bare, Manager::Openbox] {
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        let window = top_level(&desk, "a", "A", "a");
        window.focus();
        watch.until_title("a");
        // the window manager's afterthoughts, and a storm that has to end
        for n in 0..50 {
            window.set_title(&format!("title {n}"));
        }
        watch.until_title("title 49");
        let rest = until_still(Duration::from_secs(1), "the sensor rests", || watch.cost());
        holds_for(Duration::from_secs(2), "it costs nothing", || watch.cost() == rest);
    }
}

/// The first change is told at once, the last one always, and those between are few.
#[test]
fn a_storm_of_titles_is_calmed() {
    let desk = Desktop::start(Manager::Bare);
    let (window, other) = (top_level(&desk, "a", "A", "start"), top_level(&desk, "b", "B", "b"));
    window.focus();
    let watch = Watch::on(&desk);
    watch.until_title("start");
    let before = watch.count();
    let rename = |title: &str| {
        window.set_title(title);
        std::thread::sleep(Duration::from_millis(1));
    };
    rename("first");
    watch.until_title("first");
    for n in 0..2000 {
        rename(&format!("frame {n}"));
    }
    window.set_title("last");
    watch.until_title("last");
    let told = watch.titles_since(before);
    assert_eq!(told.first().map(String::as_str), Some("first"));
    // two seconds and some at ten reads a second
    assert!(told.len() < 45, "{} observations", told.len());

    // after it each change counts again, of class and owner too
    window.set_class("a", "A2");
    watch.until_window("class after the storm", |w| w.class == "A2");
    window.set_title("calm");
    watch.until_title("calm");

    // a class that changes during a storm is there after it
    for n in 0..100 {
        rename(&format!("frame {n}"));
    }
    window.set_class("a", "A3");
    window.set_number("WM_TRANSIENT_FOR", "WINDOW", other.id());
    watch.until_window("class of the storm", |w| w.class == "A3" && w.parent.is_some());

    // and the focus may move in the middle of one
    for n in 0..100 {
        rename(&format!("frame {n}"));
    }
    other.focus();
    watch.until_title("b");
    for n in 0..100 {
        rename(&format!("unseen {n}"));
    }
    other.set_title("b2");
    watch.until_title("b2");
    window.focus();
    watch.until_title("unseen 99");
}

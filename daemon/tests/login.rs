//! What the daemon makes of a login manager: the real bus daemon, with a stand-in for logind that
//! speaks through another implementation of D-Bus than the daemon's.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{collections::HashMap, io::Write as _, os::unix::net::UnixListener, time::Duration};

use antidrift_daemon::{
    login::{Settings, follow},
    sensor::Absence,
};
use antidrift_tests::{Logind, PATIENCE};
use tokio::{sync::watch, time::timeout};
use tokio_util::sync::CancellationToken;

const PRESENT: Absence = Absence { idle: false, locked: false, asleep: false };
const LOCKED: Absence = Absence { locked: true, ..PRESENT };
const ASLEEP: Absence = Absence { asleep: true, ..PRESENT };
const MANAGER: &str = "org.freedesktop.login1.Manager";
const SESSION: &str = "org.freedesktop.login1.Session";

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

async fn until(what: &str, so: impl Fn() -> bool) {
    let waits = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waits).await.expect(what);
}

/// One that follows the login manager, and what it says.
struct Following {
    said: watch::Receiver<Absence>,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Following {
    fn start(address: &str, session: Option<&str>) -> Self {
        let (told, said) = watch::channel(PRESENT);
        let stop = CancellationToken::new();
        let settings = Settings { address: Some(address.into()), session: session.map(Into::into) };
        let task = tokio::spawn(follow(settings, told, stop.clone()));
        Self { said, stop, task }
    }

    /// Follows this one, with its session known.
    async fn on(logind: &Logind) -> Self {
        let before = logind.clients().len();
        let following = Self::start(logind.address(), Some(Logind::SESSION_ID));
        until("it asks for its session", || logind.clients().len() > before).await;
        following
    }

    async fn until(&mut self, what: &str, absence: Absence) {
        let found = timeout(PATIENCE, self.said.wait_for(|said| *said == absence)).await;
        assert!(found.is_ok_and(|it| it.is_ok()), "{what}: {:?}", *self.said.borrow());
    }

    /// Asks for what can be seen, so that what was sent before has been heard.
    async fn heard(&mut self, logind: &Logind) {
        logind.sleep(true);
        let asleep = timeout(PATIENCE, self.said.wait_for(|said| said.asleep)).await;
        assert!(asleep.is_ok_and(|it| it.is_ok()), "nothing is heard");
        logind.sleep(false);
        let awake = timeout(PATIENCE, self.said.wait_for(|said| !said.asleep)).await;
        assert!(awake.is_ok_and(|it| it.is_ok()), "nothing is heard");
    }

    async fn is_still(&mut self, what: &str, logind: &Logind, absence: Absence) {
        self.heard(logind).await;
        assert_eq!(*self.said.borrow(), absence, "{what}");
    }

    async fn end(self) {
        self.stop.cancel();
        timeout(PATIENCE, self.task).await.expect("it ends when it is told to").unwrap();
    }
}

#[test]
fn sleep_and_locks_are_heard() {
    run(async {
        let logind = Logind::start();
        let mut following = Following::on(&logind).await;
        following.is_still("at first", &logind, PRESENT).await;
        for _ in 0..2 {
            logind.sleep(true);
            following.until("about to sleep", ASLEEP).await;
            logind.sleep(false);
            following.until("awake", PRESENT).await;
            logind.lock();
            following.until("a lock was asked for", LOCKED).await;
            logind.unlock();
            following.until("unlocked", PRESENT).await;
            logind.hint(true);
            following.until("locked", LOCKED).await;
            logind.hint(false);
            following.until("not locked", PRESENT).await;
            logind.activate(false);
            following.until("another session has the screen", LOCKED).await;
            logind.activate(true);
            following.until("ours has it", PRESENT).await;
        }
        // a desktop that follows the request is believed from then on
        logind.lock();
        following.until("a lock was asked for", LOCKED).await;
        let reads = logind.reads();
        logind.hint(true);
        until("it reads the hint", || logind.reads() > reads).await;
        following.is_still("locked", &logind, LOCKED).await;
        logind.hint(false);
        following.until("not locked", PRESENT).await;
        // and a request to lock what is locked is none
        logind.hint(true);
        following.until("locked", LOCKED).await;
        logind.lock();
        following.is_still("locked", &logind, LOCKED).await;
        logind.hint(false);
        following.until("not locked", PRESENT).await;
        following.end().await;
    });
}

#[test]
fn what_was_before_is_asked_for() {
    run(async {
        let logind = Logind::start();
        logind.hint(true);
        let mut following = Following::on(&logind).await;
        following.until("locked before", LOCKED).await;
        logind.unlock();
        following.until("unlocked", PRESENT).await;
        // a session that never had the screen (over the network) says nothing by not having it
        logind.hint(false);
        logind.activate(false);
        let mut late = Following::on(&logind).await;
        late.is_still("elsewhere from the first", &logind, PRESENT).await;
        logind.activate(true);
        // both values are read before either is told
        logind.hint(true);
        late.until("on the screen and locked", LOCKED).await;
        logind.hint(false);
        late.until("on the screen", PRESENT).await;
        logind.activate(false);
        late.until("has had it", LOCKED).await;
    });
}

#[test]
fn the_session_is_found_in_three_ways() {
    run(async {
        for (id, by_process) in [
            (Some(Logind::SESSION_ID), false),
            (None, true),
            (None, false),
            // of a login that is over
            (Some("stale"), true),
            (Some("stale"), false),
        ] {
            let logind = Logind::start();
            logind.find_by_process(by_process);
            logind.hint(true);
            let mut following = Following::start(logind.address(), id);
            following.until(&format!("{id:?} {by_process}"), LOCKED).await;
        }
    });
}

#[test]
fn other_sessions_and_forgers_are_not_believed() {
    run(async {
        let logind = Logind::start();
        let mut following = Following::on(&logind).await;
        following.heard(&logind).await;
        let other = "/org/freedesktop/login1/session/c8";
        logind.emit(other, SESSION, "Lock", &());
        following.is_still("another's lock", &logind, PRESENT).await;
        // straight to this client, past what it asked the bus for
        let client = logind.clients().pop().unwrap();
        let forge = |path: &str, interface: &str, member: &str| {
            logind.forge(&client, path, interface, member, &true);
        };
        forge("/org/freedesktop/login1", MANAGER, "PrepareForSleep");
        forge(Logind::SESSION_PATH, SESSION, "Lock");
        let owner = ("org.freedesktop.login1", ":1.9", "");
        let dbus = "org.freedesktop.DBus";
        logind.forge(&client, "/org/freedesktop/DBus", dbus, "NameOwnerChanged", &owner);
        following.is_still("forged", &logind, PRESENT).await;
        // what is real but not of the form that it should have
        logind.emit("/org/freedesktop/login1", MANAGER, "PrepareForSleep", &"yes");
        logind.emit("/org/freedesktop/login1", MANAGER, "PrepareForSleep", &());
        let large = HashMap::from([("x", "y".repeat(100_000))]);
        logind.emit(Logind::SESSION_PATH, SESSION, "Large", &large);
        following.is_still("not of the form", &logind, PRESENT).await;
        logind.lock();
        following.until("a real one", LOCKED).await;
    });
}

#[test]
fn what_goes_takes_its_word_along() {
    run(async {
        let mut logind = Logind::start();
        let mut following = Following::on(&logind).await;
        logind.hint(true);
        following.until("locked", LOCKED).await;
        logind.sleep(true);
        following.until("asleep", Absence { asleep: true, ..LOCKED }).await;
        logind.leave();
        following.until("no login manager", PRESENT).await;
        logind.come();
        following.until("locked, and awake", LOCKED).await;
        logind.end_bus();
        following.until("no bus", PRESENT).await;
        logind.restart_bus();
        following.until("a bus again", LOCKED).await;
        logind.hint(false);
        following.until("not locked", PRESENT).await;
        following.end().await;
    });
}

#[test]
fn a_login_manager_that_comes_late_is_found() {
    run(async {
        let mut logind = Logind::start();
        logind.leave();
        let mut following = Following::start(logind.address(), None);
        logind.hint_when_it_comes(true);
        logind.come();
        following.until("locked", LOCKED).await;
    });
}

/// Nobody may follow a request to lock the screen, and a locker may not say that it has gone.
#[test]
fn a_lock_that_is_only_asked_for_does_not_last() {
    run(async {
        let logind = Logind::start();
        let mut following = Following::on(&logind).await;
        following.heard(&logind).await;
        logind.lock();
        following.until("asked for", LOCKED).await;
        // no wait on a socket holds this clock up
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(*following.said.borrow(), LOCKED, "a locker takes a while");
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(*following.said.borrow(), PRESENT, "nobody followed");
        tokio::time::resume();
        logind.lock();
        following.until("asked for", LOCKED).await;
        let reads = logind.reads();
        logind.hint(true);
        until("it reads the hint", || logind.reads() > reads).await;
        // what was answered comes before what is said next
        following.heard(&logind).await;
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(*following.said.borrow(), LOCKED, "a desktop followed");
    });
}

#[test]
fn without_a_bus_there_is_nothing_to_wait_for() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("other");
        let listener = UnixListener::bind(&socket).unwrap();
        // something else listens there
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\n");
            }
        });
        for address in [
            format!("unix:path={}/none", dir.path().display()),
            format!("unix:path={}", socket.display()),
            "tcp:host=localhost".into(),
            "rubbish".into(),
        ] {
            let following = Following::start(&address, None);
            let ended = timeout(PATIENCE, following.task).await;
            assert!(ended.is_ok(), "{address}: it goes on");
            assert_eq!(*following.said.borrow(), PRESENT);
        }
    });
}

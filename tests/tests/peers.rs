//! Peers that attack the socket, while somebody else asks: the others are answered meanwhile, and
//! what the daemon holds is the same afterwards.
//!
//! With `ANTIDRIFT_PEERS_BENCH=1` each attack lasts for a thousand questions of another client
//! instead of fifty, and prints how long they took (use `--release` and `--no-capture`).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "the benchmark prints its figures")]

use std::{
    env,
    io::{ErrorKind, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use antidrift_protocol::MAX_LINE;
use antidrift_tests::{PATIENCE, Scene, Subscriber, Timer, ask, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// An attack that goes on until it was told to stop and has done its least.
#[derive(Debug, Default)]
struct Ongoing {
    tried: AtomicUsize,
    stop: AtomicBool,
}

impl Ongoing {
    /// Counts one more try. False when it is over.
    fn goes_on(&self, least: usize) -> bool {
        let tried = self.tried.fetch_add(1, Ordering::Relaxed);
        tried < least || !self.stop.load(Ordering::Relaxed)
    }
}

/// What the daemon holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    kib: u64,
    descriptors: usize,
    threads: u64,
}

fn held(scene: &mut Scene) -> Held {
    let process = scene.daemon().process();
    Held {
        kib: process.resident_kib(),
        descriptors: process.descriptors(),
        threads: process.threads(),
    }
}

/// Most that the memory of the daemon may have grown by after an attack, in KiB: what an allocator
/// keeps, and program text that was not needed before.
const GROWTH: u64 = 2048;

/// Runs an attack on a thread of its own. While it is under way a client asks, on a new connection
/// each time, and is answered each time; in the end the daemon holds no more than before.
#[track_caller]
fn withstands(what: &str, scene: &mut Scene, attack: impl FnOnce(&Path, &Ongoing) + Send) {
    let socket = scene.home.socket();
    // what the end of a session needs is there before
    for cmd in ["start", "complete", "end", "history"] {
        let answer =
            scene.ask(cmd, &if cmd == "start" { json!({"text": "one"}) } else { json!({}) });
        assert!(answer["ok"].is_object(), "{cmd}: {answer}");
    }
    let before = held(scene);
    let bench = env::var_os("ANTIDRIFT_PEERS_BENCH").is_some();
    let ongoing = Ongoing::default();
    let mut took = Vec::new();
    thread::scope(|threads| {
        let attack = threads.spawn(|| attack(&socket, &ongoing));
        // told to stop by a panic in here as well, or the scope would wait for ever
        let _stops = Stops(&ongoing);
        until("the attack begins", || (ongoing.tried.load(Ordering::Relaxed) > 0).then_some(()));
        for n in 0..if bench { 1000 } else { 50 } {
            let timer = Timer::start();
            let answer = ask(&socket, "status", &json!({}));
            took.push(timer.passed());
            assert!(answer["ok"]["state"].is_object(), "{what}, question {n}: {answer}");
            assert!(!attack.is_finished(), "{what} is over already at question {n}");
        }
    });
    let after = until("what was taken is given back", || {
        let after = held(scene);
        let back = after.descriptors <= before.descriptors && after.threads <= before.threads;
        back.then_some(after)
    });
    assert!(after.kib <= before.kib + GROWTH, "{what}: {before:?}, {after:?}");
    if bench {
        took.sort();
        let at = |per_mille: usize| took[(took.len() - 1) * per_mille / 1000];
        eprintln!(
            "{what}: {} tried; p50 {:?}, p99 {:?}, longest {:?}; {} to {} KiB, {} to {} \
             descriptors, {} to {} threads",
            ongoing.tried.into_inner(),
            at(500),
            at(990),
            at(1000),
            before.kib,
            after.kib,
            before.descriptors,
            after.descriptors,
            before.threads,
            after.threads,
        );
    }
}

struct Stops<'a>(&'a Ongoing);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

fn connect(socket: &Path) -> UnixStream {
    let stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Everything that comes until the daemon closes the connection, as lines.
#[track_caller]
fn rest(stream: &mut UnixStream) -> Vec<Value> {
    let mut text = Vec::new();
    match stream.read_to_end(&mut text) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => {}
    }
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Nobody attacks: what the figures of the benchmark compare with.
#[test]
fn nobody_attacks() {
    let mut scene = Scene::without_display().start();
    withstands("nobody", &mut scene, |_, ongoing| {
        while ongoing.goes_on(0) {
            thread::park_timeout(Duration::from_millis(10));
        }
    });
}

#[test]
fn ten_thousand_connections_in_a_row() {
    let mut scene = Scene::without_display().start();
    withstands("connections in a row", &mut scene, |socket, ongoing| {
        let mut n = 0;
        while ongoing.goes_on(10_000) {
            n += 1;
            let mut stream = connect(socket);
            // gone at once, in the middle of a line, before its answer, or with it
            match n % 4 {
                0 => {}
                1 => stream.write_all(b"{\"cmd\":\"sta").unwrap(),
                2 => stream.write_all(b"{\"cmd\":\"status\"}\n").unwrap(),
                _ => {
                    stream.write_all(b"{\"cmd\":\"status\"}\n").unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    assert_eq!(rest(&mut stream).len(), 1);
                }
            }
        }
    });
}

/// As many as there are places, byte for byte, over and over; some finish their line, some leave.
#[test]
fn half_lines_in_single_bytes() {
    const LINE: &[u8] = b"{\"cmd\":\"status\",\"id\":77}\n";
    let mut scene = Scene::without_display().start();
    withstands("dribbled lines", &mut scene, |socket, ongoing| {
        while ongoing.goes_on(30) {
            // fewer than the places, so that none is closed for somebody who asks
            let mut peers: Vec<UnixStream> = (0..60).map(|_| connect(socket)).collect();
            for byte in LINE {
                for (n, peer) in peers.iter_mut().enumerate() {
                    if n % 2 == 0 || *byte != b'\n' {
                        peer.write_all(&[*byte]).unwrap();
                    }
                }
            }
            for (n, peer) in peers.iter_mut().enumerate().filter(|(n, _)| n % 4 < 3) {
                peer.shutdown(Shutdown::Write).unwrap();
                // the last line may lack its line break
                let answers = rest(peer);
                assert_eq!(answers.len(), 1, "peer {n}");
                assert_eq!(answers[0]["id"], 77, "peer {n}");
            }
        }
    });
    let mut cut = connect(&scene.home.socket());
    cut.write_all(&LINE[..12]).unwrap();
    cut.shutdown(Shutdown::Write).unwrap();
    let answers = rest(&mut cut);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["error"]["code"], "invalid_json");
}

/// More at once than there are places, each with its question on the way already.
#[test]
fn more_at_once_than_there_are_places() {
    let mut scene = Scene::without_display().start();
    withstands("64 and one more", &mut scene, |socket, ongoing| {
        while ongoing.goes_on(200) {
            let mut open: Vec<UnixStream> = (0..65).map(|_| connect(socket)).collect();
            for peer in &mut open {
                // the longest idle one may have been closed already
                let _ = peer.write_all(b"{\"cmd\":\"status\"}\n");
            }
        }
    });
}

#[test]
fn whoever_comes_in_a_crowd_is_answered_all_the_same() {
    let mut scene = Scene::without_display().start();
    // they queue before the socket: to the daemon they come all in one moment
    scene.daemon().process().signal(Signal::STOP);
    let mut crowd: Vec<UnixStream> = (0..100).map(|_| connect(&scene.home.socket())).collect();
    for stream in &mut crowd {
        stream.write_all(b"{\"cmd\":\"status\"}\n").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
    scene.daemon().process().signal(Signal::CONT);
    let answered = crowd.iter_mut().map(|it| usize::from(rest(it).len() == 1)).sum::<usize>();
    assert_eq!(answered, crowd.len());
}

/// 200 MB of one line, from one peer after another.
#[test]
fn a_line_of_200_megabytes() {
    let mut scene = Scene::without_display().start();
    withstands("lines without end", &mut scene, |socket, ongoing| {
        let chunk = vec![b'x'; 1 << 20];
        while ongoing.goes_on(2) {
            let mut peer = connect(socket);
            let mut sent = 0;
            while sent < 200 << 20 {
                match peer.write(&chunk) {
                    Ok(written) => sent += written,
                    Err(error) => {
                        let over = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
                        assert!(over.contains(&error.kind()), "{error}");
                        break;
                    }
                }
            }
            assert!(sent > MAX_LINE, "the error comes when the line is too long, not before");
        }
    });
    // told once, and early: as soon as it is longer than allowed, with more on the way
    let mut peer = connect(&scene.home.socket());
    peer.write_all(&vec![b'x'; MAX_LINE + 1]).unwrap();
    let told = rest(&mut peer);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["error"]["code"], "line_too_long");
    let message = told[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains(&MAX_LINE.to_string()), "{message}");
}

/// More peers with a line that is too long than the daemon may have descriptors.
#[test]
fn a_crowd_that_floods() {
    let mut scene = Scene::without_display().start();
    withstands("a crowd that floods", &mut scene, |socket, ongoing| {
        let line = vec![b'x'; MAX_LINE + 1];
        let mut open = std::collections::VecDeque::new();
        while ongoing.goes_on(2000) {
            let mut peer = connect(socket);
            let _ = peer.write_all(&line);
            open.push_back(peer);
            if open.len() > 300 {
                open.pop_front();
            }
        }
    });
}

#[test]
fn readers_of_one_byte_at_a_time() {
    let mut scene = Scene::without_display().start();
    withstands("slow readers", &mut scene, |socket, ongoing| {
        let mut slow: Vec<UnixStream> = (0..40).map(|_| connect(socket)).collect();
        for peer in &mut slow {
            peer.write_all(b"{\"cmd\":\"subscribe\"}\n").unwrap();
        }
        let mut n = 0;
        while ongoing.goes_on(300) {
            n += 1;
            let begun = ask(socket, "start", &json!({"text": format!("{n} {}", "t".repeat(3000))}));
            assert!(begun["ok"].is_object(), "{begun}");
            ask(socket, "complete", &json!({}));
            for peer in &mut slow {
                peer.read_exact(&mut [0]).unwrap();
            }
        }
    });
}

/// Clients that are stopped while more is told than their sockets and queues hold.
#[test]
fn watchers_that_are_stopped() {
    let mut scene = Scene::without_display().start();
    let mut watchers: Vec<_> = (0..4).map(|_| scene.watch(&["--json", "--no-notify"])).collect();
    for watcher in &mut watchers {
        watcher.until_text("\"state\"");
        watcher.process().signal(Signal::STOP);
    }
    withstands("stopped watchers", &mut scene, |socket, ongoing| {
        let (mut n, mut reader) = (0, Subscriber::connect(socket));
        while ongoing.goes_on(0) || reader.lines().len() <= 200 {
            n += 1;
            ask(socket, "start", &json!({"text": format!("{n} {}", "t".repeat(3000))}));
            ask(socket, "complete", &json!({}));
        }
    });
    scene.ask("start", &json!({"text": "the last"}));
    for watcher in &mut watchers {
        watcher.process().signal(Signal::CONT);
        // told that it lagged, or closed after ten seconds and connected again
        watcher.until_text("\"the last\"");
    }
}

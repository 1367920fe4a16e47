//! `antidrift __complete`, which a shell runs at each Tab.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use std::{os::unix::net::UnixListener, path::Path, thread};

use antidrift_protocol::ErrorCode;
use serde_json::json;
use support::*;

/// For each kind of words, nothing is said and nobody waits for long.
#[track_caller]
fn no_words(dir: &Path, more: &[&str]) {
    let ask = |kind: &str| client(dir).args(["__complete", kind]).args(more).spawn().unwrap();
    for mut child in ["classes", "presets", "windows", "others"].map(ask) {
        wait_for_end(&mut child);
        let ran = finish(child);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{ran:?}");
    }
}

#[test]
fn without_a_daemon_there_are_none() {
    let dir = tempfile::tempdir().unwrap();
    no_words(dir.path(), &[]);
    no_words(dir.path(), &["/nowhere/at/all"]);
    no_words(dir.path(), &[&"x".repeat(200)]);
    drop(UnixListener::bind(socket_in(dir.path())).unwrap());
    no_words(dir.path(), &[]);
}

#[test]
fn a_daemon_that_hangs_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let _silent = UnixListener::bind(socket_in(dir.path())).unwrap();
    no_words(dir.path(), &[]);
    // It greets, and then no more.
    let daemon = FakeDaemon::start(|request| match request["cmd"].as_str() {
        Some("hello") => Some(String::new()),
        _ => loop {
            thread::park();
        },
    });
    no_words(daemon.dir.path(), &[]);
}

#[test]
fn a_daemon_that_refuses_or_talks_nonsense_is_not_quoted() {
    for code in [ErrorCode::NotActive, ErrorCode::UnknownCommand, ErrorCode::UnsupportedProtocol] {
        let daemon = FakeDaemon::start(move |request| Some(refusal(request, code, "no")));
        no_words(daemon.dir.path(), &[]);
    }
    for nonsense in ["\n\u{1b}[31m\n", "[]\n", "{\"id\":1,\"ok\":{}}\n{\"id\":2,\"ok\":5}\n"] {
        let daemon = FakeDaemon::start(move |_| Some(nonsense.to_owned()));
        no_words(daemon.dir.path(), &[]);
    }
}

#[test]
fn the_daemon_that_is_named_is_asked() {
    let allowed = json!({"seq": 1, "saved": true, "allowed": {"window_classes": ["b", "a b"]}});
    let daemon = FakeDaemon::start(answering("allow", allowed));
    let elsewhere = tempfile::tempdir().unwrap();
    let socket = daemon.socket.to_str().unwrap();
    let ran = run(elsewhere.path(), &["__complete", "classes", socket]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "a b\nb\n"), "{ran:?}");
}

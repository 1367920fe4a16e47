//! Surroundings that are hostile or broken: each is told in one line with the right code, or does
//! no harm.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

use antidrift_protocol::{JudgeStatus, Phase, SensorStatus};
use antidrift_tests::{Daemon, Home, Manager, Scene, ask, cli, until_gone, until_number};
use serde_json::json;

/// A directory that this user does not own: root has to give one away, others have root's.
fn foreign(home: &Home) -> PathBuf {
    if !rustix::process::geteuid().is_root() {
        return "/usr".into();
    }
    let dir = home.path().join("foreign");
    fs::create_dir(&dir).unwrap();
    chown(&dir, Some(65_534), None).unwrap();
    dir
}

/// Daemon and client say the same in one line each, and nothing is made.
#[track_caller]
fn refused_by_both(home: &Home, name: &str, value: &Path, code: i32, word: &str) {
    let mut command = Daemon::command(home);
    command.env(name, value);
    let (found, said) = Daemon::refuses(command, home);
    assert_eq!(found, code, "{name}={}: {said}", value.display());
    assert!(said.starts_with("antidriftd: ") && said.contains(word), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let mut command = cli::command(home, &["status"]);
    command.env(name, value);
    let said = cli::run(command, home.path()).fails(3);
    assert!(said.contains(word), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn f47_f49_a_place_that_cannot_be_used_is_named_by_daemon_and_client() {
    let home = Home::new();
    let long = home.path().join("x".repeat(60)).join("y".repeat(60));
    fs::create_dir_all(&long).unwrap();
    refused_by_both(&home, "XDG_RUNTIME_DIR", &long, 2, "at most 107");
    refused_by_both(&home, "ANTIDRIFT_SOCKET", &long.join("s"), 2, "at most 107");

    let theirs = foreign(&home);
    refused_by_both(&home, "ANTIDRIFT_SOCKET", &theirs.join("s"), 1, "belongs to user");

    let open = home.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    refused_by_both(&home, "ANTIDRIFT_SOCKET", &open.join("s"), 1, "anybody may write");

    // ours is a link to somewhere else
    let run = home.path().join("linked");
    fs::create_dir(&run).unwrap();
    symlink(&theirs, run.join("antidrift")).unwrap();
    refused_by_both(&home, "XDG_RUNTIME_DIR", &run, 1, "not a directory");
}

/// What we make in it is closed, so an open runtime directory does no harm.
#[test]
fn an_open_runtime_directory_gets_a_closed_one() {
    let home = Home::new();
    let run = home.path().join("run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap();
    let daemon = Daemon::start(Daemon::command(&home), &home);
    let mode = fs::metadata(run.join("antidrift")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    cli::run(cli::command(&home, &["status"]), home.path()).ok();
    daemon.stop();
}

/// A place that a person chose for a socket may be open to others; what a judge gets is not.
#[test]
fn a_judge_works_in_the_runtime_directory_wherever_the_socket_is() {
    let home = Home::new();
    let judge = home.install("judge", "#!/bin/sh\npwd > \"$HOME/cwd\"\nexit 3\n");
    home.configure(&format!("[judge]\nbackend = \"command\"\ncommand = [{judge:?}]\n"));
    let run = home.path().join("run");
    for theirs in [false, true] {
        let place = home.path().join(format!("place-{theirs}"));
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        if theirs {
            // a file in the place of ours fails for root as well
            fs::remove_dir_all(run.join("antidrift")).unwrap();
            fs::write(run.join("antidrift"), "").unwrap();
        }
        let socket = place.join("own.sock");
        let mut command = Daemon::command(&home);
        command.env("ANTIDRIFT_SOCKET", &socket);
        let daemon = Daemon::start_at(command, &home, &socket);
        let answer = ask(&socket, "check_judge", &json!({})).to_string();
        if theirs {
            let why = format!("{} cannot be used", run.join("antidrift").display());
            assert!(answer.contains(&why), "{answer}");
            assert_eq!(daemon.log_lines(&why), 1, "{}", daemon.log());
        } else {
            let cwd = fs::read_to_string(home.path().join("home/cwd")).expect(&answer);
            let scratch = run.join("antidrift").join("judge-");
            assert!(cwd.starts_with(scratch.to_str().unwrap()), "{cwd}");
            let mode = fs::metadata(run.join("antidrift")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let beside: Vec<_> =
            fs::read_dir(&place).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(beside.len(), 2, "socket and lock: {beside:?}");
        daemon.stop();
    }
}

/// A relative HOME is none, and the user database's is not used in its place.
#[test]
fn without_a_home_the_session_goes_on_and_is_not_saved() {
    let home = Home::new();
    let mut command = Daemon::command(&home);
    for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command.env("HOME", "nowhere").env("LC_ALL", "C");
    let daemon = Daemon::start(command, &home);
    let said = cli::run(cli::command(&home, &["start", "the report"]), home.path());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("no home directory"), "{said:?}");
    let answer = ask(&home.socket(), "status", &json!({}));
    assert_eq!(answer["ok"]["state"]["phase"], "active");
    assert!(!home.path().join("nowhere").exists());
    daemon.stop();
}

/// It forks, floods both of its outputs, leaves a grandchild in a session of its own that holds
/// them, and hangs.
#[test]
fn f36_a_judge_that_does_its_worst_leaves_nothing_and_holds_up_nobody() {
    let mut scene = Scene::on(Manager::Bare).settings(|it| it.judge_timeout = 4.0).start();
    let worst = "trap '' TERM; echo $$ > pid; sleep 600 & echo $! > child; \
                 setsid sh -c 'trap \"\" TERM; echo $$ > stray; sleep 600' & \
                 (yes | head -c 8000000 >&2; echo > flooded); head -c 60000 /dev/zero; \
                 wait; sleep 600";
    scene.judge.rule("worst", worst);
    scene.begin("the report");
    scene.subscriber.until("a sensor", |state| state.sensor.status == SensorStatus::Ok);
    let before = scene.daemon().process().resident_kib();
    scene.desktop().open("Fun", "worst");
    let pids = ["pid", "child", "stray"].map(|name| until_number(&scene.judge.file(name)));
    let state = scene.status();
    assert_eq!((state.phase, state.judge.status), (Phase::Active, JudgeStatus::Running));
    scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    assert!(scene.judge.file("flooded").exists(), "it got rid of what it complained of");
    pids.into_iter().for_each(until_gone);
    let after = scene.daemon().process().resident_kib();
    assert!(after < before + 4096, "{before} to {after} KiB");
    assert_eq!(scene.subscriber.alerts(), 0);
}

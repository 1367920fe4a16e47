//! Socket activation: the daemon on a socket that somebody else opened.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{DirBuilderExt, MetadataExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::Path,
    process::{Command, Stdio},
};

use antidrift_tests::{Daemon, Home, Manager, PATIENCE, Process, Scene, antidriftd, ask, until};
use serde_json::{Value, json};

/// systemd's own tool, which listens, waits for the first client, and becomes the daemon.
fn socket_activate(home: &Home, options: &[&str]) -> Command {
    let mut command = home.command("systemd-socket-activate");
    command.args(options);
    for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "DISPLAY", "LANG"] {
        command.arg("-E").arg(name);
    }
    command.arg(antidriftd());
    command
}

fn listen(path: &Path) -> String {
    format!("--listen={}", path.display())
}

fn make_dir(home: &Home) {
    fs::DirBuilder::new().mode(0o700).create(home.socket().parent().unwrap()).unwrap();
}

/// A service manager, as far as the daemon sees it: it listens, and goes on when the daemon ends.
struct ServiceManager<'a> {
    home: &'a Home,
    listener: UnixListener,
}

impl<'a> ServiceManager<'a> {
    /// Listens where clients look, in place of whatever socket lies there.
    fn start(home: &'a Home) -> Self {
        let _ = fs::remove_file(home.socket());
        Self { home, listener: UnixListener::bind(home.socket()).unwrap() }
    }

    /// Starts a daemon on its socket. What it says is in the file `log`.
    fn daemon(&self, args: &[&str]) -> Process {
        let mut command = self.home.command("/bin/sh");
        let script = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\"";
        command.arg("-c").arg(script).arg(antidriftd()).args(args);
        let log = fs::File::options().create(true).append(true).open(self.home.path().join("log"));
        command.stderr(log.unwrap());
        let socket = OwnedFd::from(self.listener.try_clone().unwrap());
        Process::spawn_with(&mut command, socket, "a shell")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

/// Connects and asks, and gives what reads the answer.
fn asking(home: &Home) -> BufReader<UnixStream> {
    let mut stream = UnixStream::connect(home.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"{\"cmd\":\"status\"}\n").unwrap();
    BufReader::new(stream)
}

#[track_caller]
fn phase(mut client: BufReader<UnixStream>) -> String {
    let mut line = String::new();
    client.read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    answer["ok"]["state"]["phase"].as_str().unwrap().to_owned()
}

fn text(home: &Home) -> String {
    let answer = ask(&home.socket(), "status", &json!({}));
    answer["ok"]["state"]["commitment"]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_first_client_comes_before_the_daemon_and_is_answered() {
    let home = Home::new();
    make_dir(&home);
    let mut command = socket_activate(&home, &[&listen(&home.socket())]);
    let mut process = Process::spawn(&mut command, "systemd");
    let name = |process: &Process| {
        fs::read_to_string(format!("/proc/{}/comm", process.id())).unwrap().trim().to_owned()
    };
    until("somebody listens", || home.socket().exists().then_some(()));
    assert_ne!(name(&process), "antidriftd");
    let client = asking(&home);
    assert_eq!(phase(client), "planning");
    assert_eq!(name(&process), "antidriftd");
    // closed to others as one of its own would be, though the tool leaves it open
    assert_eq!(fs::metadata(home.socket()).unwrap().mode() & 0o777, 0o600);
    // it was not ours to make, so it is not ours to remove
    assert_eq!(process.terminate(), 0);
    assert!(home.socket().exists());
}

#[test]
fn what_it_starts_inherits_neither_the_socket_nor_the_variables() {
    let mut scene = Scene::on(Manager::Bare).start();
    scene.judge.rule("Look", "env > environment; readlink /proc/$$/fd/* > descriptors; exit 1");
    scene.stop_daemon();
    let mut command = socket_activate(&scene.home, &[&listen(&scene.home.socket()), "--fdname=x"]);
    command.env("DISPLAY", scene.desktop().display());
    let mut daemon = Process::spawn(&mut command, "systemd");
    until("somebody listens", || scene.home.socket().exists().then_some(()));
    scene.cli(&["start", "the report"]).ok();
    let daemon_environment = fs::read_to_string(format!("/proc/{}/environ", daemon.id())).unwrap();
    assert!(daemon_environment.contains("LISTEN_FDNAMES=x"), "or nothing is tested");
    scene.desktop().open("Fun", "Look");
    let read = |name: &str| fs::read_to_string(scene.judge.file(name)).ok();
    let descriptors =
        until("the judge runs", || read("descriptors").filter(|it| it.contains('\n')));
    assert!(!read("environment").unwrap().contains("LISTEN_"));
    assert!(!descriptors.contains("socket:"), "{descriptors}");
    assert_eq!(daemon.terminate(), 0);
}

#[test]
fn clients_wait_while_one_daemon_follows_another() {
    let home = Home::new();
    make_dir(&home);
    let manager = ServiceManager::start(&home);
    let mut first = manager.daemon(&[]);
    ask(&home.socket(), "start", &json!({"text": "the report"}));
    assert_eq!(first.terminate(), 0);
    let early = asking(&home);
    let mut second = manager.daemon(&[]);
    assert_eq!(phase(early), "active");
    // killed, not ended
    second.kill();
    let early = asking(&home);
    let mut third = manager.daemon(&[]);
    assert_eq!(phase(early), "active");
    assert_eq!(third.terminate(), 0);
    assert!(!manager.log().contains("antidriftd: "), "{}", manager.log());
}

#[test]
fn only_one_daemon_runs_and_the_manager_keeps_its_socket() {
    let home = Home::new();
    make_dir(&home);
    let manager = ServiceManager::start(&home);
    // started by hand before the manager has started one
    let (code, said) = Daemon::refuses(Daemon::command(&home), &home);
    assert!(code == 1 && said.contains("systemctl --user restart"), "{code}: {said}");
    let mut daemon = manager.daemon(&[]);
    ask(&home.socket(), "start", &json!({"text": "the report"}));
    // by hand, and by the manager once more
    let pid = daemon.id().to_string();
    let (code, said) = Daemon::refuses(Daemon::command(&home), &home);
    assert!(code == 1 && said.contains(&pid), "{code}: {said}");
    assert_eq!(manager.daemon(&[]).wait(), 1);
    assert!(manager.log().contains(&pid), "{}", manager.log());
    assert_eq!(text(&home), "the report");
    // the manager may replace it
    let mut next = manager.daemon(&["--replace"]);
    assert_eq!(daemon.wait(), 0);
    assert_eq!(text(&home), "the report");
    // who replaces it by hand makes room for the manager's next
    let mut command = Daemon::command(&home);
    command.arg("--replace");
    let (code, said) = Daemon::refuses(command, &home);
    assert!(code == 1 && said.contains("systemctl --user restart"), "{code}: {said}");
    assert_eq!(next.wait(), 0);
    let client = asking(&home);
    let mut last = manager.daemon(&["--replace"]);
    assert_eq!(phase(client), "active");
    assert_eq!(last.terminate(), 0);
}

/// One started by hand, then the units: the manager puts its socket in the place of the daemon's.
#[test]
fn the_manager_takes_over_from_a_daemon_that_was_started_by_hand() {
    let home = Home::new();
    let mut by_hand = Daemon::start(Daemon::command(&home), &home);
    ask(&home.socket(), "start", &json!({"text": "the report"}));
    let manager = ServiceManager::start(&home);
    let client = asking(&home);
    let mut daemon = manager.daemon(&["--replace"]);
    assert_eq!(phase(client), "active");
    assert_eq!(by_hand.process().wait(), 0);
    assert_eq!(text(&home), "the report");
    // and back: the manager has gone
    drop(manager);
    let mut command = Daemon::command(&home);
    command.arg("--replace");
    let again = Daemon::start(command, &home);
    assert_eq!(daemon.wait(), 0);
    until("the new one listens", || UnixStream::connect(home.socket()).ok());
    again.stop();
    assert!(!home.socket().exists());
}

#[test]
fn a_socket_that_does_not_fit_stops_the_start() {
    let home = Home::new();
    make_dir(&home);
    let (right, wrong) = (listen(&home.socket()), listen(&home.path().join("wrong.sock")));
    let stream = "1"; // SOCK_STREAM and SOCK_SEQPACKET, as numbers
    let packets = "5";
    for (options, kind, word) in [
        (vec![wrong.as_str()], stream, "wrong.sock"),
        (vec![right.as_str(), wrong.as_str()], stream, "passed 2 sockets"),
        (vec!["--seqpacket", right.as_str()], packets, "no listening Unix stream socket"),
        (vec!["--accept", right.as_str()], stream, "no listening Unix stream socket"),
    ] {
        let log = home.path().join("refused");
        let mut command = socket_activate(&home, &options);
        command.stdout(fs::File::create(&log).unwrap()).stderr(fs::File::create(&log).unwrap());
        let mut process = Process::spawn(&mut command, "systemd");
        let path = options[options.len() - 1].trim_start_matches("--listen=");
        until("the client connects", || {
            let mut client = home.command("socat");
            client.args(["-u", "OPEN:/dev/null", &format!("UNIX-CONNECT:{path},type={kind}")]);
            client.stderr(Stdio::null()).status().unwrap().success().then_some(())
        });
        if options[0] != "--accept" {
            assert_eq!(process.wait(), 2, "{options:?}");
        }
        let said = until("the complaint", || {
            Some(fs::read_to_string(&log).unwrap()).filter(|said| said.contains("antidriftd: "))
        });
        assert!(said.contains(word), "{options:?}: {said}");
        drop(process);
        let _ = fs::remove_file(home.socket());
    }
    // announced, but not there
    let mut command = home.command("/bin/sh");
    let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\"";
    command.arg("-c").arg(script).arg(antidriftd());
    let (code, said) = Daemon::refuses(command, &home);
    assert!(code == 2 && said.contains("no listening Unix stream socket"), "{code}: {said}");
    // meant for another process: nothing to do with us
    let mut command = Daemon::command(&home);
    command.env("LISTEN_PID", "1").env("LISTEN_FDS", "7");
    Daemon::start(command, &home).stop();
}

#[test]
fn a_directory_that_is_open_to_others_is_closed() {
    let home = Home::new();
    make_dir(&home);
    let dir = home.socket().parent().unwrap().to_owned();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    let manager = ServiceManager::start(&home);
    let mut daemon = manager.daemon(&[]);
    assert_eq!(text(&home), "");
    assert_eq!(fs::metadata(dir).unwrap().mode() & 0o777, 0o700);
    assert_eq!(daemon.terminate(), 0);
}

//! The daemon as a process: its socket, its lock, its files, its end.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    os::unix::{
        fs::{MetadataExt, PermissionsExt, symlink},
        net::UnixStream,
    },
};

use antidrift_protocol::Phase;
use antidrift_tests::{Daemon, Home, PATIENCE, Scene, Terminal, Timer, antidriftd, until};
use serde_json::{Value, json};

/// A raw connection.
struct Raw {
    reader: BufReader<UnixStream>,
}

impl Raw {
    fn connect(scene: &Scene) -> Self {
        let stream = UnixStream::connect(scene.home.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    #[track_caller]
    fn check(&mut self, line: &[u8], code: &str) {
        self.send(line).unwrap();
        self.send(b"\n").unwrap();
        let answer = self.answer();
        assert_eq!(answer["error"]["code"], code, "{}: {answer}", line.escape_ascii());
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn f43_each_malformed_line_gets_one_error_and_the_connection_lives_on() {
    let scene = Scene::without_display().start();
    let mut raw = Raw::connect(&scene);
    let nested = [vec![b'['; 5000], vec![b']'; 5000]].concat();
    let deep = [br#"{"cmd":"status","args":"#.to_vec(), nested.clone(), b"}".to_vec()].concat();
    for (line, code) in [
        (&b"not json"[..], "invalid_json"),
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (&nested, "invalid_json"),
        (&deep, "invalid_json"),
        (b"{}", "invalid_request"),
        (b"[]", "invalid_request"),
        (b"null", "invalid_request"),
        (b"[1,\"status\"]", "invalid_request"),
        (br#"{"cmd":5}"#, "invalid_request"),
        (br#"{"cmd":"status","args":null}"#, "invalid_request"),
        (br#"{"cmd":"status","args":{"more":1}}"#, "invalid_request"),
        (br#"{"cmd":"status","more":1}"#, "invalid_request"),
        (br#"{"cmd":"status","cmd":"status"}"#, "invalid_request"),
        (br#"{"cmd":"start","args":{"text":"  "}}"#, "invalid_request"),
        (br#"{"cmd":"start","args":{"text":"x","timebox_secs":0}}"#, "invalid_request"),
        (br#"{"cmd":"start","args":{"text":"x","allowed":{"domains":[" "]}}}"#, "invalid_request"),
        (br#"{"cmd":"ontask","args":{"domain":"a","command":"b"}}"#, "invalid_request"),
        (br#"{"cmd":"dance"}"#, "unknown_command"),
        (br#"{"cmd":"ontask"}"#, "not_active"),
        (br#"{"cmd":"end"}"#, "not_in_review"),
    ] {
        raw.check(line, code);
    }
    // an empty line is none, answers come in order, the number comes back
    raw.send(b"\n{\"id\":7,\"cmd\":\"status\"}\n{\"id\":8,\"cmd\":\"end\"}\n").unwrap();
    let (first, second) = (raw.answer(), raw.answer());
    assert_eq!((&first["id"], &second["id"]), (&json!(7), &json!(8)));
    assert_eq!(first["ok"]["state"]["phase"], "planning");
    // a refusal names the member
    raw.send(b"{\"cmd\":\"start\",\"args\":{\"text\":\"x\",\"colour\":1}}\n").unwrap();
    assert!(raw.answer()["error"]["message"].as_str().unwrap().contains("colour"));
}

#[test]
fn f43_a_line_without_end_is_refused_and_costs_nothing() {
    let mut scene = Scene::without_display().start();
    let before = scene.daemon().process().resident_kib();
    let mut raw = Raw::connect(&scene);
    let chunk = vec![b'x'; 1 << 20];
    let timer = Timer::start();
    // what still comes is thrown away for a second, so that the error can be read; then it is over
    let end = loop {
        if let Err(error) = raw.send(&chunk) {
            break error.kind();
        }
        assert!(timer.passed() < PATIENCE, "it is taken in for ever");
    };
    assert!(matches!(end, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{end}");
    let after = scene.daemon().process().resident_kib();
    assert!(after < before + 2048, "{before} to {after} KiB");
    // one byte more than allowed: the error can be read, then the connection is over
    let mut raw = Raw::connect(&scene);
    let mut line = vec![b' '; antidrift_protocol::MAX_LINE + 1];
    line.push(b'\n');
    raw.send(&line).unwrap();
    assert_eq!(raw.answer()["error"]["code"], "line_too_long");
    assert_eq!(raw.reader.read(&mut [0; 16]).unwrap(), 0);
    // and the longest that is allowed is read
    let mut raw = Raw::connect(&scene);
    let mut line = br#"{"cmd":"status"}"#.to_vec();
    line.resize(antidrift_protocol::MAX_LINE, b' ');
    line.push(b'\n');
    raw.send(&line).unwrap();
    assert!(raw.answer()["ok"].is_object());
}

/// What the manual says about scripts.
#[test]
fn scripts_with_socat_and_jq_work() {
    let mut scene = Scene::without_display().start();
    scene.begin("the report");
    let script = |text: &str| {
        let mut command = scene.home.command("sh");
        let text = format!("S=\"$XDG_RUNTIME_DIR/antidrift/antidriftd.sock\"\n{text}");
        command.args(["-c", &text]);
        scene.run(command)
    };
    let ask =
        r#"printf '{"cmd":"status"}\n' | socat -t 5 - UNIX-CONNECT:"$S" | jq -r .ok.state.phase"#;
    assert_eq!(script(ask).ok(), "active\n");
    let follow = r#"printf '{"cmd":"subscribe"}\n' | socat -t 1000000 - UNIX-CONNECT:"$S" | jq -r --unbuffered 'select(.event=="state").data.phase' > phases"#;
    let mut command = scene.home.command("sh");
    let text = format!("S=\"$XDG_RUNTIME_DIR/antidrift/antidriftd.sock\"\n{follow}");
    let mut process = antidrift_tests::Process::spawn(command.args(["-c", &text]), "socat, jq");
    let until_phases = |phases: &str| {
        until(phases, || {
            let text = fs::read_to_string(scene.home.path().join("phases")).ok()?;
            (text.split_whitespace().collect::<Vec<_>>().join(" ") == phases).then_some(())
        });
    };
    until_phases("active");
    scene.cli(&["complete"]).ok();
    until_phases("active review");
    scene.cli(&["end"]).ok();
    until_phases("active review planning");
    scene.stop_daemon();
    process.wait();
}

#[test]
fn f76_socket_and_files_are_the_owners_whatever_the_umask() {
    let home = Home::new();
    let mut command = home.command("sh");
    let daemon = antidriftd();
    command.args(["-c", "umask 000; exec \"$0\"", daemon.to_str().unwrap()]);
    let _daemon = Daemon::start(command, &home);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&home.socket()), 0o600);
    assert_eq!(mode(home.socket().parent().unwrap()), 0o700);
    antidrift_tests::ask(&home.socket(), "start", &json!({"text": "the report"}));
    assert_eq!(mode(&home.state_dir()), 0o700);
    for file in fs::read_dir(home.state_dir()).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn f39_f41_a_second_daemon_names_the_first_and_a_dead_one_is_no_obstacle() {
    let mut scene = Scene::without_display().start();
    scene.begin("the report");
    let pid = scene.daemon().process().id().to_string();
    let (code, said) = Daemon::refuses(Daemon::command(&scene.home), &scene.home);
    assert!(code == 1 && said.contains(&pid), "{code}: {said}");
    // hung is not dead
    scene.daemon().process().signal(rustix::process::Signal::STOP);
    let (code, said) = Daemon::refuses(Daemon::command(&scene.home), &scene.home);
    assert!(code == 1 && said.contains(&pid), "{code}: {said}");
    scene.daemon().process().signal(rustix::process::Signal::CONT);
    assert_eq!(scene.status().phase, Phase::Active);
    // one that takes over
    let mut command = Daemon::command(&scene.home);
    command.arg("--replace");
    let mut second = Daemon::start(command, &scene.home);
    scene.daemon().process().wait();
    until("the second answers", || {
        // there is a moment in which neither listens
        (scene.cli(&["status"]).code == 0).then_some(())
    });
    assert_eq!(scene.status().phase, Phase::Active);
    second.process().kill();
    assert!(scene.home.socket().exists(), "a crash leaves its socket");
    scene.cli(&["status"]).fails(3);
    scene.start_daemon();
    assert_eq!(scene.status().phase, Phase::Active);
    scene.stop_daemon();
    assert!(!scene.home.socket().exists());
}

#[test]
fn f44_a_daemon_that_hangs_holds_no_command_for_long() {
    let mut scene = Scene::without_display().start();
    scene.daemon().process().signal(rustix::process::Signal::STOP);
    let timer = Timer::start();
    let complaint = scene.cli(&["status"]).fails(4);
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    assert!(timer.passed() < std::time::Duration::from_secs(8), "{:?}", timer.passed());
    scene.daemon().process().signal(rustix::process::Signal::CONT);
    scene.cli(&["status"]).ok();
}

#[test]
fn f69_a_broken_snapshot_is_set_aside_and_told_of_once() {
    for broken in ["", "{", "{\"version\": 1, \"sess"] {
        let mut scene = Scene::without_display().start();
        scene.begin("the report");
        scene.stop_daemon();
        let snapshot = fs::read_dir(scene.home.state_dir()).unwrap();
        let snapshot = snapshot
            .map(|it| it.unwrap().path())
            .find(|it| fs::read_to_string(it).is_ok_and(|text| text.contains("the report")));
        fs::write(snapshot.unwrap(), broken).unwrap();
        scene.start_daemon();
        assert_eq!(scene.status().phase, Phase::Planning);
        assert_eq!(scene.daemon().log_lines("kept as"), 1, "{broken:?}: {}", scene.daemon().log());
        // what was there is still there, under another name
        let kept = fs::read_dir(scene.home.state_dir()).unwrap();
        let kept = kept.filter(|it| {
            fs::read_to_string(it.as_ref().unwrap().path()).is_ok_and(|text| text == broken)
        });
        assert_eq!(kept.count(), 1, "{broken:?}");
        scene.begin("another report");
        scene.stop_daemon();
        scene.start_daemon();
        assert_eq!(scene.status().commitment.unwrap().text, "another report");
        assert_eq!(scene.daemon().log_lines("kept as"), 0);
    }
}

/// A snapshot that is there but cannot be read, for root either: it may be a good one.
#[test]
fn f72_what_cannot_be_read_is_not_written_over() {
    let mut scene = Scene::without_display().start();
    scene.begin("the report");
    scene.stop_daemon();
    let (file, elsewhere) = (scene.home.state_dir().join("session.json"), scene.home.path());
    let moved = elsewhere.join("away.json");
    fs::rename(&file, &moved).unwrap();
    // a link to a place that is not there now, as on a disk that is not mounted
    symlink(elsewhere.join("mount/session.json"), &file).unwrap();
    scene.start_daemon();
    for command in [&["start", "another report"][..], &["ontask", "--class", "Editor"]] {
        let said = scene.cli(command);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stderr.contains("not saved: the saved session"), "{said:?}");
    }
    assert_eq!(scene.daemon().log_lines("cannot be read"), 1, "{}", scene.daemon().log());
    scene.stop_daemon();
    fs::create_dir(scene.home.path().join("mount")).unwrap();
    fs::rename(&moved, scene.home.path().join("mount/session.json")).unwrap();
    scene.start_daemon();
    assert_eq!(scene.status().commitment.unwrap().text, "the report");
}

/// A state directory that cannot be written: the session goes on, and a person is told.
#[test]
fn f71_what_cannot_be_saved_is_said() {
    let mut scene = Scene::without_display().start();
    // root may write anywhere, but not where a file stands in the way of the directory
    let dir = scene.home.state_dir();
    scene.stop_daemon();
    let _ = fs::remove_dir_all(&dir);
    fs::write(&dir, "in the way").unwrap();
    scene.start_daemon();
    let said = scene.cli(&["start", "the report"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("saved"), "{said:?}");
    assert_eq!(scene.status().phase, Phase::Active);
    fs::remove_file(&dir).unwrap();
    scene.cli(&["ontask", "--class", "Editor"]).ok();
    scene.kill_daemon();
    scene.start_daemon();
    assert_eq!(scene.status().allowed.unwrap().window_classes, ["Editor"]);
}

#[test]
fn a_faulty_configuration_stops_the_start_with_its_place() {
    for (text, place, word) in [
        ("[judge]\nbackend = 5\n", ":2:11:", "string"),
        ("[drift]\nsettle_sec = 1\n", ":2:", "settle_sec"),
        ("[drift]\nsettle_secs = -1\n", ":2:15:", "between 0 and 3600"),
        ("[judge\n", ":1:", ""),
    ] {
        let home = Home::new();
        home.configure(text);
        let (code, said) = Daemon::refuses(Daemon::command(&home), &home);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(place) && said.contains(word), "{text:?}: {said}");
        assert!(said.contains("config.toml"), "{said}");
    }
    let home = Home::new();
    let mut command = Daemon::command(&home);
    command.args(["--config", "/nowhere/config.toml"]);
    let (code, said) = Daemon::refuses(command, &home);
    assert!(code == 2 && said.contains("/nowhere/config.toml"), "{code}: {said}");
}

/// The client's commands are not the daemon's.
#[test]
fn the_daemon_takes_no_command_but_config() {
    let home = Home::new();
    let mut command = Daemon::command(&home);
    command.arg("status");
    let (code, said) = Daemon::refuses(command, &home);
    assert_eq!(code, 2, "{said}");
    assert!(said.starts_with("error: unrecognized subcommand 'status'"), "{said}");
    assert!(said.contains("Usage: antidriftd [OPTIONS]") && said.contains("'--help'"), "{said}");
    let mut command = Daemon::command(&home);
    command.arg("--help");
    let (code, said) = Daemon::refuses(command, &home);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("\n  antidriftd --replace          start it anew"), "{said}");
}

#[test]
fn the_log_has_colours_on_a_terminal_that_wants_them() {
    for (environment, coloured) in
        [(&[][..], true), (&[("NO_COLOR", "1")], false), (&[("TERM", "dumb")], false)]
    {
        let home = Home::new();
        let mut command = Daemon::command(&home);
        command.arg("-v").envs(environment.iter().copied());
        let terminal = Terminal::start(&command, "the daemon");
        let log = until("a line of the log", || {
            Some(terminal.written()).filter(|log| log.contains("INFO") && log.contains('\n'))
        });
        assert_eq!(log.contains('\u{1b}'), coloured, "{environment:?}: {log:?}");
    }
}

#[test]
fn f47_f49_the_socket_is_found_or_its_place_is_named() {
    let mut scene = Scene::without_display().start();
    scene.begin("the report");
    // another way to name it
    let mut command = scene.client(&["status"]);
    let socket = scene.home.socket();
    command.env_remove("XDG_RUNTIME_DIR").env("ANTIDRIFT_SOCKET", &socket);
    assert!(scene.run(command).ok().contains("the report"));
    // a path that no socket address can hold
    let long = format!("/tmp/{}/s", "x".repeat(120));
    let mut command = scene.client(&["status"]);
    command.env("ANTIDRIFT_SOCKET", &long);
    let complaint = scene.run(command).fails(3);
    assert!(complaint.contains(&long), "{complaint}");
    // somebody else's directory
    let open = scene.home.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = scene.client(&["status"]);
    command.env("XDG_RUNTIME_DIR", "relative/path").env("ANTIDRIFT_SOCKET", open.join("none"));
    let complaint = scene.run(command).fails(3);
    assert!(complaint.contains("open"), "{complaint}");
}

#[test]
fn f75_titles_are_in_no_log() {
    let mut scene = Scene::on(antidrift_tests::Manager::Bare).start();
    scene.judge.drifts("s3cr3t", "no");
    scene.judge.rule("broken", "echo s3cr3t >&2; exit 1");
    scene.begin("the report");
    let desktop = scene.desktop();
    desktop.open("Fun", "s3cr3t-token");
    scene.subscriber.until_alert();
    desktop.open("Fun2", "broken s3cr3t");
    scene.subscriber.until_title("broken s3cr3t");
    scene.cli(&["ontask"]).ok();
    scene.cli(&["complete"]).ok();
    scene.stop_daemon();
    for file in fs::read_dir(scene.home.path()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|it| it == "log") {
            let log = fs::read_to_string(&path).unwrap();
            assert!(!log.contains("s3cr3t"), "{log}");
        }
    }
}

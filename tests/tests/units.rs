//! The units in `contrib/systemd`. What a running systemd would do with them is done here by hand:
//! a test has no systemd of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{fs::symlink, net::UnixDatagram},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use antidrift_protocol::{DriftStatus, Phase};
use antidrift_tests::{
    Daemon, Home, Manager, PATIENCE, Process, Scene, antidrift, antidriftd, ask, until,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const UNITS: [&str; 3] = ["antidriftd.service", "antidriftd.socket", "antidrift-watch.service"];

fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/systemd").join(name)
}

/// A unit of ours.
struct Unit(String);

impl Unit {
    fn read(name: &str) -> Self {
        Self(fs::read_to_string(contrib(name)).unwrap())
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// Its `ExecStart=`, filled in as systemd.unit(5) and systemd.service(5) say.
    fn words(&self, home: &Home) -> Vec<String> {
        let line = self.value("ExecStart").unwrap();
        let own = home.path().join("home");
        let fill = |word: &str| word.replace("%h", own.to_str().unwrap());
        line.split(' ').map(|word| fill(word).replace("${PATH}", "/usr/bin:/bin")).collect()
    }

    /// The command that it starts, where cargo has installed both programs in this home.
    fn command(&self, home: &Home) -> Command {
        let cargo = home.path().join("home/.cargo/bin");
        fs::create_dir_all(&cargo).unwrap();
        for program in [antidriftd(), antidrift()] {
            let _ = symlink(&program, cargo.join(program.file_name().unwrap()));
        }
        // what NoNewPrivileges= does
        let mut command = home.command("setpriv");
        command.arg("--no-new-privs").args(self.words(home)).env("PATH", "/usr/bin:/bin");
        command
    }

    /// Ends a process as systemd would (systemd.kill(5)), and waits until it and all that it
    /// started are gone.
    fn stop(&self, process: &mut Process) -> i32 {
        let pid = Pid::from_raw(process.id().cast_signed()).unwrap();
        let others = descendants(pid);
        let tell = |signal| {
            for &pid in &others {
                // it may have ended by itself
                let _ = kill_process(pid, signal);
            }
        };
        process.signal(Signal::TERM);
        let code = match self.value("KillMode") {
            None | Some("control-group") => {
                tell(Signal::TERM);
                process.wait()
            }
            Some("mixed") => {
                let code = process.wait();
                tell(Signal::KILL);
                code
            }
            other => panic!("{other:?}"),
        };
        for pid in others {
            until("what it started ends", || (!is_alive(pid)).then_some(()));
        }
        code
    }
}

/// State and parent of a process.
fn stat(pid: Pid) -> Option<(char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn is_alive(pid: Pid) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// All processes below one.
fn descendants(root: Pid) -> Vec<Pid> {
    let all: Vec<Pid> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next].as_raw_nonzero().get();
        found.extend(all.iter().filter(|&&pid| stat(pid).is_some_and(|it| it.1 == parent)));
        next += 1;
    }
    found.split_off(1)
}

/// Runs systemd-analyze on a unit, and gives its code and what it complained about.
fn verify(home: &Home, dir: &Path, unit: &str) -> (Option<i32>, String) {
    let mut command = home.command("systemd-analyze");
    command.args(["--user", "verify", "--man=no", unit]);
    // an empty last entry stands for the usual directories
    command.env("SYSTEMD_UNIT_PATH", format!("{}:", dir.display()));
    let output = command.output().expect("install systemd");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn systemd_finds_nothing_wrong() {
    let home = Home::new();
    let root = home.path().join("root");
    let dir = root.join("etc/systemd/user");
    fs::create_dir_all(&dir).unwrap();
    for unit in UNITS {
        fs::copy(contrib(unit), dir.join(unit)).unwrap();
        assert_eq!(verify(&home, &dir, unit), (Some(0), String::new()), "{unit}");
    }
    // enabled, they come with the session, and no order goes round in a circle
    let mut enable = home.command("systemctl");
    enable.args(["--global", "enable"]).arg(format!("--root={}", root.display())).args(UNITS);
    assert!(enable.stderr(Stdio::null()).status().unwrap().success());
    let wanted = fs::read_dir(dir.join("graphical-session.target.wants")).unwrap();
    let wanted: BTreeSet<_> =
        wanted.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(wanted, UNITS.map(str::to_owned).into());
    let session = "graphical-session.target";
    assert_eq!(verify(&home, &dir, session), (Some(0), String::new()));
    // and it would have said so
    let wrong = Unit::read("antidriftd.socket").0.replace("[Socket]", "[Socket]\nNonsense=yes");
    fs::write(dir.join("antidriftd.socket"), wrong).unwrap();
    assert!(verify(&home, &dir, "antidriftd.socket").1.contains("Nonsense"));
    let wrong =
        Unit::read("antidriftd.socket").0.replace("[Unit]", &format!("[Unit]\nAfter={session}"));
    fs::write(dir.join("antidriftd.socket"), wrong).unwrap();
    assert!(verify(&home, &dir, session).1.contains("cycle"));
}

#[test]
fn both_services_are_hardened_as_far_as_was_tried() {
    for name in ["antidriftd.service", "antidrift-watch.service"] {
        let unit = Unit::read(name);
        let options =
            ["NoNewPrivileges", "LockPersonality", "RestrictRealtime", "RestrictSUIDSGID"];
        for option in options {
            assert_eq!(unit.value(option), Some("yes"), "{name}: {option}");
        }
        let more = ["Protect", "Private", "Memory", "System", "Capabilit", "Restrict"];
        let more = unit.0.lines().filter(|line| more.iter().any(|word| line.starts_with(word)));
        let more: Vec<_> = more.filter(|line| !line.starts_with("RestrictS")).collect();
        assert_eq!(more, ["RestrictRealtime=yes"], "{name}: without a test that all still works");
    }
}

#[test]
fn the_daemon_is_found_says_when_it_is_ready_and_takes_over() {
    let home = Home::new();
    let unit = Unit::read("antidriftd.service");
    assert_eq!(unit.value("Type"), Some("notify"));
    let mut by_hand = Daemon::start(Daemon::command(&home), &home);
    ask(&home.socket(), "start", &json!({"text": "the report"}));
    let path = home.path().join("notify");
    let notify = UnixDatagram::bind(&path).unwrap();
    notify.set_read_timeout(Some(PATIENCE)).unwrap();
    let said = || {
        let mut buffer = [0; 64];
        let read = notify.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..read]).into_owned()
    };
    let mut command = unit.command(&home);
    let mut daemon = Process::spawn(command.env("NOTIFY_SOCKET", &path), "util-linux");
    assert_eq!(said(), "READY=1");
    assert_eq!(by_hand.process().wait(), 0);
    let answer = ask(&home.socket(), "status", &json!({}));
    assert_eq!(answer["ok"]["state"]["commitment"]["text"], "the report");
    // a reload of the unit is one of the configuration
    home.configure("[judge]\nbackend = \"none\"\n");
    let reload = unit.value("ExecReload").unwrap().replace("$MAINPID", &daemon.id().to_string());
    let mut words = reload.split(' ');
    let told = home.command(words.next().unwrap()).args(words).status();
    assert!(told.unwrap().success());
    until("the judge of the new configuration", || {
        let answer = ask(&home.socket(), "status", &json!({}));
        (answer["ok"]["state"]["judge"]["backend"] == "none").then_some(())
    });
    assert_eq!(unit.stop(&mut daemon), 0);
    assert_eq!(said(), "STOPPING=1");
}

/// What another try would not cure is not tried again.
#[test]
fn hopeless_ends_are_final() {
    for name in ["antidriftd.service", "antidrift-watch.service"] {
        let unit = Unit::read(name);
        assert_eq!(unit.value("Restart"), Some("on-failure"));
        let last = unit.value("RestartPreventExitStatus").unwrap();
        let last: Vec<i32> = last.split(' ').map(|code| code.parse().unwrap()).collect();
        let home = Home::new();
        let mut missing = home.command("/usr/bin/env");
        missing.args(&unit.words(&home)[1..]).stderr(Stdio::null());
        assert!(last.contains(&Process::spawn(&mut missing, "coreutils").wait()), "{name}");
        if name == "antidriftd.service" {
            home.configure("[judge\n");
            let mut faulty = unit.command(&home);
            faulty.stderr(Stdio::null());
            assert!(last.contains(&Process::spawn(&mut faulty, "util-linux").wait()));
        }
    }
}

#[test]
fn nothing_of_a_judge_is_left_when_the_daemon_is_stopped() {
    let mut scene = Scene::on(Manager::Bare).start();
    scene.judge.rule("Look", "trap 'echo told >told; exit' TERM; echo >runs; sleep 100 & wait");
    scene.stop_daemon();
    let unit = Unit::read("antidriftd.service");
    let mut command = unit.command(&scene.home);
    command.env("DISPLAY", scene.desktop().display());
    let mut daemon = Process::spawn(&mut command, "util-linux");
    until("the daemon listens", || (scene.cli(&["status"]).code == 0).then_some(()));
    scene.cli(&["start", "the report"]).ok();
    scene.desktop().open("Fun", "Look");
    until("the judge runs", || scene.judge.file("runs").exists().then_some(()));
    assert_eq!(unit.stop(&mut daemon), 0);
    assert!(scene.judge.file("told").exists(), "it could not end in order");
}

/// The socket unit names the path that both programs look for, and the daemon takes what systemd
/// passes.
#[test]
fn the_socket_unit_activates_the_daemon() {
    let home = Home::new();
    let unit = Unit::read("antidriftd.socket");
    let runtime = home.path().join("run");
    let path = unit.value("ListenStream").unwrap().replace("%t", runtime.to_str().unwrap());
    assert_eq!(Path::new(&path), home.socket());
    assert_eq!(
        (unit.value("SocketMode"), unit.value("DirectoryMode")),
        (Some("0600"), Some("0700"))
    );
    let service = Unit::read("antidriftd.service");
    fs::create_dir(home.socket().parent().unwrap()).unwrap();
    let command = service.command(&home);
    let mut activate = home.command("systemd-socket-activate");
    activate.arg(format!("--listen={path}"));
    for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        activate.args(["-E", name]);
    }
    activate.arg(command.get_program()).args(command.get_args()).stderr(Stdio::null());
    let mut daemon = Process::spawn(&mut activate, "systemd");
    until("somebody listens", || home.socket().exists().then_some(()));
    let mut client = home.command(antidrift());
    assert_eq!(
        client.args(["start", "the report"]).stdout(Stdio::null()).status().unwrap().code(),
        Some(0)
    );
    assert_eq!(service.stop(&mut daemon), 0);
    assert!(home.socket().exists());
}

#[test]
fn the_watch_takes_its_popup_with_it() {
    let mut scene = Scene::on(Manager::Openbox).dunst().start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    let unit = Unit::read("antidrift-watch.service");
    let mut command = unit.command(&scene.home);
    command.env("DBUS_SESSION_BUS_ADDRESS", scene.dunst().bus().address());
    let mut watch = Process::spawn(&mut command, "util-linux");
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    scene.dunst().until_displayed(1);
    assert_eq!(unit.stop(&mut watch), 0);
    scene.dunst().until_displayed(0);
    assert_eq!(scene.status().phase, Phase::Active);
}

/// i3 runs the lines for sessions without graphical-session.target: the display is told before the
/// units that need it are started.
#[test]
fn units_are_started_where_no_target_is_reached() {
    let scene = Scene::without_display().start();
    let home = &scene.home;
    home.install("systemctl", "#!/bin/sh\necho \"$DISPLAY $*\" >>\"$HOME/calls\"\n");
    let desktop = antidrift_tests::Desktop::start(Manager::Bare);
    let config = format!("exec {}\n", contrib("start-units").display());
    desktop.manage(Manager::I3, &config, &|name| scene.program(name));
    let calls = until("both lines", || {
        let calls = fs::read_to_string(home.path().join("home/calls")).ok()?;
        (calls.lines().count() == 2).then_some(calls)
    });
    let lines = [
        "--user import-environment DISPLAY XAUTHORITY",
        "--user restart antidriftd.service antidrift-watch.service",
    ];
    let lines = lines.map(|line| format!("{} {line}", desktop.display()));
    assert_eq!(calls.lines().collect::<Vec<_>>(), lines);
    // the real one knows these words, though there is nobody here whom it could tell them
    let mut real = home.command("/bin/sh");
    real.arg(contrib("start-units")).env("PATH", "/usr/bin:/bin");
    let output = real.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(!complaints.contains("Unknown") && complaints.contains("connect"), "{complaints}");
}

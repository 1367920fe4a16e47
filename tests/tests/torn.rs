//! Saved sessions that are torn, disks that fail at one step of a save, and daemons that are killed
//! while they start.
//!
//! `ANTIDRIFT_CRASH_ROUNDS` says how often a start is killed, `ANTIDRIFT_CRASH_SEED` repeats a run.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    env, fs,
    hash::{BuildHasher, RandomState},
    os::unix::net::UnixStream,
    path::Path,
};

use antidrift_protocol::Phase;
use antidrift_tests::{Home, Process, Scene, antidriftd, until};
use rustix::process::Signal;
use serde_json::json;

const FILE: &str = "session.json";

fn quiet() -> Scene {
    let whole = "[judge]\nbackend = \"none\"\n";
    Scene::without_display().settings(|it| it.whole = Some(whole.into())).start()
}

/// A daemon under strace. It is the child, and strace its grandchild, so that it can be ended.
fn start_under_strace(home: &Home, args: &[&str]) -> Process {
    let log = fs::File::create(home.path().join("daemon-traced.log")).unwrap();
    let mut command = home.command("strace");
    command.args(["-D", "-f", "-o", "strace.out"]).args(args).arg(antidriftd());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    Process::spawn(&mut command, "strace")
}

/// Waits until the daemon has been killed or listens; whether it was killed.
fn until_killed_or_up(daemon: &mut Process, home: &Home) -> bool {
    until("the daemon is killed or up", || {
        let ended = !daemon.is_running();
        if ended {
            let log = fs::read_to_string(home.path().join("daemon-traced.log")).unwrap();
            assert_eq!(daemon.wait(), -9, "{log}");
        }
        (ended || UnixStream::connect(home.socket()).is_ok()).then_some(ended)
    })
}

/// The files of the state directory with what stands in them, by name.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap())
        .map(|it| (it.file_name().into_string().unwrap(), fs::read(it.path()).unwrap()))
        .collect();
    all.sort();
    all
}

/// What is left of a file when a disk or a power supply fails: its beginning, nothing, or its length
/// without its end.
fn torn(whole: &[u8]) -> Vec<Vec<u8>> {
    let half = whole.len() / 2;
    let zeros = vec![0; whole.len()];
    vec![
        whole[..half].to_vec(),
        Vec::new(),
        [&whole[..half], &zeros[half..]].concat(),
        zeros,
        [whole, whole].concat(),
    ]
}

#[test]
fn a_torn_session_is_set_aside_whole_even_by_a_daemon_that_is_killed_at_it() {
    let mut scene = quiet();
    scene.begin("the report");
    scene.kill_daemon();
    let (dir, path) = (scene.home.state_dir(), scene.home.state_dir().join(FILE));
    let whole = fs::read(&path).unwrap();
    for torn in torn(&whole) {
        let shown = String::from_utf8_lossy(&torn).into_owned();
        fs::remove_dir_all(&dir).unwrap();
        fs::create_dir(&dir).unwrap();
        fs::write(&path, &torn).unwrap();
        let kill = "inject=rename,renameat,renameat2:signal=KILL";
        let mut killed = start_under_strace(&scene.home, &["-e", kill]);
        assert!(until_killed_or_up(&mut killed, &scene.home), "it never set aside {shown:?}");
        let left = files(&dir);
        assert!(left.len() == 1 && left[0].1 == torn, "{shown:?}: {left:?}");

        scene.start_daemon();
        assert_eq!(scene.status().phase, Phase::Planning, "{shown:?}");
        assert_eq!(files(&dir), [(format!("{FILE}.corrupt-1"), torn)]);
        let log = scene.daemon().log();
        assert!(killed_or(&log, "it is kept as"), "{log}");
        let answer = scene.ask("start", &json!({"text": "the next"}));
        assert_eq!(answer["ok"]["saved"], true, "{answer}");
        scene.kill_daemon();
        scene.start_daemon();
        assert_eq!(scene.status().commitment.unwrap().text, "the next");
        scene.kill_daemon();
    }
}

/// The one that was killed may have set it aside before.
fn killed_or(log: &str, said: &str) -> bool {
    log.contains(said) || !log.contains("WARN")
}

#[test]
fn a_kill_during_the_start_costs_nothing() {
    const CALLS: &str = "openat,mkdir,chmod,fchmod,rename,unlink,fsync,flock,write,ftruncate,bind,\
                         listen,getdents64,read,clone3,connect,epoll_ctl";
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<usize>().expect(name));
    let rounds = number("ANTIDRIFT_CRASH_ROUNDS").unwrap_or(40) / 3 + 1;
    let seed = number("ANTIDRIFT_CRASH_SEED")
        .unwrap_or_else(|| usize::try_from(RandomState::new().hash_one(0) >> 32).unwrap());
    println!("ANTIDRIFT_CRASH_SEED={seed}");
    let mut scene = quiet();
    scene.begin("the report");
    scene.kill_daemon();
    let (dir, path) = (scene.home.state_dir(), scene.home.state_dir().join(FILE));
    let whole = fs::read(&path).unwrap();
    let newer = br#"{"version":99,"snapshot":{"more":true}}"#.to_vec();
    let half = whole[..whole.len() / 2].to_vec();
    // how many calls a start takes
    let mut traced = start_under_strace(&scene.home, &["-e", &format!("trace={CALLS}")]);
    assert!(!until_killed_or_up(&mut traced, &scene.home), "it starts");
    traced.kill();
    let trace = fs::read_to_string(scene.home.path().join("strace.out")).unwrap();
    let calls = trace.lines().count();
    assert!(calls > 20, "{trace}");
    let mut hits = 0;
    for round in 0..rounds {
        let nth = 1 + (round * calls / rounds + seed) % calls;
        for (text, aside) in [(&whole, None), (&half, Some("corrupt")), (&newer, Some("newer"))] {
            let what = format!("call {nth} of {calls}, seed {seed}, {aside:?}");
            fs::remove_dir_all(&dir).unwrap();
            fs::create_dir(&dir).unwrap();
            fs::write(&path, text).unwrap();
            let kill = format!("inject={CALLS}:signal=KILL:when={nth}");
            let mut daemon = start_under_strace(&scene.home, &["-e", &kill]);
            hits += usize::from(until_killed_or_up(&mut daemon, &scene.home));
            daemon.kill();
            scene.start_daemon();
            let (state, left) = (scene.status(), files(&dir));
            let text_now = state.commitment.map(|it| it.text);
            match aside {
                None => {
                    assert_eq!(text_now.as_deref(), Some("the report"), "{what}");
                    let names: Vec<_> = left.iter().map(|(name, _)| name.as_str()).collect();
                    assert_eq!(names, [FILE], "{what}");
                }
                Some(kind) => {
                    assert_eq!((text_now, state.phase), (None, Phase::Planning), "{what}");
                    let kept = (format!("{FILE}.{kind}-1"), text.clone());
                    assert_eq!(left, [kept], "{what}");
                }
            }
            scene.kill_daemon();
        }
    }
    println!("{} starts, {hits} killed, {calls} calls a start", rounds * 3);
    assert!(hits > 0, "no start was killed");
}

/// The step before the last and the one before that: what was saved stays, whole, and what was
/// written in vain is gone.
#[test]
fn a_write_or_a_rename_that_fails_is_told_of_until_it_is_well() {
    let mut scene = quiet();
    scene.begin("the report");
    let dir = scene.home.state_dir();
    let mut kept = Vec::new();
    let renames = "rename,renameat,renameat2";
    for (call, error) in
        [(renames, "EIO"), (renames, "ENOSPC"), ("write", "EIO"), ("write", "ENOSPC")]
    {
        let before = files(&dir);
        let id = scene.daemon().process().id();
        let half = dir.join(format!("{FILE}.{id}.tmp")).display().to_string();
        let fault = format!("inject={call}:error={error}");
        // only this file: answers are written, too
        let mut strace = scene.strace(&["-P", &half, "-e", &fault]);
        let class = |n: usize| json!({"add": {"window_classes": [format!("Class{n}")]}});
        for n in 0..2 {
            let answer = scene.ask("allow", &class(kept.len() + n));
            assert_eq!(answer["ok"]["saved"], false, "{fault}: {answer}");
            let warning = answer["ok"]["warning"].as_str().unwrap();
            assert!(warning.contains("could not be saved"), "{warning}");
            assert_eq!(files(&dir), before, "{fault}");
        }
        strace.signal(Signal::TERM);
        strace.wait();
        let answer = scene.ask("allow", &class(kept.len() + 2));
        assert_eq!(answer["ok"]["saved"], true, "{fault}: {answer}");
        kept.extend((0..3).map(|n| format!("Class{}", kept.len() + n)).collect::<Vec<_>>());
        let log = scene.daemon().log();
        assert!(log.contains("could not be saved"), "{log}");
        scene.kill_daemon();
        scene.start_daemon();
        assert_eq!(scene.status().allowed.unwrap().window_classes, kept, "{fault}");
    }
}

/// A file in a directory whose own name is lost is lost with it.
#[test]
fn a_new_state_directory_is_synced_in_its_parents() {
    let home = Home::new();
    let base = home.path().join("not/there/yet");
    let set = format!("--env=XDG_STATE_HOME={}", base.display());
    let mut daemon = start_under_strace(&home, &["-y", &set, "-e", "trace=mkdir,mkdirat,fsync"]);
    assert!(!until_killed_or_up(&mut daemon, &home), "it starts");
    daemon.kill();
    let trace = fs::read_to_string(home.path().join("strace.out")).unwrap();
    let made = format!("mkdir(\"{}\", 0700) = 0", base.join("antidrift").display());
    let (_, after) = trace.split_once(&made).unwrap_or_else(|| panic!("no {made} in {trace}"));
    for dir in base.ancestors().take(4) {
        let synced = after.contains(&format!("<{}>", dir.display()));
        assert!(synced, "{} is not synced: {trace}", dir.display());
    }
}

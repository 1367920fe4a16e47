//! What was answered as saved outlives a kill at any moment.
//!
//! `ANTIDRIFT_CRASH_ROUNDS` says how often the daemon is killed, `ANTIDRIFT_CRASH_SEED` repeats a run.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    env, fs,
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader, ErrorKind, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    process::Command,
    thread,
    time::Duration,
};

use antidrift_tests::{PATIENCE, Scene, Timer, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().expect(name))
}

/// The state as far as a request changes it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    phase: String,
    text: Option<String>,
    timebox: Option<u64>,
    classes: Vec<String>,
    paused: bool,
    detour: Option<String>,
    note: Option<String>,
}

impl Model {
    fn planning() -> Self {
        Self { phase: "planning".into(), ..Self::default() }
    }

    fn of(state: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let classes = state["allowed"]["window_classes"].as_array().cloned().unwrap_or_default();
        Self {
            phase: text(&state["phase"]).unwrap(),
            text: text(&state["commitment"]["text"]),
            timebox: state["commitment"]["timebox_secs"].as_u64(),
            classes: classes.iter().filter_map(text).collect(),
            paused: !state["paused"].is_null(),
            detour: text(&state["detour"]["text"]),
            note: text(&state["review"]["note"]),
        }
    }

    /// What comes of a request; `None` if it is refused.
    fn after(&self, cmd: &str, args: &Value) -> Option<Self> {
        let text = |name: &str| args[name].as_str().map(str::to_owned);
        let mut new = self.clone();
        let active = self.phase == "active";
        match cmd {
            "start" if !active => {
                new = Self { phase: "active".into(), text: text("text"), ..Self::default() };
                new.timebox = args["timebox_secs"].as_u64();
            }
            "allow" if active => {
                let entry = |what: &str| args[what]["window_classes"][0].as_str();
                if let Some(gone) = entry("remove") {
                    let at = new.classes.iter().position(|known| known == gone)?;
                    new.classes.remove(at);
                }
                new.add(entry("add"));
            }
            "ontask" if active => new.add(args["window_class"].as_str()),
            "pause" if active => (new.paused, new.detour) = (true, None),
            "detour" if active => (new.paused, new.detour) = (false, text("text")),
            "refocus" if active => (new.paused, new.detour) = (false, None),
            "resume" if self.paused || self.detour.is_some() => {
                (new.paused, new.detour) = (false, None);
            }
            "extend" if active => new.timebox = Some(new.timebox? + args["secs"].as_u64()?),
            "complete" if active => {
                let (text, timebox) = (self.text.clone(), self.timebox);
                new = Self { phase: "review".into(), text, timebox, ..Self::default() };
            }
            "review" if self.phase == "review" => new.note = text("note").or(new.note),
            "end" if self.phase == "review" => new = Self::planning(),
            _ => return None,
        }
        Some(new)
    }

    fn add(&mut self, class: Option<&str>) {
        if let Some(class) = class.filter(|class| !self.classes.iter().any(|it| it == class)) {
            self.classes.push(class.to_owned());
        }
    }
}

fn request(random: &mut Random, count: u64) -> (&'static str, Value) {
    let class = format!("class{}", random.below(6));
    match random.below(14) {
        0 | 1 => ("start", json!({"text": format!("task {count}"), "timebox_secs": 7200})),
        2 => ("start", json!({"text": format!("task {count}")})),
        3 | 4 => ("allow", json!({"add": {"window_classes": [class]}})),
        5 => ("allow", json!({"remove": {"window_classes": [class]}})),
        6 => ("ontask", json!({"window_class": class})),
        7 => ("pause", json!({})),
        8 => ("detour", json!({"secs": 7200, "text": format!("detour {count}")})),
        9 => ("resume", json!({})),
        10 => ("extend", json!({"secs": 60})),
        11 => ("complete", json!({})),
        12 => ("review", json!({"note": format!("note {count}")})),
        _ => {
            [("end", json!({})), ("refocus", json!({}))][usize::from(random.below(2) == 0)].clone()
        }
    }
}

/// One answer; `None` when the daemon is gone.
fn answer(reader: &mut BufReader<UnixStream>, cmd: &str, args: &Value) -> Option<Value> {
    let line = format!("{}\n", json!({"cmd": cmd, "args": args}));
    reader.get_mut().write_all(line.as_bytes()).ok()?;
    let mut line = String::new();
    if let Err(error) = reader.read_line(&mut line) {
        assert_ne!(error.kind(), ErrorKind::WouldBlock, "no answer to {cmd}");
        return None;
    }
    if !line.ends_with('\n') {
        return None;
    }
    Some(serde_json::from_str(&line).unwrap())
}

/// `None` when the daemon is gone.
fn connect(scene: &Scene) -> Option<BufReader<UnixStream>> {
    let stream = UnixStream::connect(scene.home.socket()).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Some(BufReader::new(stream))
}

#[test]
fn what_was_answered_as_saved_outlives_a_kill() {
    let rounds = number("ANTIDRIFT_CRASH_ROUNDS").unwrap_or(40);
    let seed = number("ANTIDRIFT_CRASH_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("ANTIDRIFT_CRASH_SEED={seed}");
    let (mut random, timer) = (Random(seed), Timer::start());
    let whole = "[judge]\nbackend = \"none\"\n[history]\nenabled = true\n";
    let mut scene = Scene::without_display().settings(|it| it.whole = Some(whole.into())).start();
    let (mut model, mut count, mut answered, mut in_flight) = (Model::planning(), 0, 0, 0);
    for round in 0..rounds {
        let points = ["fsync", "rename", "openat", "write", "pwrite64", "fdatasync", "unlink"];
        let point = usize::try_from(random.below(points.len() as u64 * 2)).unwrap();
        let strace = points.get(point).map(|point| {
            let nth = 1 + random.below(2);
            scene.strace(&["-e", &format!("inject={point}:signal=KILL:when={nth}")])
        });
        let pid = Pid::from_raw(scene.daemon().process().id().cast_signed()).unwrap();
        let delay = Duration::from_micros(random.below(30_000));
        let killer = strace.is_none().then(|| {
            thread::spawn(move || {
                thread::sleep(delay);
                kill_process(pid, Signal::KILL).unwrap();
            })
        });
        let mut reader = connect(&scene);
        let mut possible = vec![model.clone()];
        let mut over = Vec::new();
        for step in 0.. {
            if strace.is_some() && step == 40 {
                scene.daemon().process().signal(Signal::KILL);
            }
            count += 1;
            let (cmd, args) = request(&mut random, count);
            let after = model.after(cmd, &args);
            let answer = reader.as_mut().and_then(|reader| answer(reader, cmd, &args));
            let Some(answer) = answer else {
                // A note on its way may be there or not.
                if cmd == "review" {
                    over.pop();
                }
                possible.extend(after);
                in_flight += 1;
                break;
            };
            assert_eq!(
                answer["ok"].is_object(),
                after.is_some(),
                "{cmd} {args} {model:?}: {answer}"
            );
            if let Some(after) = after {
                assert_eq!(answer["ok"]["saved"], true, "{answer}");
                answered += 1;
                model = after;
                if model.phase == "review" {
                    over.retain(|(text, _)| *text != model.text);
                    over.push((model.text.clone(), model.note.clone()));
                }
                possible = vec![model.clone()];
            }
        }
        if let Some(killer) = killer {
            killer.join().unwrap();
        }
        drop(strace);
        scene.kill_daemon();
        let file = scene.home.state_dir().join("session.json");
        if let Ok(text) = fs::read(&file) {
            assert!(
                antidrift_daemon::store::snapshot_in(&text).is_some(),
                "round {round}: half a file"
            );
        }
        scene.start_daemon();
        let now = Model::of(&scene.ask("status", &json!({}))["ok"]["state"]);
        assert!(
            possible.contains(&now),
            "round {round}, seed {seed}: {now:?} is none of {possible:?}"
        );
        model = now;
        until(&format!("round {round}, seed {seed}: {over:?} in the history"), || {
            let sessions = scene.ask("history", &json!({}))["ok"]["sessions"].clone();
            let kept = |(text, note): &(Option<String>, Option<String>)| {
                let is = |it: &Value| it["text"] == json!(text) && it["note"] == json!(note);
                sessions.as_array().is_some_and(|all| all.iter().any(is))
            };
            over.iter().all(kept).then_some(())
        });
        // The new daemon may be writing just now; what a dead one left is gone.
        until(&format!("round {round}, seed {seed}: no half file"), || {
            let names: Vec<String> = fs::read_dir(scene.home.state_dir())
                .into_iter()
                .flatten()
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .collect();
            assert!(!names.iter().any(|it| it.contains(".corrupt")), "round {round}: {names:?}");
            names.iter().all(|it| !it.ends_with(".tmp")).then_some(())
        });
    }
    println!(
        "{rounds} kills, {answered} changes saved, {in_flight} in flight, {:?}",
        timer.passed()
    );
}

/// A change that is asked for again is no more saved than it was.
#[test]
fn while_the_disk_fails_nothing_is_answered_as_saved() {
    let mut scene = Scene::without_display().start();
    scene.begin("the report");
    let mut strace = scene.strace(&["-e", "inject=fsync:error=EIO"]);
    let add = json!({"add": {"window_classes": ["Editor"]}});
    for _ in 0..3 {
        let answer = scene.ask("allow", &add);
        assert_eq!(answer["ok"]["saved"], false, "{answer}");
    }
    strace.signal(Signal::TERM);
    strace.wait();
    assert_eq!(scene.ask("allow", &add)["ok"]["saved"], true);
    scene.kill_daemon();
    scene.start_daemon();
    assert_eq!(scene.status().allowed.unwrap().window_classes, ["Editor"]);
}

/// A small file system of its own; gone when it is dropped.
struct Mount(PathBuf);

impl Mount {
    fn at(dir: PathBuf) -> Option<Self> {
        fs::create_dir_all(&dir).unwrap();
        let mount = Self(dir);
        mount.run("mount", &["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs"]).then_some(mount)
    }

    fn run(&self, program: &str, args: &[&str]) -> bool {
        Command::new(program).args(args).arg(&self.0).status().unwrap().success()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.run("umount", &["-l"]);
    }
}

#[test]
fn a_disk_that_is_full_or_read_only_is_told_of_until_it_is_well() {
    let whole = "[judge]\nbackend = \"none\"\n[history]\nenabled = true\n";
    let mut scene = Scene::without_display().settings(|it| it.whole = Some(whole.into())).start();
    scene.stop_daemon();
    let Some(mount) = Mount::at(scene.home.state_dir()) else {
        println!("skipped: a file system cannot be mounted here");
        return;
    };
    scene.start_daemon();
    let filler = mount.0.join("filler");
    for full in [true, false] {
        let text = format!("full: {full}");
        assert_eq!(scene.ask("start", &json!({"text": text}))["ok"]["saved"], true);
        if full {
            let mut file = fs::File::create(&filler).unwrap();
            while file.write_all(&[0; 4096]).is_ok() {}
        } else {
            // refused while a file is open for writing, such as the history's
            until("the disk is read-only", || {
                mount.run("mount", &["-o", "remount,ro"]).then_some(())
            });
        }
        for cmd in ["pause", "complete", "end"] {
            let answer = scene.ask(cmd, &json!({}));
            assert_eq!(answer["ok"]["saved"], false, "{text}: {cmd}: {answer}");
        }
        if full {
            fs::remove_file(&filler).unwrap();
        } else {
            assert!(mount.run("mount", &["-o", "remount,rw"]));
        }
        let answer = scene.ask("start", &json!({"text": "well again"}));
        assert_eq!(answer["ok"]["saved"], true, "{text}: {answer}");
        scene.kill_daemon();
        scene.start_daemon();
        assert_eq!(scene.status().commitment.unwrap().text, "well again");
        let sessions = scene.ask("history", &json!({}))["ok"]["sessions"].to_string();
        assert!(sessions.contains(&text), "{sessions}");
        for cmd in ["complete", "end"] {
            assert_eq!(scene.ask(cmd, &json!({}))["ok"]["saved"], true);
        }
    }
    scene.stop_daemon();
}

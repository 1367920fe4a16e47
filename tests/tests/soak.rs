//! A working day at high speed, over and over, with a look at what the daemon and a `watch` hold:
//! none of it may grow.
//!
//! A few hours by default. `ANTIDRIFT_SOAK_MINUTES=60` goes on for that long, looks once a minute,
//! and prints what it saw.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the soak prints its table")]

use std::{env, fs, io::Write as _, os::unix::net::UnixStream, path::Path, time::Duration};

use antidrift_protocol::{DriftStatus, EventBody, JudgeStatus, Phase};
use antidrift_tests::{
    Manager, PATIENCE, Process, Scene, Settings, StateExt as _, Subscriber, TestWindow, Timer,
    Watch, until, until_still,
};
use serde_json::json;

/// Hours between two wipes of the history.
const DAY: usize = 3;
/// Days whose end is looked at when no time is set.
const DAYS: usize = 3;
/// What memory may grow by: the parts of an allocator that are in use differ from look to look.
const GROWTH_KIB: u64 = 512;
/// How long an idle thread of the runtime's pool lives, and some more.
const POOL: Duration = Duration::from_secs(11);

/// What must be the same whenever nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    descriptors: usize,
    threads: u64,
    children: usize,
}

impl Held {
    fn by(process: &Process) -> Self {
        Self {
            descriptors: process.descriptors(),
            threads: process.threads(),
            children: process.children(),
        }
    }
}

/// One look at a process.
#[derive(Clone, Copy, Debug)]
struct Look {
    held: Held,
    resident: u64,
    own: u64,
}

/// One look at everything, at the end of a day.
#[derive(Clone, Copy, Debug)]
struct Sample {
    secs: u64,
    hours: usize,
    daemon: Look,
    watch: Look,
    disk_kib: u64,
}

/// The windows of the day.
struct Windows<'a> {
    editor: TestWindow<'a>,
    docs: TestWindow<'a>,
}

struct Soak<'a> {
    scene: &'a mut Scene,
    watch: Watch,
    windows: Windows<'a>,
    hours: usize,
    /// What both hold when they rest.
    rest: Option<(Held, Held)>,
    timer: Timer,
}

impl Soak<'_> {
    /// A session with all that happens in one.
    fn hour(&mut self) {
        self.hours += 1;
        let n = self.hours;
        let (desktop, socket) = (self.scene.desktop(), self.scene.home.socket());
        self.scene.subscriber = Subscriber::connect(&socket);
        // somebody is there
        desktop.press("Shift_L");
        self.scene
            .cli(&["start", &format!("report {n}"), "--for", "50m", "--allow", "Editor"])
            .ok();
        for step in 0..4 {
            self.work(&format!("chapter {n}.{step}"));
            self.drift(n, step);
        }
        self.ok("pause", &json!({}));
        self.ok("resume", &json!({}));
        self.ok("detour", &json!({"secs": 600, "text": format!("coffee {n}")}));
        self.scene.cli(&["resume"]).ok();
        self.ok("extend", &json!({"secs": 60}));
        self.reads();
        self.strangers(&socket, n);
        match n % 3 {
            0 => self.a_judge_that_fails(n),
            1 => self.a_judge_that_hangs(n),
            _ => self.second_watch(),
        }
        self.reload(n);
        if n.is_multiple_of(2) {
            self.scene.cli(&["complete", "--outcome", "done", "--note", "all of it"]).ok();
        } else {
            self.ok("complete", &json!({}));
            self.ok("review", &json!({"note": format!("half of {n}")}));
        }
        self.scene.cli(&["end"]).ok();
        if n % 3 == 2 {
            self.a_timebox_that_ends(n);
        }
        while self.scene.dunst().displayed() > 0 {
            self.scene.dunst().close();
        }
    }

    #[track_caller]
    fn ok(&self, cmd: &str, args: &serde_json::Value) {
        let answer = self.scene.ask(cmd, args);
        assert!(answer["ok"].is_object(), "hour {}: {cmd} {args}: {answer}", self.hours);
        assert_ne!(answer["ok"]["saved"], false, "hour {}: {cmd}: {answer}", self.hours);
    }

    /// By the rule, and by what the judge says.
    fn work(&mut self, title: &str) {
        for window in [&self.windows.editor, &self.windows.docs] {
            window.set_title(title);
            window.focus();
            self.scene.subscriber.until_titled(title, DriftStatus::Ontask);
        }
    }

    /// To a window that is new each time, and back by one of the ways there are.
    fn drift(&mut self, n: usize, step: usize) {
        let desktop = self.scene.desktop();
        let title = format!("Football {n}.{step}");
        let fun = desktop.open(&format!("Fun{n}-{step}"), &title);
        self.scene.subscriber.until_titled(&title, DriftStatus::Drifting);
        match step {
            0 => {
                self.scene.cli(&["refocus"]).ok();
                self.scene.subscriber.until_status(DriftStatus::Idle);
            }
            1 => {
                self.scene.cli(&["ontask"]).ok();
                self.scene.subscriber.until_titled(&title, DriftStatus::Ontask);
            }
            2 => {
                self.ok("allow", &json!({"add": {"window_titles": [title]}}));
                self.scene.subscriber.until_titled(&title, DriftStatus::Ontask);
            }
            _ => {}
        }
        for n in 0..50 {
            fun.set_title(&format!("{title} {n}"));
        }
        self.windows.editor.focus();
        self.scene.subscriber.until("the editor", |state| {
            state.window.as_ref().is_some_and(|window| window.class == "Editor")
        });
        fun.destroy();
    }

    fn reads(&self) {
        for cmd in ["status", "windows", "history", "explain", "preview", "presets", "check_judge"]
        {
            self.ok(cmd, &json!({}));
        }
        for args in [&["status"][..], &["report"], &["why"], &["windows"]] {
            self.scene.cli(args).ok();
        }
    }

    /// Connections that are left in every state.
    fn strangers(&self, socket: &Path, n: usize) {
        let subscribers: Vec<_> = (0..8).map(|_| Subscriber::connect(socket)).collect();
        drop(subscribers);
        for line in
            ["", "{", "{}\n", "{\"cmd\":\"subscribe\"}\n", "{\"cmd\":\"windows\"}\n", "\n\n"]
        {
            let mut stream = UnixStream::connect(socket).unwrap();
            stream.write_all(line.as_bytes()).unwrap();
            if n.is_multiple_of(2) {
                stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
        }
    }

    fn a_judge_that_fails(&mut self, n: usize) {
        let desktop = self.scene.desktop();
        let broken = desktop.open("Broken", &format!("Broken {n}"));
        let waits =
            |state: &antidrift_protocol::State| state.judge.status == JudgeStatus::BackingOff;
        self.scene.subscriber.until("a pause of the judge", waits);
        self.windows.editor.focus();
        broken.destroy();
        // a person mends it and says so
        self.scene.cli(&["reload"]).ok();
        self.scene.subscriber.until("a judge", |state| state.judge.status == JudgeStatus::Ready);
    }

    /// It is ended by a pause: that the window is left ends no question.
    fn a_judge_that_hangs(&mut self, n: usize) {
        let desktop = self.scene.desktop();
        let slow = desktop.open("Slow", &format!("Slow {n}"));
        self.scene.subscriber.until("a question", |it| it.judge.status == JudgeStatus::Running);
        self.windows.editor.focus();
        slow.destroy();
        self.ok("pause", &json!({}));
        self.scene.subscriber.until("no question", |it| it.judge.status == JudgeStatus::Ready);
        self.ok("resume", &json!({}));
    }

    /// It waits for its turn at the popups, and is killed or told to end.
    fn second_watch(&mut self) {
        let mut second = self.scene.watch(&[]);
        second.until("a line", |line| !line.is_empty());
        if self.hours.is_multiple_of(2) {
            second.process().kill();
        } else {
            second.process().terminate();
        }
    }

    /// Another configuration, a faulty one, and the first again.
    fn reload(&mut self, n: usize) {
        let argv = self.scene.judge.argv();
        let other = Settings { debounce: 0.06 + (n % 2) as f64 / 100.0, idle: 301.0, ..settings() };
        self.scene.home.configure(&other.to_toml(Some(&argv)));
        self.scene.cli(&["reload"]).ok();
        self.scene.home.configure("[judge\n");
        self.scene.cli(&["reload"]).fails(1);
        self.scene.home.configure(&settings().to_toml(Some(&argv)));
        self.scene.cli(&["reload"]).ok();
    }

    fn a_timebox_that_ends(&mut self, n: usize) {
        let start = json!({"text": format!("call {n}"), "timebox_secs": 1});
        self.ok("start", &start);
        self.scene.subscriber.until_event("timebox_elapsed", |event| {
            matches!(event, EventBody::TimeboxElapsed).then_some(())
        });
        self.ok("complete", &json!({}));
        self.ok("end", &json!({}));
        self.scene.subscriber.until("planning", |state| state.phase == Phase::Planning);
    }

    /// The end of a day, when everybody rests.
    fn look(&mut self) -> Sample {
        self.scene.cli(&["forget", "--yes"]).ok();
        self.watch.lines();
        let rest = self.rest;
        let timer = Timer::start();
        let held = |soak: &mut Self| {
            (Held::by(soak.scene.daemon().process()), Held::by(soak.watch.process()))
        };
        let mut now = held(self);
        match rest {
            // What is not given back is in the table and fails at the end.
            Some(rest) => {
                while now != rest && timer.passed() < PATIENCE {
                    std::thread::sleep(Duration::from_millis(20));
                    now = held(self);
                }
            }
            None => {
                now = until_still(POOL, "both rest", || held(self));
                self.rest = Some(now);
            }
        }
        let look = |held, process: &Process| {
            let (resident, own) = (process.resident_kib(), process.share_kib());
            Look { held, resident, own }
        };
        Sample {
            secs: self.timer.passed().as_secs(),
            hours: self.hours,
            daemon: look(now.0, self.scene.daemon().process()),
            watch: look(now.1, self.watch.process()),
            disk_kib: kib(&self.scene.home.state_dir()),
        }
    }
}

/// What the files of a directory take up.
fn kib(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).unwrap();
    files.map(|it| it.unwrap().metadata().map_or(0, |it| it.len())).sum::<u64>().div_ceil(1024)
}

fn settings() -> Settings {
    Settings { settle: 0.02, debounce: 0.05, ..Settings::default() }
}

fn table(samples: &[Sample]) {
    println!(
        "{:>6} {:>6} | {:>4} {:>4} {:>4} {:>7} {:>7} | {:>4} {:>4} {:>4} {:>7} {:>7} | {:>5}",
        "secs",
        "hours",
        "fds",
        "thr",
        "chld",
        "rss",
        "pss",
        "fds",
        "thr",
        "chld",
        "rss",
        "pss",
        "disk"
    );
    for Sample { secs, hours, daemon, watch, disk_kib } in samples {
        print!("{secs:>6} {hours:>6}");
        for Look { held, resident, own } in [daemon, watch] {
            let Held { descriptors, threads, children } = held;
            print!(" | {descriptors:>4} {threads:>4} {children:>4} {resident:>7} {own:>7}");
        }
        println!(" | {disk_kib:>5}");
    }
}

/// The last third holds what the first third holds.
fn check(samples: &[Sample]) {
    let third = samples.len() / 3;
    assert!(third > 0, "{} looks are too few", samples.len());
    let (first, last) = (&samples[..third], &samples[samples.len() - third..]);
    for (name, look) in
        [("the daemon", (|it| it.daemon) as fn(&Sample) -> Look), ("the watch", |it| it.watch)]
    {
        let held: Vec<_> = first.iter().chain(last).map(|it| look(it).held).collect();
        assert!(held.iter().all(|it| *it == held[0]), "{name} holds on to something");
        for (kind, kib) in [("rss", (|it| it.resident) as fn(Look) -> u64), ("pss", |it| it.own)] {
            let mean =
                |part: &[Sample]| part.iter().map(|it| kib(look(it))).sum::<u64>() / third as u64;
            let (before, after) = (mean(first), mean(last));
            assert!(after <= before + GROWTH_KIB, "{name}, {kind}: {before} to {after} KiB");
        }
    }
    let disk: Vec<_> = first.iter().chain(last).map(|it| it.disk_kib).collect();
    let (least, most) = (disk.iter().min().unwrap(), disk.iter().max().unwrap());
    assert!(most - least <= 16, "the state directory: {least} to {most} KiB");
}

#[test]
fn a_day_after_a_day_leaves_nothing_behind() {
    let minutes = env::var("ANTIDRIFT_SOAK_MINUTES").ok();
    let minutes = minutes.map(|text| text.parse::<u64>().expect("ANTIDRIFT_SOAK_MINUTES"));
    let mut scene = Scene::on(Manager::Openbox).dunst().settings(|it| *it = settings()).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.judge.rule("Broken", "exit 3");
    scene.judge.rule("Slow", "sleep 600");
    let watch = scene.watch(&[]);
    let desktop = scene.desktop();
    let windows =
        Windows { editor: desktop.open("Editor", "report"), docs: desktop.open("Docs", "manual") };
    let mut soak =
        Soak { scene: &mut scene, watch, windows, hours: 0, rest: None, timer: Timer::start() };
    let mut samples = Vec::new();
    let day = |soak: &mut Soak<'_>| {
        let timer = Timer::start();
        loop {
            for _ in 0..DAY {
                soak.hour();
            }
            if minutes.is_none() || timer.passed() > Duration::from_secs(60) {
                return;
            }
        }
    };
    // warm-up
    day(&mut soak);
    soak.look();
    loop {
        day(&mut soak);
        samples.push(soak.look());
        let over = match minutes {
            None => samples.len() == DAYS,
            Some(minutes) => soak.timer.passed() > Duration::from_secs(minutes * 60),
        };
        if over {
            break;
        }
    }
    table(&samples);
    assert!(!soak.scene.dunst().shown().is_empty(), "the watch raised popups");
    assert_eq!(soak.watch.complaints(), "");
    let log = soak.scene.daemon().log();
    assert!(!log.contains("panicked"), "{log}");
    check(&samples);
    until("the daemon answers", || soak.scene.status().status().is_none().then_some(()));
}

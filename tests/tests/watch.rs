//! `antidrift watch`: in a pipe as bars use it, and on a real terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fs, path::PathBuf, time::Duration};

use antidrift_protocol::{AlertCleared, ClearedWhy, DriftStatus, Event, EventBody, Phase, State};
use antidrift_tests::{Manager, Process, Scene, StateExt as _, Timer, antidrift, holds_for, until};
use rustix::process::Signal;
use serde_json::Value;

/// A session with a window that drifts as soon as it is opened.
fn scene() -> Scene {
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.debounce = 1.0).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    scene
}

#[test]
fn f53_f54_one_flushed_line_a_change() {
    let mut scene = scene();
    let mut watch = scene.watch(&["--no-notify"]);
    watch.until("the session", |line| line.contains("the report"));
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_status(DriftStatus::Drifting);
    watch.until_text("Football is not the report");
    scene.cli(&["complete"]).ok();
    watch.until_text("ended: the report");
    // and no line while nothing happens
    let lines = watch.lines().len();
    holds_for(Duration::from_secs(2), "nothing is repeated", || watch.lines().len() == lines);
    let repeated = watch.lines().windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(repeated, 0, "{:#?}", watch.lines());
}

#[test]
fn json_lines_are_the_daemons_events() {
    let mut scene = scene();
    let mut watch = scene.watch(&["--json", "--no-notify"]);
    scene.desktop().open("Fun", "Football \u{202e}live\u{7} {\"x\":1}");
    let raised = watch.until_text("\"alert_raised\"");
    let event = Event::parse(raised.as_bytes()).unwrap();
    let EventBody::AlertRaised(alert) = event.body else { panic!("{raised}") };
    assert!(alert.window.unwrap().title.contains("{\"x\":1}"));
    watch.until_text("\"drifting\"");
    scene.stop_daemon();
    watch.until_text("\"disconnected\"");
    for line in watch.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(value["event"].is_string(), "{line}");
        assert!(!line.chars().any(char::is_control) && !line.contains('\u{202e}'), "{line}");
    }
}

#[test]
fn f45_f57_a_daemon_that_comes_and_goes_is_waited_for() {
    let mut scene = Scene::without_display().start();
    scene.stop_daemon();
    let mut watch = scene.watch(&["--no-notify"]);
    until("it says so", || {
        (!watch.complaints().is_empty() || !watch.lines().is_empty()).then_some(())
    });
    holds_for(Duration::from_secs(2), "no flood", || {
        watch.lines().len() + watch.complaints().lines().count() <= 2
            && watch.process().is_running()
    });
    scene.start_daemon();
    scene.begin("the report");
    watch.until_text("the report");
    scene.kill_daemon();
    scene.start_daemon();
    scene.cli(&["complete"]).ok();
    scene.begin("another one");
    watch.until_text("another one");
    assert!(watch.complaints().lines().count() <= 2, "{}", watch.complaints());
}

#[test]
fn f55_a_reader_that_goes_ends_it_quietly() {
    let scene = scene();
    let script = r#""$0" watch --no-notify 2>complaints | head -n 1 > first; echo over > over"#;
    let mut command = scene.client(&[]);
    let client = command.get_program().to_owned();
    command = {
        let mut shell = scene.home.command("sh");
        shell.args(["-c", script]).arg(client);
        shell
    };
    let mut shell = Process::spawn(&mut command, "sh");
    until("the first line", || {
        fs::read_to_string(scene.home.path().join("first")).ok().filter(|it| it.contains('\n'))
    });
    scene.cli(&["complete"]).ok();
    scene.cli(&["end"]).ok();
    assert_eq!(shell.wait(), 0);
    assert_eq!(fs::read_to_string(scene.home.path().join("complaints")).unwrap(), "");
    // nowhere to write at all
    let mut command = scene.home.command("sh");
    command.args(["-c", r#""$0" status > /dev/full"#]).arg(antidrift());
    let complaint = scene.run(command).fails(1);
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    // closed altogether it is /dev/null before our main begins, and cannot be told from one that was
    // given
    let mut command = scene.home.command("sh");
    command.args(["-c", r#""$0" status >&-"#]).arg(antidrift());
    let outcome = scene.run(command);
    assert!(!outcome.stderr.contains("panic"), "{outcome:?}");
}

#[test]
fn f58_it_ends_when_it_is_told_to() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        for daemon in [true, false] {
            let mut scene = Scene::without_display().start();
            let mut watch = scene.watch(&[]);
            until("it watches", || {
                watch.lines();
                watch.lines().first().cloned()
            });
            if !daemon {
                scene.daemon().process().signal(Signal::STOP);
            }
            let timer = Timer::start();
            watch.process().signal(signal);
            watch.process().wait();
            assert!(timer.passed() < Duration::from_secs(2), "{signal:?}: {:?}", timer.passed());
            scene.daemon().process().signal(Signal::CONT);
        }
    }
}

#[test]
fn f42_a_watch_that_is_held_holds_nobody_up() {
    let mut scene = scene();
    let mut watch = scene.watch(&["--json", "--no-notify"]);
    watch.until_text("\"state\"");
    watch.process().signal(Signal::STOP);
    let desktop = scene.desktop();
    let window = desktop.open("Editor", "start");
    scene.subscriber.until_title("start");
    let before = scene.daemon().process().resident_kib();
    for n in 0..2000 {
        // a new class each time: no two of them are merged as one place
        window.set_class("editor", &format!("Editor{n}"));
        window.set_title(&format!("title {n} {}", "x".repeat(500)));
        if n % 100 == 0 {
            let timer = Timer::start();
            scene.status();
            assert!(timer.passed() < Duration::from_secs(1));
        }
    }
    scene.subscriber.until("the last", |it| it.title().is_some_and(|it| it.contains("1999")));
    let after = scene.daemon().process().resident_kib();
    assert!(after < before + 2048, "{before} to {after} KiB");
    watch.process().signal(Signal::CONT);
    watch.until_text("title 1999");
}

/// `antidrift watch` in a real xterm, with a record of every byte that it writes.
struct Terminal {
    process: Process,
    record: PathBuf,
    class: &'static str,
}

impl Terminal {
    fn open(scene: &Scene) -> Self {
        Self::of_class(scene, "XTerm")
    }

    fn of_class(scene: &Scene, class: &'static str) -> Self {
        let record = scene.home.path().join("typescript").display().to_string();
        let inner = format!("{} watch --no-notify", antidrift().display());
        let argv = ["script", "-q", "-f", "-e", "-c", &inner, &record];
        let terminal = Self::running(scene, class, &argv);
        until("the view", || terminal.text().contains("the report").then_some(()));
        terminal
    }

    /// With another program in it.
    fn running(scene: &Scene, class: &'static str, argv: &[&str]) -> Self {
        let mut command = scene.home.command("xterm");
        command.env("DISPLAY", scene.desktop().display());
        command.args(["-class", class, "-T", "watching", "-e"]).args(argv);
        let process = Process::spawn(&mut command, "xterm");
        Self { process, record: scene.home.path().join("typescript"), class }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.record).unwrap_or_default()).into_owned()
    }

    fn until_text(&self, text: &str) {
        until(&format!("«{text}» on the terminal"), || self.text().contains(text).then_some(()));
    }

    /// Goes to the terminal, as with alt-tab, and types.
    fn type_key(&self, scene: &mut Scene, key: &str) {
        self.activate(scene);
        scene.subscriber.until("the terminal", |state| {
            state.window.as_ref().is_some_and(|window| window.class == self.class)
        });
        xdotool(scene, &["key", key]);
    }

    fn activate(&self, scene: &Scene) {
        let class = format!("^{}$", self.class);
        let search = ["search", "--sync", "--onlyvisible", "--class", &class];
        xdotool(scene, &[&search[..], &["windowactivate", "--sync"]].concat());
    }
}

fn xdotool(scene: &Scene, args: &[&str]) {
    let mut command = scene.desktop().command("xdotool");
    assert_eq!(Process::spawn(command.args(args), "xdotool").wait(), 0, "{args:?}");
}

/// In front of the window that drifts, with the terminal at its side.
fn drifting(terminal: &'static str) -> (Scene, Terminal) {
    let mut scene = scene();
    let terminal = Terminal::of_class(&scene, terminal);
    scene.desktop().open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    terminal.until_text("Football is not the report");
    (scene, terminal)
}

fn cleared(scene: &mut Scene) -> ClearedWhy {
    scene.subscriber.until_event("alert_cleared", |event| match event {
        EventBody::AlertCleared(AlertCleared { why, .. }) => Some(*why),
        _ => None,
    })
}

#[test]
fn t_on_the_terminal_means_the_window_that_was_left_for_it() {
    // The second is on no list of terminals.
    for class in ["XTerm", "Zterm"] {
        let (mut scene, terminal) = drifting(class);
        terminal.type_key(&mut scene, "t");
        assert_eq!(cleared(&mut scene), ClearedWhy::Moved);
        let state = scene.subscriber.until("something is allowed", |state: &State| {
            state.allowed.as_ref().is_some_and(|allowed| allowed.size() > 0)
        });
        assert_eq!(state.allowed.unwrap().window_classes, ["Fun"], "{class}");
    }
}

/// As it is typed in a shell; what was before it holds, the alert too.
#[test]
fn a_view_in_front_is_not_judged() {
    for class in ["XTerm", "Zterm"] {
        let mut scene = scene();
        scene.judge.drifts("antidrift watch", "the view is not the report");
        let go = scene.home.path().join("go");
        let script = format!(
            "set -m; until [ -e {} ]; do /bin/sleep 0.05; done; {} watch --no-notify; sleep 1000",
            go.display(),
            antidrift().display()
        );
        let terminal = Terminal::running(&scene, class, &["bash", "-c", &script]);
        scene.subscriber.until_titled("watching", DriftStatus::Ontask);
        fs::write(&go, "").unwrap();
        scene.subscriber.until_title("antidrift watch");
        let still = |scene: &mut Scene, status| {
            holds_for(Duration::from_millis(1500), "what was before holds", || {
                scene.subscriber.state().status() == Some(status)
            });
        };
        still(&mut scene, DriftStatus::Ontask);
        scene.desktop().open("Fun", "Football live");
        scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
        terminal.activate(&scene);
        still(&mut scene, DriftStatus::Drifting);
        xdotool(&scene, &["key", "t"]);
        assert_eq!(cleared(&mut scene), ClearedWhy::Ontask);
        assert_eq!(scene.status().allowed.unwrap().window_classes, ["Fun"], "{class}");
        assert_eq!(scene.judge.titles(), ["watching", "Football live"], "{class}");
    }
}

#[test]
fn e_on_the_terminal_ends_the_session_and_q_the_view() {
    let (mut scene, mut terminal) = drifting("XTerm");
    terminal.type_key(&mut scene, "e");
    scene.subscriber.until("review", |state| state.phase == Phase::Review);
    terminal.type_key(&mut scene, "q");
    assert_eq!(terminal.process.wait(), 0);
    // with the cursor and the modes of before
    assert!(terminal.text().contains("\u{1b}[?25h") || !terminal.text().contains("\u{1b}[?25l"));
}

#[test]
fn b_on_the_terminal_forgives_the_window() {
    let (mut scene, terminal) = drifting("XTerm");
    terminal.type_key(&mut scene, "b");
    assert_eq!(cleared(&mut scene), ClearedWhy::Moved);
    let asked = scene.judge.calls().len();
    // forgiven, not allowed: it is asked about anew
    scene.desktop().open("Fun", "Football tonight");
    scene.subscriber.until_titled("Football tonight", DriftStatus::Drifting);
    assert!(scene.judge.calls().len() > asked);
    assert!(scene.status().allowed.unwrap().window_classes.is_empty());
}

#[test]
fn f61_titles_and_reasons_do_not_act_on_the_terminal() {
    let mut scene = scene();
    let terminal = Terminal::open(&scene);
    let reason = "\\u001b]0;pwned\\u0007\\u001b[31mred\\u009b2Jend";
    scene.judge.says("Evil", &format!("{{\"on_task\": false, \"reason\": \"{reason}\"}}"));
    let title = "ok\u{1b}[31mred\u{1b}]0;pwned\u{7}\u{9b}2J";
    scene.desktop().open("Evil", title);
    scene.subscriber.until_status(DriftStatus::Drifting);
    terminal.until_text("end");
    let text = terminal.text();
    assert!(!text.contains("\u{1b}]0;pwned") && !text.contains('\u{9b}'), "{text:?}");
    assert!(!text.contains("\u{1b}[31mred"), "{text:?}");
}

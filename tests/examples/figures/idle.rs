//! Nothing happens (row 4), and what memory is held meanwhile (row 5).

use std::{fs, path::Path, thread, time::Duration};

use antidrift_tests::{Manager, Subscriber};
use serde_json::Value;

use crate::{
    Plan,
    screen::Screen,
    table::Row,
    watched::{Kind, Watched},
};

pub(crate) fn rows(plan: &Plan) -> Vec<Row> {
    let screen = Screen::start(Manager::Openbox);
    let mut rows = Vec::new();
    if plan.wants(&[4]) {
        rows.extend(nothing(plan, &screen));
    }
    if plan.wants(&[5]) {
        rows.push(memory(plan, &screen));
    }
    rows
}

/// All at once, since none of them has anything to do.
fn nothing(plan: &Plan, screen: &Screen) -> [Row; 2] {
    let kinds = [Kind::Ours, Kind::Session, Kind::Ours, Kind::Floor];
    let watched = kinds.map(|kind| Watched::start(kind, screen));
    let socket = watched[2].home.socket();
    let _more: Vec<_> = (0..3).map(|_| Subscriber::connect(&socket)).collect();
    for one in &watched {
        one.warm_up(screen);
    }
    eprintln!("nothing for {} s", (plan.counts.settle + plan.counts.idle).as_secs());
    thread::sleep(plan.counts.settle);
    let costs = || watched.each_ref().map(|it| it.process.cost());
    let before = costs();
    thread::sleep(plan.counts.idle);
    let after = costs();
    let minute = 60.0 / plan.counts.idle.as_secs_f64();
    let switches = |at: usize| (after[at].0 - before[at].0) as f64 * minute;
    let nanos = |at: usize| (after[at].1 - before[at].1) as f64 * minute;
    let row = |what: &str, figure: &dyn Fn(usize) -> f64| {
        let row =
            Row::new(4, format!("at rest, no session / a timer armed / 4 subscribers: {what}"));
        (0..3).fold(row, |row, at| row.most(figure(at), Some(figure(3)), 0.0))
    };
    [row("wakeups a minute", &switches), row("CPU, ns a minute", &nanos)]
}

/// PSS, so each is alone with the libraries that it shares: a second daemon would halve the first.
fn memory(plan: &Plan, screen: &Screen) -> Row {
    let alone = |kind| {
        let watched = Watched::start(kind, screen);
        watched.warm_up(screen);
        thread::sleep(plan.counts.settle);
        watched.memory().0
    };
    let (floor, rest) = (alone(Kind::Floor), alone(Kind::Ours));
    Row::new(5, "memory at rest / after verdicts, PSS, KiB").most(rest, Some(floor), 4096.0).most(
        after_judging(plan, screen),
        None,
        4096.0,
    )
}

/// KiB once windows have been judged.
fn after_judging(plan: &Plan, screen: &Screen) -> f64 {
    eprintln!("memory after {} verdicts", plan.counts.judged);
    let settle = Duration::from_millis(50);
    let configuration = "[drift]\nsettle_secs = 0.05\ndebounce_secs = 0\n";
    let watched = Watched::start_with(Kind::Ours, screen, configuration);
    let rows = corpus();
    let args = serde_json::json!({ "text": rows[0]["commitment"] });
    antidrift_tests::ask(&watched.home.socket(), "start", &args);
    watched.warm_up(screen);
    for row in rows.iter().take(plan.counts.judged) {
        let title = row["window_title"].as_str().unwrap();
        screen.rename(0, title);
        thread::sleep(4 * settle);
    }
    thread::sleep(plan.counts.settle);
    watched.memory().0
}

/// Labelled windows.
pub(crate) fn corpus() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/judge-corpus/dev.jsonl");
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

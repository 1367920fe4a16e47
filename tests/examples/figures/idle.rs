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
    let kinds = [Kind::Ours, Kind::Session, Kind::Ours, Kind::Floor];
    let watched = kinds.map(|kind| Watched::start(kind, &screen));
    let socket = watched[2].home.socket();
    let _more: Vec<_> = (0..3).map(|_| Subscriber::connect(&socket)).collect();
    for one in &watched {
        one.warm_up(&screen);
    }
    let idle = if plan.wants(&[4]) { plan.counts.idle } else { Duration::ZERO };
    eprintln!("nothing for {} s", (plan.counts.settle + idle).as_secs());
    thread::sleep(plan.counts.settle);
    let costs = || watched.each_ref().map(|it| it.process.cost());
    let before = costs();
    thread::sleep(idle);
    let after = costs();
    let minute = 60.0 / idle.as_secs_f64().max(1e-9);
    let switches = |at: usize| (after[at].0 - before[at].0) as f64 * minute;
    let nanos = |at: usize| (after[at].1 - before[at].1) as f64 * minute;
    let memory = watched.each_ref().map(Watched::memory);
    let mut rows = Vec::new();
    let (what, floor) = ("a minute of nothing", 3);
    let mut row =
        Row::new(4, format!("{what}, no session / a timer armed / 4 subscribers: wakeups"));
    for at in 0..floor {
        row = row.most(switches(at), Some(switches(floor)), 0.0);
    }
    rows.push(row);
    let mut row = Row::new(4, format!("{what}, the same: CPU, ns"));
    for at in 0..floor {
        row = row.most(nanos(at), Some(nanos(floor)), 0.0);
    }
    rows.push(row);
    if plan.wants(&[5]) {
        let judged = after_judging(plan, &screen);
        rows.push(
            Row::new(5, "memory at rest / after verdicts, PSS, KiB")
                .most(memory[0].0, Some(memory[floor].0), 4096.0)
                .most(judged, None, 4096.0),
        );
    }
    rows
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

//! What the daemon does in its own thread, each call by itself: local matching (row 12), verdicts
//! (row 13), lines (row 14), and the catalogue at start-up (row 15).

use std::{collections::HashSet, hint::black_box, time::Instant};

use antidrift_daemon::{
    ai::embedded::{Aim, Catalogue, Thresholds, judge_with},
    evidence::{Matcher, Window, context_title},
};
use antidrift_protocol::{Allowed, Event, EventBody, Request, Selector, State, Timestamp};
use serde_json::Value;

use crate::{
    Plan,
    idle::corpus,
    table::{Row, median, percentile},
};

/// Microseconds a call takes, the median of ten.
fn micros(calls: usize, mut call: impl FnMut()) -> f64 {
    let each = (calls / 10).max(1);
    let once = |_| {
        let start = Instant::now();
        (0..each).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e6 / each as f64
    };
    median(&(0..10).map(once).collect::<Vec<_>>())
}

pub(crate) fn rows(plan: &Plan) -> Vec<Row> {
    eprintln!("calls inside the daemon");
    let start = Instant::now();
    let catalogue = black_box(Catalogue::default());
    let start_up = start.elapsed().as_secs_f64() * 1e6;
    let mut rows =
        vec![Row::new(15, "start-up of the judge's catalogue, µs").plain(start_up, None)];
    rows.extend(matching(plan.counts.calls));
    rows.push(verdicts(plan.counts.calls, &catalogue));
    rows.extend(lines(plan.counts.calls));
    rows
}

/// A window that no entry covers, so that all are asked.
fn matching(calls: usize) -> [Row; 2] {
    let window = Window {
        class: "Firefox".into(),
        instance: "Navigator".into(),
        title: "How to knit a scarf in an evening — Mozilla Firefox".into(),
        domain: Some("scarves.example.org".into()),
        command: Some("less".into()),
        ..Window::default()
    };
    let entries = |n: usize| (0..n).map(|at| format!("entry {at} of many")).collect::<Vec<_>>();
    let took = |allowed: &Allowed, calls| {
        let matcher = Matcher::new(allowed);
        micros(calls, || {
            black_box(matcher.covers(black_box(&window)));
        })
    };
    let classes = |n| took(&Allowed { window_classes: entries(n), ..Allowed::default() }, calls);
    let all = |n: usize, calls| {
        let list = entries(n / 5);
        let allowed = Allowed {
            window_classes: list.clone(),
            window_titles: list.clone(),
            window_title_substrings: list.clone(),
            domains: list.iter().map(|it| it.replace(' ', "-") + ".example.org").collect(),
            commands: list,
        };
        assert_eq!(Matcher::new(&allowed).covers(&window), None::<Selector>);
        took(&allowed, calls)
    };
    let set = |n: usize| {
        let set: HashSet<String> = entries(n).into_iter().collect();
        micros(calls, || {
            black_box(set.contains(black_box(window.class.as_str())));
        })
    };
    let (few, many) = (10, 10_000);
    [
        Row::new(12, "local match against 10 / 10 000 classes; floor: a hash set, µs")
            .plain(classes(few), Some(set(few)))
            .plain(classes(many), Some(set(many))),
        Row::new(12, "the same, of all five kinds, µs")
            .plain(all(few, calls), None)
            .plain(all(many, calls / 100), None),
    ]
}

fn verdicts(calls: usize, catalogue: &Catalogue) -> Row {
    let (corpus, thresholds) = (corpus(), Thresholds::default());
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let took = corpus.iter().map(|row| {
        let aim = Aim::new(catalogue, &[&text(row, "commitment")], &[]);
        let (class, title) = (text(row, "window_class"), text(row, "window_title"));
        micros(calls / 100, || {
            let title = context_title(black_box(&title));
            black_box(judge_with(catalogue, &thresholds, &aim, &class, &title));
        })
    });
    let took: Vec<_> = took.collect();
    Row::new(13, "a verdict of the embedded judge: p50 / p99, µs")
        .plain(median(&took), None)
        .plain(percentile(&took, 99.0), None)
}

/// The floor is any JSON, whatever it says.
fn lines(calls: usize) -> [Row; 2] {
    let request = r#"{"id":4,"cmd":"start","args":{"text":"draft the report","timebox_secs":1500,"allowed":{"window_classes":["code","Zathura"]}}}"#;
    let state = State {
        window: Some(antidrift_protocol::Window {
            class: "firefox".into(),
            title: "How to knit a scarf".into(),
            ..antidrift_protocol::Window::default()
        }),
        ..State::default()
    };
    let body = EventBody::State(Box::new(state));
    let event = Event { seq: 7, at: Timestamp::from_millis(1_700_000_000_000), body }.to_line();
    let event = event.trim_end();
    let json = |line: &str| {
        micros(calls, || {
            let value: Value = serde_json::from_slice(black_box(line.as_bytes())).unwrap();
            black_box(value);
        })
    };
    let ours = micros(calls, || {
        black_box(Request::parse(black_box(request.as_bytes())).unwrap());
    });
    let theirs = micros(calls, || {
        black_box(Event::parse(black_box(event.as_bytes())).unwrap());
    });
    [
        Row::new(14, "parsing a request; floor: any JSON, µs").plain(ours, Some(json(request))),
        Row::new(14, format!("parsing an event of {} bytes; floor: the same, µs", event.len()))
            .plain(theirs, Some(json(event))),
    ]
}

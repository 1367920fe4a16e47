//! The embedded judge on labelled windows: the figures must not get worse.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/judge_eval/corpus.rs"]
#[allow(dead_code, unreachable_pub, reason = "the evaluation tool uses the rest")]
mod corpus;

use std::path::Path;

use antidrift_daemon::ai::embedded::{Catalogue, Thresholds};
use corpus::{Score, share};

fn score(file: &str) -> Score {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/judge-corpus").join(file);
    let rows = corpus::read(&path).unwrap();
    let catalogue = Catalogue::default();
    let said = rows.iter().map(|row| {
        let opinion = row.opinion(&catalogue, &Thresholds::default(), &row.aim(&catalogue));
        (row, opinion.answer.into())
    });
    Score::of(said)
}

/// At most so many false alarms, at least this share of drift caught, at most this share of it
/// called on task.
#[track_caller]
fn check(file: &str, false_alarms: usize, caught: f64, on_task: f64) {
    let score = score(file);
    let report = score.report();
    assert!(score.false_alarms <= false_alarms, "{file}: too many false alarms\n{report}");
    assert!(share(score.caught, score.drifting) >= caught, "{file}: too little caught\n{report}");
    let missed = share(score.missed_as_on_task, score.drifting);
    assert!(missed <= on_task, "{file}: too much drift called on task\n{report}");
}

#[test]
fn dev() {
    check("dev.jsonl", 1, 0.65, 0.05);
}

#[test]
fn mixed() {
    check("mixed.jsonl", 1, 0.65, 0.05);
}

#[test]
fn eastern() {
    check("eastern.jsonl", 1, 0.65, 0.05);
}

#[test]
fn western() {
    check("western.jsonl", 1, 0.6, 0.05);
}

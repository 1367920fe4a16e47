//! How long the embedded judge takes, and what a start of it costs: `cargo bench --bench embedded`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "it measures")]
#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

#[path = "../examples/judge_eval/corpus.rs"]
#[allow(dead_code, unreachable_pub, reason = "the evaluation tool uses the rest")]
mod corpus;

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use antidrift_daemon::ai::embedded::{Catalogue, Thresholds};

/// Times per window.
const TIMES: usize = 200;

fn main() {
    let start = Instant::now();
    let catalogue = black_box(Catalogue::default());
    println!("{:28} {:>10.1?}", "start-up of the catalogue", start.elapsed());

    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/judge-corpus");
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "jsonl"));
    files.sort();
    let rows: Vec<corpus::Row> =
        files.iter().flat_map(|file| corpus::read(file).unwrap()).collect();

    let (mut aims, mut first, mut warm) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let begin = Instant::now();
        let aim = row.aim(&catalogue);
        aims.push(begin.elapsed());
        let once = || {
            black_box(row.opinion(&catalogue, &Thresholds::default(), &aim));
        };
        let begin = Instant::now();
        once();
        first.push(begin.elapsed());
        let begin = Instant::now();
        (0..TIMES).for_each(|_| once());
        warm.push(begin.elapsed() / u32::try_from(TIMES).unwrap());
    }
    println!("{} windows, {TIMES} times each:", rows.len());
    print("a commitment made ready", aims);
    print("a verdict, the first time", first);
    print("a verdict, repeated", warm);
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 1000];
    println!(
        "{name:28} median {:>8.1?}  p99 {:>8.1?}  longest {:>8.1?}",
        at(500),
        at(990),
        at(1000)
    );
}

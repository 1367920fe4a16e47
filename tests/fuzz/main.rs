//! Hostile input for everything that reads what others wrote. Each target must neither panic nor
//! break its promise, whatever it is given.
//!
//! In the ordinary run each target gets some thousand inputs, always the same. By hand, for as long
//! as wanted and each time others:
//!
//! ```sh
//! ANTIDRIFT_FUZZ_SECS=3600 cargo test --release -p antidrift-tests --test fuzz -- --nocapture
//! ```
//!
//! An input that breaks a target is printed as a line of its corpus, `corpus/TARGET.jsonl`: once it
//! is fixed, it is added there and tried for ever. A line is a JSON string, or `{"latin1": …}` with
//! one character a byte where the input is no UTF-8.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "test code")]
#![allow(clippy::disallowed_methods, reason = "how long it ran is told, and nothing hangs on it")]

mod mutate;
mod targets;

use std::{
    collections::HashSet,
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use mutate::{Random, mutated};
use serde_json::Value;

/// Inputs for each target in the ordinary run.
const INPUTS: u64 = 4000;
/// Most inputs that are built upon.
const MAX_POOL: usize = 4096;

/// What an input came to, in a word: inputs with a new word are built upon.
type Target = fn(&[u8]) -> String;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let file = format!("{}/fuzz/corpus/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(Path::new(&file)).unwrap();
    let inputs = text.lines().map(|line| match serde_json::from_str(line).unwrap() {
        Value::String(text) => text.into_bytes(),
        Value::Object(members) => {
            let text = members["latin1"].as_str().unwrap();
            text.chars().map(|c| u8::try_from(c).unwrap()).collect()
        }
        other => panic!("{name}: {other}"),
    });
    inputs.collect()
}

/// An input as a line of the corpus.
fn line(input: &[u8]) -> String {
    match str::from_utf8(input) {
        Ok(text) => Value::from(text).to_string(),
        Err(_) => {
            let text: String = input.iter().copied().map(char::from).collect();
            serde_json::json!({ "latin1": text }).to_string()
        }
    }
}

fn tried(name: &str, target: Target, input: &[u8]) -> u64 {
    let done = catch_unwind(AssertUnwindSafe(|| target(input)));
    let Ok(word) = done else {
        panic!("{name} breaks on this line for corpus/{name}.jsonl:\n{}", line(input));
    };
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

fn fuzz(name: &str, target: Target) {
    let secs = env::var("ANTIDRIFT_FUZZ_SECS").ok().map(|secs| secs.parse().unwrap());
    let seed = match secs {
        Some(_) => u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()),
        None => 1,
    };
    let mut random = Random::new(seed);
    let mut pool = corpus(name);
    assert!(!pool.is_empty());
    let mut seen: HashSet<u64> = pool.iter().map(|input| tried(name, target, input)).collect();
    let (begin, mut inputs, mut slowest) = (Instant::now(), 0_u64, Duration::ZERO);
    let goes_on = |inputs: u64| match secs {
        Some(secs) => begin.elapsed() < Duration::from_secs(secs),
        None => inputs < INPUTS,
    };
    while goes_on(inputs) {
        let input = mutated(&pool, &mut random);
        let start = Instant::now();
        let is_new = seen.insert(tried(name, target, &input));
        slowest = slowest.max(start.elapsed());
        inputs += 1;
        if is_new && pool.len() < MAX_POOL {
            pool.push(input);
        }
    }
    println!(
        "{name}: {inputs} inputs in {:.0} s (seed {seed}), {} outcomes, the slowest {:.1} ms",
        begin.elapsed().as_secs_f64(),
        seen.len(),
        slowest.as_secs_f64() * 1000.0
    );
}

macro_rules! targets {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            fuzz(stringify!($name), targets::$name);
        }
    )*};
}

targets! { frame request event reply verdict proposal envelope snapshot title config judgement }

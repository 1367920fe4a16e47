//! No debug output holds a title, a reason, or what a person typed: a log line of anything that goes
//! over the wire is safe.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{fmt::Debug, fs, path::Path};

use antidrift_protocol::{
    Allowance, Allowing, Changed, Completed, Event, History, Presets, Proposed, Refocused, Reply,
    Request, Reviewed, Started, Status, Windows,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The members that hold private text, or lists of it.
const PRIVATE: [&str; 14] = [
    "text",
    "next_action",
    "success_condition",
    "note",
    "intent",
    "title",
    "reason",
    "domain",
    "value",
    "window_title",
    "window_title_substring",
    "window_titles",
    "window_title_substrings",
    "domains",
];
const SECRET: &str = "s3cr3t";

/// Reads a line and shows what it read.
type Show = fn(&[u8]) -> String;

/// Puts the secret in the place of every private text, and counts.
fn poison(value: &mut Value, private: bool) -> usize {
    match value {
        Value::String(text) if private => {
            SECRET.clone_into(text);
            1
        }
        Value::Array(entries) => entries.iter_mut().map(|it| poison(it, private)).sum(),
        Value::Object(members) => {
            members.iter_mut().map(|(name, it)| poison(it, PRIVATE.contains(&name.as_str()))).sum()
        }
        _ => 0,
    }
}

fn request(line: &[u8]) -> String {
    format!("{:?}", Request::parse(line).unwrap())
}

fn event(line: &[u8]) -> String {
    format!("{:?}", Event::parse(line).unwrap())
}

fn reply<T: DeserializeOwned + Debug>(line: &[u8]) -> String {
    format!("{:?}", Reply::<T>::parse(line).unwrap())
}

#[test]
fn debug_output_holds_no_private_text() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files: [(&str, Show); 18] = [
        ("request", request),
        ("event", event),
        ("reply.status", reply::<Status>),
        ("reply.start", reply::<Started>),
        ("reply.refocus", reply::<Refocused>),
        ("reply.ontask", reply::<Allowing>),
        ("reply.complete", reply::<Completed>),
        ("reply.end", reply::<Changed>),
        ("reply.pause", reply::<Changed>),
        ("reply.resume", reply::<Changed>),
        ("reply.extend", reply::<Changed>),
        ("reply.detour", reply::<Changed>),
        ("reply.allow", reply::<Allowance>),
        ("reply.windows", reply::<Windows>),
        ("reply.review", reply::<Reviewed>),
        ("reply.history", reply::<History>),
        ("reply.propose", reply::<Proposed>),
        ("reply.presets", reply::<Presets>),
    ];
    let mut poisoned = 0;
    for (file, show) in files {
        let text = fs::read_to_string(golden.join(format!("{file}.jsonl"))).unwrap();
        // The reason of a shutdown is the daemon's own.
        for line in text.lines().filter(|line| !line.contains("\"shutdown\"")) {
            let mut line: Value = serde_json::from_str(line).unwrap();
            poisoned += poison(&mut line, false);
            let shown = show(line.to_string().as_bytes());
            assert!(!shown.contains(SECRET), "{file}: {shown}");
        }
    }
    assert!(poisoned > 50, "only {poisoned} private texts in the golden files");
}

//! The examples of the front page are lines of the protocol.
#![allow(clippy::unwrap_used, reason = "tests")]

use antidrift_protocol::{ErrorCode, Event, EventBody, MAX_LINE, OfWindow, Reply, Request};
use serde_json::{Value, value::RawValue};

const MANUAL: &str = include_str!("../src/lib.rs");

#[test]
fn every_example_is_a_line() {
    let manual: Vec<&str> = MANUAL.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    let mut kinds = [0; 3];
    let mut inside = false;
    for line in manual {
        if line.starts_with("```") {
            inside = line == "```json";
        } else if inside {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let kind = if value.get("cmd").is_some() {
                Request::parse(line.as_bytes()).unwrap();
                0
            } else if value.get("event").is_some() {
                let event = Event::parse(line.as_bytes()).unwrap();
                assert_ne!(event.body, EventBody::Unknown);
                // Whole, with every member in its place.
                assert_eq!(event.to_line().trim_end(), line);
                1
            } else {
                let _ = Reply::<Box<RawValue>>::parse(line.as_bytes()).unwrap();
                2
            };
            kinds[kind] += 1;
        }
    }
    assert!(kinds.iter().all(|&count| count > 2), "{kinds:?}");
}

#[test]
fn what_ontask_takes_of_the_window_is_explained() {
    for of_window in [OfWindow::WindowClass, OfWindow::WindowTitle] {
        let word = serde_json::to_string(&of_window).unwrap();
        let example = format!(r#""args":{{"of_window":{word}}}"#);
        assert!(MANUAL.contains(&example), "{example}");
    }
}

#[test]
fn every_code_is_explained() {
    for code in ErrorCode::KNOWN {
        let code = format!("`{}`", code.as_str());
        let rows = MANUAL.lines().filter(|line| line.starts_with("//! | `"));
        assert!(rows.into_iter().any(|row| row.contains(&code)), "{code}");
    }
    assert_eq!(MAX_LINE, 131_072, "as the manual says");
}

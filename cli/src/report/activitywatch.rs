//! The sessions as an export of ActivityWatch, which its web interface and `aw-client` import.

use antidrift_protocol::{MAX_TEXT, Outcome, Record, Spent, Timestamp, text};
use serde_json::{Map, Value, json};

use super::{Report, stretches};
use crate::render;

/// One line. `host`: what this machine is called.
pub(crate) fn text(report: &Report, host: &str) -> String {
    let host = text::clean(host, 64);
    let id = format!("antidrift_{host}");
    // The newest first, as ActivityWatch has them.
    let events: Vec<Value> = report.sessions.iter().flat_map(events).rev().collect();
    let created = report.sessions.first().map_or(report.days.begin(), |it| it.started_at);
    let mut buckets = Map::new();
    buckets.insert(
        id.clone(),
        json!({
            "id": id,
            "created": created,
            "name": null,
            "type": "antidrift.session",
            "client": "antidrift",
            "hostname": host,
            "data": {},
            "events": events,
        }),
    );
    render::json_line(&json!({ "buckets": buckets }).to_string())
}

/// One for each stretch at the desk.
fn events(record: &Record) -> Vec<Value> {
    let event = |spent: Spent, at: i64, secs: f64| {
        json!({
            "timestamp": Timestamp::from_millis(at),
            "duration": secs,
            "data": {
                "title": text::clean(&record.text, MAX_TEXT),
                "status": spent.as_str(),
                "outcome": record.outcome.map(Outcome::as_str),
            },
        })
    };
    stretches(record)
        .filter(|(spent, ..)| !matches!(spent, Spent::Away | Spent::Paused | Spent::Down))
        .map(|(spent, begin, end)| event(spent, begin, (end - begin) as f64 / 1000.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_stretch_is_an_event() {
        let written: Value = serde_json::from_str(&text(&sample::report(), "desk")).unwrap();
        let golden: Value = serde_json::from_str(include_str!("golden/buckets.json")).unwrap();
        assert_eq!(written, golden, "{written}");
    }

    #[test]
    fn hostile_text_is_cleaned() {
        let line = text(&sample::hostile_report(), "a\nb\u{1b}");
        assert!(!line.contains(char::is_control) && !line.contains("\\u"), "{line:?}");
        let written: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(written["buckets"]["antidrift_a b"]["events"].as_array().unwrap().len(), 6);
    }
}

//! The days for scripts. The shape is told by `antidrift report --help`.

use antidrift_protocol::Spent;
use serde_json::{Map, Value, json};

use super::{OUTCOMES, Report, Totals, spent::KINDS};
use crate::render;

/// One line.
pub(crate) fn text(report: &Report) -> String {
    let days: Vec<Value> = report
        .rows
        .iter()
        .map(|row| {
            let mut day = totals(&row.totals);
            day.insert("date".into(), row.first.to_string().into());
            Value::Object(day)
        })
        .collect();
    let drift: Vec<Value> = report
        .drift
        .iter()
        .map(|(class, secs)| json!({"class": class, "drifting_secs": secs}))
        .collect();
    let outcomes: Map<String, Value> = OUTCOMES
        .into_iter()
        .zip(report.outcomes)
        .map(|(word, n)| (word.to_owned(), n.into()))
        .collect();
    let all = json!({
        "version": 1,
        "from": report.days.first.to_string(),
        "to": report.days.last.to_string(),
        "time_zone": report.days.zone_name(),
        "totals": totals(&report.totals),
        "days": days,
        "drift_by_class": drift,
        "outcomes": outcomes,
        "sessions": report.sessions,
    });
    render::json_line(&all.to_string())
}

fn totals(totals: &Totals) -> Map<String, Value> {
    let mut members = Map::new();
    for (name, value) in [
        ("sessions", totals.sessions),
        ("alerts", totals.alerts),
        ("planned_secs", totals.planned_secs),
        ("actual_secs", totals.actual_secs),
    ] {
        members.insert(name.into(), value.into());
    }
    for kind in KINDS {
        members.insert(member(kind), totals.sums.get(kind).into());
    }
    members
}

/// What the seconds of a kind are called.
pub(super) fn member(spent: Spent) -> String {
    format!("{}_secs", spent.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_shape_is_stable() {
        let line = text(&sample::report());
        assert_eq!(line.lines().count(), 1);
        let written: Value = serde_json::from_str(&line).unwrap();
        let golden: Value = serde_json::from_str(include_str!("golden/report.json")).unwrap();
        assert_eq!(written, golden, "{line}");
    }

    #[test]
    fn hostile_text_stays_what_it_is_and_acts_on_no_terminal() {
        let line = text(&sample::hostile_report());
        assert!(!line.contains(char::is_control) && !line.contains('\u{202e}'), "{line:?}");
        let written: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(written["sessions"][0]["text"], sample::HOSTILE);
        assert_eq!(written["drift_by_class"][0]["class"], sample::HOSTILE);
    }
}

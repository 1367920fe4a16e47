//! The sessions for spreadsheets (RFC 4180).

use antidrift_protocol::{MAX_TEXT, Outcome, text};

use super::{
    Report, actual_secs, json,
    spent::{KINDS, Sums},
};
use crate::clock;

/// With a head, the earliest session first.
pub(crate) fn text(report: &Report) -> String {
    let mut head: Vec<String> = [
        "date",
        "started_at",
        "ended_at",
        "text",
        "next_action",
        "success_condition",
        "outcome",
        "note",
        "planned_secs",
        "actual_secs",
        "alerts",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(KINDS.map(json::member));
    let mut lines = vec![head.join(",")];
    for record in &report.sessions {
        let sums = Sums::of(record);
        let optional = |text: &Option<String>| cell(text.as_deref().unwrap_or(""));
        let mut cells = vec![
            clock::within(&report.days.zone, record.started_at).date().to_string(),
            record.started_at.to_string(),
            record.ended_at.to_string(),
            cell(&record.text),
            optional(&record.next_action),
            optional(&record.success_condition),
            record.outcome.map_or("", Outcome::as_str).to_owned(),
            optional(&record.note),
            record.planned_secs.map_or_else(String::new, |secs| secs.to_string()),
            actual_secs(record).to_string(),
            record.alerts.to_string(),
        ];
        cells.extend(KINDS.map(|kind| sums.get(kind).to_string()));
        lines.push(cells.join(","));
    }
    lines.push(String::new());
    lines.join("\r\n")
}

/// Free text as a cell: one line, and nothing that a spreadsheet would work out.
fn cell(typed: &str) -> String {
    // What begins a formula, also in the forms that are as wide as a Chinese character.
    let works = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠', '|', '%'];
    let mut shown = text::clean(typed, MAX_TEXT);
    if typed.starts_with(works) || shown.starts_with(works) {
        shown.insert(0, '\'');
    }
    if shown.contains(['"', ',', '\n', '\r', ';']) {
        return format!("\"{}\"", shown.replace('"', "\"\""));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_session_is_a_line() {
        assert_eq!(
            text(&sample::report()),
            include_str!("golden/report.csv").replace('\n', "\r\n")
        );
    }

    #[test]
    fn no_cell_is_a_formula_and_none_breaks_out() {
        for (typed, expected) in [
            ("plain", "plain"),
            ("a, b", "\"a, b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\r\nlines", "two lines"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'=1"),
            ("\rx", "'x"),
            (" =1", "'=1"),
            ("\u{feff}=1", "'=1"),
            ("\u{1b}[m=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
            ("＝1", "'＝1"),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("", ""),
        ] {
            assert_eq!(cell(typed), expected, "{typed:?}");
        }
        let hostile = text(&sample::hostile_report());
        assert_eq!(hostile.matches("\r\n").count(), 2);
        assert_eq!(hostile.matches('\r').count(), 2);
    }
}

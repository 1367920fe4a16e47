//! The sessions as lines of a Timewarrior data file.

use antidrift_protocol::{Spent, Timestamp, text};

use super::{Report, stretches};
use crate::clock;

/// Most characters of a tag.
const MAX_TAG: usize = 200;

/// What was worked on is told: a pause, and time away, is a gap. Empty if there is none.
pub(crate) fn text(report: &Report) -> String {
    let mut lines = String::new();
    for record in &report.sessions {
        let tag = tag(&record.text);
        let mut worked: Vec<(i64, i64)> = Vec::new();
        for (spent, begin, end) in stretches(record) {
            if matches!(spent, Spent::Away | Spent::Paused | Spent::Down) {
                continue;
            }
            match worked.last_mut() {
                Some(last) if last.1 == begin => last.1 = end,
                _ => worked.push((begin, end)),
            }
        }
        for (begin, end) in worked {
            let (begin, end) = (instant(begin), instant(end));
            if begin < end {
                lines.push_str(&format!("inc {begin} - {end} # {tag}\n"));
            }
        }
    }
    lines
}

fn instant(millis: i64) -> String {
    let at = clock::within(&jiff::tz::TimeZone::UTC, Timestamp::from_millis(millis));
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// In quotes, which cannot stand in it; nor can what would escape one.
fn tag(typed: &str) -> String {
    let shown = text::clean(typed, MAX_TAG).replace('"', "'").replace('\\', "/");
    format!("\"{}\"", if shown.is_empty() { "antidrift" } else { shown.as_str() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn work_is_told_in_utc_without_its_gaps() {
        assert_eq!(
            text(&sample::report()),
            "inc 20261201T180000Z - 20261201T182500Z # \"read the minutes\"\n\
             inc 20261203T090000Z - 20261203T093500Z # \"draft the report\"\n\
             inc 20261203T094000Z - 20261203T094200Z # \"draft the report\"\n\
             inc 20261203T095000Z - 20261203T095500Z # \"draft the report\"\n\
             inc 20261203T095600Z - 20261203T100000Z # \"draft the report\"\n\
             inc 20261205T233000Z - 20261206T003000Z # \"review chapter 2\"\n"
        );
    }

    #[test]
    fn a_tag_holds_no_quote_and_no_line_break() {
        assert_eq!(tag("a \"b\" \\\nc\u{1b}[m"), "\"a 'b' / c\"");
        assert_eq!(tag("\u{0}"), "\"antidrift\"");
        let hostile = text(&sample::hostile_report());
        assert_eq!(hostile.lines().count(), 4);
        for line in hostile.lines() {
            assert!(line.starts_with("inc 2026") && line.matches('"').count() == 2, "{line}");
        }
    }
}

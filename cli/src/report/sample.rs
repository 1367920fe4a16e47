//! Sessions for the tests.

use antidrift_protocol::{
    AlertAnswer, ClearedWhy, Outcome, Record, Share, Spent, Stretch, Timestamp,
};
use jiff::tz::TimeZone;

use super::{Days, Period, Report};

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn stretch(spent: Spent, secs: u64) -> Stretch {
    Stretch { spent, secs }
}

fn share(name: &str, ontask_secs: u64, drifting_secs: u64, other_secs: u64) -> Share {
    Share { name: name.into(), ontask_secs, drifting_secs, other_secs }
}

/// One with something of everything.
pub(crate) fn record() -> Record {
    use Spent::{Away, Detour, Down, Drifting, Ontask, Other, Paused};
    let answer = |at_: &str, class: &str, why, secs| AlertAnswer {
        at: at(at_),
        class: class.into(),
        why,
        secs,
    };
    Record {
        started_at: at("2026-12-03T09:00:00Z"),
        ended_at: at("2026-12-03T10:00:00Z"),
        text: "draft the report".into(),
        next_action: Some("outline section 2".into()),
        success_condition: Some("sent to Ann".into()),
        planned_secs: Some(3000),
        outcome: Some(Outcome::Done),
        note: Some("it was sent".into()),
        alerts: 2,
        timeline: vec![
            stretch(Ontask, 1200),
            stretch(Drifting, 300),
            stretch(Ontask, 600),
            stretch(Away, 300),
            stretch(Other, 120),
            stretch(Paused, 480),
            stretch(Detour, 300),
            stretch(Down, 60),
            stretch(Ontask, 240),
        ],
        classes: vec![
            share("libreoffice-writer", 2040, 0, 0),
            share("Navigator", 0, 300, 60),
            share("", 0, 0, 60),
        ],
        titles: Vec::new(),
        answers: vec![
            answer("2026-12-03T09:20:10Z", "Navigator", ClearedWhy::Refocus, 40),
            answer("2026-12-03T09:22:00Z", "Navigator", ClearedWhy::Moved, 180),
        ],
    }
}

/// All text that does harm somewhere.
pub(crate) const HOSTILE: &str =
    "=1+1\u{1b}]0;x\u{7}\u{202e}<script>&\"'\\ ]]>\r\n,;\u{0}\u{fffe}#\u{85}{%";

pub(crate) fn hostile() -> Record {
    let record = record();
    let named = |it: &Share| Share { name: HOSTILE.into(), ..it.clone() };
    Record {
        started_at: at("2026-12-04T09:00:00Z"),
        ended_at: at("2026-12-04T10:00:00Z"),
        text: HOSTILE.into(),
        note: Some(HOSTILE.into()),
        success_condition: Some(HOSTILE.into()),
        classes: record.classes.iter().map(named).collect(),
        titles: record.classes.iter().map(named).collect(),
        answers: record
            .answers
            .iter()
            .map(|it| AlertAnswer { class: HOSTILE.into(), ..it.clone() })
            .collect(),
        ..record
    }
}

/// One without a plan, a word on how it went, or a timeline.
pub(crate) fn bare() -> Record {
    Record {
        started_at: at("2026-12-01T18:00:00Z"),
        ended_at: at("2026-12-01T18:25:00Z"),
        text: "read the minutes".into(),
        ..Record::default()
    }
}

/// One over midnight.
pub(crate) fn late() -> Record {
    Record {
        started_at: at("2026-12-05T23:30:00Z"),
        ended_at: at("2026-12-06T00:30:00Z"),
        text: "review chapter 2".into(),
        planned_secs: Some(5400),
        outcome: Some(Outcome::Partial),
        timeline: vec![stretch(Spent::Ontask, 2700), stretch(Spent::Drifting, 900)],
        classes: vec![share("libreoffice-writer", 2700, 0, 0), share("mpv", 0, 900, 0)],
        ..record()
    }
}

pub(crate) fn days(period: Period) -> Days {
    Days::new(period, at("2026-12-07T12:00:00Z"), TimeZone::UTC)
}

/// A week of it all, but for what is hostile.
pub(crate) fn report() -> Report {
    Report::new(days(Period::Days(7)), vec![late(), record(), bare()])
}

pub(crate) fn hostile_report() -> Report {
    Report::new(days(Period::Days(7)), vec![hostile()])
}

//! Looking back: what the sessions of some days come to, and how that is shown. Nothing in here reads
//! a clock or talks to anybody.
//!
//! - `spent`: what time was spent on;
//! - `review`: one session;
//! - `text`, `svg`, `json`, `csv`, `timewarrior`, `activitywatch`: the days, for each reader.

pub(crate) mod activitywatch;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod review;
pub(crate) mod spent;
pub(crate) mod svg;
pub(crate) mod text;
pub(crate) mod timewarrior;

#[cfg(test)]
pub(crate) mod sample;

use std::collections::BTreeMap;

use antidrift_protocol::{Outcome, Record, Spent, Timestamp};
use jiff::{
    ToSpan as _,
    civil::{Date, Time},
    tz::TimeZone,
};

use crate::clock;
use spent::Sums;

/// Most rows that days are shown in; of more, each row is a week.
const MAX_DAY_ROWS: usize = 62;

/// Days on the calendar of a time zone.
#[derive(Clone, Debug)]
pub(crate) struct Days {
    pub(crate) zone: TimeZone,
    pub(crate) first: Date,
    pub(crate) last: Date,
}

/// What is reported on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Week,
    Month,
    Days(u16),
}

impl Days {
    pub(crate) fn new(period: Period, now: Timestamp, zone: TimeZone) -> Self {
        let last = clock::within(&zone, now).date();
        let first = match period {
            Period::Week => {
                let since_monday = i64::from(last.weekday().to_monday_zero_offset());
                last.saturating_sub(since_monday.days())
            }
            Period::Month => last.first_of_month(),
            Period::Days(days) => last.saturating_sub((i64::from(days.max(1)) - 1).days()),
        };
        Self { zone, first, last }
    }

    /// When they begin.
    pub(crate) fn begin(&self) -> Timestamp {
        self.begin_of(self.first)
    }

    /// When they are over.
    pub(crate) fn end(&self) -> Timestamp {
        self.last.tomorrow().map_or(Timestamp::from_millis(i64::MAX), |date| self.begin_of(date))
    }

    fn begin_of(&self, date: Date) -> Timestamp {
        let midnight = date.to_datetime(Time::midnight());
        // A day begins later where the clock leaps over midnight.
        let at = self.zone.to_ambiguous_zoned_datetime(midnight).compatible();
        // Beyond the calendar's ends.
        let far = if date.year() > 1 { i64::MAX } else { i64::MIN };
        Timestamp::from_millis(at.map_or(far, |at| at.timestamp().as_millisecond()))
    }

    fn dates(&self) -> Vec<Date> {
        let mut dates = vec![self.first];
        while let Some(Ok(next)) =
            dates.last().filter(|&&it| it < self.last).map(|it| it.tomorrow())
        {
            dates.push(next);
        }
        dates
    }

    /// What the zone is called.
    pub(crate) fn zone_name(&self) -> String {
        let name = self.zone.iana_name().map(str::to_owned);
        name.unwrap_or_else(|| self.zone.to_offset(jiff_time(self.begin())).to_string())
    }
}

fn jiff_time(at: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default()
}

/// Sums of a day, or of several.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) first: Date,
    pub(crate) last: Date,
    pub(crate) totals: Totals,
}

/// What sessions come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) sessions: u64,
    pub(crate) alerts: u64,
    /// Of those with a timebox.
    pub(crate) planned_secs: u64,
    /// Of all.
    pub(crate) actual_secs: u64,
    pub(crate) sums: Sums,
}

impl Totals {
    fn add(&mut self, more: &Self) {
        self.sessions = self.sessions.saturating_add(more.sessions);
        self.alerts = self.alerts.saturating_add(more.alerts);
        self.planned_secs = self.planned_secs.saturating_add(more.planned_secs);
        self.actual_secs = self.actual_secs.saturating_add(more.actual_secs);
        self.sums.add_all(&more.sums);
    }
}

/// What the days come to.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) days: Days,
    /// One a day.
    pub(crate) rows: Vec<Row>,
    pub(crate) totals: Totals,
    /// Drift by window class, the most first. What found no room has no name.
    pub(crate) drift: Vec<(String, u64)>,
    /// Done, partial, abandoned, and nothing said.
    pub(crate) outcomes: [u64; 4],
    /// The earliest first.
    pub(crate) sessions: Vec<Record>,
}

/// What each of [`Report::outcomes`] is called.
pub(crate) const OUTCOMES: [&str; 4] = ["done", "partial", "abandoned", "unsaid"];

impl Report {
    pub(crate) fn new(days: Days, mut sessions: Vec<Record>) -> Self {
        sessions.sort_by_key(|record| record.started_at);
        let row = |date| Row { first: date, last: date, totals: Totals::default() };
        let mut rows: Vec<Row> = days.dates().into_iter().map(row).collect();
        // When each row is over.
        let mut ends: Vec<i64> =
            rows.iter().skip(1).map(|row| days.begin_of(row.first).as_millis()).collect();
        ends.push(i64::MAX);
        let mut drift = BTreeMap::<&str, u64>::new();
        let mut outcomes = [0; 4];
        for record in &sessions {
            let began = ends.partition_point(|&end| end <= record.started_at.as_millis());
            let totals = &mut rows[began].totals;
            totals.add(&Totals {
                sessions: 1,
                alerts: record.alerts,
                planned_secs: record.planned_secs.unwrap_or(0),
                actual_secs: actual_secs(record),
                sums: Sums::default(),
            });
            for (spent, begin, end) in stretches(record) {
                spread(&mut rows, &ends, spent, begin, end);
            }
            for share in record.classes.iter().filter(|share| share.drifting_secs > 0) {
                let sum = drift.entry(&share.name).or_default();
                *sum = sum.saturating_add(share.drifting_secs);
            }
            outcomes[match record.outcome {
                Some(Outcome::Done) => 0,
                Some(Outcome::Partial) => 1,
                Some(Outcome::Abandoned) => 2,
                Some(Outcome::Unknown) | None => 3,
            }] += 1;
        }
        let mut drift: Vec<_> =
            drift.into_iter().map(|(name, secs)| (name.to_owned(), secs)).collect();
        drift.sort_by_key(|&(_, secs)| std::cmp::Reverse(secs));
        let mut totals = Totals::default();
        rows.iter().for_each(|row| totals.add(&row.totals));
        Self { days, rows, totals, drift, outcomes, sessions }
    }

    /// The days as they are shown, and what of them a row is: by the week where there are many.
    pub(crate) fn shown_rows(&self) -> (&'static str, Vec<Row>) {
        if self.rows.len() <= MAX_DAY_ROWS {
            return ("day", self.rows.clone());
        }
        let week = |days: &[Row]| {
            let mut sum = days[0].clone();
            for day in &days[1..] {
                sum.last = day.last;
                sum.totals.add(&day.totals);
            }
            sum
        };
        let is_monday = |row: &Row| row.first.weekday() == jiff::civil::Weekday::Monday;
        ("week", self.rows.chunk_by(|_, next| !is_monday(next)).map(week).collect())
    }
}

impl Row {
    /// `Tue  1 Dec`, or for a week its first day.
    pub(crate) fn name(&self) -> String {
        let format = if self.first == self.last { "%a %e %b" } else { "from %e %b" };
        self.first.strftime(format).to_string()
    }
}

/// How long a session took, in seconds: by its stretches, which no clock that was set has moved.
pub(crate) fn actual_secs(record: &Record) -> u64 {
    Sums::of(record).all()
}

/// The stretches of a session with begin and end in milliseconds.
pub(crate) fn stretches(record: &Record) -> impl Iterator<Item = (Spent, i64, i64)> {
    let mut at = record.started_at.as_millis();
    spent::timeline(record).into_iter().filter_map(move |(spent, secs)| {
        let begin = at;
        let millis = i64::try_from(secs.saturating_mul(1000)).unwrap_or(i64::MAX);
        at = Timestamp::from_millis(begin.saturating_add(millis)).as_millis();
        (at > begin).then_some((spent, begin, at))
    })
}

/// Books a stretch under the days that it is in.
fn spread(rows: &mut [Row], ends: &[i64], spent: Spent, begin: i64, end: i64) {
    let first = ends.partition_point(|&it| it <= begin);
    let mut begin = begin;
    for (row, &row_end) in rows.iter_mut().zip(ends).skip(first) {
        let part = row_end.min(end);
        // By whole seconds, so that the parts add up.
        let secs = part.div_euclid(1000) - begin.div_euclid(1000);
        row.totals.sums.add(spent, u64::try_from(secs).unwrap_or(0));
        begin = part;
        if begin >= end {
            return;
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

//! The days for a person at a terminal.

use antidrift_protocol::{Record, Spent};

use super::{
    OUTCOMES, Report, Row, actual_secs, review,
    spent::{self, Sums},
};
use crate::{clock, duration, render, render::Paint, width};

/// Columns of the bars.
const BAR: usize = 32;
/// Most sessions, the latest, and most classes.
const MAX_ROWS: usize = 20;
/// Most columns of a commitment.
const MAX_TEXT: usize = 40;

pub(crate) fn text(report: &Report, paint: Paint) -> String {
    let mut lines = vec![paint.strong(&headline(report))];
    if report.sessions.is_empty() {
        return lines.remove(0);
    }
    lines.extend(review::legend(&report.totals.sums, paint));
    let (each, rows) = report.shown_rows();
    lines.extend(["".to_owned(), format!("focus per {each}")]);
    lines.extend(days(&rows, paint));
    if !report.drift.is_empty() {
        lines.extend(["".to_owned(), "drift by class".to_owned()]);
        lines.extend(drift(report, paint));
    }
    lines.extend(["".to_owned(), "planned against actual".to_owned()]);
    lines.extend(sessions(report, paint));
    lines.extend(["".to_owned(), outcomes(report)]);
    lines.join("\n")
}

/// What it is about, in a line.
pub(super) fn headline(report: &Report) -> String {
    let (first, last) = (report.days.first, report.days.last);
    let days = if first == last {
        first.strftime("%a %-d %b %Y").to_string()
    } else {
        format!("{} to {}", first.strftime("%a %-d %b"), last.strftime("%a %-d %b %Y"))
    };
    let totals = &report.totals;
    match totals.sessions {
        0 => format!("{days}: no session is over"),
        1 => format!("{days}: 1 session, {}", duration::words(totals.actual_secs)),
        n => format!("{days}: {n} sessions, {}", duration::words(totals.actual_secs)),
    }
}

fn days(rows: &[Row], paint: Paint) -> Vec<String> {
    let most = rows.iter().map(|row| row.totals.sums.all()).max().unwrap_or(0);
    let line = |row: &Row| {
        let name = width::fill(&row.name(), 12);
        let sums = &row.totals.sums;
        let Some(focus) = sums.focus() else {
            let bar = stacked(sums, most, paint);
            let told = if row.totals.sessions > 0 || sums.all() > 0 { "" } else { "–" };
            return format!("  {name} {bar}{told}").trim_end().to_owned();
        };
        let ontask = duration::words(sums.get(Spent::Ontask));
        format!("  {name} {}  {ontask} on task, {focus} %", stacked(sums, most, paint))
    };
    rows.iter().map(line).collect()
}

/// All kinds in a row, as long as they are against the longest.
fn stacked(sums: &Sums, most: u64, paint: Paint) -> String {
    let (bar, all) = (BAR as u128, u128::from(sums.all()));
    let length = (all * bar).div_ceil(u128::from(most.max(1))).min(bar);
    let parts: Vec<_> = sums.some().collect();
    let cells = spent::cells(&parts, usize::try_from(length).unwrap_or(BAR));
    cells.chunk_by(|a, b| a == b).map(|run| review::painted(run[0], run.len(), paint)).collect()
}

fn drift(report: &Report, paint: Paint) -> Vec<String> {
    let shown = &report.drift[..report.drift.len().min(MAX_ROWS)];
    let names: Vec<String> = shown.iter().map(|(name, _)| review::named(name)).collect();
    let wide = review::widest(&names);
    let most = shown.first().map_or(0, |&(_, secs)| secs);
    let line = |(&(_, secs), name): (&(String, u64), &String)| {
        let length = (u128::from(secs) * BAR as u128).div_ceil(u128::from(most.max(1)));
        let bar = review::painted(Spent::Drifting, usize::try_from(length).unwrap_or(BAR), paint);
        format!("  {}  {bar}  {}", width::fill(name, wide), duration::words(secs))
    };
    let mut lines: Vec<String> = shown.iter().zip(&names).map(line).collect();
    if report.drift.len() > shown.len() {
        lines.push(format!("  and {} more", report.drift.len() - shown.len()));
    }
    lines
}

fn sessions(report: &Report, paint: Paint) -> Vec<String> {
    let earlier = report.sessions.len().saturating_sub(MAX_ROWS);
    let shown = &report.sessions[earlier..];
    let texts: Vec<String> =
        shown.iter().map(|it| width::cut(&render::typed(&it.text), MAX_TEXT)).collect();
    let wide = review::widest(&texts);
    let zone = &report.days.zone;
    let line = |(record, text): (&Record, &String)| {
        let begin = clock::within(zone, record.started_at).strftime("%a %e %b %H:%M").to_string();
        let word = record.outcome.map_or("", antidrift_protocol::Outcome::as_str);
        let line =
            format!("  {begin}  {}  {}  {word}", width::fill(text, wide), against(record, paint));
        line.trim_end().to_owned()
    };
    let mut lines = Vec::new();
    if earlier > 0 {
        lines.push(paint.dim(&format!("  {earlier} earlier ones are left out")));
    }
    lines.extend(shown.iter().zip(&texts).map(line));
    lines
}

/// `31 min of 25 min, 6 min over`
fn against(record: &Record, paint: Paint) -> String {
    let actual = actual_secs(record);
    let told = duration::words(actual);
    let Some(planned) = record.planned_secs else { return told };
    let told = format!("{told} of {}", duration::words(planned));
    match actual.saturating_sub(planned) {
        0..60 => told,
        over => format!("{told}, {}", paint.alarm(&format!("{} over", duration::words(over)))),
    }
}

/// `3 done, 1 partial, 2 unsaid`
pub(super) fn outcomes(report: &Report) -> String {
    let told = report.outcomes.iter().zip(OUTCOMES).filter(|&(&n, _)| n > 0);
    let told: Vec<String> = told.map(|(n, word)| format!("{n} {word}")).collect();
    format!("outcomes: {}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Period, sample};

    #[test]
    fn the_days_are_shown_for_reading() {
        let plain = text(&sample::report(), Paint::new(false));
        assert_eq!(plain, include_str!("golden/report.txt").trim_end());
        assert!(text(&sample::report(), Paint::new(true)).contains("\u{1b}[32m█"));
    }

    #[test]
    fn nothing_is_a_line_and_hostile_text_has_no_escapes() {
        let none = Report::new(sample::days(Period::Days(1)), Vec::new());
        assert_eq!(text(&none, Paint::new(false)), "Mon 7 Dec 2026: no session is over");
        let hostile = text(&sample::hostile_report(), Paint::new(false));
        assert!(!hostile.contains(|c: char| c.is_control() && c != '\n'), "{hostile:?}");
        assert!(!hostile.contains('\u{202e}'), "{hostile:?}");
    }
}

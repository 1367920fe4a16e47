//! One session, as it is looked back on.

use antidrift_protocol::{ClearedWhy, Record, Share, Spent};

use super::{
    actual_secs,
    spent::{self, Sums},
};
use crate::{clock::Local, duration, render, render::Paint, width};

/// Most columns of the bar.
const MAX_BAR: usize = 72;
/// Most alerts and most windows that are shown: the latest, and those with the most time.
const MAX_ROWS: usize = 12;
/// Most columns of a class.
const MAX_CLASS: usize = 24;

/// The whole review. `columns`: of the terminal, if it is one.
pub(crate) fn text(record: &Record, columns: Option<usize>, paint: Paint, local: Local) -> String {
    let mut lines = vec![paint.strong(&render::typed(&record.text))];
    let mut row = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
    if let Some(success) = &record.success_condition {
        row("done when", render::typed(success));
    }
    row("time", time(record, local));
    row("outcome", outcome(record));
    let bar = bar(record, columns.map_or(MAX_BAR, |it| it.saturating_sub(3)).min(MAX_BAR), paint);
    if !bar.is_empty() {
        lines.push(String::new());
        lines.push(format!("  {bar}"));
    }
    lines.extend(legend(&Sums::of(record), paint));
    section(&mut lines, &alerts_head(record), alerts(record, local));
    section(&mut lines, "windows", shares(&record.classes));
    section(&mut lines, "titles", shares(&record.titles));
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, head: &str, rows: Vec<String>) {
    if !head.is_empty() && !rows.is_empty() {
        lines.push(String::new());
        lines.push(head.to_owned());
        lines.extend(rows);
    }
}

fn time(record: &Record, local: Local) -> String {
    let planned = record
        .planned_secs
        .map_or_else(String::new, |secs| format!(" of {} planned", duration::words(secs)));
    let (begin, end) = (record.started_at, record.ended_at);
    format!(
        "{}{planned}, {} to {}",
        duration::words(actual_secs(record)),
        local(begin).strftime("%a %e %b %H:%M"),
        render::time_of_day(begin, end, local)
    )
}

/// The user's word and note.
pub(super) fn outcome(record: &Record) -> String {
    let word = record.outcome.map_or("nothing said yet", antidrift_protocol::Outcome::as_str);
    match record.note.as_deref().map(render::message).filter(|note| !note.is_empty()) {
        Some(note) => format!("{word}, «{note}»"),
        None => word.to_owned(),
    }
}

/// The session from start to end.
fn bar(record: &Record, columns: usize, paint: Paint) -> String {
    let cells = spent::cells(&spent::timeline(record), columns);
    cells.chunk_by(|a, b| a == b).map(|run| painted(run[0], run.len(), paint)).collect()
}

/// So many signs of a kind.
pub(super) fn painted(spent: Spent, signs: usize, paint: Paint) -> String {
    let text = spent::sign(spent).to_string().repeat(signs);
    match spent {
        Spent::Ontask => paint.good(&text),
        Spent::Drifting => paint.alarm(&text),
        Spent::Detour => paint.aside(&text),
        _ => paint.dim(&text),
    }
}

/// What the signs mean, with what each comes to.
pub(super) fn legend(sums: &Sums, paint: Paint) -> Vec<String> {
    let all = sums.all();
    let line = |(kind, secs): (Spent, u64)| {
        let (part, all) = (u128::from(secs), u128::from(all.max(1)));
        let percent = (part * 200 + all) / (all * 2);
        format!(
            "  {} {:<9}  {:>10}  {percent:>3} %",
            painted(kind, 1, paint),
            spent::word(kind),
            duration::words(secs)
        )
    };
    sums.some().map(line).collect()
}

fn alerts_head(record: &Record) -> String {
    let shown = record.answers.len().min(MAX_ROWS) as u64;
    match record.alerts.max(shown) {
        all if all > shown => format!("the last {shown} of {all} alerts"),
        1 => "1 alert".to_owned(),
        all => format!("{all} alerts"),
    }
}

fn alerts(record: &Record, local: Local) -> Vec<String> {
    let latest = record.answers.len().saturating_sub(MAX_ROWS);
    let shown = &record.answers[latest..];
    let classes: Vec<String> = shown.iter().map(|it| named(&it.class)).collect();
    let width = widest(&classes);
    let line = |(it, class): (&antidrift_protocol::AlertAnswer, &String)| {
        let why = answer(it.why);
        let time = render::time_of_day(record.started_at, it.at, local);
        format!("  {time}  {}  {why} after {}", width::fill(class, width), duration::words(it.secs))
    };
    shown.iter().zip(&classes).map(line).collect()
}

fn answer(why: ClearedWhy) -> &'static str {
    match why {
        ClearedWhy::Ontask => "this is on task",
        ClearedWhy::Refocus => "back to task",
        ClearedWhy::Moved => "left",
        ClearedWhy::Completed => "end of the session",
        ClearedWhy::Reverdict => "judged otherwise",
        ClearedWhy::Away => "away",
        ClearedWhy::Paused => "paused",
        ClearedWhy::Shutdown => "end of the daemon",
        ClearedWhy::Unknown => "over",
    }
}

/// A class or title; those that share an account have no name.
pub(super) fn named(name: &str) -> String {
    let shown = width::cut(&render::title(name), MAX_CLASS);
    if shown.is_empty() { "(others)".to_owned() } else { shown }
}

pub(super) fn widest(names: &[String]) -> usize {
    names.iter().map(|name| width::of(name)).max().unwrap_or(0)
}

fn shares(shares: &[Share]) -> Vec<String> {
    let timed = |it: &&Share| it.ontask_secs > 0 || it.drifting_secs > 0 || it.other_secs > 0;
    let timed: Vec<&Share> = shares.iter().filter(timed).collect();
    let shown = &timed[..timed.len().min(MAX_ROWS)];
    let names: Vec<String> = shown.iter().map(|it| named(&it.name)).collect();
    let width = widest(&names);
    let line = |(share, name): (&&Share, &String)| {
        let kinds = [
            (Spent::Ontask, share.ontask_secs),
            (Spent::Drifting, share.drifting_secs),
            (Spent::Other, share.other_secs),
        ];
        let told = kinds.into_iter().filter(|&(_, secs)| secs > 0);
        let told =
            told.map(|(kind, secs)| format!("{} {}", spent::word(kind), duration::words(secs)));
        let told: Vec<String> = told.collect();
        format!("  {}  {}", width::fill(name, width), told.join(", "))
    };
    let mut lines: Vec<String> = shown.iter().zip(&names).map(line).collect();
    if timed.len() > shown.len() {
        lines.push(format!("  and {} more", timed.len() - shown.len()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::tests::utc, report::sample};

    #[test]
    fn a_session_is_shown_with_its_timeline_sums_alerts_and_windows() {
        let plain = text(&sample::record(), None, Paint::new(false), utc);
        assert_eq!(plain, include_str!("golden/review.txt").trim_end());
        let narrow = text(&sample::record(), Some(23), Paint::new(true), utc);
        let bar = narrow.lines().find(|line| line.contains('▒')).unwrap();
        assert!(bar.contains("\u{1b}[32m█") && bar.contains("\u{1b}[1;33m▒"), "{bar:?}");
        let signs = |bar: &str| bar.chars().filter(|c| "█▒─~=·×".contains(*c)).count();
        assert_eq!(signs(bar), 20);
    }

    #[test]
    fn what_is_not_there_leaves_no_lines_and_hostile_text_no_escapes() {
        let bare = Record { text: "x".into(), ..Record::default() };
        let shown = text(&bare, None, Paint::new(false), utc);
        assert_eq!(
            shown,
            "x\n  time      0 s, Thu  1 Jan 00:00 to 00:00\n  outcome   nothing said yet"
        );
        let hostile = text(&sample::hostile(), Some(0), Paint::new(false), utc);
        assert!(!hostile.contains(|c: char| c.is_control() && c != '\n'), "{hostile:?}");
        assert!(!hostile.contains('\u{202e}'), "{hostile:?}");
    }
}

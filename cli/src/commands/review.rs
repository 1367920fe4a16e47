//! `antidrift review`

use antidrift_protocol::{Command, GiveReview, Outcome, Record, Reviewed};
use rustix::{
    stdio,
    termios::{QueueSelector, tcflush},
};

use super::{Daemon, edit};
use crate::{args, clock, exit::Failure, out, render, report, width};

const NOTHING_NOTED: &str = "nothing was noted";

pub(super) fn run(daemon: &Daemon, args: args::Review) -> Result<(), Failure> {
    let mut given = GiveReview { outcome: args.outcome.map(Into::into), note: args.note };
    super::check(&Command::Review(given.clone()))?;
    if given == GiveReview::default() && edit::can_ask() {
        let record = ask(daemon, GiveReview::default())?;
        show(&record)?;
        given = questions(&record)?;
        super::check(&Command::Review(given.clone()))?;
        if given == GiveReview::default() {
            return Ok(());
        }
        let record = ask(daemon, given)?;
        return out::print(&said(&record));
    }
    show(&ask(daemon, given)?)
}

fn ask(daemon: &Daemon, given: GiveReview) -> Result<Record, Failure> {
    let reviewed: Reviewed = daemon.ask(Command::Review(given))?;
    super::warn_unless(reviewed.saved, reviewed.warning.as_deref());
    Ok(reviewed.record)
}

fn show(record: &Record) -> Result<(), Failure> {
    if let Err(why) = clock::zone() {
        out::warn(&format!("{why}; times are in UTC"));
    }
    out::print(&report::review::text(record, width::of_terminal(), super::paint(), clock::local))
}

/// What is answered otherwise than it was.
fn questions(record: &Record) -> Result<GiveReview, Failure> {
    // A key that was pressed before the question was there answers nothing.
    let _ = tcflush(stdio::stdin(), QueueSelector::IFlush);
    out::print("")?;
    let mut form = edit::Form::new(NOTHING_NOTED)?;
    let known = record.outcome.filter(|it| *it != Outcome::Unknown);
    let outcome = loop {
        let typed = form.ask("done, partial or abandoned", known.map_or("", Outcome::as_str))?;
        if typed.is_empty() {
            break None;
        }
        match outcome(&typed) {
            Some(outcome) => break Some(outcome),
            None => out::complain("say done, partial or abandoned, or nothing at all"),
        }
    };
    let shown = record.note.as_deref().map(render::message).unwrap_or_default();
    let note = form.ask("note", &shown)?;
    Ok(GiveReview {
        outcome: outcome.filter(|outcome| Some(*outcome) != known),
        note: Some(note).filter(|note| *note != shown),
    })
}

/// A word, or as much of its beginning as was typed.
fn outcome(typed: &str) -> Option<Outcome> {
    let typed = typed.to_lowercase();
    Outcome::KNOWN.iter().copied().find(|outcome| outcome.as_str().starts_with(&typed))
}

fn said(record: &Record) -> String {
    let word = record.outcome.map_or("noted", Outcome::as_str);
    match record.note.as_deref().map(render::message).filter(|note| !note.is_empty()) {
        Some(note) => format!("{word}, «{note}»"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_known_by_its_beginning() {
        for (typed, expected) in [
            ("d", Some(Outcome::Done)),
            ("DONE", Some(Outcome::Done)),
            ("part", Some(Outcome::Partial)),
            ("abandoned", Some(Outcome::Abandoned)),
            ("donee", None),
            ("x", None),
        ] {
            assert_eq!(outcome(typed), expected, "{typed}");
        }
    }
}

//! `antidrift start`

use antidrift_protocol::{Allowed, Command, JudgeStatus, Start, Started};

use super::Daemon;
use crate::{args, duration, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: args::Start) -> Result<(), Failure> {
    let start = Start {
        text: args.text.join(" "),
        next_action: args.next,
        success_condition: args.success,
        timebox_secs: args.timebox,
        allowed: Allowed {
            window_classes: entries(args.allow),
            window_titles: Vec::new(),
            window_title_substrings: args.allow_title,
            domains: entries(args.allow_domain),
            commands: entries(args.allow_command),
        },
    };
    let command = Command::Start(start);
    super::check(&command)?;
    let started: Started = daemon.ask(command)?;
    super::warn_unless(started.saved, started.warning.as_deref());
    out::print(&text(&started))
}

/// Entries of a list with commas: blanks around them and a last comma mean nothing.
fn entries(list: Vec<String>) -> Vec<String> {
    list.iter().map(|entry| entry.trim()).filter(|e| !e.is_empty()).map(str::to_owned).collect()
}

fn text(started: &Started) -> String {
    let state = &started.state;
    let paint = super::paint();
    let mut lines = Vec::new();
    if let Some(commitment) = &state.commitment {
        let timebox = commitment
            .timebox_secs
            .map_or_else(String::new, |secs| format!(" ({})", duration::words(secs)));
        lines.push(format!("started: {}{timebox}", paint.strong(&render::typed(&commitment.text))));
    } else {
        lines.push("started".to_owned());
    }
    let allowed = state.allowed.clone().unwrap_or_default();
    for (name, list) in render::allowed(&allowed) {
        lines.push(format!("on task: {name} {list}"));
    }
    for note in &started.notes {
        lines.push(format!("note: {}", render::message(note)));
    }
    if state.judge.status == JudgeStatus::Off {
        let what = if allowed.size() == 0 {
            "there is no judge and nothing is allowed, so nothing can be told yet; allow windows \
             with `antidrift ontask`, or set a judge in the configuration"
        } else {
            "there is no judge, so only what is allowed is recognised"
        };
        lines.push(format!("note: {what}"));
    }
    lines.join("\n")
}

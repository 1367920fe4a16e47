//! `antidrift start`

use antidrift_protocol::{
    Allowed, Command, NoArgs, Phase, Proposal, Proposed, Start, Started, Status,
};

use super::{Daemon, edit, entries, preset};
use crate::{args, duration, exit::Failure, out, render};

/// What it leaves undone to cancel.
pub(super) const NOTHING_STARTED: &str = "nothing was started";

pub(super) fn run(daemon: &Daemon, mut args: args::Start) -> Result<(), Failure> {
    let preset = preset::named(&mut args.text)?;
    if preset.is_some() && args.again {
        let message = "--again begins as the last session did; leave it or the preset out";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut start = typed(&args)?;
    if preset.is_some() || args.again {
        let from = preset::find(daemon, preset.as_deref())?;
        preset::fill_in(&mut start, from);
    }
    // A blank text was typed, and is refused below.
    if start.text.is_empty() && args.text.is_empty() {
        if !edit::can_ask() {
            let message = "say what you set out to do, as in: antidrift start draft the report";
            return Err(Failure::Usage(message.to_owned()));
        }
        // Nobody shall type in vain.
        if is_active(daemon)? {
            let message = "a session is active already; end it with antidrift complete first";
            return Err(Failure::Undone(message.to_owned()));
        }
        edit::commitment(&mut start, &args)?;
    }
    if args.coach {
        // What is typed wrong is said before a model is asked.
        super::check(&Command::Start(start.clone()))?;
        // While a session is active the daemon refuses, and nobody need wait for a model to be told so.
        if !is_active(daemon)? {
            let proposal = coached(daemon, &args, &start.text)?;
            fill_in(&mut start, proposal);
        }
    }
    let command = Command::Start(start);
    super::check(&command)?;
    let started: Started = daemon.ask(command)?;
    super::warn_unless(started.saved, started.warning.as_deref());
    out::print(&text(&started))
}

fn is_active(daemon: &Daemon) -> Result<bool, Failure> {
    let status: Status = daemon.ask(Command::Status(NoArgs {}))?;
    Ok(status.state.phase == Phase::Active)
}

/// What was given on the command line.
fn typed(args: &args::Start) -> Result<Start, Failure> {
    Ok(Start {
        text: args.text.join(" "),
        next_action: args.next.clone(),
        success_condition: args.success.clone(),
        timebox_secs: args.timebox.as_deref().map(super::secs).transpose()?,
        allowed: Allowed {
            window_classes: entries::list("--allow", &args.allow, str::to_owned)?,
            window_titles: Vec::new(),
            window_title_substrings: args.allow_title.clone(),
            domains: entries::list("--allow-domain", &args.allow_domain, entries::host)?,
            commands: entries::list("--allow-command", &args.allow_command, entries::program)?,
        },
    })
}

/// What the coach proposes, as the user leaves it.
fn coached(daemon: &Daemon, args: &args::Start, text: &str) -> Result<Proposal, Failure> {
    let Proposed { proposal, unseen } = super::coach::proposal(daemon, text, NOTHING_STARTED)?;
    if !unseen.is_empty() && args.allow.is_empty() {
        let names: Vec<String> = unseen.iter().map(|class| render::title(class)).collect();
        out::warn(&format!("no window had these classes lately: {}", names.join(", ")));
    }
    if args.yes { Ok(proposal) } else { edit::proposal(proposal, args) }
}

/// What the user gave wins over what the coach proposes.
fn fill_in(start: &mut Start, proposal: Proposal) {
    let given = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let Proposal { next_action, success_condition, timebox_secs, allowed } = proposal;
    start.next_action = start.next_action.take().or_else(|| given(next_action));
    start.success_condition = start.success_condition.take().or_else(|| given(success_condition));
    start.timebox_secs = start.timebox_secs.or(Some(timebox_secs).filter(|&secs| secs > 0));
    if start.allowed.size() == 0 {
        start.allowed = allowed;
    }
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
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_gave_wins_over_the_coach() {
        let proposal = || Proposal {
            next_action: "open the folder".into(),
            success_condition: "sent".into(),
            timebox_secs: 1500,
            allowed: Allowed { window_classes: vec!["code".into()], ..Allowed::default() },
        };
        let mut start = Start::default();
        fill_in(&mut start, proposal());
        assert_eq!(start.next_action.as_deref(), Some("open the folder"));
        assert_eq!((start.timebox_secs, start.allowed.window_classes.len()), (Some(1500), 1));
        let mut start = Start {
            next_action: Some("mine".into()),
            timebox_secs: Some(60),
            allowed: Allowed { domains: vec!["a.example".into()], ..Allowed::default() },
            ..Start::default()
        };
        fill_in(&mut start, proposal());
        assert_eq!((start.next_action.as_deref(), start.timebox_secs), (Some("mine"), Some(60)));
        assert_eq!(start.success_condition.as_deref(), Some("sent"));
        assert!(start.allowed.window_classes.is_empty());
    }
}

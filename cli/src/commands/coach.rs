//! `antidrift coach` and what `antidrift start --coach` has in common with it.

use std::time::Duration;

use antidrift_protocol::{Command, Propose, Proposed};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args, duration, exit::Failure, out, render, spinner};

/// How long the coach may take, and the daemon's own limit before that.
const PROPOSE_LIMIT: Duration = Duration::from_secs(70);

const NOTHING_PROPOSED: &str = "the coach was not waited for";

pub(super) fn run(daemon: &Daemon, args: &args::Coach) -> Result<(), Failure> {
    let command = propose(&args.intent.join(" "));
    super::check(&command)?;
    let answer: Box<RawValue> = asked(daemon, command, NOTHING_PROPOSED)?;
    super::show(&answer, &args.answer, |proposed: Proposed| out::print(&text(&proposed)))
}

/// What the coach proposes for an intent; `undone` is what it leaves undone to cancel that.
pub(super) fn proposal(
    daemon: &Daemon,
    intent: &str,
    undone: &'static str,
) -> Result<Proposed, Failure> {
    let command = propose(intent);
    super::check(&command)?;
    asked(daemon, command, undone)
}

fn propose(intent: &str) -> Command {
    Command::Propose(Propose { intent: intent.to_owned() })
}

fn asked<T: serde::de::DeserializeOwned + Send + 'static>(
    daemon: &Daemon,
    command: Command,
    undone: &'static str,
) -> Result<T, Failure> {
    let mut client = daemon.connect()?;
    spinner::during("asking the coach", undone, move || Ok(client.ask(command, PROPOSE_LIMIT)?))
}

fn text(proposed: &Proposed) -> String {
    let proposal = &proposed.proposal;
    let mut lines = vec![
        format!("next      {}", render::typed(&proposal.next_action)),
        format!("done when {}", render::typed(&proposal.success_condition)),
        format!("timebox   {}", duration::words(proposal.timebox_secs)),
    ];
    let classes = &proposal.allowed.window_classes;
    if !classes.is_empty() {
        let shown = |class: &String| {
            let mark = if proposed.unseen.contains(class) { " (not seen lately)" } else { "" };
            format!("{}{mark}", render::title(class))
        };
        let classes: Vec<String> = classes.iter().map(shown).collect();
        lines.push(format!("allow     {}", classes.join(", ")));
    }
    lines.join("\n")
}

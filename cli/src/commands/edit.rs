//! What the coach proposes, field by field, edited on the terminal.

use antidrift_protocol::Proposal;
use rustix::{stdio, termios::isatty};
use rustyline::{DefaultEditor, error::ReadlineError};

use crate::{args, clock, duration, exit::Failure, render};

/// Shows each field that no option gives, pre-filled. Without a terminal the proposal is taken as
/// it is.
pub(super) fn proposal(mut proposal: Proposal, args: &args::Start) -> Result<Proposal, Failure> {
    if !isatty(stdio::stdin()) || !isatty(stdio::stdout()) {
        return Ok(proposal);
    }
    let mut editor = DefaultEditor::new().map_err(failed)?;
    if args.next.is_none() {
        proposal.next_action = ask(&mut editor, "next: ", &proposal.next_action)?;
    }
    if args.success.is_none() {
        proposal.success_condition = ask(&mut editor, "done when: ", &proposal.success_condition)?;
    }
    while args.timebox.is_none() {
        let minutes = format!("{}m", proposal.timebox_secs / 60);
        let typed = ask(&mut editor, "timebox: ", &minutes)?;
        if typed.is_empty() {
            proposal.timebox_secs = 0;
            break;
        }
        match duration::parse(&typed, clock::local_now) {
            Ok(secs) => {
                proposal.timebox_secs = secs;
                break;
            }
            Err(why) => crate::out::complain(&why),
        }
    }
    if args.allow.is_empty() {
        let classes = proposal.allowed.window_classes.join(", ");
        let typed = ask(&mut editor, "allow classes: ", &classes)?;
        let classes = typed.split(',').map(str::trim).filter(|class| !class.is_empty());
        proposal.allowed.window_classes = classes.map(str::to_owned).collect();
    }
    Ok(proposal)
}

fn ask(editor: &mut DefaultEditor, prompt: &str, proposed: &str) -> Result<String, Failure> {
    let proposed = render::title(proposed);
    let typed = editor.readline_with_initial(prompt, (&proposed, "")).map_err(failed)?;
    Ok(typed.trim().to_owned())
}

/// Ctrl-C and Ctrl-D leave everything as it was.
fn failed(error: ReadlineError) -> Failure {
    match error {
        ReadlineError::Interrupted | ReadlineError::Eof => {
            Failure::Usage("nothing was started".into())
        }
        other => Failure::Usage(format!("the terminal cannot be read: {other}")),
    }
}

//! What the coach proposes, field by field, edited on the terminal.

use std::env;

use antidrift_protocol::{Proposal, Start};
use rustix::{
    stdio,
    termios::{QueueSelector, isatty, tcflush},
};
use rustyline::{DefaultEditor, error::ReadlineError};

use super::start::NOTHING_STARTED;
use crate::{args, clock, duration, exit::Failure, out, render};

/// Shows each field that no option gives, pre-filled. Without a terminal the proposal is taken as
/// it is.
pub(super) fn proposal(mut proposal: Proposal, args: &args::Start) -> Result<Proposal, Failure> {
    if !can_ask() {
        return Ok(proposal);
    }
    // A key that was pressed while the coach was waited for accepts nothing.
    let _ = tcflush(stdio::stdin(), QueueSelector::IFlush);
    let mut form = Form::new(NOTHING_STARTED)?;
    if args.next.is_none() {
        proposal.next_action = form.ask("next", &render::typed(&proposal.next_action))?;
    }
    if args.success.is_none() {
        let proposed = render::typed(&proposal.success_condition);
        proposal.success_condition = form.ask("done when", &proposed)?;
    }
    if args.timebox.is_none() {
        proposal.timebox_secs = timebox(&mut form, proposal.timebox_secs)?;
    }
    if args.allow.is_empty() {
        classes(&mut form, &mut proposal.allowed.window_classes)?;
    }
    Ok(proposal)
}

/// Whether there is a person at a terminal who can be asked.
pub(super) fn can_ask() -> bool {
    isatty(stdio::stdin()) && isatty(stdio::stdout())
}

/// Asks for what a session begins with and no option gives. What is known already is there to be
/// edited. With a coach only the text is asked for, and the coach is asked for the rest.
pub(super) fn commitment(start: &mut Start, args: &args::Start) -> Result<(), Failure> {
    let mut form = Form::new(NOTHING_STARTED)?;
    let shown = |text: &Option<String>| text.as_deref().map(render::typed).unwrap_or_default();
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    while start.text.is_empty() {
        start.text = form.ask("what do you set out to do", "")?;
    }
    if args.coach {
        return Ok(());
    }
    if args.next.is_none() {
        start.next_action = given(form.ask("next", &shown(&start.next_action))?);
    }
    if args.success.is_none() {
        start.success_condition = given(form.ask("done when", &shown(&start.success_condition))?);
    }
    if args.timebox.is_none() {
        let secs = timebox(&mut form, start.timebox_secs.unwrap_or_default())?;
        start.timebox_secs = Some(secs).filter(|&secs| secs > 0);
    }
    if args.allow.is_empty() {
        classes(&mut form, &mut start.allowed.window_classes)?;
    }
    Ok(())
}

fn classes(form: &mut Form, classes: &mut Vec<String>) -> Result<(), Failure> {
    *classes = classes.iter().map(|class| render::title(class)).collect();
    let proposed = classes.join(", ");
    let typed = form.ask("allow classes", &proposed)?;
    // A class may hold a comma itself.
    if typed != proposed {
        let typed = typed.split(',').map(str::trim).filter(|class| !class.is_empty());
        *classes = typed.map(str::to_owned).collect();
    }
    Ok(())
}

/// In seconds; 0 for none.
fn timebox(form: &mut Form, proposed: u64) -> Result<u64, Failure> {
    let mut shown = match proposed {
        0 => String::new(),
        secs if secs % 60 == 0 => format!("{}m", secs / 60),
        secs => format!("{secs}s"),
    };
    loop {
        shown = form.ask("timebox", &shown)?;
        if shown.is_empty() {
            return Ok(0);
        }
        match duration::parse(&shown, clock::local_now) {
            Ok(secs) => return Ok(secs),
            Err(why) => out::complain(&why.to_string()),
        }
    }
}

pub(super) struct Form {
    editor: DefaultEditor,
    /// Whether a line can be shown that is there already.
    prefills: bool,
    /// What Ctrl-C leaves undone.
    undone: &'static str,
}

impl Form {
    pub(super) fn new(undone: &'static str) -> Result<Self, Failure> {
        let editor = DefaultEditor::new().map_err(|error| failed(error, undone))?;
        Ok(Self { editor, prefills: out::can_move(env::var_os("TERM").as_deref()), undone })
    }

    /// `proposed` has been made fit for a terminal.
    pub(super) fn ask(&mut self, name: &str, proposed: &str) -> Result<String, Failure> {
        let typed = if self.prefills {
            self.editor.readline_with_initial(&format!("{name}: "), (proposed, ""))
        } else {
            let hint = if proposed.is_empty() { String::new() } else { format!(" [{proposed}]") };
            let typed = self.editor.readline(&format!("{name}{hint}: "));
            typed.map(|typed| if typed.is_empty() { proposed.to_owned() } else { typed })
        };
        Ok(typed.map_err(|error| failed(error, self.undone))?.trim().to_owned())
    }
}

/// Ctrl-C and Ctrl-D leave everything as it was.
fn failed(error: ReadlineError, undone: &'static str) -> Failure {
    match error {
        ReadlineError::Interrupted | ReadlineError::Eof => Failure::Cancelled(undone),
        other => Failure::Usage(format!("the terminal cannot be read: {other}")),
    }
}

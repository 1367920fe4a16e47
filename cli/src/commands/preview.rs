//! `antidrift preview`

use antidrift_protocol::{Command, Destination, NoArgs, Previewed, text};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args::Json, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, how: &Json) -> Result<(), Failure> {
    let answer: Box<RawValue> = daemon.ask(Command::Preview(NoArgs {}))?;
    super::show(&answer, how, to_person)
}

fn to_person(previewed: Previewed) -> Result<(), Failure> {
    if let Some(why) = &previewed.withheld {
        return out::print(&format!("nothing would be sent: {}", render::message(why)));
    }
    let place = match previewed.destination {
        Some(Destination::Local) => " (local)",
        Some(Destination::Cloud) => " (cloud)",
        _ => "",
    };
    // To standard error, so that the text itself can be piped on byte for byte.
    out::complain_as_is(&format!("to {}{place}:", render::title(&previewed.backend)));
    // A prompt is cleaned text and JSON; should it ever not be, it must not act on a terminal.
    out::print(&text::terminal_lines(&previewed.text, usize::MAX))
}

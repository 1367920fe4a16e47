//! `antidrift preview`

use antidrift_protocol::{Command, Destination, NoArgs, Previewed, text};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: &args::Preview) -> Result<(), Failure> {
    let command = Command::Preview(NoArgs {});
    if args.json {
        let answer: Box<RawValue> = daemon.ask(command)?;
        return out::print(&render::json_line(answer.get()));
    }
    let previewed: Previewed = daemon.ask(command)?;
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

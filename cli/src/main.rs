//! antidrift: the client of antidriftd, for shells, bars and key bindings.

mod args;
mod clock;
mod commands;
mod duration;
mod exit;
mod notify;
mod out;
mod render;
mod watch;

use std::{ffi::OsString, process::ExitCode};

use args::Parsed;
use exit::Exit;

fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    let done = match args::parse(&given) {
        Parsed::Args(args) => commands::run(args),
        // Asked-for help is output like any other: it can meet a closed pipe or a full disk.
        Parsed::Help(text) => out::print(&text),
        Parsed::Wrong(text) => {
            out::complain_as_is(&text);
            return Exit::Usage.into();
        }
    };
    match done {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            if let Some(message) = failure.message() {
                out::complain(&message);
            }
            failure.exit().into()
        }
    }
}

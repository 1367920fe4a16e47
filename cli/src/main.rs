//! antidrift: the client of antidriftd, for shells, bars and key bindings.
//!
//! Bars run it often, and most of a small program's time goes into dynamic linking. Linked
//! statically, `status` takes three quarters of the time of a dynamically linked program that only
//! writes a line to a socket and prints the answer:
//!
//! ```text
//! cargo install --path cli --target "$(rustc --print host-tuple)" \
//!     --config 'build.rustflags=["-C","target-feature=+crt-static"]'
//! ```
//!
//! (`--target` keeps the flag from the macros that run at build time, which must be dynamic.)

mod args;
mod bar;
mod clock;
mod commands;
mod completions;
mod duration;
mod exit;
mod notify;
mod out;
mod render;
mod report;
mod spinner;
mod watch;
mod width;

use std::{ffi::OsString, process::ExitCode};

use args::Parsed;
use exit::Exit;

fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    if let Some((kind, socket)) = completions::words::asked(&given) {
        if let Some(kind) = kind {
            completions::words::run(kind, socket);
        }
        return Exit::Done.into();
    }
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

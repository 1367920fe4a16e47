//! The command line.

mod config;
mod desk;
mod help;
mod past;

use std::{ffi::OsString, path::PathBuf};

use antidrift_protocol::{Outcome, text};
use clap::{
    Args as Group, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ErrorKind},
};
use rustix::stdio;

pub(crate) use self::config::{Config, ConfigCommand};
pub(crate) use self::desk::{Allow, AllowList, AllowWhat, Entries, Pick, Refocus, Windows};
use self::help::{
    CLICK_HELP, COACH_HELP, COMPLETE_HELP, COMPLETIONS_HELP, DETOUR_HELP, DOCTOR_HELP, END_HELP,
    EXAMPLES, EXTEND_HELP, ONTASK_HELP, PAUSE_HELP, PREVIEW_HELP, RELOAD_HELP, RESUME_HELP,
    START_EXAMPLES, STATUS_HELP, WATCH_HELP, WHY_HELP,
};
pub(crate) use self::past::{Forget, Form, Report, Review};
use crate::{bar::Format, out};

/// Talk to antidriftd: set a commitment, answer its alerts, watch.
#[derive(Debug, Parser)]
#[command(name = "antidrift", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Args {
    /// The daemon's socket [default: $ANTIDRIFT_SOCKET or the runtime directory's]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a session with a commitment
    Start(Start),
    /// Back to task: take back any verdict on the window
    Refocus(Refocus),
    /// The window serves the commitment: allow it from now on
    Ontask(Ontask),
    /// Click a window that serves the commitment: allow its class
    Pick(Pick),
    /// Show or change what is allowed
    Allow(Allow),
    /// List the open windows
    Windows(Windows),
    /// Pause the session: nothing is judged or alerted until resume, or for a time
    Pause(Pause),
    /// Go on after a pause, or end a detour
    #[command(after_help = RESUME_HELP)]
    Resume,
    /// Give the session more time, also when its time is up
    Extend(Extend),
    /// Do something else for a time: every window is on task, and you are called back
    Detour(Detour),
    /// Ask the coach for a first step, a goal and a timebox
    Coach(Coach),
    /// End the session and show its review
    Complete(Complete),
    /// Show the session that is over, and say how it went
    Review(Review),
    /// Leave the review
    #[command(after_help = END_HELP)]
    End,
    /// Look back on the sessions of some days
    Report(Report),
    /// Wipe the sessions that are over
    Forget(Forget),
    /// Show what the daemon knows
    Status(Status),
    /// Write, check or show the configuration
    Config(Config),
    /// Have the daemon read its configuration again
    #[command(after_help = RELOAD_HELP)]
    Reload,
    /// Check everything that has to work, and say what to do where it does not
    #[command(after_help = DOCTOR_HELP)]
    Doctor,
    /// Explain how the status of the window came about
    #[command(after_help = WHY_HELP)]
    Why(Json),
    /// Show what would be sent to a model about the window, and send nothing
    #[command(after_help = PREVIEW_HELP)]
    Preview(Json),
    /// Follow what happens, and raise popups
    Watch(Watch),
    /// Do what a click on the bar means: left back to task, middle on task, right end
    #[command(after_help = CLICK_HELP)]
    Click {
        /// left, middle or right, or 1, 2 or 3
        #[arg(value_parser = button)]
        button: Button,
    },
    /// Print what a shell is to offer while a command is typed
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: ForShell,
    },
}

/// A shell that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForShell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Group)]
#[command(after_help = START_EXAMPLES)]
pub(crate) struct Start {
    /// What you set out to do; several words are joined by a space. Before it @NAME for a preset
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Begin as the last session did, with what was allowed at its end
    #[arg(long, conflicts_with = "coach")]
    pub(crate) again: bool,
    /// Let the coach fill in what you do not give; on a terminal you edit it first
    #[arg(long)]
    pub(crate) coach: bool,
    /// Take what the coach proposes as it is
    #[arg(long, requires = "coach")]
    pub(crate) yes: bool,
    /// The first step
    #[arg(long, value_name = "TEXT")]
    pub(crate) next: Option<String>,
    /// How you will know that it is done
    #[arg(long, value_name = "TEXT")]
    pub(crate) success: Option<String>,
    /// The timebox: 25m, 1h30, 90s, 'until 14:30'; a bare number is minutes
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) timebox: Option<String>,
    /// Window classes that are on task
    #[arg(long, value_name = "CLASS,…")]
    pub(crate) allow: Vec<String>,
    /// Every title that holds this text is on task
    #[arg(long, value_name = "TEXT")]
    pub(crate) allow_title: Vec<String>,
    /// This host and its subdomains are on task
    #[arg(long, value_name = "DOMAIN,…")]
    pub(crate) allow_domain: Vec<String>,
    /// This program in a terminal is on task
    #[arg(long, value_name = "COMMAND,…")]
    pub(crate) allow_command: Vec<String>,
}

#[derive(Debug, Default, Group)]
#[command(after_help = ONTASK_HELP)]
#[group(multiple = false)]
pub(crate) struct Ontask {
    /// Allow a window class; without NAME that of the window meant
    #[arg(long, value_name = "NAME")]
    pub(crate) class: Option<Option<String>>,
    /// Allow every title that holds TEXT; without TEXT the whole title of the window meant
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<Option<String>>,
    /// Allow a host and its subdomains
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) domain: Option<String>,
    /// Allow a program in a terminal
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

// A time is read by the command: what is wrong with it is then one line, a negative one too. Only its
// first word may begin with a dash, or the options behind it would be words of it, too.
#[derive(Debug, Default, Group)]
#[command(after_help = PAUSE_HELP)]
pub(crate) struct Pause {
    /// How long: 10m, 1h30, 90s, until 14:30; a bare number is minutes
    #[arg(value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,
    #[arg(hide = true)]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Default, Group)]
#[command(after_help = EXTEND_HELP)]
pub(crate) struct Extend {
    /// How much more: 10m, 1h30, 90s, until 14:30; a bare number is minutes
    #[arg(value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: String,
    #[arg(hide = true)]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Default, Group)]
#[command(after_help = DETOUR_HELP)]
pub(crate) struct Detour {
    /// How long: 10m, 1h30, 90s, until 14:30; a bare number is minutes
    #[arg(value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: String,
    /// What for; several words are joined by a space
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Default, Group)]
#[command(after_help = COMPLETE_HELP)]
pub(crate) struct Complete {
    /// How it went
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<Went>,
    /// A note for the review
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

/// How a session went, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Went {
    Done,
    Partial,
    Abandoned,
}

impl From<Went> for Outcome {
    fn from(went: Went) -> Self {
        match went {
            Went::Done => Self::Done,
            Went::Partial => Self::Partial,
            Went::Abandoned => Self::Abandoned,
        }
    }
}

/// How the answer of a command that changes nothing is shown.
#[derive(Debug, Default, Group)]
pub(crate) struct Json {
    /// The daemon's answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
#[command(after_help = COACH_HELP)]
pub(crate) struct Coach {
    /// What you have in mind; several words are joined by a space
    #[arg(required = true, value_name = "INTENT")]
    pub(crate) intent: Vec<String>,
    #[command(flatten)]
    pub(crate) answer: Json,
}

/// A button of the mouse on a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Left,
    Middle,
    Right,
    /// The wheel and the like, or none at all.
    Other,
}

/// Buttons by name, or by the number that bars give.
pub(crate) fn button(typed: &str) -> Result<Button, String> {
    match typed {
        "left" | "1" => Ok(Button::Left),
        "middle" | "2" => Ok(Button::Middle),
        "right" | "3" => Ok(Button::Right),
        number if number.parse::<u8>().is_ok() => Ok(Button::Other),
        _ => Err("left, middle, right, or the number of a button".to_owned()),
    }
}

#[derive(Debug, Default, Group)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) answer: Json,
    #[command(flatten)]
    pub(crate) bar: Bar,
}

/// One line for a bar.
#[derive(Debug, Default, Group)]
pub(crate) struct Bar {
    /// One line for a bar
    #[arg(long, value_enum, value_name = "BAR", conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// A line of your own, with fields such as {text}; without --format plain text
    #[arg(long, value_name = "TEXT", conflicts_with = "json")]
    pub(crate) template: Option<String>,
    /// An empty line while there is no session
    #[arg(long)]
    pub(crate) hide_when_idle: bool,
    /// Most columns of the text
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) max_width: Option<usize>,
    /// Time in seconds rather than minutes
    #[arg(long)]
    pub(crate) seconds: bool,
}

#[derive(Debug, Default, Group)]
#[command(after_help = WATCH_HELP)]
pub(crate) struct Watch {
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// No desktop notifications
    #[arg(long)]
    pub(crate) no_notify: bool,
    /// Desktop notifications and nothing else
    #[arg(long, conflicts_with_all = ["no_notify", "json", "format", "template"])]
    pub(crate) notify_only: bool,
    #[command(flatten)]
    pub(crate) bar: Bar,
}

/// What a command line comes to.
pub(crate) enum Parsed {
    /// Something to do.
    Args(Args),
    /// Help or the version was asked for: text for standard output.
    Help(String),
    /// It is wrong: text for standard error.
    Wrong(String),
}

/// Reads a command line, program name included.
pub(crate) fn parse(given: &[OsString]) -> Parsed {
    if let Some(args) = plain(given) {
        return Parsed::Args(args);
    }
    match Args::try_parse_from(given) {
        Ok(args) => Parsed::Args(args),
        Err(error) if error.use_stderr() => {
            let mut text = shown(&error, out::colours(stdio::stderr()));
            if let Some(tip) = dash_tip(&error) {
                text.push_str(tip);
            }
            Parsed::Wrong(text)
        }
        Err(help) => Parsed::Help(shown(&help, out::colours(stdio::stdout()))),
    }
}

/// Most characters of a line of a message about the command line.
const SHOWN: usize = 500;

/// The plainest command lines, read without clap: what bars and key bindings run all day. Setting up
/// the parser is a tenth of such a process's time.
fn plain(given: &[OsString]) -> Option<Args> {
    let words = given.get(1..)?;
    let (socket, words) = match words {
        [flag, path, rest @ ..] if flag == "--socket" && !path.is_empty() => {
            (Some(PathBuf::from(path)), rest)
        }
        words => (None, words),
    };
    // A path that looks like an option is a slip that clap explains.
    if socket.as_ref().is_some_and(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-")) {
        return None;
    }
    let Some((name, rest)) = words.split_first() else {
        return Some(Args { socket, command: None });
    };
    let rest: Vec<&str> = rest.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let command = match (name.to_str()?, rest.as_slice()) {
        ("status", []) => Command::Status(Status::default()),
        ("status", ["--json"]) => {
            Command::Status(Status { answer: Json { json: true }, ..Status::default() })
        }
        ("refocus", []) => Command::Refocus(Refocus { activate: false }),
        ("refocus", ["--activate"]) => Command::Refocus(Refocus { activate: true }),
        ("ontask", []) => Command::Ontask(Ontask::default()),
        ("pause", []) => Command::Pause(Pause::default()),
        ("resume", []) => Command::Resume,
        ("complete", []) => Command::Complete(Complete::default()),
        ("end", []) => Command::End,
        _ => return None,
    };
    Some(Args { socket, command: Some(command) })
}

fn shown(error: &clap::Error, colours: bool) -> String {
    let text = error.render();
    let plain = text.to_string();
    // Clap repeats what was typed; an escape sequence in that must not act on the terminal.
    let clean = text::terminal_lines(&plain, SHOWN);
    if colours && clean == plain { text.ansi().to_string() } else { clean }
}

/// Free text that begins with a dash reads as an option; clap's own tip does not always say how it
/// is typed then.
fn dash_tip(error: &clap::Error) -> Option<&'static str> {
    let dashed = |kind| error.get(kind).is_some_and(|arg| arg.to_string().starts_with('-'));
    (error.kind() == ErrorKind::UnknownArgument && dashed(ContextKind::InvalidArg)).then_some(
        "\nA text that begins with a dash goes after `--`: antidrift start -- '- like this'\n\
         As an option's value it is joined by `=`: --next='- like this'\n",
    )
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;

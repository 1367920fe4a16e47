//! `antidriftd config`: writes, checks and shows the configuration, without a daemon.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use antidrift_protocol::text;

use crate::{
    ai::prompt::Task,
    backends::{self, Use},
    config::{self, Config, Source},
};

/// Most characters of a line that is shown on a terminal.
const LINE: usize = 2000;

/// What is to be done with the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Subcommand)]
pub enum ConfigCommand {
    /// Write a configuration to begin with, all of it commented out; a file that is there stays
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// Print it instead
        #[arg(long)]
        print: bool,
    },
    /// Look for faults
    #[command(after_help = CHECK_EXAMPLES)]
    Check,
    /// Show every key with its value, and who says so
    #[command(after_help = DUMP_EXAMPLES)]
    Dump,
}

const INIT_EXAMPLES: &str = "\
Examples:
  antidriftd config init
  antidriftd config init --print | less";

const CHECK_EXAMPLES: &str = "\
Examples:
  antidriftd config check && antidriftd --replace
  antidriftd --config draft.toml config check";

const DUMP_EXAMPLES: &str = "\
Examples:
  antidriftd config dump
  ANTIDRIFT_AI_BACKEND=none antidriftd config dump | grep judge -A 7";

/// Why it was not done, with the exit status.
type Undone = (u8, String);

impl ConfigCommand {
    /// Does it, and says on standard output what came of it.
    ///
    /// # Errors
    ///
    /// Exit status 2 for a faulty configuration, 1 for all else, and one line.
    pub fn run(self, source: &Source) -> Result<(), Undone> {
        match self {
            Self::Init { print: true } => put(&config::sample()),
            Self::Init { print: false } => init(source),
            Self::Check => check(source),
            Self::Dump => {
                let config = load(source)?;
                let shown = config::dump(&config.settings);
                // A pipe gets it as it would stand in a file.
                let on_terminal = rustix::termios::isatty(io::stdout());
                put(&if on_terminal { text::terminal_lines(&shown, LINE) } else { shown })
            }
        }
    }
}

fn load(source: &Source) -> Result<Config, Undone> {
    source.load().map_err(|error| (2, error.to_string()))
}

fn init(source: &Source) -> Result<(), Undone> {
    let failed = |path: &Path, error: io::Error| {
        (1, format!("{} cannot be written: {error}", path.display()))
    };
    let path = file(source)?;
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        // What is in there is nobody else's business (XDG base directories: 0700).
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|error| failed(dir, error))?;
    }
    let mut options = fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let message = format!(
                "{} is there already and stays as it is; antidrift config init --print shows what \
                 would be written",
                path.display()
            );
            (1, message)
        }
        _ => failed(path, error),
    })?;
    if let Err(error) = file.write_all(config::sample().as_bytes()) {
        // Half of it would be taken for a configuration.
        let _ = fs::remove_file(path);
        return Err(failed(path, error));
    }
    put(&format!("{} is written; change it, then antidrift reload\n", shown(path)))
}

fn check(source: &Source) -> Result<(), Undone> {
    let config = load(source)?;
    let path = file(source)?;
    let state = if path.exists() { "no fault in" } else { "there is no" };
    let rest = if path.exists() { "" } else { ": the defaults hold" };
    put(&format!("{state} {}{rest}\n", shown(path)))?;
    // Gone afterwards: a running daemon's own is left alone.
    let scratch = tempfile::tempdir()
        .map_err(|error| (1, format!("no directory can be made to try the judge in: {error}")))?;
    for (who, choice, task) in
        [("judge", &config.judge, Task::Judge), ("coach", &config.coach, Task::Coach)]
    {
        let to = Use {
            task,
            model: None,
            timeout: config.judge_timeout,
            runtime_dir: scratch.path(),
            audit: None,
        };
        if let Some(error) = backends::find(choice, to).error {
            put(&text::terminal_lines(&format!("but the {who} would be off: {error}\n"), LINE))?;
        }
    }
    Ok(())
}

/// The file that is meant.
fn file(source: &Source) -> Result<&Path, Undone> {
    let none = || (1, "there is no home directory; set HOME or XDG_CONFIG_HOME".to_owned());
    source.named.as_deref().or(source.default.as_deref()).ok_or_else(none)
}

fn shown(path: &Path) -> String {
    text::terminal(&path.display().to_string(), LINE)
}

fn put(output: &str) -> Result<(), Undone> {
    match io::stdout().write_all(output.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err((1, format!("the output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

//! `antidriftd`: reads what it is started with, and runs the daemon.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use antidrift_daemon::{
    Options, RunError,
    ai::guard,
    config::{BACKEND, Source},
    config_command::ConfigCommand,
    instance::{Claim, Instance},
    logging, login, run, socket_activation,
    store::StateDir,
};
use antidrift_protocol::{
    paths::{self, Environment, SocketPath},
    text,
};
use clap::{Parser, Subcommand};

/// Watches the focused window and tells drift from work.
///
/// Runs in the foreground until SIGTERM or SIGINT; SIGHUP makes it read its configuration again.
/// antidrift(1) talks to it.
#[derive(Parser, Debug)]
#[command(name = "antidriftd", version, after_help = EXAMPLES)]
struct Args {
    /// Listen here instead of in the runtime directory
    #[arg(long, value_name = "PATH", env = "ANTIDRIFT_SOCKET")]
    socket: Option<PathBuf>,
    /// Read this configuration file; it must exist
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take over from the daemon that runs already
    #[arg(long)]
    replace: bool,
    /// Log more: -v steps, -vv requests, -vvv everything (else $ANTIDRIFT_LOG, else warn)
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Option<Instead>,
}

/// What is done instead of running the daemon.
#[derive(Subcommand, Debug)]
enum Instead {
    /// Write, check or show the configuration
    #[command(arg_required_else_help = true, after_help = CONFIG_EXAMPLES)]
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
}

const EXAMPLES: &str = "\
Examples:
  antidriftd                    start it in a terminal
  antidriftd --replace          start it anew after an upgrade
  antidriftd config init        write a configuration to begin with; antidrift reload applies it
  ANTIDRIFT_AI_BACKEND=none antidriftd -v
                                without a judge for once, and say what happens

Exit status: 0 stopped by a signal, 1 cannot run or runs already, 2 usage or configuration. Without
the judge that is configured it runs all the same: antidrift status says what is wrong with it.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  antidriftd config init        a file to begin with
  antidriftd config check && pkill -HUP -x antidriftd
  antidriftd --config FILE config dump";

/// How long work that is under way may hold up the end.
const LAST_WORK: Duration = Duration::from_secs(3);
/// Most characters of a message.
const MESSAGE: usize = 1000;

fn main() -> ExitCode {
    if env::args_os().nth(1).is_some_and(|arg| arg == guard::GUARD_ARG) {
        return guard::guard_main();
    }
    // Whatever the caller's umask: what we make is for its owner only.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return explain(&error),
    };
    match start(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, message)) => {
            // Paths and keys are repeated in it, and may hold anything.
            let message = text::terminal(&message, MESSAGE);
            let _ = writeln!(io::stderr(), "antidriftd: {message}");
            ExitCode::from(code)
        }
    }
}

/// Shows help, the version or what is wrong with the command line.
fn explain(error: &clap::Error) -> ExitCode {
    let code = error.exit_code();
    let text = text::terminal_lines(&error.to_string(), MESSAGE);
    if error.use_stderr() {
        let _ = io::stderr().write_all(text.as_bytes());
        return ExitCode::from(u8::try_from(code).unwrap_or(2));
    }
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "antidriftd: the output cannot be written: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn start(args: Args) -> Result<(), (u8, String)> {
    fn usage(error: impl ToString) -> (u8, String) {
        (2, error.to_string())
    }
    fn fatal(error: impl ToString) -> (u8, String) {
        (1, error.to_string())
    }
    let var = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let source =
        Source { named: args.config, default: paths::config_file(), backend: var(BACKEND) };
    if let Some(Instead::Config { command }) = args.command {
        return command.run(&source);
    }
    // Before anything else is opened, which could get the number of a socket that is not there.
    let given = socket_activation::take().map_err(usage)?;
    let level = logging::level(args.verbose, var("ANTIDRIFT_LOG").as_deref()).map_err(usage)?;
    logging::start(level, var("JOURNAL_STREAM").is_some());
    let config = source.load().map_err(usage)?;
    let environment = Environment::of_process();
    let socket = match args.socket.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => SocketPath::chosen(&path),
        None => environment.socket_path(),
    }
    .map_err(usage)?;
    socket.prepare_dir().map_err(fatal)?;
    if let Some(given) = &given {
        given.check(&socket).map_err(usage)?;
    }
    let claim = Claim { replace: args.replace, given: given.is_some() };
    let _instance = Instance::acquire(&socket, claim).map_err(fatal)?;
    let state_dir = StateDir {
        path: paths::state_dir()
            .ok_or_else(|| "there is no home directory; set HOME or XDG_STATE_HOME".to_owned()),
        made_by_user: false,
    };
    let options = Options {
        socket,
        given,
        runtime_dir: environment.runtime_dir(),
        state_dir,
        config,
        source,
        display: var("DISPLAY"),
        wayland: var("WAYLAND_DISPLAY").is_some()
            || var("XDG_SESSION_TYPE").as_deref() == Some("wayland"),
        login: login::Settings {
            address: var("DBUS_SYSTEM_BUS_ADDRESS"),
            session: var("XDG_SESSION_ID"),
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // The display and the history are asked on them, seldom, and each may be slow.
        .max_blocking_threads(4)
        .build()
        .map_err(fatal)?;
    let ran = runtime.block_on(run(options)).map_err(|error: RunError| fatal(error));
    // A display or a disk that hangs holds up nobody who waits for our end.
    runtime.shutdown_timeout(LAST_WORK);
    ran
}

#[cfg(test)]
mod tests {
    use antidrift_tests::{examples, man};
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_manual_page_is_fresh() {
        let page = man::command(Args::command(), include_str!("manual.md"));
        man::check("antidriftd.1", &page);
    }

    /// Every command with the words that name it, those within others too.
    fn commands() -> Vec<(Vec<String>, clap::Command)> {
        let mut found = vec![(Vec::new(), Args::command())];
        let mut next = 0;
        while let Some((path, command)) = found.get(next).cloned() {
            let below = command
                .get_subcommands()
                .map(|sub| ([&path[..], &[sub.get_name().to_owned()]].concat(), sub.clone()));
            found.extend(below);
            next += 1;
        }
        found
    }

    #[test]
    fn every_command_has_examples_and_they_parse() {
        assert!(commands().len() > 4, "{:?}", commands());
        for (path, command) in commands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines = examples::lines(&help, "antidriftd");
            let mut own = path.is_empty();
            for line in &lines {
                let parsed = Args::try_parse_from(line);
                assert!(parsed.is_ok(), "{line:?}: {}", parsed.unwrap_err());
                own = own || line.windows(path.len()).any(|words| words == path);
            }
            assert!(own, "antidriftd {path:?} has no example of its own");
            let wide = help.lines().find(|line| line.chars().count() > 100);
            assert_eq!(wide, None, "antidriftd {path:?}");
        }
    }
}

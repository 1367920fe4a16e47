//! `antidrift config`: hands over to antidriftd, which alone knows the keys.

use std::{env, io, os::unix::process::CommandExt as _, path::PathBuf, process::Command};

use crate::{
    args::{Config, ConfigCommand},
    exit::Failure,
};

const DAEMON: &str = "antidriftd";

/// Comes back only if there is no daemon's program.
pub(super) fn run(config: &Config) -> Result<(), Failure> {
    let program = beside_this().unwrap_or_else(|| PathBuf::from(DAEMON));
    let mut command = Command::new(&program);
    if let Some(file) = &config.config {
        command.arg("--config").arg(file);
    }
    command.arg("config");
    match config.command {
        ConfigCommand::Init { print: false } => command.arg("init"),
        ConfigCommand::Init { print: true } => command.args(["init", "--print"]),
        ConfigCommand::Check => command.arg("check"),
        ConfigCommand::Dump => command.arg("dump"),
    };
    let error = command.exec();
    let why = match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{DAEMON} is neither beside antidrift nor on PATH; install it as well")
        }
        _ => format!("{} cannot be run: {error}", program.display()),
    };
    Err(Failure::Undone(why))
}

/// The daemon that was installed together with this client.
fn beside_this() -> Option<PathBuf> {
    let this = env::current_exe().ok()?;
    let program = this.parent()?.join(DAEMON);
    program.is_file().then_some(program)
}

//! `antidrift config`: the daemon's program does it, since it alone knows the keys.

use std::path::PathBuf;

use clap::{Args as Group, Subcommand};

use super::help::{CONFIG_CHECK_HELP, CONFIG_DUMP_HELP, CONFIG_HELP, CONFIG_INIT_HELP};

#[derive(Debug, Group)]
#[command(after_help = CONFIG_HELP, arg_required_else_help = true)]
pub(crate) struct Config {
    /// This file instead of the usual one
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Write a configuration to begin with, all of it commented out; a file that is there stays
    #[command(after_help = CONFIG_INIT_HELP)]
    Init {
        /// Print it instead
        #[arg(long)]
        print: bool,
    },
    /// Look for faults
    #[command(after_help = CONFIG_CHECK_HELP)]
    Check,
    /// Show every key with its value, and who says so
    #[command(after_help = CONFIG_DUMP_HELP)]
    Dump,
}

//! Looking back.

use std::path::PathBuf;

use clap::Args as Group;

use super::{
    Went,
    help::{FORGET_HELP, REPORT_HELP, REVIEW_HELP},
};

#[derive(Debug, Default, Group)]
#[command(after_help = REVIEW_HELP)]
pub(crate) struct Review {
    /// How it went
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<Went>,
    /// A note
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Default, Group)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct Report {
    /// This week, since Monday
    #[arg(long, conflicts_with_all = ["month", "days"])]
    pub(crate) week: bool,
    /// This month, since the 1st
    #[arg(long, conflicts_with = "days")]
    pub(crate) month: bool,
    /// The last N days, today included
    #[arg(
        long, value_name = "N", default_value_t = 7, hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(1..=366)
    )]
    pub(crate) days: u16,
    #[command(flatten)]
    pub(crate) form: Form,
}

/// What a report is written as.
#[derive(Debug, Default, Group)]
#[group(multiple = false)]
pub(crate) struct Form {
    /// One object of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// One line a session, for spreadsheets
    #[arg(long)]
    pub(crate) csv: bool,
    /// A picture; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Lines of a Timewarrior data file
    #[arg(long)]
    pub(crate) timewarrior: bool,
    /// A bucket that ActivityWatch imports
    #[arg(long)]
    pub(crate) activitywatch: bool,
}

#[derive(Debug, Default, Group)]
#[command(after_help = FORGET_HELP)]
pub(crate) struct Forget {
    /// Without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

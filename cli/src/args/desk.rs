//! Command lines about windows and what is allowed.

use clap::{Args as Group, Subcommand};

const REFOCUS_HELP: &str = "\
Which window is meant: as for antidrift ontask. Popups follow activate under
[notify] in the configuration instead.

Examples:
  antidrift refocus
  antidrift refocus --activate   for a key binding: raises the window as well";

const WINDOWS_HELP: &str = "\
The oldest first, as the window manager lists them. The class is what
antidrift allow add and start --allow take.

Examples:
  antidrift windows
  antidrift windows --json | jq -r '.windows[].class' | sort -u";

const ALLOW_HELP: &str = "\
Letter case makes no difference. What is allowed holds until the session ends.

Examples:
  antidrift allow                what is allowed now
  antidrift allow add code,emacs
  antidrift allow add --title 'RFC 9110' --domain docs.rs
  antidrift allow rm emacs";

const ALLOW_LIST_HELP: &str = "\
Each entry is led by the option that names it to antidrift allow rm.

Examples:
  antidrift allow list
  antidrift allow list --json | jq -r '.allowed.window_classes[]'";

const ALLOW_ADD_HELP: &str = "\
antidrift windows lists the classes of the windows that are open.

Examples:
  antidrift allow add code,emacs
  antidrift allow add --title 'RFC 9110'
  antidrift allow add --domain docs.rs --command cargo";

const ALLOW_RM_HELP: &str = "\
antidrift allow list shows what there is, as it is named here.

Examples:
  antidrift allow rm emacs
  antidrift allow rm --whole-title 'Inbox (3)' --domain docs.rs";

const PICK_HELP: &str = "\
The first mouse button picks, the right one or Escape cancels; the window does
not see the click. A browser or terminal holds much more than one thing: allow
what it shows now with --title.

Examples:
  antidrift pick
  antidrift pick --title";

#[derive(Debug, Default, Group)]
#[command(after_help = REFOCUS_HELP)]
pub(crate) struct Refocus {
    /// Raise the window that was on task last, on its workspace
    #[arg(long)]
    pub(crate) activate: bool,
}

#[derive(Debug, Default, Group)]
#[command(after_help = WINDOWS_HELP)]
pub(crate) struct Windows {
    /// The daemon's answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Group)]
#[command(after_help = PICK_HELP)]
pub(crate) struct Pick {
    /// Allow the window's whole title rather than its class
    #[arg(long)]
    pub(crate) title: bool,
}

#[derive(Debug, Default, Group)]
#[command(after_help = ALLOW_HELP, disable_help_subcommand = true)]
pub(crate) struct Allow {
    #[command(subcommand)]
    pub(crate) what: Option<AllowWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AllowWhat {
    /// Show what is allowed; the same as without a word
    List(AllowList),
    /// Allow more
    #[command(after_help = ALLOW_ADD_HELP)]
    Add(Entries),
    /// Allow less
    #[command(after_help = ALLOW_RM_HELP)]
    Rm(Entries),
}

#[derive(Debug, Default, Group)]
#[command(after_help = ALLOW_LIST_HELP)]
pub(crate) struct AllowList {
    /// The daemon's answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Group)]
#[group(required = true, multiple = true)]
pub(crate) struct Entries {
    /// Window classes: every window of these programs
    #[arg(value_name = "CLASS,…")]
    pub(crate) classes: Vec<String>,
    /// Every title that holds this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Vec<String>,
    /// This title and no other, as antidrift ontask allows it
    #[arg(long, value_name = "TITLE")]
    pub(crate) whole_title: Vec<String>,
    /// This host and its subdomains
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) domain: Vec<String>,
    /// This program in a terminal
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

//! `antidrift forget`

use antidrift_protocol::{Command, Forgotten, NoArgs};
use rustix::{
    stdio,
    termios::{QueueSelector, tcflush},
};

use super::{Daemon, edit};
use crate::{args, exit::Failure, out};

const NOTHING_FORGOTTEN: &str = "nothing was forgotten";

pub(super) fn run(daemon: &Daemon, args: &args::Forget) -> Result<(), Failure> {
    if !args.yes {
        if !edit::can_ask() {
            let message = "this wipes all finished sessions; say --yes if you mean it";
            return Err(Failure::Usage(message.to_owned()));
        }
        // A key that was pressed before the question was there answers nothing.
        let _ = tcflush(stdio::stdin(), QueueSelector::IFlush);
        let mut form = edit::Form::new(NOTHING_FORGOTTEN)?;
        if !is_yes(&form.ask("wipe all finished sessions? yes or no", "")?) {
            return out::print(NOTHING_FORGOTTEN);
        }
    }
    let done: Forgotten = daemon.ask(Command::Forget(NoArgs {}))?;
    out::print(&match done.sessions {
        0 => "there was nothing to forget".to_owned(),
        1 => "1 session forgotten".to_owned(),
        n => format!("{n} sessions forgotten"),
    })
}

/// Nothing else is.
fn is_yes(typed: &str) -> bool {
    matches!(typed.to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for (typed, expected) in
            [("yes", true), ("Y", true), ("", false), ("yess", false), ("n", false)]
        {
            assert_eq!(is_yes(typed), expected, "{typed}");
        }
    }
}

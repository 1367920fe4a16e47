//! `antidrift __complete KIND`: words for a shell's completion, one a line.
//!
//! It says nothing when there is nothing, and never holds up the Tab key for long. Who offers the
//! words quotes them.

use std::{ffi::OsString, time::Duration};

use antidrift_protocol::{
    Allow, Allowance, Command, MAX_ENTRY, NoArgs, Presets, Windows,
    client::{Client, ClientError},
    paths::Environment,
    text,
};

use crate::{commands, out};

/// How long the daemon may take to accept, and then to answer.
const PATIENCE: Duration = Duration::from_millis(400);

/// What the words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Window classes that are allowed.
    Classes,
    /// Presets, led by the `@`.
    Presets,
    /// Classes of open windows.
    Windows,
}

/// The kind of words that a command line asks for. `None`: it is for people.
pub(crate) fn asked(given: &[OsString]) -> Option<Option<Kind>> {
    if given.get(1)? != "__complete" {
        return None;
    }
    Some(match given.get(2).and_then(|kind| kind.to_str()) {
        Some("classes") => Some(Kind::Classes),
        Some("presets") => Some(Kind::Presets),
        Some("windows") => Some(Kind::Windows),
        _ => None,
    })
}

/// Prints them.
pub(crate) fn run(kind: Kind) {
    let Ok(words) = words(kind) else { return };
    if !words.is_empty() {
        let _ = out::print(&words.join("\n"));
    }
}

fn words(kind: Kind) -> Result<Vec<String>, ClientError> {
    let socket = Environment::of_process().socket_path()?;
    let mut client = Client::connect_within(&socket, commands::NAME, PATIENCE)?;
    let found: Vec<String> = match kind {
        Kind::Classes => {
            let answer: Allowance = client.ask(Command::Allow(Allow::default()), PATIENCE)?;
            answer.allowed.window_classes
        }
        Kind::Presets => {
            let answer: Presets = client.ask(Command::Presets(NoArgs {}), PATIENCE)?;
            answer.presets.into_iter().map(|preset| format!("@{}", preset.name)).collect()
        }
        Kind::Windows => {
            let answer: Windows = client.ask(Command::Windows(NoArgs {}), PATIENCE)?;
            answer.windows.into_iter().map(|window| window.class).collect()
        }
    };
    Ok(usable(found))
}

/// Those that mean on a command line what they are: no list, no option, and nothing that a terminal
/// would act on. A cleaned word would name something else.
fn usable(mut words: Vec<String>) -> Vec<String> {
    words.retain(|word| {
        let clean = text::terminal(word, MAX_ENTRY) == *word;
        clean && !word.is_empty() && !word.starts_with('-') && !word.contains(',')
    });
    words.sort();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_mean_themselves_are_offered() {
        let given = ["b c", "a", "", "-x", "a,b", "a", "x\ny", "x\u{1b}[31m", "$(x)", "x\u{202e}"];
        let given = given.map(str::to_owned).to_vec();
        assert_eq!(usable(given), ["$(x)", "a", "b c"]);
    }

    #[test]
    fn only_its_own_name_asks_for_words() {
        let asked = |line: &[&str]| asked(&line.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(asked(&["antidrift", "__complete", "classes"]), Some(Some(Kind::Classes)));
        assert_eq!(asked(&["antidrift", "__complete", "more"]), Some(None));
        assert_eq!(asked(&["antidrift", "__complete"]), Some(None));
        assert_eq!(asked(&["antidrift", "complete", "classes"]), None);
        assert_eq!(asked(&["antidrift"]), None);
    }
}

//! `antidrift __complete KIND [SOCKET]`: words for a shell's completion, one a line.
//!
//! It says nothing when there is nothing, and never holds up the Tab key for long. Who offers the
//! words quotes them.

use std::{ffi::OsString, path::Path, time::Duration};

use antidrift_protocol::{
    Allow, Allowance, Command, MAX_ENTRY, NoArgs, Presets, Windows,
    client::{Client, ClientError},
    paths::{Environment, SocketPath},
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

/// Which words a command line asks for, and the socket that it names. `None`: it is for people.
pub(crate) fn asked(given: &[OsString]) -> Option<(Option<Kind>, Option<&Path>)> {
    if given.get(1)? != "__complete" {
        return None;
    }
    let kind = match given.get(2).and_then(|kind| kind.to_str()) {
        Some("classes") => Some(Kind::Classes),
        Some("presets") => Some(Kind::Presets),
        Some("windows") => Some(Kind::Windows),
        _ => None,
    };
    Some((kind, given.get(3).map(Path::new)))
}

/// Prints them.
pub(crate) fn run(kind: Kind, socket: Option<&Path>) {
    let Ok(words) = words(kind, socket) else { return };
    if !words.is_empty() {
        let _ = out::print(&words.join("\n"));
    }
}

fn words(kind: Kind, socket: Option<&Path>) -> Result<Vec<String>, ClientError> {
    let socket = match socket {
        Some(path) => SocketPath::chosen(path)?,
        None => Environment::of_process().socket_path()?,
    };
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
        let asks = |line: &[&str], expected| {
            let given: Vec<OsString> = line.iter().map(OsString::from).collect();
            assert_eq!(asked(&given), expected, "{line:?}");
        };
        let classes = Some(Kind::Classes);
        asks(&["antidrift", "__complete", "classes"], Some((classes, None)));
        let named = Some((classes, Some(Path::new("/s"))));
        asks(&["antidrift", "__complete", "classes", "/s"], named);
        asks(&["antidrift", "__complete", "more"], Some((None, None)));
        asks(&["antidrift", "__complete"], Some((None, None)));
        asks(&["antidrift", "complete", "classes"], None);
        asks(&["antidrift"], None);
    }
}

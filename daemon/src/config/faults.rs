//! What is said of a fault: where it is, and what was probably meant.

use std::path::Path;

use super::ConfigError;

/// Most letters of a word that are compared with known ones.
const MAX_NAME: usize = 64;

pub(super) fn fault(path: &Path, text: &str, offset: usize, message: String) -> ConfigError {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    ConfigError::Faulty {
        path: path.into(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        message,
    }
}

/// The parser's messages may span lines; ours are one.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds what was probably meant to a message of the form «unknown field `x`, expected one of `a`,
/// `b`».
pub(super) fn with_suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(found) if message.starts_with("unknown field") => match nearest(found, quoted) {
            Some(near) => format!("{message}; did you mean `{near}`?"),
            None => message.to_owned(),
        },
        _ => message.to_owned(),
    }
}

/// The word that differs least, if it differs little.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let (distance, near) =
        candidates.map(|candidate| (distance(word, candidate), candidate)).min()?;
    (distance <= 2.max(near.len() / 4)).then_some(near)
}

/// How many letters must be changed, added or taken away to make one word of the other.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(MAX_NAME).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

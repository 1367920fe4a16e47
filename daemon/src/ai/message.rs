//! What to tell people when a program failed, from what it printed, without publishing window
//! titles.

use super::{parse::plain, prompt::DATA};
use antidrift_protocol::text::clean;
use std::collections::HashSet;

/// How much of a program's standard error is kept, in bytes.
pub const TAIL_CAP: usize = 4096;

/// The cap in characters for the line that is quoted in a message.
const LINE_CAP: usize = 200;

/// A line that has this many characters in a row in common with private text quotes it. Programs
/// break long lines and cut them, so the whole text need not stand in one.
const QUOTE: usize = 16;

/// The last [`TAIL_CAP`] bytes of a stream.
#[derive(Clone, Default)]
pub struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

/// It may hold window titles: some programs print their whole prompt.
impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").field("len", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Tail {
    /// A whole stream.
    pub fn of(bytes: &[u8]) -> Self {
        let mut tail = Self::default();
        tail.push(bytes);
        tail
    }

    /// Adds what came next.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(TAIL_CAP);
        if excess > 0 {
            self.bytes.drain(..excess);
            self.cut = true;
        }
    }

    /// What is kept.
    #[must_use]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether nothing but white space came.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }

    /// The lines that are there as a whole: half a line could be half a title that nothing
    /// recognises.
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'\n').skip(usize::from(self.cut))
    }
}

/// The one line of `stderr`, else of `stdout`, that says best what went wrong, cleaned; empty if
/// there is none that may be shown. Lines that quote a private text are passed over.
pub(crate) fn complaint(stderr: &Tail, stdout: &[u8], private: &[&str]) -> String {
    let mut tail = Tail::default();
    tail.push(stdout);
    [stderr, &tail]
        .into_iter()
        .map(|tail| best_line(tail, private))
        .find(|l| !l.is_empty())
        .unwrap_or_default()
}

fn best_line(tail: &Tail, private: &[&str]) -> String {
    let private = Private::new(private);
    let shown: Vec<String> = tail
        .lines()
        .map(|line| clean(&plain(line), usize::MAX))
        .filter(|line| !line.is_empty() && !private.stands_in(line))
        .collect();
    let error =
        |line: &&String| ["ERROR", "Error", "error:"].iter().any(|word| line.starts_with(word));
    let at = shown.iter().rposition(|line| error(&line)).or(shown.len().checked_sub(1));
    let Some((best, after)) = at.and_then(|at| shown.get(at..)?.split_first()) else {
        return String::new();
    };
    let line = match after {
        // The cause stands below, perhaps numbered, and says more than what failed by it.
        [heading, cause, ..] if heading == "Caused by:" => {
            format!("{best}: {}", cause.trim_start_matches("0: "))
        }
        _ => best.clone(),
    };
    clean(&line, LINE_CAP)
}

/// Whether a failed program asks for a login, by the phrases that most of them use.
pub(crate) fn asks_for_login(complaint: &str) -> bool {
    let complaint = complaint.to_lowercase();
    [
        "logged in",
        "signed in",
        "log in",
        "sign in",
        "login",
        "unauthorized",
        "unauthenticated",
        "authentication",
        "authenticate",
        "api key",
        "api_key",
        "credential",
    ]
    .iter()
    .any(|phrase| complaint.contains(phrase))
}

/// Longest output, in bytes, that is taken for a notice instead of prose.
const NOTICE: usize = 400;

/// What an output that holds no answer seems to say. In fixed words: a model's own may be about the
/// window.
pub(crate) fn notice(output: &[u8]) -> &'static str {
    let text = plain(output.get(..NOTICE.min(output.len())).unwrap_or_default()).to_lowercase();
    let limit = ["limit", "quota", "credit", "billing"].iter().any(|word| text.contains(word));
    if output.len() < NOTICE && limit { "it speaks of a limit that is used up" } else { "" }
}

/// Private texts in the form in which a cleaned line would repeat them.
struct Private(HashSet<String>);

impl Private {
    fn new(texts: &[&str]) -> Self {
        let texts = texts.iter().map(|text| clean(text, usize::MAX).to_lowercase());
        Self(texts.flat_map(|text| pieces(&text)).collect())
    }

    fn stands_in(&self, line: &str) -> bool {
        let line = line.to_lowercase();
        line.contains(&DATA.to_lowercase())
            || pieces(&line).iter().any(|piece| self.0.contains(piece))
            // Texts that are shorter than a quotation are looked for as a whole.
            || self.0.iter().any(|text| text.chars().count() < QUOTE && line.contains(text))
    }
}

/// Every run of [`QUOTE`] characters of a text; all of it, if it has fewer.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return Vec::new();
    }
    letters.windows(QUOTE.min(letters.len())).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const PRIVATE: [&str; 2] =
        ["Write the quarterly report", "Account 12-34 – My Bank – overdraft letter"];

    fn of(stderr: &str) -> String {
        let mut tail = Tail::default();
        for chunk in stderr.as_bytes().chunks(100) {
            tail.push(chunk);
        }
        complaint(&tail, b"", &PRIVATE)
    }

    #[test]
    fn the_last_error_line_else_the_last_line() {
        for (stderr, expected) in [
            ("", ""),
            ("one\ntwo\n\n", "two"),
            ("Error: a\nERROR b\nhint\n", "ERROR b"),
            ("\u{1b}[31mError: quota\u{1b}[0m\r\nbye", "Error: quota"),
            ("error: unknown option '--safe-mode'\n", "error: unknown option '--safe-mode'"),
            ("fine\nDATA {\"window\":{}}\n", "fine"),
            ("Error: title was «account 12-34 – my bank – overdraft letter»\nplain", "plain"),
            ("Error: cut: overdraft letter (or so)\nplain", "plain"),
            ("Error: cut: draft letter (or so)\nplain", "Error: cut: draft letter (or so)"),
            ("…34 – My Bank – over\n", ""),
            ("while doing: Write the quarterly\n", ""),
            (
                "Error: Failed to call\n\nCaused by:\n    0: Miss 'api_key'\n    1: more\n",
                "Error: Failed to call: Miss 'api_key'",
            ),
            ("Error: Failed to call\n\nCaused by:\n", "Error: Failed to call"),
        ] {
            assert_eq!(of(stderr), expected, "{stderr:?}");
        }
    }

    #[test]
    fn a_line_is_cut_and_half_a_line_is_not_shown() {
        assert_eq!(of(&"e".repeat(3000)).chars().count(), LINE_CAP);
        assert_eq!(of(&"e".repeat(5000)), "");
        assert_eq!(of(&format!("{}\nreal", "x\n".repeat(50_000))), "real");
    }

    #[test]
    fn standard_output_speaks_when_standard_error_is_silent() {
        let said = |err: &str, out: &str| {
            let mut tail = Tail::default();
            tail.push(err.as_bytes());
            complaint(&tail, out.as_bytes(), &PRIVATE)
        };
        assert_eq!(said("\n", "Not logged in\n"), "Not logged in");
        assert_eq!(said("why\n", "Not logged in\n"), "why");
        assert!(asks_for_login("Not logged in"));
        assert!(!asks_for_login("quota exceeded"));
    }
}

//! Which windows are never put to a model, and what is taken out of the text that is.

use antidrift_protocol::text::clean;
use regex_lite::Regex;

use super::{Window, browsers, classes, context::ClassList, title};

/// What replaces redacted text.
const REDACTED: &str = "[…]";
/// Most characters of a title that are looked at.
const READ_CHARS: usize = 1024;

/// What the user wants kept.
#[derive(Clone, Debug)]
pub struct Privacy {
    withheld: ClassList,
    redact: Vec<Regex>,
}

impl Default for Privacy {
    fn default() -> Self {
        Self { withheld: ClassList::of(&[classes::PASSWORDS]), redact: Vec::new() }
    }
}

/// A fault in a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrivacyError {
    /// A class without letters.
    #[error("exclude_classes: {0:?} names no class")]
    Blank(String),
    /// An expression that does not compile.
    #[error("redact: {pattern:?} is no regular expression: {why}")]
    Pattern {
        /// As written.
        pattern: String,
        /// Why.
        why: String,
    },
}

impl Privacy {
    /// Adds a class that is never sent; a `*` at its end stands for any rest.
    ///
    /// # Errors
    ///
    /// A blank entry.
    pub fn exclude(&mut self, class: &str) -> Result<(), PrivacyError> {
        if self.withheld.add(class) { Ok(()) } else { Err(PrivacyError::Blank(class.into())) }
    }

    /// Adds a regular expression; what it matches in a title is not sent.
    ///
    /// # Errors
    ///
    /// One that does not compile.
    pub fn redact(&mut self, pattern: &str) -> Result<(), PrivacyError> {
        let compiled = Regex::new(pattern).map_err(|error| PrivacyError::Pattern {
            pattern: pattern.into(),
            why: error.to_string(),
        })?;
        self.redact.push(compiled);
        Ok(())
    }

    /// Why nothing about this window may be sent, if that is so.
    pub fn withheld(&self, window: &Window) -> Option<&'static str> {
        if self.withheld.holds(&super::fold(&window.class)) {
            return Some("its class is on the list of those that are never sent");
        }
        let cleaned = clean(&window.title, READ_CHARS);
        let segments = title::segments(&cleaned);
        let private = segments.iter().any(|segment| browsers::says_private(segment.text));
        private.then_some("it is a private browser window")
    }

    /// A title as it may be sent.
    pub fn redacted(&self, title: &str) -> String {
        self.redact.iter().fold(title.to_owned(), |text, pattern| {
            pattern.replace_all(&text, REDACTED).into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn window(class: &str, title: &str) -> Window {
        Window { class: class.into(), title: title.into(), ..Window::default() }
    }

    #[test]
    fn private_windows_and_password_managers_are_withheld() {
        let privacy = Privacy::default();
        for (class, title, withheld) in [
            ("firefox", "Search — Mozilla Firefox Private Browsing", true),
            ("firefox", "Suche — Mozilla Firefox — Privater Modus", true),
            ("firefox", "recherche — Navigation privée de Mozilla Firefox", true),
            ("Google-chrome", "New Incognito tab - Google Chrome (Incognito)", true),
            ("Chromium", "Neuer Inkognitotab - Chromium (Inkognito)", true),
            ("Microsoft-edge", "News - [InPrivate] - Microsoft Edge", true),
            ("firefox", "検索 — Mozilla Firefox プライベートブラウジング", true),
            ("KeePassXC", "Passwords.kdbx", true),
            ("Bitwarden", "Vault", true),
            ("firefox", "Private browsing explained - Wikipedia — Mozilla Firefox", false),
            ("firefox", "Report (2026) — Mozilla Firefox", false),
            ("Code", "main.rs", false),
        ] {
            assert_eq!(privacy.withheld(&window(class, title)).is_some(), withheld, "{title}");
        }
    }

    #[test]
    fn own_rules() {
        let mut privacy = Privacy::default();
        privacy.exclude("Thunderbird").unwrap();
        privacy.exclude("my-*").unwrap();
        assert!(privacy.withheld(&window("thunderbird", "x")).is_some());
        assert!(privacy.withheld(&window("My-App", "x")).is_some());
        privacy.redact(r"\b[\w.]+@[\w.]+\b").unwrap();
        privacy.redact("Projekt \\d+").unwrap();
        assert_eq!(privacy.redacted("Re: Projekt 42 from a.b@c.example"), "Re: […] from […]");
        assert!(privacy.redact("(").unwrap_err().to_string().contains("\"(\""));
        assert!(privacy.exclude(" ").is_err());
    }
}

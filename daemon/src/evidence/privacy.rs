//! Which windows are never put to a model, and what is taken out of the text that is.

use antidrift_protocol::text::clean;
use regex_lite::Regex;

use super::{Window, browsers, classes, context::ClassList, title};

/// What replaces redacted text.
const REDACTED: &str = "[…]";
/// Most characters of a title that are looked at.
const READ_CHARS: usize = 1024;

/// Password managers as they name themselves in the title of a browser, in lower case. Withholding
/// too much costs one judgement, too little an account.
const VAULTS: &[&str] = &[
    "1password",
    "bitwarden",
    "bitwarden web vault",
    "dashlane",
    "enpass",
    "google password manager",
    "keeper vault",
    "lastpass",
    "lastpass vault",
    "nordpass",
    "passbolt",
    "password manager",
    "proton pass",
    "psono",
    "vaultwarden",
    "vaultwarden web vault",
];

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

    /// Adds a regular expression; what it matches is not sent, be it in a title, a class or what the
    /// user typed.
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
        if self.withholds_class(&window.class) {
            return Some("its class is on the list of those that are never sent");
        }
        let cleaned = clean(&window.title, READ_CHARS);
        let segments = title::segments(&cleaned);
        let private = segments.iter().any(|segment| browsers::says_private(segment.text));
        if private {
            return Some("it is a private browser window");
        }
        if segments.iter().any(|segment| VAULTS.contains(&super::fold(segment.text).as_str())) {
            return Some("it is a password manager");
        }
        // What a dialog of such a window says is as private.
        window.parent.as_deref().and_then(|parent| self.withheld(parent))
    }

    /// Whether windows of this class are never sent, and the class itself neither.
    pub fn withholds_class(&self, class: &str) -> bool {
        self.withheld.holds(&super::fold(class))
    }

    /// A text as it may be sent. Cleaned before the rules see it: a letter that nobody sees would
    /// hide what they look for.
    pub fn redacted(&self, text: &str) -> String {
        if self.redact.is_empty() {
            return text.to_owned();
        }
        self.redact.iter().fold(clean(text, usize::MAX), |text, pattern| {
            pattern.replace_all(&text, REDACTED).into_owned()
        })
    }

    /// Of these classes those that may be sent, as they may be sent.
    pub fn redacted_classes(&self, classes: &[String]) -> Vec<String> {
        let sent = classes.iter().filter(|class| !self.withholds_class(class));
        sent.map(|class| self.redacted(class)).collect()
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
            ("firefox", "Bitwarden — Mozilla Firefox", true),
            ("firefox", "Vault | Bitwarden Web Vault — Mozilla Firefox", true),
            ("Google-chrome", "bank.example - 1Password - Google Chrome", true),
            ("firefox", "Is Bitwarden any good? — Mozilla Firefox", false),
            ("firefox", "Private browsing explained - Wikipedia — Mozilla Firefox", false),
            ("firefox", "Report (2026) — Mozilla Firefox", false),
            ("Code", "main.rs", false),
        ] {
            assert_eq!(privacy.withheld(&window(class, title)).is_some(), withheld, "{title}");
        }
    }

    #[test]
    fn a_dialog_is_as_private_as_its_window() {
        let privacy = Privacy::default();
        let dialog = |owner| Window { parent: Some(Box::new(owner)), ..window("firefox", "Save") };
        let private = window("firefox", "x — Mozilla Firefox Private Browsing");
        assert!(privacy.withheld(&dialog(private)).is_some());
        assert!(privacy.withheld(&dialog(window("firefox", "x — Mozilla Firefox"))).is_none());
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
        for hidden in ["Pro\u{200b}jekt 42", "Projekt\u{1b}[31m 42", "Projekt\n42"] {
            assert_eq!(privacy.redacted(hidden), "[…]", "{hidden:?}");
        }
        let classes = ["Code", "thunderbird", "KeePassXC", "Projekt 7"].map(str::to_owned);
        assert_eq!(privacy.redacted_classes(&classes), ["Code", "[…]"]);
        assert!(privacy.redact("(").unwrap_err().to_string().contains("\"(\""));
        assert!(privacy.exclude(" ").is_err());
    }
}

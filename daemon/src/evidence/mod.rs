//! What a window says about what a person is doing: its identity, its context, and whether the
//! allowed context covers it. Pure: no clock, no files, no sockets, no X.

mod address;
mod allowed;
mod browsers;
mod classes;
mod context;
mod privacy;
mod title;

use std::{fmt, sync::LazyLock};

use antidrift_protocol::text::clean;

pub use address::domain_in_title;
pub use allowed::{Matcher, normal_form, reason_of};
pub use context::{ClassListError, ContextKey, Contexts};
pub use privacy::{Privacy, PrivacyError};
pub use title::{CONTEXT_TITLE_MAX, context_title};

/// A window as the sensor saw it. Text is raw (decoded, NUL stripped) and bounded by the sensor:
/// titles to 1 KiB, class and instance to 256 bytes.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The X11 window id; 0 where the sensor has none.
    pub id: u32,
    /// The second string of `WM_CLASS` (ICCCM 4.1.2.5); empty when the property is missing.
    pub class: String,
    /// The first string of `WM_CLASS`.
    pub instance: String,
    /// `_NET_WM_NAME`, else `WM_NAME`; empty when both are missing.
    pub title: String,
    /// The process that put it up: `_NET_WM_PID` (EWMH), if it is one of this host's.
    pub process: Option<u32>,
    /// Basename of a terminal's foreground process, where the machine tells it.
    pub command: Option<String>,
    /// Host name of an address that stands in the title.
    pub domain: Option<String>,
    /// Whether it fills the screen (EWMH: `_NET_WM_STATE` holds `_NET_WM_STATE_FULLSCREEN`).
    pub fullscreen: bool,
    /// The window that `WM_TRANSIENT_FOR` names, unless that is the root or none. Its own parent is
    /// not followed.
    pub parent: Option<Box<Window>>,
}

/// The basename of our own client.
const CLIENT: &str = "antidrift";

impl Window {
    /// Whether our own client runs in it, as a live view does: that says nothing about what a
    /// person is doing, so it is never judged.
    pub fn is_our_view(&self) -> bool {
        self.command.as_deref() == Some(CLIENT)
    }

    /// Whether the window says nothing about itself: it has neither class nor title, so it is never
    /// judged.
    pub fn is_anonymous(&self) -> bool {
        clean(&self.class, 1).is_empty() && clean(&self.title, 1).is_empty()
    }
}

/// Whether windows of this class are terminals. The list is built in: configuration does not change
/// what a terminal is.
pub fn is_terminal(class: &str) -> bool {
    static BUILT_IN: LazyLock<Contexts> = LazyLock::new(Contexts::default);
    BUILT_IN.is_terminal(class)
}

/// Titles are private: no debug output may carry one into a log.
impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("id", &format_args!("{:#x}", self.id))
            .field("class", &self.class)
            .field("title_bytes", &self.title.len())
            .finish_non_exhaustive()
    }
}

/// Trimmed and without letter case, for comparing. Letter by letter and with one sigma: the form
/// of that letter at the end of a word would make a part of a word no part of the word.
fn fold(text: &str) -> String {
    let letters = text.trim().chars().flat_map(char::to_lowercase);
    letters.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_windows() {
        #[track_caller]
        fn check(class: &str, title: &str, expected: bool) {
            let window = Window { class: class.into(), title: title.into(), ..Window::default() };
            assert_eq!(window.is_anonymous(), expected, "{class:?} {title:?}");
        }
        check("", "", true);
        check(" ", "\t\u{200b}", true);
        check("XTerm", "", false);
        check("", "draft", false);
        // A title of decoration alone is a title: there is something to see.
        check("", "(3)", false);
    }

    #[test]
    fn debug_output_holds_no_title() {
        let window = Window { title: "diagnosis".into(), ..Window::default() };
        assert!(!format!("{window:?}").contains("diagnosis"));
    }

    #[test]
    fn folding() {
        assert_eq!(fold(" FireFox\n"), "firefox");
        assert_eq!(fold("ΟΔΌΣ"), "οδόσ");
        assert_eq!(fold("οδός"), "οδόσ");
    }
}

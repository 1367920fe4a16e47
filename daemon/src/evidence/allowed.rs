//! Local matching: whether the allowed context of a session covers a window. No judge is asked
//! about a window that it covers.

use std::collections::HashSet;

use antidrift_protocol::{Allowed, Selector, entry};

use super::{Window, context_title, fold};

/// The form in which entries of this list are compared, with each other and with what a window
/// shows: two entries with the same form match the same windows, one with an empty form none.
pub fn normal_form(list: Selector, text: &str) -> String {
    match list {
        Selector::WindowClass | Selector::WindowTitleSubstring => fold(text),
        Selector::WindowTitle => fold(&context_title(text)),
        Selector::Domain => entry::host(text).map_or_else(String::new, |host| fold(&host)),
        Selector::Command => fold(entry::program(text)),
    }
}

/// What people are told of a window that this list covers.
pub fn reason_of(list: Selector) -> &'static str {
    match list {
        Selector::WindowClass => "its window class is allowed",
        Selector::WindowTitle => "its title is allowed",
        Selector::WindowTitleSubstring => "its title holds an allowed text",
        Selector::Domain => "its domain is allowed",
        Selector::Command => "its command is allowed",
    }
}

/// An allowed context made ready for comparing. Build it anew when the context changes, not for
/// each window.
#[derive(Clone, Default)]
pub struct Matcher {
    classes: HashSet<String>,
    titles: HashSet<String>,
    substrings: Vec<String>,
    domains: HashSet<String>,
    commands: HashSet<String>,
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matcher").finish_non_exhaustive()
    }
}

impl Matcher {
    /// Brings every entry into the form in which it is compared.
    pub fn new(allowed: &Allowed) -> Self {
        fn normal<C: FromIterator<String>>(allowed: &Allowed, list: Selector) -> C {
            let forms = allowed.list(list).iter().map(|entry| normal_form(list, entry));
            forms.filter(|form| !form.is_empty()).collect()
        }
        Self {
            classes: normal(allowed, Selector::WindowClass),
            titles: normal(allowed, Selector::WindowTitle),
            substrings: normal(allowed, Selector::WindowTitleSubstring),
            domains: normal(allowed, Selector::Domain),
            commands: normal(allowed, Selector::Command),
        }
    }

    /// Which list covers the window, if any; the first that does. A window's parent is not asked:
    /// whether a transient follows it is for the caller, who knows the parent's verdict as well.
    pub fn covers(&self, window: &Window) -> Option<Selector> {
        if self.window_class_allowed(&window.class) {
            Some(Selector::WindowClass)
        } else if self.window_title_allowed(&window.title) {
            Some(Selector::WindowTitle)
        } else if self.window_title_substring_allowed(&window.title) {
            Some(Selector::WindowTitleSubstring)
        } else if window.domain.as_deref().is_some_and(|host| self.domain_allowed(host)) {
            Some(Selector::Domain)
        } else if window.command.as_deref().is_some_and(|name| self.command_allowed(name)) {
            Some(Selector::Command)
        } else {
            None
        }
    }

    /// The class is an entry; an empty class never is.
    pub fn window_class_allowed(&self, class: &str) -> bool {
        self.classes.contains(&fold(class))
    }

    /// The context title is an entry, whole: a page called «X» must not excuse every title with
    /// an x in it.
    pub fn window_title_allowed(&self, title: &str) -> bool {
        !self.titles.is_empty() && self.titles.contains(&fold(&context_title(title)))
    }

    /// An entry stands in the raw title or in the context title. The first lets people name what
    /// the second leaves out; the second lets an entry reach over a counter that was taken out.
    pub fn window_title_substring_allowed(&self, title: &str) -> bool {
        if self.substrings.is_empty() {
            return false;
        }
        let raw = fold(title);
        let context = fold(&context_title(title));
        self.substrings.iter().any(|part| raw.contains(part) || context.contains(part))
    }

    /// The host is an entry, or below one: `docs.github.com` under `github.com`.
    pub fn domain_allowed(&self, host: &str) -> bool {
        let host = normal_form(Selector::Domain, host);
        let mut rest = host.as_str();
        loop {
            if self.domains.contains(rest) {
                return true;
            }
            match rest.split_once('.') {
                Some((_, parent)) => rest = parent,
                None => return false,
            }
        }
    }

    /// The program is an entry, wherever either of them lies.
    pub fn command_allowed(&self, command: &str) -> bool {
        self.commands.contains(&normal_form(Selector::Command, command))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    fn matcher(by: Selector, entries: &[&str]) -> Matcher {
        let mut allowed = Allowed::default();
        *allowed.list_mut(by) = list(entries);
        Matcher::new(&allowed)
    }

    #[test]
    fn window_class() {
        #[track_caller]
        fn check(entries: &[&str], class: &str, expected: bool) {
            let matcher = matcher(Selector::WindowClass, entries);
            assert_eq!(matcher.window_class_allowed(class), expected, "{entries:?} on {class:?}");
        }
        check(&["firefox"], "firefox", true);
        check(&["Firefox"], "firefox", true);
        check(&["arandr"], "Arandr", true);
        check(&["  Code "], "code", true);
        check(&["code"], " Code\t", true);
        check(&["ÄRGER"], "ärger", true);
        check(&["code"], "code-oss", false);
        check(&["code-oss"], "code", false);
        check(&["org.gnome.Nautilus"], "Nautilus", false);
        check(&["emacs", "code"], "code", true);
        check(&["steam_app_*"], "steam_app_570", false);
        check(&[""], "", false);
        check(&["  "], "", false);
        check(&["code"], "", false);
        check(&[], "code", false);
    }

    #[test]
    fn whole_title() {
        #[track_caller]
        fn check(entries: &[&str], title: &str, expected: bool) {
            let matcher = matcher(Selector::WindowTitle, entries);
            assert_eq!(matcher.window_title_allowed(title), expected, "{entries:?} on {title:?}");
        }
        check(&["Inbox – Mail"], "(60) INBOX – Mail — Mozilla Firefox", true);
        check(&["(1) Inbox – Mail"], "(2) Inbox – Mail", true);
        check(&["notes.txt"], "* notes.txt", true);
        check(&["X"], "X - Google Chrome", true);
        check(&["X"], "xterm", false);
        check(&["X"], "about X", false);
        check(&["Meeting at 14:00"], "Meeting at 15:00", true);
        check(&[""], "", false);
        check(&["(3)"], "(4)", false);
        check(&[], "notes.txt", false);
    }

    #[test]
    fn title_substring() {
        #[track_caller]
        fn check(entries: &[&str], title: &str, expected: bool) {
            let matcher = matcher(Selector::WindowTitleSubstring, entries);
            let found = matcher.window_title_substring_allowed(title);
            assert_eq!(found, expected, "{entries:?} on {title:?}");
        }
        check(&["rust"], "The Rust Book", true);
        check(&[" RUST "], "rustc", true);
        check(&["rust book"], "Rust", false);
        check(&["video", "rust"], "Rust", true);
        check(&["mozilla firefox"], "Docs — Mozilla Firefox", true);
        check(&["Inbox - me@example.org"], "Inbox (7) - me@example.org - Gmail", true);
        check(&["(7)"], "Inbox (7)", true);
        check(&["größe"], "GRÖSSE", false);
        check(&["größe"], "GRÖßE", true);
        check(&["οδός"], "Η ΟΔΌΣ", true);
        check(&[""], "anything", false);
        check(&[" \t"], "any thing", false);
        check(&["x"], "", false);
    }

    #[test]
    fn domain() {
        #[track_caller]
        fn check(entries: &[&str], host: &str, expected: bool) {
            let matcher = matcher(Selector::Domain, entries);
            assert_eq!(matcher.domain_allowed(host), expected, "{entries:?} on {host:?}");
        }
        check(&["github.com"], "github.com", true);
        check(&["github.com"], "docs.github.com", true);
        check(&["github.com"], "a.b.github.com", true);
        check(&["docs.github.com"], "github.com", false);
        check(&["github.com"], "notgithub.com", false);
        check(&["github.com"], "github.com.example.org", false);
        check(&[" GitHub.COM. "], "github.com", true);
        check(&["github.com"], "\tDocs.GitHub.com. ", true);
        check(&["https://github.com/rust-lang"], "github.com", true);
        check(&["*.github.com"], "docs.github.com", true);
        check(&["localhost:3000"], "localhost", true);
        check(&["com"], "github.com", true);
        check(&[""], "github.com", false);
        check(&[" . "], "github.com", false);
        check(&["*."], "github.com", false);
        check(&["github.com"], "", false);
        check(&["github.com"], ".", false);
    }

    #[test]
    fn command() {
        #[track_caller]
        fn check(entries: &[&str], command: &str, expected: bool) {
            let matcher = matcher(Selector::Command, entries);
            assert_eq!(matcher.command_allowed(command), expected, "{entries:?} on {command:?}");
        }
        check(&["vim"], "vim", true);
        check(&["/usr/bin/vim"], "vim", true);
        check(&["vim"], "/usr/local/bin/vim", true);
        check(&["VIM"], "vim", true);
        check(&[" vim "], "vim", true);
        check(&["cargo test --all"], "cargo", true);
        check(&["/usr/bin/vim notes/todo.txt"], "vim", true);
        check(&["bash"], "-bash", true);
        check(&["tmux"], "tmux: client", true);
        check(&["./run.sh"], "run.sh", true);
        check(&["vim"], "nvim", false);
        check(&["python"], "python3", false);
        check(&[""], "", false);
        check(&["/"], "/", false);
        check(&["-"], "-", false);
        check(&["vim"], "", false);
    }

    #[test]
    fn covers() {
        let window = Window {
            class: "XTerm".into(),
            title: "vim main.rs".into(),
            command: Some("vim".into()),
            domain: Some("docs.rs".into()),
            ..Window::default()
        };
        let check = |allowed: Allowed, expected: Option<Selector>| {
            assert_eq!(Matcher::new(&allowed).covers(&window), expected, "{allowed:?}");
        };
        let none = Allowed {
            window_classes: list(&["code"]),
            window_titles: list(&["main.rs"]),
            window_title_substrings: list(&["lib.rs"]),
            domains: list(&["github.com"]),
            commands: list(&["cargo"]),
        };
        let class = Allowed { window_classes: list(&["xterm"]), ..none.clone() };
        let title = Allowed { window_titles: list(&["vim main.rs"]), ..none.clone() };
        let part = Allowed { window_title_substrings: list(&["main"]), ..none.clone() };
        let domain = Allowed { domains: list(&["docs.rs"]), ..none.clone() };
        let command = Allowed { commands: list(&["vim"]), ..none.clone() };
        let all = Allowed {
            window_classes: class.window_classes.clone(),
            window_titles: title.window_titles.clone(),
            window_title_substrings: part.window_title_substrings.clone(),
            domains: domain.domains.clone(),
            commands: command.commands.clone(),
        };
        check(Allowed::default(), None);
        check(none, None);
        check(class, Some(Selector::WindowClass));
        check(title, Some(Selector::WindowTitle));
        check(part, Some(Selector::WindowTitleSubstring));
        check(domain, Some(Selector::Domain));
        check(command, Some(Selector::Command));
        check(all, Some(Selector::WindowClass));
    }

    #[test]
    fn nothing_covers_a_window_that_tells_nothing() {
        let blank = list(&["", " "]);
        let allowed = Allowed {
            window_classes: blank.clone(),
            window_titles: blank.clone(),
            window_title_substrings: blank.clone(),
            domains: blank.clone(),
            commands: blank,
        };
        let window = Window {
            command: Some(String::new()),
            domain: Some(String::new()),
            ..Window::default()
        };
        assert_eq!(Matcher::new(&allowed).covers(&window), None);
    }

    #[test]
    fn entries_keep_out_of_logs() {
        let allowed = Allowed { window_titles: list(&["diagnosis"]), ..Allowed::default() };
        let shown = format!("{allowed:?} {:?}", Matcher::new(&allowed));
        assert!(!shown.contains("diagnosis"), "{shown}");
    }

    proptest! {
        #[test]
        fn letter_case_makes_no_difference(
            entry in "[a-z0-9éжς._ -]{1,24}",
            wrap in "[a-z]{0,3}",
        ) {
            let upper = entry.to_uppercase();
            for by in Selector::ALL {
                prop_assert_eq!(normal_form(by, &entry), normal_form(by, &upper));
            }
            let matcher = matcher(Selector::WindowTitleSubstring, &[&entry]);
            let title = format!("{wrap}{upper}{wrap}");
            let blank = entry.trim().is_empty();
            prop_assert_eq!(matcher.window_title_substring_allowed(&title), !blank);
        }

        #[test]
        fn normal_forms_are_final(entry in any::<String>()) {
            for by in [Selector::WindowClass, Selector::WindowTitle, Selector::Domain] {
                let form = normal_form(by, &entry);
                prop_assert_eq!(normal_form(by, &form), form);
            }
        }

        #[test]
        fn an_entry_covers_the_window_it_was_taken_from(
            class in any::<String>(),
            title in any::<String>(),
        ) {
            let context = context_title(&title);
            let by_class = matcher(Selector::WindowClass, &[&class]);
            let by_title = matcher(Selector::WindowTitle, &[&context]);
            prop_assert_eq!(by_class.window_class_allowed(&class), !class.trim().is_empty());
            prop_assert_eq!(by_title.window_title_allowed(&title), !context.is_empty());
        }
    }
}

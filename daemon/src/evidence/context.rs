//! What counts as one context: a program, or, for programs that show anything at all, one title.

use std::fmt;

use super::{Window, classes, context_title, fold};

/// How window classes are read: which hold many contexts, and which are passed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contexts {
    many: ClassList,
    ignored: ClassList,
    terminals: ClassList,
}

impl Default for Contexts {
    fn default() -> Self {
        Self {
            many: ClassList::of(&[classes::BROWSERS, classes::TERMINALS, classes::RUNTIMES]),
            ignored: ClassList::of(&[classes::IGNORED]),
            terminals: ClassList::of(&[classes::TERMINALS]),
        }
    }
}

impl Contexts {
    /// The built-in lists, changed by what the configuration says under `many_context_classes` and
    /// `ignore_classes`. `None` is a key that was not set.
    ///
    /// `"+x"` and `"-x"` change the built-in list, the later entry having the last word on a class;
    /// plain names replace the list. An entry may end in `*`, which stands for any rest. Taking
    /// away a class that is not listed is no fault: the built-in list may have dropped it.
    pub fn from_config(
        many: Option<&[String]>,
        ignored: Option<&[String]>,
    ) -> Result<Self, ClassListError> {
        let mut contexts = Self::default();
        if let Some(entries) = many {
            contexts.many.configure(entries)?;
        }
        if let Some(entries) = ignored {
            contexts.ignored.configure(entries)?;
        }
        Ok(contexts)
    }

    /// Whether windows of this class are told apart by their titles. A window without a class says
    /// nothing about its program (`WM_CLASS` may be missing, ICCCM 4.1.2.5), so it counts as one.
    pub fn is_many_context(&self, class: &str) -> bool {
        let class = fold(class);
        class.is_empty() || self.many.holds(&class)
    }

    /// Whether windows of this class are not looked at: the status before them holds.
    pub fn is_ignored(&self, class: &str) -> bool {
        self.ignored.holds(&fold(class))
    }

    /// Whether this is a terminal: where `antidrift ontask` is typed, and what tells its command.
    pub fn is_terminal(&self, class: &str) -> bool {
        self.terminals.holds(&fold(class))
    }

    /// What a verdict about this window is kept under.
    pub fn key(&self, window: &Window) -> ContextKey {
        self.key_with(window, |window| Place::Title(fold(&context_title(&window.title))))
    }

    /// The key of a window whose title never rests: many-context windows by id instead of title.
    pub fn key_by_id(&self, window: &Window) -> ContextKey {
        self.key_with(window, |window| Place::Window(window.id))
    }

    fn key_with(&self, window: &Window, place: impl FnOnce(&Window) -> Place) -> ContextKey {
        let class = fold(&window.class);
        if !class.is_empty() && !self.many.holds(&class) {
            return ContextKey(Key::Program(class));
        }
        ContextKey(Key::Place { class, instance: fold(&window.instance), place: place(window) })
    }
}

/// Names a context: two windows with the same key share a verdict. Letter case makes no difference.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ContextKey(Key);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Program(String),
    Place { class: String, instance: String, place: Place },
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    Title(String),
    Window(u32),
}

/// Keys hold titles, and titles are private: no debug output may carry one into a log.
impl fmt::Debug for ContextKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Key::Program(class) => write!(f, "ContextKey({class:?})"),
            Key::Place { class, place: Place::Title(title), .. } => {
                write!(f, "ContextKey({class:?}, title of {} bytes)", title.len())
            }
            Key::Place { class, place: Place::Window(id), .. } => {
                write!(f, "ContextKey({class:?}, window {id:#x})")
            }
        }
    }
}

/// A fault in a configured list of classes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClassListError {
    /// Entries that change the built-in list stand beside names that replace it.
    #[error(
        "{entry:?}: entries with + or - change the built-in list, plain names replace it; use one kind"
    )]
    Mixed {
        /// The first entry that is not of the kind of those before it.
        entry: String,
    },
    /// An entry without a class name.
    #[error("{entry:?}: no class name")]
    Blank {
        /// The entry as it was written.
        entry: String,
    },
}

/// An ordered list of rules; the last one that fits a class decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ClassList(Vec<Rule>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    listed: bool,
    /// Folded, without the `*`.
    name: String,
    any_rest: bool,
}

impl Rule {
    /// `None` if the pattern names nothing.
    fn new(listed: bool, pattern: &str) -> Option<Self> {
        let pattern = fold(pattern);
        let (name, any_rest) = match pattern.strip_suffix('*') {
            Some(start) => (start, true),
            None => (pattern.as_str(), false),
        };
        let blank = name.is_empty() && !any_rest;
        (!blank).then(|| Self { listed, name: name.to_owned(), any_rest })
    }

    fn fits(&self, class: &str) -> bool {
        match self.any_rest {
            true => class.starts_with(&self.name),
            false => class == self.name,
        }
    }
}

impl ClassList {
    /// Adds a class. False if it names none.
    pub(super) fn add(&mut self, pattern: &str) -> bool {
        let rule = Rule::new(true, pattern);
        let known = rule.is_some();
        self.0.extend(rule);
        known
    }

    pub(super) fn of(lists: &[&[&str]]) -> Self {
        Self(lists.iter().copied().flatten().filter_map(|name| Rule::new(true, name)).collect())
    }

    fn configure(&mut self, entries: &[String]) -> Result<(), ClassListError> {
        let mut rules = Vec::with_capacity(entries.len());
        let mut replaces = None;
        for entry in entries {
            let text = entry.trim();
            let (plain, listed, name) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
                (Some(name), _) => (false, true, name),
                (_, Some(name)) => (false, false, name),
                _ => (true, true, text),
            };
            if *replaces.get_or_insert(plain) != plain {
                return Err(ClassListError::Mixed { entry: entry.clone() });
            }
            match Rule::new(listed, name) {
                Some(rule) => rules.push(rule),
                None => return Err(ClassListError::Blank { entry: entry.clone() }),
            }
        }
        // An empty list is a list of no classes: that replaces too.
        if replaces.unwrap_or(true) {
            self.0.clear();
        }
        self.0.append(&mut rules);
        Ok(())
    }

    /// Whether a folded class is listed. An empty class never is.
    pub(super) fn holds(&self, class: &str) -> bool {
        !class.is_empty()
            && self.0.iter().rev().find(|rule| rule.fits(class)).is_some_and(|rule| rule.listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(id: u32, class: &str, instance: &str, title: &str) -> Window {
        Window {
            id,
            class: class.into(),
            instance: instance.into(),
            title: title.into(),
            ..Window::default()
        }
    }

    fn configured(many: &[&str]) -> Result<Contexts, ClassListError> {
        let many: Vec<String> = many.iter().map(|entry| (*entry).to_owned()).collect();
        Contexts::from_config(Some(&many), None)
    }

    #[test]
    fn built_in_classes() {
        #[track_caller]
        fn check(class: &str, many: bool, terminal: bool, ignored: bool) {
            let contexts = Contexts::default();
            let found = (
                contexts.is_many_context(class),
                contexts.is_terminal(class),
                contexts.is_ignored(class),
            );
            assert_eq!(found, (many, terminal, ignored), "{class:?}");
        }
        for class in ["firefox", "Firefox-esr", "Navigator", "Google-chrome", "Brave-browser"] {
            check(class, true, false, false);
        }
        for class in ["Chromium-browser", "Vivaldi-stable", "Opera", "LibreWolf", "Epiphany"] {
            check(class, true, false, false);
        }
        for class in ["Microsoft-edge", "qutebrowser", " falkon ", "Tor Browser", "zen-beta"] {
            check(class, true, false, false);
        }
        for class in ["XTerm", "URxvt", "kitty", "Alacritty", "Gnome-terminal", "konsole", "foot"] {
            check(class, true, true, false);
        }
        for class in ["org.wezfurlong.wezterm", "st-256color", "Tilix", "com.mitchellh.ghostty"] {
            check(class, true, true, false);
        }
        for class in ["Wine", "explorer.exe", "steam_app_0", "sun-awt-X11-XFramePeer", "Electron"] {
            check(class, true, false, false);
        }
        for class in ["Xdg-desktop-portal-gtk", "Pinentry-gtk-2", "Gcr-prompter", "lxpolkit"] {
            check(class, false, false, true);
        }
        for class in ["polkit-gnome-authentication-agent-1", "Ssh-askpass", "ksshaskpass"] {
            check(class, false, false, true);
        }
        for class in ["Code", "Emacs", "jetbrains-idea", "steam_app_570", "winword.exe", "Mutt"] {
            check(class, false, false, false);
        }
        check("", true, false, false);
        check("  ", true, false, false);
        check("operator", false, false, false);
        check("stellarium", false, false, false);
    }

    #[test]
    fn built_in_lists_are_folded_and_whole() {
        let lists = [classes::BROWSERS, classes::TERMINALS, classes::RUNTIMES, classes::IGNORED];
        for name in lists.iter().copied().flatten() {
            assert_eq!(*name, fold(name));
            assert!(Rule::new(true, name).is_some_and(|rule| rule.name.len() > 1), "{name:?}");
        }
    }

    #[test]
    fn configured_lists() {
        #[track_caller]
        fn check(entries: &[&str], class: &str, expected: bool) {
            let contexts = configured(entries).expect("a good list");
            assert_eq!(contexts.is_many_context(class), expected, "{entries:?} on {class:?}");
        }
        check(&["+MyBrowser"], "mybrowser", true);
        check(&["+mybrowser"], "firefox", true);
        check(&["-wine"], "Wine", false);
        check(&["-wine"], "firefox", true);
        check(&["-firefox"], "firefox-esr", true);
        check(&["-firefox*", "+firefox-work"], "firefox-work", true);
        check(&["-firefox*", "+firefox-work"], "firefox", false);
        check(&["+x", "-x"], "x", false);
        check(&["-never-heard-of"], "firefox", true);
        check(&["Emacs"], "emacs", true);
        check(&["emacs"], "firefox", false);
        check(&["emacs"], "", true);
        check(&[" + emacs "], "emacs", true);
        check(&["*"], "anything", true);
        check(&["-*"], "firefox", false);
        check(&["-*"], "", true);
        check(&[], "firefox", false);
    }

    #[test]
    fn a_terminal_stays_a_terminal() {
        let contexts = configured(&["-kitty"]).expect("a good list");
        assert!(!contexts.is_many_context("kitty"));
        assert!(contexts.is_terminal("kitty"));
    }

    #[test]
    fn ignored_classes_are_configured_apart() {
        let ignored = ["+my-launcher".to_owned(), "-pinentry*".to_owned()];
        let contexts = Contexts::from_config(None, Some(&ignored)).expect("a good list");
        assert!(contexts.is_ignored("My-Launcher"));
        assert!(contexts.is_ignored("lxpolkit"));
        assert!(!contexts.is_ignored("Pinentry-qt"));
        assert!(contexts.is_many_context("firefox"));
        let all = Contexts::from_config(None, Some(&["*".to_owned()])).expect("a good list");
        assert!(!all.is_ignored(""));
    }

    #[test]
    fn faulty_lists() {
        #[track_caller]
        fn check(entries: &[&str], expected: &ClassListError) {
            assert_eq!(configured(entries).as_ref(), Err(expected), "{entries:?}");
        }
        check(&["+a", "b"], &ClassListError::Mixed { entry: "b".into() });
        check(&["a", "b", "-c", "d"], &ClassListError::Mixed { entry: "-c".into() });
        check(&["+a", ""], &ClassListError::Mixed { entry: "".into() });
        check(&["a", " "], &ClassListError::Blank { entry: " ".into() });
        check(&["+a", "- "], &ClassListError::Blank { entry: "- ".into() });
        let error = ClassListError::Mixed { entry: "firefox".into() };
        assert!(error.to_string().contains("\"firefox\""));
    }

    #[test]
    fn keys() {
        #[track_caller]
        fn check(a: &Window, b: &Window, same: bool) {
            let contexts = Contexts::default();
            assert_eq!(contexts.key(a) == contexts.key(b), same, "{a:?} and {b:?}");
        }
        let code = window(1, "Code", "code", "a.rs");
        check(&code, &window(2, "code", "other", "b.rs"), true);
        check(&code, &window(1, "Emacs", "code", "a.rs"), false);

        let page = window(1, "firefox", "Navigator", "(1) Inbox – Mail — Mozilla Firefox");
        check(&page, &window(2, "Firefox", "navigator", "(60) inbox – Mail"), true);
        check(&page, &window(1, "firefox", "Navigator", "Video — Mozilla Firefox"), false);
        check(&page, &window(1, "firefox", "work", "Inbox – Mail"), false);
        check(&page, &window(1, "chromium", "Navigator", "Inbox – Mail"), false);

        // Nothing is joined, so nothing can be split in another place.
        check(&window(1, "", "a", "b"), &window(1, "", "ab", ""), false);
        check(&window(1, "", "", "draft"), &window(2, "", "", "* draft"), true);
        check(&window(1, "Wine", "winword.exe", "x"), &window(1, "Wine", "game.exe", "x"), false);
    }

    #[test]
    fn keys_by_id() {
        let contexts = Contexts::default();
        let first = window(7, "XTerm", "xterm", "1 of 9");
        let second = Window { title: "2 of 9".into(), ..first.clone() };
        assert_ne!(contexts.key(&first), contexts.key(&second));
        assert_eq!(contexts.key_by_id(&first), contexts.key_by_id(&second));
        assert_ne!(contexts.key_by_id(&first), contexts.key(&first));
        assert_ne!(
            contexts.key_by_id(&first),
            contexts.key_by_id(&Window { id: 8, ..first.clone() })
        );

        let code = window(1, "Code", "code", "a.rs");
        assert_eq!(contexts.key_by_id(&code), contexts.key(&code));
    }

    #[test]
    fn keys_keep_titles_out_of_logs() {
        let contexts = Contexts::default();
        let secret = window(0x2a, "firefox", "Navigator", "diagnosis");
        assert_eq!(
            format!("{:?}", contexts.key(&secret)),
            "ContextKey(\"firefox\", title of 9 bytes)"
        );
        assert_eq!(
            format!("{:?}", contexts.key_by_id(&secret)),
            "ContextKey(\"firefox\", window 0x2a)"
        );
    }
}

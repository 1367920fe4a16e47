//! What a popup says, and how it is told to notify-send.

use antidrift_protocol::{
    NoticeKind,
    text::{REASON_CAP, notify_send_arg},
};

/// How long a popup that asks something stays where the server lets us choose, in milliseconds.
const ASKING_EXPIRES: u32 = 60_000;

/// How much more time [`Choice::More`] gives.
pub(crate) const MORE_SECS: u64 = 600;

/// What a button or a key stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Back,
    Ontask,
    End,
    More,
    Pause,
    Resume,
}

impl Choice {
    /// The action's name on a popup that does something else when it is clicked.
    fn name(self) -> &'static str {
        match self {
            Self::Back => "back",
            Self::Ontask => "ontask",
            Self::End => "end",
            Self::More => "more",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }

    /// Whether it answers an alert.
    pub(crate) fn is_about_drift(self) -> bool {
        matches!(self, Self::Back | Self::Ontask | Self::End)
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Back => "Back to task",
            Self::Ontask => "This is on task",
            Self::End => "End session",
            Self::More => "10 more minutes",
            Self::Pause => "Pause",
            Self::Resume => "Resume",
        }
    }
}

/// Popups of one subject replace each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Drift,
    Time,
    Notice,
}

/// What a popup is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An alert, reminded of so many times.
    Drift { alert: u64, reminder: u64 },
    /// The timebox has run out.
    TimeUp,
    /// A notice.
    Notice(NoticeKind),
}

/// A popup: fixed words as its summary, text from elsewhere as its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Popup {
    pub(crate) kind: Kind,
    /// Lines of hostile text.
    pub(crate) body: Vec<String>,
}

impl Popup {
    pub(crate) fn subject(&self) -> Subject {
        match self.kind {
            Kind::Drift { .. } => Subject::Drift,
            Kind::TimeUp => Subject::Time,
            Kind::Notice(_) => Subject::Notice,
        }
    }

    /// What can be answered, the likeliest first.
    fn choices(&self) -> &'static [Choice] {
        match self.kind {
            Kind::Drift { .. } => &[Choice::Back, Choice::Ontask, Choice::End],
            Kind::TimeUp => &[Choice::More, Choice::End],
            Kind::Notice(_) => &[],
        }
    }

    /// The choices by the names of their actions. `default` is what a click on the popup itself
    /// does, and the only one that a mouse can reach in dunst's default configuration.
    fn actions(&self) -> impl Iterator<Item = (&'static str, Choice)> {
        let named = self.choices().iter().enumerate();
        named.map(|(at, &choice)| (if at == 0 { "default" } else { choice.name() }, choice))
    }

    /// The answer that notify-send prints.
    pub(crate) fn answer(&self, action: &str) -> Option<Choice> {
        self.actions().find(|(name, _)| *name == action).map(|(_, choice)| choice)
    }

    fn summary(&self) -> &'static str {
        match self.kind {
            Kind::Drift { reminder: 0, .. } => "Possible drift",
            Kind::Drift { .. } => "Still drifting?",
            Kind::TimeUp => "Time is up",
            Kind::Notice(NoticeKind::PauseEnded) => "The pause is over",
            Kind::Notice(NoticeKind::DetourEnded) => "The detour is over",
            Kind::Notice(NoticeKind::BudgetSpent) => "No more popups in this session",
            Kind::Notice(NoticeKind::Returned) => "Welcome back",
            Kind::Notice(NoticeKind::Unknown) => "antidrift",
        }
    }

    /// Servers that know the hint show one popup of each tag at a time.
    fn tag(&self) -> &'static str {
        match self.subject() {
            Subject::Drift => "string:x-dunst-stack-tag:antidrift-drift",
            Subject::Time => "string:x-dunst-stack-tag:antidrift-time",
            Subject::Notice => "string:x-dunst-stack-tag:antidrift-notice",
        }
    }

    /// The arguments for notify-send. `markup`: the server reads markup in bodies. `buttons`: this
    /// notify-send can wait for an answer.
    pub(crate) fn arguments(&self, markup: bool, buttons: bool) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["--app-name=antidrift", "--hint", self.tag()].map(str::to_owned).into();
        if self.kind == Kind::Notice(NoticeKind::Returned) {
            arguments.push("--urgency=low".to_owned());
        }
        if !self.choices().is_empty() {
            arguments.push(format!("--expire-time={ASKING_EXPIRES}"));
        }
        if self.has_buttons(buttons) {
            // The number that `-p` prints says that the server has taken it.
            arguments.push("--print-id".to_owned());
            for (name, choice) in self.actions() {
                arguments.push(format!("--action={name}={}", choice.label()));
            }
        }
        let body: Vec<String> = self
            .body
            .iter()
            .map(|line| notify_send_arg(line, REASON_CAP, markup))
            .filter(|line| !line.is_empty())
            .collect();
        // What follows is never read as an option.
        arguments.extend(["--".to_owned(), self.summary().to_owned(), body.join("\n")]);
        arguments
    }

    /// Whether it waits for an answer.
    pub(crate) fn has_buttons(&self, buttons: bool) -> bool {
        buttons && !self.choices().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drift(body: &[&str]) -> Popup {
        Popup {
            kind: Kind::Drift { alert: 7, reminder: 0 },
            body: body.iter().map(|&line| line.to_owned()).collect(),
        }
    }

    #[test]
    fn free_text_follows_the_dashes_and_only_there() {
        let arguments = drift(&["-10% sale", "Tom & Jerry <3 C:\\new"]).arguments(true, true);
        let dashes = arguments.iter().position(|argument| argument == "--").unwrap();
        assert_eq!(
            arguments[dashes + 1..],
            ["Possible drift", "-10% sale\nTom &amp; Jerry &lt;3 C:\\\\new"]
        );
        assert!(arguments.contains(&"--action=default=Back to task".to_owned()));
        assert!(arguments[..dashes].iter().all(|argument| !argument.contains("sale")));
        let plain = drift(&["a < b"]).arguments(false, false);
        assert_eq!(plain.last().unwrap(), "a < b");
        assert!(!plain.iter().any(|argument| argument.contains("action")));
    }

    #[test]
    fn every_hostile_title_is_told_as_the_fixtures_say() {
        for (title, expected) in crate::render::tests::hostile_titles() {
            let arguments = drift(&[&title]).arguments(true, true);
            let body = arguments.last().unwrap();
            assert!(!body.contains('\0') && !body.contains('\n'), "{title:?}");
            // The fixtures cut at the cap of titles, a body at that of reasons.
            if title.chars().count() <= 200 {
                assert_eq!(*body, expected, "{title:?}");
            }
        }
    }

    #[test]
    fn answers_are_known_by_their_action() {
        let time_up = Popup { kind: Kind::TimeUp, body: vec!["report".into()] };
        let notice = Popup { kind: Kind::Notice(NoticeKind::PauseEnded), body: Vec::new() };
        for (popup, expected) in [
            (
                &drift(&[]),
                &["default=Back to task", "ontask=This is on task", "end=End session"][..],
            ),
            (&time_up, &["default=10 more minutes", "end=End session"]),
            (&notice, &[]),
        ] {
            let arguments = popup.arguments(true, true);
            let actions = arguments.iter().filter_map(|it| it.strip_prefix("--action="));
            assert_eq!(actions.collect::<Vec<_>>(), expected);
            assert_eq!(popup.has_buttons(true), !expected.is_empty());
            for (name, choice) in popup.actions() {
                assert_eq!(popup.answer(name), Some(choice));
            }
            // The popup's number, and the button of another popup.
            assert_eq!((popup.answer("7"), popup.answer("back")), (None, None));
        }
        assert_eq!(time_up.answer("ontask"), None);
        assert!(Choice::More.label().starts_with(&(MORE_SECS / 60).to_string()));
    }
}

//! What a popup says, and how it is told to notify-send.

use antidrift_protocol::{
    NoticeKind,
    text::{REASON_CAP, notify_send_arg},
};

/// How long a popup about drift stays where the server lets us choose, in milliseconds.
const DRIFT_EXPIRES: u32 = 60_000;

/// The three answers to an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Back,
    Ontask,
    End,
}

impl Choice {
    const ALL: [Self; 3] = [Self::Back, Self::Ontask, Self::End];

    /// The action's name. `default` is what a click on the popup itself does, and the only one that
    /// a mouse can reach in dunst's default configuration.
    fn action(self) -> &'static str {
        match self {
            Self::Back => "default",
            Self::Ontask => "ontask",
            Self::End => "end",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Back => "Back to task",
            Self::Ontask => "This is on task",
            Self::End => "End session",
        }
    }

    /// The answer that notify-send prints.
    pub(crate) fn of_action(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.action() == name)
    }
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
    /// The alert that it is about.
    pub(crate) fn alert(&self) -> Option<u64> {
        match self.kind {
            Kind::Drift { alert, .. } => Some(alert),
            Kind::TimeUp | Kind::Notice(_) => None,
        }
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
        match self.kind {
            Kind::Drift { .. } => "string:x-dunst-stack-tag:antidrift-drift",
            Kind::TimeUp => "string:x-dunst-stack-tag:antidrift-time",
            Kind::Notice(_) => "string:x-dunst-stack-tag:antidrift-notice",
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
        if self.alert().is_some() {
            arguments.push(format!("--expire-time={DRIFT_EXPIRES}"));
        }
        if self.has_buttons(buttons) {
            // The number that `-p` prints says that the server has taken it.
            arguments.push("--print-id".to_owned());
            for choice in Choice::ALL {
                arguments.push(format!("--action={}={}", choice.action(), choice.label()));
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
        buttons && self.alert().is_some()
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
        for choice in Choice::ALL {
            assert_eq!(Choice::of_action(choice.action()), Some(choice));
        }
        assert_eq!(Choice::of_action("7"), None);
    }
}

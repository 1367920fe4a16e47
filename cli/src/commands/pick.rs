//! `antidrift pick`
//!
//! What is picked is named to the daemon as an entry, not as an answer to an alert: the window that
//! drifts may be another one, and stays an open question.

mod pointer;
mod property;

use antidrift_protocol::{
    Added, Allow, Allowance, Allowing, Command, MAX_ENTRY, MAX_TITLE, Selector, Window, text,
};

use self::pointer::Picked;
use super::{Daemon, ontask};
use crate::{args, exit::Failure, out};

const PROMPT: &str = "Click the window that serves the task (right click: cancel)";

pub(super) fn run(daemon: &Daemon, args: &args::Pick) -> Result<(), Failure> {
    // Nobody clicks for nothing: without a session it is refused before.
    let before: Allowance = daemon.ask(Command::Allow(Allow::default()))?;
    let picked = pointer::pick(|| out::complain_as_is(PROMPT)).map_err(Failure::Undone)?;
    let Some(Picked { class, title }) = picked else {
        return Err(Failure::Undone("nothing was picked".into()));
    };
    let (selector, value) = entry(&class, title.as_deref(), args.title).map_err(Failure::Undone)?;
    let mut allow = Allow::default();
    allow.add.list_mut(selector).push(value.clone());
    let command = Command::Allow(allow);
    super::check(&command).map_err(|refused| {
        let why = refused.message().unwrap_or_default();
        Failure::Undone(format!("the window cannot be allowed by this: {why}"))
    })?;
    let done: Allowance = daemon.ask(command)?;
    super::warn_unless(done.saved, done.warning.as_deref());
    let added = Added { kind: selector.as_str().into(), value };
    let title = title.unwrap_or_default();
    out::print(&ontask::answer(&Allowing {
        added: (done.allowed != before.allowed).then_some(added),
        window: Some(Window { class, title, ..Window::default() }),
        ..Allowing::default()
    }))
}

/// What of the window is allowed.
fn entry(class: &str, title: Option<&str>, by_title: bool) -> Result<(Selector, String), String> {
    if !by_title {
        return match class.trim() {
            "" => Err("the window has no class; antidrift pick --title allows its title".into()),
            _ => Ok((Selector::WindowClass, class.to_owned())),
        };
    }
    let part = "allow a part of it with antidrift allow add --title TEXT";
    let Some(title) = title else {
        return Err(format!("the window's title is in an encoding that is not read here; {part}"));
    };
    // The daemon takes counters and the like off, of the entry as of the window.
    let title = text::clean(title, MAX_TITLE);
    if title.is_empty() {
        return Err("the window has no title; antidrift pick allows its class".into());
    }
    // Cut here, it would not be what the daemon makes of the whole.
    if title.len() > MAX_ENTRY {
        return Err(format!("the window's title is longer than {MAX_ENTRY} bytes; {part}"));
    }
    Ok((Selector::WindowTitle, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_taken_as_it_is_and_the_title_cleaned() {
        let by_class = entry("fire fox", None, false).unwrap();
        assert_eq!(by_class, (Selector::WindowClass, "fire fox".to_owned()));
        let by_title = entry("x", Some(" RFC\u{1b}[31m 9110\n"), true).unwrap();
        assert_eq!(by_title, (Selector::WindowTitle, "RFC 9110".to_owned()));
    }

    #[test]
    fn what_cannot_be_an_entry_is_refused_with_another_way() {
        let long = "x".repeat(MAX_ENTRY + 1);
        for (class, title, by_title, said, way) in [
            (" ", Some("a title"), false, "no class", "pick --title"),
            ("x", Some("\u{1b}[0m"), true, "no title", "antidrift pick"),
            ("x", None, true, "encoding", "allow add --title"),
            ("x", Some(long.as_str()), true, "longer than 256 bytes", "allow add --title"),
        ] {
            let message = entry(class, title, by_title).unwrap_err();
            assert!(message.contains(said) && message.contains(way), "{message}");
        }
    }
}

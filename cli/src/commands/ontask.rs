//! `antidrift ontask`
//!
//! Which window is meant is the daemon's to say (it knows which window raised the last alert when
//! this is typed into a terminal). `--class` and `--title` without a value need that window before
//! the request that allows it can be written:
//!
//! - while the focused window drifts, it is the one, and `status` shows it. The request carries the
//!   number of its alert, so that it is refused if the focus has moved on in between.
//! - else `refocus` answers which window was meant. Taking back the verdict on a window that is
//!   about to be allowed changes nothing in the end, and the request after it carries the value and
//!   needs no window any more, so no change of focus can come between.

use antidrift_protocol::{
    Allowing, Command, DriftStatus, MAX_ENTRY, NoArgs, Ontask, Refocus, Refocused, Selector,
    Status, Window,
    client::{ANSWER_LIMIT, Client},
    text,
};

use super::Daemon;
use crate::{args, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: args::Ontask) -> Result<(), Failure> {
    let request = match (args.class, args.title) {
        (Some(Some(name)), _) => Ontask { window_class: Some(name), ..Ontask::default() },
        (_, Some(Some(text))) => Ontask { window_title_substring: Some(text), ..Ontask::default() },
        (Some(None), _) => of_window(&mut daemon.connect()?, Selector::WindowClass)?,
        (_, Some(None)) => of_window(&mut daemon.connect()?, Selector::WindowTitle)?,
        (None, None) => Ontask { domain: args.domain, command: args.command, ..Ontask::default() },
    };
    let command = Command::Ontask(request);
    super::check(&command)?;
    let done: Allowing = daemon.ask(command)?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print(&answer(&done))
}

/// The request that allows the class or the title of the window meant.
fn of_window(client: &mut Client, selector: Selector) -> Result<Ontask, Failure> {
    let Status { state, .. } = client.ask(Command::Status(NoArgs {}), ANSWER_LIMIT)?;
    let drifting = state.drift.filter(|drift| drift.status == DriftStatus::Drifting);
    let alert = drifting.and_then(|drift| drift.alert);
    let window = if alert.is_some() {
        state.window
    } else {
        let done: Refocused = client.ask(Command::Refocus(Refocus::default()), ANSWER_LIMIT)?;
        done.window
    };
    let window = window.ok_or_else(|| Failure::Unable(NO_WINDOW.to_owned()))?;
    select(window, alert, selector)
}

const NO_WINDOW: &str = "no window has the focus and none was flagged; name what is meant with \
                         --class NAME, --title TEXT, --domain D or --command C";

fn select(window: Window, alert: Option<u64>, selector: Selector) -> Result<Ontask, Failure> {
    let by_class = selector == Selector::WindowClass;
    let (value, lacks, instead) = if by_class {
        (window.class, "class", "--title")
    } else {
        // Entries hold no control characters, and the daemon compares cleaned titles.
        (text::clean(&window.title, usize::MAX), "title", "--class")
    };
    if value.trim().is_empty() {
        return Err(Failure::Unable(format!("the window has no {lacks}; try {instead}")));
    }
    if value.len() > MAX_ENTRY {
        return Err(Failure::Unable(format!(
            "the window's {lacks} is too long to be allowed as a whole; name a part of it with \
             --title TEXT, or try {instead}"
        )));
    }
    let (window_class, window_title) =
        if by_class { (Some(value), None) } else { (None, Some(value)) };
    Ok(Ontask { alert, window_class, window_title, ..Ontask::default() })
}

/// What was added and how to allow more.
pub(crate) fn answer(done: &Allowing) -> String {
    let Some(added) = &done.added else {
        return match &done.window {
            Some(window) => format!("allowed already: {}", render::window(window)),
            None => "allowed already".to_owned(),
        };
    };
    let value = render::title(&added.value);
    let window_class = done.window.as_ref().map(|window| window.class.as_str());
    let widen = window_class.filter(|class| !class.trim().is_empty());
    match added.kind.as_str() {
        "window_class" => format!("on task from now on: every window of {value}"),
        "window_title" => {
            let more = widen.map_or_else(String::new, |class| {
                let class = render::shell_word(&render::title(class));
                format!("\nfor every window of it: antidrift ontask --class {class}")
            });
            format!("on task from now on: «{value}»{more}")
        }
        "window_title_substring" => format!("on task from now on: every title with «{value}»"),
        "domain" => format!("on task from now on: {value} and its subdomains"),
        "command" => format!("on task from now on: {value} in a terminal"),
        _ => format!("on task from now on: {value}"),
    }
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::Added;

    use super::*;

    fn window(class: &str, title: &str) -> Window {
        Window { class: class.into(), title: title.into(), ..Window::default() }
    }

    #[test]
    fn the_answer_says_what_was_added_and_how_to_widen_it() {
        let answer = |kind: &str, value: &str, class: &str| {
            answer(&Allowing {
                seq: 1,
                saved: true,
                warning: None,
                added: Some(Added { kind: kind.into(), value: value.into() }),
                window: Some(window(class, "t")),
            })
        };
        assert_eq!(
            answer("window_title", "RFC 9110\u{1b}[31m", "fire fox"),
            "on task from now on: «RFC 9110»\n\
             for every window of it: antidrift ontask --class 'fire fox'"
        );
        assert_eq!(
            answer("window_class", "code", "code"),
            "on task from now on: every window of code"
        );
        assert_eq!(answer("window_title", "x", ""), "on task from now on: «x»");
        assert!(answer("something_new", "x", "").contains('x'));
    }

    #[test]
    fn a_window_without_what_is_asked_for_says_what_to_try() {
        let select = |window, selector| select(window, Some(7), selector);
        let title = select(window("a", "b"), Selector::WindowTitle).unwrap();
        assert_eq!((title.alert, title.window_title.as_deref()), (Some(7), Some("b")));
        let hostile = select(window("a", "b\u{1b}[31m\n c"), Selector::WindowTitle).unwrap();
        assert_eq!(hostile.window_title.as_deref(), Some("b c"));
        let class = select(window("a", "b"), Selector::WindowClass).unwrap();
        assert_eq!(class.window_class.as_deref(), Some("a"));
        for (window, selector, expected) in [
            (window(" ", "b"), Selector::WindowClass, "no class; try --title"),
            (window("a", ""), Selector::WindowTitle, "no title; try --class"),
            (window("a", &"é".repeat(200)), Selector::WindowTitle, "or try --class"),
        ] {
            let message = select(window, selector).unwrap_err().message().unwrap();
            assert!(message.ends_with(expected), "{message}");
        }
    }
}

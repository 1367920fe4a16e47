//! `antidrift ontask`
//!
//! Which window is meant is the daemon's to say: it knows which window raised the last alert when
//! this is typed into a terminal.

use antidrift_protocol::{Allowing, Command, OfWindow, Ontask};

use super::{Daemon, entries};
use crate::{args, exit::Failure, out, render};

pub(super) fn run(daemon: &Daemon, args: args::Ontask) -> Result<(), Failure> {
    let request = match (args.class, args.title) {
        (Some(Some(name)), _) => Ontask { window_class: Some(name), ..Ontask::default() },
        (_, Some(Some(text))) => Ontask { window_title_substring: Some(text), ..Ontask::default() },
        (Some(None), _) => of_window(OfWindow::WindowClass),
        (_, Some(None)) => of_window(OfWindow::WindowTitle),
        (None, None) => Ontask {
            domain: args.domain.as_deref().map(entries::host),
            command: args.command.as_deref().map(entries::program),
            ..Ontask::default()
        },
    };
    let command = Command::Ontask(request);
    super::check(&command)?;
    let done: Allowing = daemon.ask(command)?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print(&answer(&done))
}

fn of_window(what: OfWindow) -> Ontask {
    Ontask { of_window: Some(what), ..Ontask::default() }
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
    use antidrift_protocol::{Added, Window};

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
}

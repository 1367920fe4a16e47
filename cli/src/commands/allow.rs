//! `antidrift allow`

use antidrift_protocol::{
    Allow, Allowance, Allowed, Command, MAX_ENTRY, NoArgs, Selector, Windows,
    client::{ANSWER_LIMIT, Client},
    text,
};
use serde_json::value::RawValue;

use super::{Daemon, entries};
use crate::{
    args::{self, AllowWhat},
    exit::Failure,
    out, render,
};

pub(super) fn run(daemon: &Daemon, args: args::Allow) -> Result<(), Failure> {
    match args.what {
        Some(AllowWhat::List(args::AllowList { json: true })) => {
            let answer: Box<RawValue> = daemon.ask(Command::Allow(Allow::default()))?;
            out::print(&render::json_line(answer.get()))
        }
        Some(AllowWhat::List(_)) | None => change(daemon, Allow::default()),
        Some(AllowWhat::Add(named)) => {
            change(daemon, Allow { add: read(named)?, ..Allow::default() })
        }
        Some(AllowWhat::Rm(named)) => {
            change(daemon, Allow { remove: read(named)?, ..Allow::default() })
        }
    }
}

fn change(daemon: &Daemon, allow: Allow) -> Result<(), Failure> {
    let classes = allow.add.window_classes.clone();
    let command = Command::Allow(allow);
    super::check(&command)?;
    let mut client = daemon.connect()?;
    let done: Allowance = client.ask(command, ANSWER_LIMIT)?;
    super::warn_unless(done.saved, done.warning.as_deref());
    out::print(&list(&done.allowed))?;
    warn_of_unseen(&mut client, &classes);
    Ok(())
}

fn read(named: args::Entries) -> Result<Allowed, Failure> {
    let allowed = Allowed {
        window_classes: entries::list("CLASS", &named.classes, str::to_owned)?,
        window_titles: named.whole_title,
        window_title_substrings: named.title,
        domains: entries::list("--domain", &named.domain, entries::host)?,
        commands: entries::list("--command", &named.command, entries::program)?,
    };
    // The request would be taken for a question.
    if allowed.is_empty() {
        return Err(Failure::Usage("name a window class; antidrift windows lists them".into()));
    }
    Ok(allowed)
}

/// A line an entry, led by the option that names it.
fn list(allowed: &Allowed) -> String {
    let lines: Vec<String> = Selector::ALL
        .into_iter()
        .flat_map(|selector| {
            let entry =
                move |entry| format!("{:<11} {}", kind(selector), text::terminal(entry, MAX_ENTRY));
            allowed.list(selector).iter().map(move |it| entry(it))
        })
        .collect();
    if lines.is_empty() {
        return "nothing is allowed; antidrift allow add CLASS or antidrift ontask allows it"
            .to_owned();
    }
    lines.join("\n")
}

fn kind(selector: Selector) -> &'static str {
    match selector {
        Selector::WindowClass => "class",
        Selector::WindowTitle => "whole-title",
        Selector::WindowTitleSubstring => "title",
        Selector::Domain => "domain",
        Selector::Command => "command",
    }
}

/// A class that no window has may be misspelt. Where the windows cannot be listed nothing is said:
/// the entry itself is there.
fn warn_of_unseen(client: &mut Client, classes: &[String]) {
    if classes.is_empty() {
        return;
    }
    let asked: Result<Windows, _> = client.ask(Command::Windows(NoArgs {}), ANSWER_LIMIT);
    let Ok(windows) = asked else { return };
    let unseen = unseen(&windows, classes);
    if !unseen.is_empty() {
        let names = unseen.join(", ");
        let what = if unseen.len() == 1 { "the class" } else { "any of the classes" };
        out::warn(&format!("no open window has {what} {names}; antidrift windows lists them"));
    }
}

fn unseen(windows: &Windows, classes: &[String]) -> Vec<String> {
    // One that is not told of may have it.
    if windows.omitted > 0 {
        return Vec::new();
    }
    let open: Vec<String> =
        windows.windows.iter().map(|it| it.class.trim().to_lowercase()).collect();
    let missing = classes.iter().filter(|class| !open.contains(&class.trim().to_lowercase()));
    missing.map(|class| render::title(class)).collect()
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::Window;

    use super::*;

    #[test]
    fn each_entry_is_shown_with_the_option_that_names_it() {
        let entry = |text: &str| vec![text.to_owned()];
        let allowed = Allowed {
            window_classes: vec!["code".into(), "emacs".into()],
            window_titles: entry("RFC 9110, part\u{1b}[31m 2"),
            window_title_substrings: entry("rust"),
            domains: entry("docs.rs"),
            commands: entry("vim"),
        };
        assert_eq!(
            list(&allowed),
            "class       code\nclass       emacs\nwhole-title RFC 9110, part 2\n\
             title       rust\ndomain      docs.rs\ncommand     vim"
        );
        assert!(list(&Allowed::default()).starts_with("nothing is allowed;"));
    }

    #[test]
    fn classes_are_missed_only_where_all_windows_are_known() {
        let window = |class: &str| Window { class: class.into(), ..Window::default() };
        let classes = ["CODE".to_owned(), "emacs".to_owned()];
        let windows = vec![window("Code"), window("")];
        assert_eq!(unseen(&Windows { windows: windows.clone(), omitted: 0 }, &classes), ["emacs"]);
        assert!(unseen(&Windows { windows, omitted: 1 }, &classes).is_empty());
    }
}

//! Whether the notification server reads markup in bodies.
//!
//! A server that does drops text with a lone `&` or `<`; one that does not would show the entities.
//! No D-Bus library is linked for one question: one of three common tools asks it.

use std::{io, process::Command, time::Duration};

const TOOLS: [&[&str]; 3] = [
    // With every session bus.
    &[
        "dbus-send",
        "--session",
        "--print-reply",
        "--reply-timeout=1000",
        "--dest=org.freedesktop.Notifications",
        "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications.GetCapabilities",
    ],
    // With GLib.
    &[
        "gdbus",
        "call",
        "--session",
        "--timeout=1",
        "--dest=org.freedesktop.Notifications",
        "--object-path=/org/freedesktop/Notifications",
        "--method=org.freedesktop.Notifications.GetCapabilities",
    ],
    // With systemd.
    &[
        "busctl",
        "--user",
        "--timeout=1",
        "call",
        "org.freedesktop.Notifications",
        "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications",
        "GetCapabilities",
    ],
];

/// How long the answer may take.
pub(super) const LIMIT: Duration = Duration::from_secs(1);

/// What is assumed without an answer: nearly every server reads markup.
pub(super) const ASSUMED: bool = true;

/// Starts the first tool that is there.
pub(super) fn ask<T>(mut start: impl FnMut(Command) -> io::Result<T>) -> Option<T> {
    TOOLS.iter().find_map(|line| {
        let (program, arguments) = line.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments);
        start(command).ok()
    })
}

/// Reads its answer: a list of quoted words, in each tool's own dress. `None`: it is no answer.
pub(super) fn reads_markup(answer: &str) -> Option<bool> {
    // Every server shows bodies.
    answer
        .contains("body")
        .then(|| answer.contains("\"body-markup\"") || answer.contains("'body-markup'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_answer_of_each_tool() {
        for (answer, expected) in [
            (
                "   array [\n      string \"actions\"\n      string \"body\"\n      string \"body-markup\"\n   ]\n",
                Some(true),
            ),
            ("(['actions', 'body', 'body-markup', 'icon-static'],)\n", Some(true)),
            ("as 3 \"actions\" \"body\" \"body-markup\"\n", Some(true)),
            ("as 2 \"actions\" \"body\"\n", Some(false)),
            ("as 2 \"body\" \"body-markup-not\"\n", Some(false)),
            ("", None),
            ("Error: no such name", None),
        ] {
            assert_eq!(reads_markup(answer), expected, "{answer}");
        }
    }

    #[test]
    fn the_first_tool_that_starts_is_the_one() {
        let mut tried = Vec::new();
        let started = ask(|command| {
            let name = command.get_program().to_string_lossy().into_owned();
            tried.push(name.clone());
            if name == "gdbus" { Ok(name) } else { Err(io::ErrorKind::NotFound.into()) }
        });
        assert_eq!((started.as_deref(), tried.len()), (Some("gdbus"), 2));
    }
}

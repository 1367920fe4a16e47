//! One file a command: build the request, print the answer.

mod allow;
mod click;
mod coach;
mod complete;
mod config;
mod detour;
mod doctor;
mod edit;
mod end;
mod entries;
mod extend;
mod forget;
mod ontask;
mod pause;
mod pick;
mod preset;
mod preview;
mod refocus;
mod reload;
mod report;
mod resume;
mod review;
mod start;
mod status;
mod why;
mod windows;

pub(crate) use click::click;
pub(crate) use extend::text as extend_text;
pub(crate) use ontask::answer as ontask_text;
pub(crate) use pause::text as pause_text;
pub(crate) use refocus::text as refocus_text;
pub(crate) use resume::text as resume_text;

use antidrift_protocol::{
    Changed, Command as Ask, NoArgs, Request, Status,
    client::{ANSWER_LIMIT, Client, ClientError},
    paths::{Environment, SocketPath},
};
use rustix::stdio;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{
    args::{Args, Command, Json},
    clock, duration,
    exit::Failure,
    out,
    render::Paint,
};

/// What the daemon's log calls us.
pub(crate) const NAME: &str = concat!("antidrift ", env!("CARGO_PKG_VERSION"));

/// Does what was asked for.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let command = args.command.unwrap_or_else(|| Command::Status(crate::args::Status::default()));
    if let Command::Config(config) = &command {
        // It needs no daemon.
        return config::run(config);
    }
    if let Command::Completions { shell } = command {
        return crate::completions::run(shell);
    }
    let socket = match &args.socket {
        Some(path) => SocketPath::chosen(path)?,
        None => Environment::of_process().socket_path()?,
    };
    let daemon = Daemon { socket };
    match command {
        Command::Start(start) => start::run(&daemon, start),
        Command::Refocus(refocus) => refocus::run(&daemon, &refocus),
        Command::Ontask(ontask) => ontask::run(&daemon, ontask),
        Command::Pick(pick) => pick::run(&daemon, &pick),
        Command::Allow(allow) => allow::run(&daemon, allow),
        Command::Windows(windows) => windows::run(&daemon, &windows),
        Command::Pause(pause) => pause::run(&daemon, &pause),
        Command::Resume => resume::run(&daemon),
        Command::Reload => reload::run(&daemon),
        Command::Config(config) => config::run(&config),
        Command::Completions { shell } => crate::completions::run(shell),
        Command::Extend(extend) => extend::run(&daemon, &extend),
        Command::Detour(detour) => detour::run(&daemon, &detour),
        Command::Coach(coach) => coach::run(&daemon, &coach),
        Command::Complete(complete) => complete::run(&daemon, complete),
        Command::Doctor => doctor::run(&daemon),
        Command::End => end::run(&daemon),
        Command::Review(review) => review::run(&daemon, review),
        Command::Report(report) => report::run(&daemon, &report),
        Command::Forget(forget) => forget::run(&daemon, &forget),
        Command::Status(status) => status::run(&daemon, &status),
        Command::Preview(preview) => preview::run(&daemon, &preview),
        Command::Why(why) => why::run(&daemon, &why),
        Command::Click { button } => click(&daemon.socket, button),
        Command::Watch(watch) => crate::watch::run(daemon.socket, &watch),
    }
}

/// The daemon that a command talks to.
struct Daemon {
    socket: SocketPath,
}

impl Daemon {
    fn connect(&self) -> Result<Client, Failure> {
        Ok(Client::connect(&self.socket, NAME)?)
    }

    fn ask<T: DeserializeOwned>(&self, command: Ask) -> Result<T, Failure> {
        Ok(self.connect()?.ask(command, ANSWER_LIMIT)?)
    }

    /// As [`change`], with a warning for what is not on disk.
    fn change(&self, command: Ask) -> Result<Status, Failure> {
        check(&command)?;
        let (done, status) = change(&mut self.connect()?, command)?;
        warn_unless(done.saved, done.warning.as_deref());
        Ok(status)
    }
}

/// Asks for a change, and then for the state that it led to. The change is made by then: a state that
/// cannot be had only leaves out what would be said about it.
pub(crate) fn change(client: &mut Client, command: Ask) -> Result<(Changed, Status), ClientError> {
    let done = client.ask(command, ANSWER_LIMIT)?;
    let status = client.ask(Ask::Status(NoArgs {}), ANSWER_LIMIT).unwrap_or_default();
    Ok((done, status))
}

/// A time that was typed as several words.
fn joined(first: &str, rest: &[String]) -> String {
    [&[first.to_owned()], rest].concat().join(" ")
}

/// A duration as it was typed.
fn secs(typed: &str) -> Result<u64, Failure> {
    duration::parse(typed, clock::local_now).map_err(Failure::Usage)
}

/// Shows an answer to a person; a script gets it as the daemon wrote it, with what this version does
/// not know.
fn show<T: DeserializeOwned>(
    answer: &RawValue,
    how: &Json,
    to_person: impl FnOnce(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if how.json {
        return out::print(&crate::render::json_line(answer.get()));
    }
    let read = serde_json::from_str(answer.get());
    to_person(read.map_err(|error| ClientError::NotUnderstood(error.to_string()))?)
}

fn paint() -> Paint {
    Paint::new(out::colours(stdio::stdout()))
}

/// A change that is not on disk is done all the same, but a person should know.
fn warn_unless(saved: bool, warning: Option<&str>) {
    if !saved {
        let why = warning.unwrap_or("the daemon does not say why");
        out::warn(&format!("done, but not saved: {}", crate::render::message(why)));
    }
}

/// Holds a request against the protocol's bounds before it is sent, so that what was typed wrong is
/// named by the option it was typed for, and also without a daemon.
fn check(command: &Ask) -> Result<(), Failure> {
    let line = Request { id: None, command: command.clone() }.to_line();
    let Err(refusal) = Request::parse(line.trim_end().as_bytes()) else { return Ok(()) };
    let said = refusal.error.message;
    let (member, problem) = said
        .strip_prefix("args.")
        .and_then(|rest| rest.split_once(": "))
        .unwrap_or(("the request", &said));
    let problem = crate::render::message(problem);
    Err(Failure::Usage(format!("{} {problem}", typed_as(command, member))))
}

/// What a member of a request is called on the command line.
fn typed_as(command: &Ask, member: &str) -> String {
    let list = member.split('[').next().unwrap_or(member);
    let list = list.strip_prefix("add.").or(list.strip_prefix("remove.")).unwrap_or(list);
    let ontask = matches!(command, Ask::Ontask(_));
    match list {
        "text" => "the text",
        "next_action" => "--next",
        "success_condition" => "--success",
        "timebox_secs" => "--for",
        "allowed" => "what is allowed",
        "add" | "remove" => "what is named",
        "window_classes" => "CLASS",
        "window_titles" => "--whole-title",
        "window_title_substrings" => "--title",
        "domains" => "--domain",
        "commands" => "--command",
        "allowed.window_classes" => "--allow",
        "allowed.window_title_substrings" => "--allow-title",
        "allowed.domains" => "--allow-domain",
        "allowed.commands" => "--allow-command",
        "window_class" if ontask => "--class",
        "window_title" | "window_title_substring" if ontask => "--title",
        "domain" if ontask => "--domain",
        "command" if ontask => "--command",
        "note" => "--note",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::{Allow, Allowed, Complete, Ontask, Start};

    use super::*;

    #[test]
    fn what_is_typed_wrong_is_named_by_its_option() {
        let start = |start: Start| Ask::Start(start);
        let text = || "x".to_owned();
        let allowed = |allowed| Ask::Start(Start { text: text(), allowed, ..Start::default() });
        for (command, expected) in [
            (start(Start { text: "   ".into(), ..Start::default() }), "the text must not be blank"),
            (
                start(Start { text: "x".repeat(10_000), ..Start::default() }),
                "the text must be at most 4096 bytes, but has 10000",
            ),
            (
                allowed(Allowed {
                    window_title_substrings: vec!["?".into()],
                    ..Allowed::default()
                }),
                "--allow-title must hold a letter or a digit",
            ),
            (
                Ask::Ontask(Ontask { window_class: Some(String::new()), ..Ontask::default() }),
                "--class must not be blank",
            ),
            (
                Ask::Allow(Allow {
                    add: Allowed { window_classes: vec!["x".repeat(300)], ..Allowed::default() },
                    ..Allow::default()
                }),
                "CLASS must be at most 256 bytes, but has 300",
            ),
            (
                Ask::Allow(Allow {
                    remove: Allowed { window_titles: vec![" ".into()], ..Allowed::default() },
                    ..Allow::default()
                }),
                "--whole-title must not be blank",
            ),
            (
                allowed(Allowed {
                    domains: vec!["docs.rs".into(), "two words".into()],
                    ..Allowed::default()
                }),
                "--allow-domain must be a host name such as docs.example.org, but is \"two words\"",
            ),
            (
                Ask::Ontask(Ontask { command: Some("make -j4".into()), ..Ontask::default() }),
                "--command must be the name of one program such as make, without arguments, but is \
                 \"make -j4\"",
            ),
            (
                Ask::Complete(Complete { note: Some("x".repeat(2000)), ..Complete::default() }),
                "--note must be at most 1024 bytes, but has 2000",
            ),
        ] {
            match check(&command) {
                Err(Failure::Usage(message)) => assert_eq!(message, expected),
                other => panic!("{other:?}"),
            }
        }
        let fine = Start { text: "naïve \"quotes\"\nand 🦀".into(), ..Start::default() };
        assert!(check(&start(fine)).is_ok());
    }
}

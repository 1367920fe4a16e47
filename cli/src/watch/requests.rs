//! The thread that asks the daemon on a key or a button. One request at a time, each with a
//! connection of its own, so that neither the screen nor the stream waits for an answer.

use std::sync::mpsc;

use antidrift_protocol::{
    Allowing, Command, Complete, Completed, ErrorCode, Extend, NoArgs, Ontask, Pause, Refocus,
    Refocused,
    client::{ANSWER_LIMIT, Client, ClientError},
    paths::SocketPath,
};

use super::{
    Happening,
    model::{Ask, Input, Outcome},
};
use crate::{
    clock::local,
    commands::{NAME, change, extend_text, ontask_text, pause_text, refocus_text, resume_text},
    exit,
    notify::{Choice, MORE_SECS},
    render,
};

pub(super) fn serve(
    socket: &SocketPath,
    asks: mpsc::Receiver<Ask>,
    tell: &dyn Fn(Happening) -> bool,
) {
    for ask in asks {
        let outcome = match answer(socket, ask) {
            Ok(outcome) => outcome,
            Err(ClientError::Refused(error)) if error.code == ErrorCode::StaleAlert => {
                Outcome::Stale
            }
            Err(error) => Outcome::Failed(exit::client_message(&error)),
        };
        if !tell(Happening::Input(Input::Answered { ask, outcome })) {
            return;
        }
    }
}

fn answer(socket: &SocketPath, ask: Ask) -> Result<Outcome, ClientError> {
    let mut client = Client::connect(socket, NAME)?;
    let alert = ask.alert;
    let or_left = ask.or_left.then_some(true);
    let mut whole = true;
    let (text, saved) = match ask.choice {
        Choice::Back => {
            // Whether a window is raised is the configuration's to say.
            let command = Command::Refocus(Refocus { alert, or_left, activate: None });
            let done: Refocused = client.ask(command, ANSWER_LIMIT)?;
            whole = done.activated != Some(false);
            (refocus_text(&done), (done.saved, done.warning))
        }
        Choice::Ontask => {
            let command = Command::Ontask(Ontask { alert, or_left, ..Ontask::default() });
            let done: Allowing = client.ask(command, ANSWER_LIMIT)?;
            (ontask_text(&done), (done.saved, done.warning))
        }
        Choice::End => {
            let done: Completed =
                client.ask(Command::Complete(Complete::default()), ANSWER_LIMIT)?;
            (format!("session ended: {}", render::review(&done.review)), (done.saved, done.warning))
        }
        Choice::More => {
            let command = Command::Extend(Extend { secs: MORE_SECS });
            let (done, status) = change(&mut client, command)?;
            (extend_text(MORE_SECS, &status, local), (done.saved, done.warning))
        }
        Choice::Pause => {
            let (done, status) = change(&mut client, Command::Pause(Pause { secs: None }))?;
            (pause_text(&status, local), (done.saved, done.warning))
        }
        Choice::Resume => {
            let (done, status) = change(&mut client, Command::Resume(NoArgs {}))?;
            (resume_text(&status), (done.saved, done.warning))
        }
    };
    Ok(match saved {
        (true, _) if whole => Outcome::Done(text),
        (true, _) => Outcome::Partly(text),
        (false, why) => {
            let why = render::message(&why.unwrap_or_default());
            Outcome::Partly(format!("{text} (not saved: {why})"))
        }
    })
}

//! `antidrift click`: what a click on a bar means, by how things stand.

use antidrift_protocol::{
    Command, Complete, DriftStatus, Extend, NoArgs, Ontask, Phase, Refocus, State, Status,
    client::ANSWER_LIMIT,
};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args::Button, exit::Failure, render};

/// What a click on «the time is up» gives.
const MORE: Extend = Extend { secs: 600 };

pub(super) fn run(daemon: &Daemon, button: Button) -> Result<(), Failure> {
    if button == Button::Other {
        return Ok(());
    }
    let mut client = daemon.connect()?;
    let status: Status = client.ask(Command::Status(NoArgs {}), ANSWER_LIMIT)?;
    let Some(command) = meant(&status.state, button) else { return Ok(()) };
    // What became of it is seen in the bar.
    let _: Box<RawValue> = client.ask(command, ANSWER_LIMIT)?;
    Ok(())
}

/// The request that a click stands for; none where there is nothing to say.
fn meant(state: &State, button: Button) -> Option<Command> {
    let active = state.phase == Phase::Active;
    let drift = state.drift.as_ref();
    let drifting = drift.is_some_and(|drift| drift.status == DriftStatus::Drifting);
    let alert = drift.and_then(|drift| drift.alert);
    match button {
        Button::Right if active => Some(Command::Complete(Complete::default())),
        Button::Left | Button::Right if state.phase == Phase::Review => {
            Some(Command::End(NoArgs {}))
        }
        Button::Left if state.paused.is_some() || state.detour.is_some() => {
            Some(Command::Resume(NoArgs {}))
        }
        Button::Left if drifting => Some(Command::Refocus(Refocus { alert, ..Refocus::default() })),
        Button::Left if render::is_over(state) => Some(Command::Extend(MORE)),
        Button::Middle if active && state.paused.is_none() => {
            Some(Command::Ontask(Ontask { alert, ..Ontask::default() }))
        }
        Button::Left | Button::Middle | Button::Right | Button::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_button_means_what_is_natural_now() {
        let drifting = json!({"phase": "active", "commitment": {"remaining_secs": -5},
            "drift": {"status": "drifting", "alert": 7}});
        let ontask = json!({"phase": "active", "drift": {"status": "ontask"}});
        let over = json!({"phase": "active", "commitment": {"remaining_secs": -5},
            "drift": {"status": "ontask"}});
        let paused = json!({"phase": "active", "paused": {}, "drift": {"status": "idle"}});
        let detour = json!({"phase": "active", "detour": {}, "drift": {"status": "ontask"}});
        let review = json!({"phase": "review"});
        let planning = json!({"phase": "planning"});
        for (state, expected) in [
            (drifting, ["refocus", "ontask", "complete"]),
            (ontask, ["", "ontask", "complete"]),
            (over, ["extend", "ontask", "complete"]),
            (paused, ["resume", "", "complete"]),
            (detour, ["resume", "ontask", "complete"]),
            (review, ["end", "", "end"]),
            (planning, ["", "", ""]),
        ] {
            let state: State = serde_json::from_value(state).unwrap();
            let named = [Button::Left, Button::Middle, Button::Right].map(|button| {
                meant(&state, button).map_or(String::new(), |command| command.name().to_owned())
            });
            assert_eq!(named, expected, "{state:?}");
        }
    }

    #[test]
    fn an_alert_is_answered_by_its_number() {
        let state = json!({"phase": "active", "drift": {"status": "drifting", "alert": 7}});
        let state: State = serde_json::from_value(state).unwrap();
        let Some(Command::Refocus(refocus)) = meant(&state, Button::Left) else { panic!() };
        assert_eq!(refocus.alert, Some(7));
        assert_eq!(meant(&state, Button::Other), None);
    }
}

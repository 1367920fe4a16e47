//! The present state as one line, for bars and logs. It holds nothing that ticks, so that it only
//! changes when something has happened.

use antidrift_protocol::{Away, DriftStatus, Phase, SensorStatus, State};
use serde_json::json;

use super::model::{Link, Model};
use crate::{clock, render};

/// The line, or nothing while nothing is known yet.
pub(super) fn text(model: &Model) -> Option<String> {
    match (model.link, &model.seen) {
        (Link::Down, _) => Some("no daemon".to_owned()),
        (Link::Trying, _) | (Link::Up, None) => None,
        (Link::Up, Some(seen)) => Some(state(&seen.state)),
    }
}

fn state(state: &State) -> String {
    let commitment = state.commitment.as_ref();
    let what = commitment.map(|it| render::typed(&it.text)).unwrap_or_default();
    let line = match state.phase {
        Phase::Planning => "no session".to_owned(),
        Phase::Review => {
            let sums = state.review.as_ref().map(render::review).unwrap_or_default();
            format!("ended: {what} ({sums})")
        }
        Phase::Unknown => "unknown".to_owned(),
        Phase::Active => active(state, &what),
    };
    match state.sensor.status {
        SensorStatus::Unavailable => format!("{line} (windows cannot be seen)"),
        _ => line,
    }
}

fn active(state: &State, what: &str) -> String {
    if state.paused.is_some() {
        return format!("paused: {what}");
    }
    if let Some(detour) = &state.detour {
        return format!("detour: {}", render::typed(&detour.text));
    }
    match state.away {
        None => {}
        Some(Away::Locked) => return format!("away, locked: {what}"),
        Some(_) => return format!("away: {what}"),
    }
    let drift = state.drift.as_ref();
    let over = state
        .commitment
        .as_ref()
        .and_then(|commitment| commitment.remaining_secs)
        .map_or("", |left| if left <= 0 { ", over time" } else { "" });
    match drift.map(|drift| drift.status) {
        Some(DriftStatus::Drifting) => {
            let reason = drift.and_then(|drift| drift.reason.as_deref()).map(render::message);
            let reason = reason.unwrap_or_default();
            let window = state.window.as_ref().map(render::window).unwrap_or_default();
            format!("drifting{over}: {reason} [{window}]")
        }
        Some(DriftStatus::Ontask) => format!("on task{over}: {what}"),
        Some(DriftStatus::Pending) => format!("checking{over}: {what}"),
        _ => format!("active{over}: {what}"),
    }
}

/// Our own JSON line for a stream that begins: the daemon's event lines say nothing of it.
pub(super) fn connected(instance: &str) -> String {
    own("connected", &json!({"instance": instance}))
}

/// Our own JSON line for a stream that has ended or cannot be had.
pub(super) fn disconnected(message: &str) -> String {
    own("disconnected", &json!({"message": message}))
}

fn own(event: &str, data: &serde_json::Value) -> String {
    let line = json!({"event": event, "at": clock::wall().to_string(), "data": data});
    antidrift_protocol::json_safe::to_string(&line)
}

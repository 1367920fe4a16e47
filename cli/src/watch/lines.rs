//! The present state as one line, for bars and logs. It holds nothing that ticks, so that it only
//! changes when something has happened.

use antidrift_protocol::{DriftStatus, Phase, SensorStatus};
use serde_json::json;

use super::model::{Link, Model, Seen};
use crate::{
    clock::{self, Local},
    render,
};

/// The line, or nothing while nothing is known yet.
pub(super) fn text(model: &Model, local: Local) -> Option<String> {
    match (model.link, &model.seen) {
        (Link::Down, _) => Some("no daemon".to_owned()),
        (Link::Trying, _) | (Link::Up, None) => None,
        (Link::Up, Some(seen)) => Some(state(seen, local)),
    }
}

fn state(seen: &Seen, local: Local) -> String {
    let state = &seen.state;
    let commitment = state.commitment.as_ref();
    let what = commitment.map(|it| render::typed(&it.text)).unwrap_or_default();
    let line = match state.phase {
        Phase::Planning => "no session".to_owned(),
        Phase::Review => {
            let sums = state.review.as_ref().map(render::review).unwrap_or_default();
            format!("ended: {what} ({sums})")
        }
        Phase::Unknown => "unknown".to_owned(),
        Phase::Active => active(seen, &what, local),
    };
    match state.sensor.status {
        SensorStatus::Unavailable => format!("{line} (windows cannot be seen)"),
        _ => line,
    }
}

fn active(seen: &Seen, what: &str, local: Local) -> String {
    let state = &seen.state;
    let over = if seen.over { ", over time" } else { "" };
    if let Some(aside) = render::aside(state, local) {
        let detour = state.detour.as_ref().filter(|_| state.away.is_none());
        let what = detour.map_or_else(|| what.to_owned(), |it| render::typed(&it.text));
        return format!("{aside}{over}: {what}");
    }
    let drift = state.drift.as_ref();
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

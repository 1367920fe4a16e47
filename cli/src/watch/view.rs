//! What a terminal shows of a model.

use std::time::Duration;

use antidrift_protocol::{DriftStatus, JudgeStatus, Phase, SensorStatus, State};

use super::{
    model::{Link, Model, Seen},
    screen::{Frame, wrap},
};
use crate::{
    clock::Local,
    duration::{clock, words},
    render::{self, Paint},
    width::cut,
};

/// A terminal's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// What a frame is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) size: Size,
    pub(super) paint: Paint,
    pub(super) local: Local,
}

struct Page {
    lines: Vec<String>,
    width: usize,
    paint: Paint,
    local: Local,
}

impl Page {
    /// One line, cut before it is painted: colours have no width.
    fn line(&mut self, text: &str, paint: fn(Paint, &str) -> String) {
        self.lines.push(paint(self.paint, &cut(text, self.width)));
    }

    fn plain(&mut self, text: &str) {
        self.lines.push(cut(text, self.width));
    }

    fn wrapped(&mut self, text: &str) {
        self.lines.extend(wrap(text, self.width));
    }

    fn gap(&mut self) {
        self.lines.push(String::new());
    }
}

/// The frame for this moment. What does not fit is left out from the bottom.
pub(super) fn frame(model: &Model, now: Duration, look: Look) -> Frame {
    let Look { size, paint, local } = look;
    let mut page = Page { lines: Vec::new(), width: size.columns, paint, local };
    match (model.link, &model.seen) {
        (Link::Up, Some(seen)) => session(&mut page, model, seen, now),
        (Link::Down, _) => {
            page.line("no daemon", Paint::alarm);
            page.wrapped(model.outage().unwrap_or_default());
            page.line("waiting for it   [q] quit", Paint::dim);
        }
        (Link::Trying, _) | (Link::Up, None) => page.plain("connecting…"),
    }
    if let Some(note) = model.note() {
        page.gap();
        for line in note.lines() {
            page.wrapped(line);
        }
    }
    page.lines.truncate(size.rows);
    Frame { lines: page.lines, anew: false }
}

fn session(page: &mut Page, model: &Model, seen: &Seen, now: Duration) {
    let state = &seen.state;
    match &state.commitment {
        Some(commitment) => page.line(&render::typed(&commitment.text), Paint::strong),
        None => page.line("no session", Paint::strong),
    }
    match state.phase {
        Phase::Active => active(page, model, seen, now),
        Phase::Review => {
            page.wrapped(&state.review.as_ref().map(render::review).unwrap_or_default());
            page.gap();
            page.line("antidrift start TEXT begins the next session   [q] quit", Paint::dim);
        }
        Phase::Planning => {
            page.gap();
            page.line("antidrift start TEXT begins one   [q] quit", Paint::dim);
        }
        Phase::Unknown => page.plain("in a phase that this version does not know"),
    }
}

fn active(page: &mut Page, model: &Model, seen: &Seen, now: Duration) {
    let state = &seen.state;
    count(page, seen, now);
    if let Some(next) = state.commitment.as_ref().and_then(|it| it.next_action.as_deref()) {
        page.line(&format!("next: {}", render::typed(next)), Paint::dim);
    }
    page.gap();
    let status = state.drift.as_ref().map(|drift| drift.status);
    if let Some(alert) = &model.alert {
        page.line("Possible drift", Paint::alarm);
        if let Some(reason) = &alert.reason {
            page.wrapped(&render::message(reason));
        }
        if let Some(window) = &alert.window {
            page.plain(&render::window(window));
        }
        page.gap();
        page.wrapped(&keys(model, now, true));
    } else {
        here(page, state, status);
        if let Some(left) = &model.left {
            let window = left.window.as_ref().map_or_else(|| "it".to_owned(), render::window);
            page.gap();
            page.line(&format!("you left {window}"), Paint::alarm);
            page.wrapped("t = it was on task, b = back to task, e = end session");
        }
        page.gap();
        page.line(&keys(model, now, false), Paint::dim);
    }
    trouble(page, state);
}

/// The line that ticks.
fn count(page: &mut Page, seen: &Seen, now: Duration) {
    let Some(commitment) = &seen.state.commitment else { return };
    let elapsed = seen.elapsed(now).as_secs();
    match commitment.timebox_secs {
        Some(timebox) if elapsed < timebox => {
            let left = clock(timebox - elapsed);
            page.plain(&format!("{left} left of {}", words(timebox)));
        }
        Some(timebox) => {
            let over = format!("{} over {}", clock(elapsed - timebox), words(timebox));
            page.line(&over, Paint::alarm);
        }
        None => page.plain(&format!("{} min", elapsed / 60)),
    }
}

/// The keys that apply. `drift`: those that answer an alert, too.
fn keys(model: &Model, now: Duration, drift: bool) -> String {
    let keys = model.keys(now).into_iter().filter(|(_, choice)| drift || !choice.is_about_drift());
    let shown = keys.map(|(key, choice)| format!("[{key}] {}   ", choice.label().to_lowercase()));
    shown.collect::<String>() + "[q] quit"
}

/// How things are where no alert stands.
fn here(page: &mut Page, state: &State, status: Option<DriftStatus>) {
    let window = state.window.as_ref().map(render::window);
    let window = window.map_or_else(String::new, |window| format!("   {window}"));
    if let Some(aside) = render::aside(state, page.local) {
        let detour = state.detour.as_ref().filter(|_| state.away.is_none());
        let what = detour.map_or_else(String::new, |it| format!(": {}", render::typed(&it.text)));
        page.plain(&format!("{aside}{what}"));
    } else {
        match status {
            Some(DriftStatus::Ontask) => page.line(&format!("on task{window}"), Paint::good),
            Some(DriftStatus::Pending) => page.line(&format!("checking…{window}"), Paint::dim),
            // With its alert it is shown above; here it comes a moment before.
            Some(DriftStatus::Drifting) => page.line(&format!("drifting{window}"), Paint::alarm),
            _ => page.plain(window.trim_start()),
        }
    }
}

/// What keeps the daemon from telling.
fn trouble(page: &mut Page, state: &State) {
    if state.sensor.status == SensorStatus::Unavailable {
        let detail = state.sensor.detail.as_deref().map(render::message).unwrap_or_default();
        page.gap();
        page.wrapped(&format!("windows cannot be seen: {detail}"));
    }
    if let Some(missing) = render::missing_judge(&state.judge) {
        page.gap();
        page.wrapped(&format!(
            "the judge «{}» is off: {missing}",
            render::title(&state.judge.backend)
        ));
    } else if let Some(spent) = render::spent(&state.judge) {
        page.gap();
        page.wrapped(&format!("{}: {spent}", render::title(&state.judge.backend)));
    } else if state.judge.status == JudgeStatus::BackingOff
        && let Some(error) = &state.judge.last_error
    {
        page.gap();
        page.wrapped(&format!("the judge failed: {}", render::message(error)));
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;

//! What people read. Everything that came from windows, models or the user passes
//! `protocol::text` on its way: it may hold anything.

use antidrift_protocol::{
    Allowed, Away, Commitment, Destination, Drift, DriftStatus, Judge, JudgeStatus, Phase, Review,
    Sensor, SensorStatus, State, Status, Timestamp, Window,
    text::{self, REASON_CAP, TITLE_CAP},
};

use crate::{clock::Local, duration};

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    pub(crate) const fn new(on: bool) -> Self {
        Self { on }
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.into()
        }
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn aside(self, text: &str) -> String {
        self.with("34", text)
    }

    pub(crate) fn alarm(self, text: &str) -> String {
        self.with("1;33", text)
    }
}

/// What the user typed as a commitment and the like.
pub(crate) fn typed(text: &str) -> String {
    text::terminal(text, TITLE_CAP)
}

/// A title, a class, an entry.
pub(crate) fn title(text: &str) -> String {
    text::terminal(text, TITLE_CAP)
}

/// A reason, an error, a note.
pub(crate) fn message(text: &str) -> String {
    text::terminal(text, REASON_CAP)
}

/// `firefox: the title`, or what there is of it.
pub(crate) fn window(window: &Window) -> String {
    let class = title(&window.class);
    let name = title(&window.title);
    match (class.is_empty(), name.is_empty()) {
        (false, false) => format!("{class}: {name}"),
        (false, true) => class,
        (true, false) => name,
        (true, true) => "a window without a name".to_owned(),
    }
}

/// Text as one word of a shell, for commands that people copy. The text is clean.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+:@%".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A line of JSON from the daemon, without a byte that acts on a terminal. In JSON these
/// characters can stand in strings only, and an escape means the same there.
pub(crate) fn json_line(json: &str) -> String {
    let acts = |c: char| {
        matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !json.contains(acts) {
        return json.to_owned();
    }
    let mut line = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            // White space between tokens.
            '\t' | '\n' | '\r' => line.push(' '),
            c if acts(c) => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

/// The lists that hold something, each with what it is called.
pub(crate) fn allowed(allowed: &Allowed) -> Vec<(&'static str, String)> {
    let names = ["classes", "titles", "titles with", "domains", "commands"];
    let lists = allowed.lists().into_iter().zip(names).filter(|((_, list), _)| !list.is_empty());
    lists
        .map(|((_, list), name)| {
            let shown: Vec<String> = list.iter().take(8).map(|entry| title(entry)).collect();
            let more = list.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            (name, format!("{}{more}", shown.join(", ")))
        })
        .collect()
}

/// The sums of a session.
pub(crate) fn review(review: &Review) -> String {
    let sums = [
        ("on task", review.ontask_secs),
        ("drifting", review.drifting_secs),
        ("other", review.other_secs),
        ("away", review.away_secs),
        ("paused", review.paused_secs),
        ("on a detour", review.detour_secs),
    ];
    let mut parts: Vec<String> = sums
        .iter()
        .enumerate()
        // The first two are what it is about, also when they are zero.
        .filter(|(index, (_, secs))| *index < 2 || *secs > 0)
        .map(|(_, (name, secs))| format!("{name} {}", duration::words(*secs)))
        .collect();
    parts.push(match review.alerts {
        1 => "1 alert".to_owned(),
        alerts => format!("{alerts} alerts"),
    });
    if let Some(outcome) = review.outcome {
        parts.push(outcome.as_str().to_owned());
    }
    if let Some(note) = &review.note {
        parts.push(format!("«{}»", message(note)));
    }
    parts.join(", ")
}

/// What a clock on the wall shows at `end`: `14:30`, or `Tue 00:20` if that is another day than
/// `begin`.
pub(crate) fn time_of_day(begin: Timestamp, end: Timestamp, local: Local) -> String {
    let (begin, end) = (local(begin), local(end));
    let format = if begin.date() == end.date() { "%H:%M" } else { "%a %H:%M" };
    end.strftime(format).to_string()
}

/// Why nothing is judged now, and until when: paused, away, or on a detour. `None`: it is.
pub(crate) fn aside(state: &State, local: Local) -> Option<String> {
    let until = |begin, end: Option<Timestamp>| {
        end.map_or_else(String::new, |end| format!(" until {}", time_of_day(begin, end, local)))
    };
    match (&state.paused, state.away, &state.detour) {
        (Some(paused), ..) => Some(format!("paused{}", until(paused.since_at, paused.until_at))),
        (_, Some(Away::Unknown), _) => Some("away".to_owned()),
        (_, Some(away), _) => Some(format!("away ({})", away.as_str())),
        (.., Some(detour)) => {
            let until = until(detour.since_at, Some(detour.until_at));
            Some(format!("on a detour{until}"))
        }
        (None, None, None) => None,
    }
}

/// Whether the time of a session under way is up.
pub(crate) fn is_over(state: &State) -> bool {
    let left = state.commitment.as_ref().and_then(|commitment| commitment.remaining_secs);
    state.phase == Phase::Active && left.is_some_and(|left| left <= 0)
}

/// The word for a drift status.
pub(crate) fn drift_word(status: DriftStatus) -> &'static str {
    match status {
        DriftStatus::Ontask => "on task",
        DriftStatus::Drifting => "drifting",
        DriftStatus::Pending => "checking…",
        DriftStatus::Idle => "not judged",
        DriftStatus::Unknown => "unknown",
    }
}

/// The whole answer of `status`.
pub(crate) fn status(status: &Status, paint: Paint, local: Local) -> String {
    let state = &status.state;
    let mut lines = vec![headline(state, paint, local)];
    let mut row = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
    if let Some(commitment) = &state.commitment {
        if let Some(next) = &commitment.next_action {
            row("next", typed(next));
        }
        if let Some(success) = &commitment.success_condition {
            row("done when", typed(success));
        }
        row("time", time(commitment, state.phase, paint));
    }
    for (name, list) in state.allowed.iter().flat_map(allowed) {
        row("allowed", format!("{name} {list}"));
    }
    if let Some(detour) = &state.detour {
        row("detour", typed(&detour.text));
    }
    if state.phase != Phase::Review {
        row("window", state.window.as_ref().map_or_else(|| "none".to_owned(), window));
    }
    if let Some(drift) = &state.drift {
        row("drift", drift_line(drift, status, paint));
    }
    if let Some(review_of) = &state.review {
        row("review", review(review_of));
    }
    row("judge", judge(&state.judge, status.at, paint));
    if let (Some(error), Some(at)) = (&state.judge.last_error, state.judge.last_error_at) {
        row("", format!("last error {}: {}", ago(at, status.at), message(error)));
    }
    if state.sensor.status != SensorStatus::Ok || state.sensor.detail.is_some() {
        row("sensor", sensor(&state.sensor));
    }
    lines.push(paint.dim(todo(state)));
    lines.join("\n")
}

fn headline(state: &State, paint: Paint, local: Local) -> String {
    let Some(commitment) = &state.commitment else {
        return paint.strong(match state.phase {
            Phase::Unknown => "the daemon is in a phase that this version does not know",
            _ => "no session",
        });
    };
    let word = match state.phase {
        Phase::Review => "ended".to_owned(),
        _ => aside(state, local).unwrap_or_else(|| "active".to_owned()),
    };
    format!("{word}: {}", paint.strong(&typed(&commitment.text)))
}

fn time(commitment: &Commitment, phase: Phase, paint: Paint) -> String {
    let elapsed = duration::words(commitment.elapsed_secs);
    let (Some(timebox), Some(remaining)) = (commitment.timebox_secs, commitment.remaining_secs)
    else {
        return elapsed;
    };
    let of = format!("{elapsed} of {}", duration::words(timebox));
    let left = duration::words(remaining.unsigned_abs());
    match (phase, remaining < 0) {
        (Phase::Review, _) => of,
        (_, true) => format!("{of}, {}", paint.alarm(&format!("{left} over"))),
        (_, false) => format!("{of}, {left} left"),
    }
}

fn drift_line(drift: &Drift, status: &Status, paint: Paint) -> String {
    let word = drift_word(drift.status);
    let word = match drift.status {
        DriftStatus::Drifting => paint.alarm(word),
        DriftStatus::Ontask => paint.good(word),
        _ => word.to_owned(),
    };
    let since = match drift.status {
        DriftStatus::Drifting | DriftStatus::Pending => {
            format!(" for {}", duration::words(status.at.since(drift.since_at).as_secs()))
        }
        _ => String::new(),
    };
    let reason = drift.reason.as_deref().map(message).filter(|reason| !reason.is_empty());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{word}{since}{reason}")
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", duration::words(now.since(at).as_secs()))
}

/// Why the judge that was configured is not there at all, if that is so.
pub(crate) fn missing_judge(judge: &Judge) -> Option<String> {
    let error = judge.last_error.as_deref().filter(|_| judge.last_error_at.is_none())?;
    let rest = match judge.status {
        JudgeStatus::Off => "no window is judged",
        _ => "the embedded judge goes on alone",
    };
    Some(format!("{}; {rest}", message(error)))
}

/// Said where a session has used up its judgements.
pub(crate) fn spent(judge: &Judge) -> Option<String> {
    let limit = judge.limit.filter(|&limit| judge.calls >= limit)?;
    Some(format!("all {limit} calls of this session used; the embedded judge goes on"))
}

fn judge(judge: &Judge, now: Timestamp, paint: Paint) -> String {
    let name = title(&judge.backend);
    if let Some(missing) = missing_judge(judge) {
        return format!("{}: {missing}", paint.alarm(&format!("{name} is off")));
    }
    if judge.status == JudgeStatus::Off && matches!(name.as_str(), "" | "none") {
        return "none; only what is allowed is recognised".to_owned();
    }
    let to = match judge.destination {
        Some(Destination::Local) => " (local)",
        Some(Destination::Cloud) => " (cloud)",
        Some(Destination::Unknown) => " (destination unknown)",
        None => "",
    };
    let status = match judge.status {
        JudgeStatus::BackingOff => "left alone after an error",
        other => other.as_str(),
    };
    let calls = match (judge.calls, judge.limit) {
        (0, None) => String::new(),
        (1, None) => ", 1 call".to_owned(),
        (calls, None) => format!(", {calls} calls"),
        (calls, Some(limit)) => {
            format!(", {}", spent(judge).unwrap_or_else(|| format!("{calls} of {limit} calls")))
        }
    };
    let answered = judge.last_ok_at.map(|at| format!("; last answer {}", ago(at, now)));
    format!("{name}{to}, {status}{calls}{}", answered.unwrap_or_default())
}

fn sensor(sensor: &Sensor) -> String {
    let detail = sensor.detail.as_deref().map(message).filter(|detail| !detail.is_empty());
    let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
    format!("{} {}{detail}", title(&sensor.kind), sensor.status.as_str())
}

fn todo(state: &State) -> &'static str {
    let status = state.drift.as_ref().map(|drift| drift.status);
    match (state.phase, status) {
        (Phase::Planning, _) => "antidrift start TEXT begins a session",
        (Phase::Review, _) => {
            "antidrift review says how it went, antidrift start TEXT begins the next session"
        }
        (Phase::Active, Some(DriftStatus::Drifting)) => {
            "antidrift refocus (back to task), ontask (this is on task), complete (end session)"
        }
        (Phase::Active, _) if state.paused.is_some() => "antidrift resume goes on",
        (Phase::Active, _) if state.detour.is_some() => "antidrift resume ends the detour",
        (Phase::Active, _) if is_over(state) => {
            "antidrift extend 10m (more time), complete (end session)"
        }
        (Phase::Active, _) => "antidrift complete ends the session",
        (Phase::Unknown, _) => "restart the daemon after an upgrade",
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
pub(crate) mod tests;

//! What a bar shows of the state: one word for how things stand, and the parts of a line. Nothing in
//! here is escaped yet: that is the formats' part.

use std::time::Duration;

use antidrift_protocol::{DriftStatus, Phase, State};

use crate::{clock::Local, duration, render};

/// How things stand, the most pressing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// There is no daemon.
    Down,
    /// No session.
    Planning,
    /// Nobody is there.
    Away,
    Paused,
    Detour,
    Drifting,
    /// The time is up.
    Overtime,
    Ontask,
    /// The window waits for its verdict.
    Checking,
    /// A session, and nothing is known of the window.
    Active,
    /// The session has ended.
    Review,
}

impl Stand {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 11] = [
        Self::Down,
        Self::Planning,
        Self::Away,
        Self::Paused,
        Self::Detour,
        Self::Drifting,
        Self::Overtime,
        Self::Ontask,
        Self::Checking,
        Self::Active,
        Self::Review,
    ];

    /// The word for style sheets and scripts.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Planning => "planning",
            Self::Away => "away",
            Self::Paused => "paused",
            Self::Detour => "detour",
            Self::Drifting => "drifting",
            Self::Overtime => "overtime",
            Self::Ontask => "ontask",
            Self::Checking => "checking",
            Self::Active => "active",
            Self::Review => "review",
        }
    }

    /// A colour that reads on dark and on light bars, for bars that have no style sheet.
    pub(crate) fn colour(self) -> &'static str {
        match self {
            Self::Drifting => "#e5484d",
            Self::Overtime => "#d9822b",
            Self::Ontask => "#3fa266",
            Self::Checking => "#4c8bd9",
            Self::Detour => "#9a6fd0",
            Self::Active | Self::Review => "#8fa1b3",
            Self::Down | Self::Planning | Self::Away | Self::Paused => "#808080",
        }
    }

    /// Whether a bar has nothing to show.
    pub(crate) fn is_quiet(self) -> bool {
        matches!(self, Self::Down | Self::Planning)
    }
}

/// What a bar can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Face {
    pub(crate) stand: Stand,
    /// How things stand, in words, with the end of a pause or detour.
    pub(crate) says: String,
    /// The commitment, or what the detour is for.
    pub(crate) text: String,
    pub(crate) next: String,
    /// Time of the timebox that is left, or that is over, or the time since the start.
    pub(crate) time: String,
    pub(crate) reason: String,
    pub(crate) title: String,
    pub(crate) class: String,
    /// How much of the timebox has passed.
    pub(crate) percentage: Option<u64>,
}

/// How time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Minutes,
    Seconds,
}

impl Face {
    /// Where there is no daemon.
    pub(crate) fn down() -> Self {
        Self::plain(Stand::Down, "no daemon")
    }

    fn plain(stand: Stand, says: &str) -> Self {
        Self {
            stand,
            says: says.to_owned(),
            text: String::new(),
            next: String::new(),
            time: String::new(),
            reason: String::new(),
            title: String::new(),
            class: String::new(),
            percentage: None,
        }
    }

    /// The face of a state, with the time that the session has lasted by now, and whether the daemon
    /// has said that its time is up.
    pub(crate) fn of(
        state: &State,
        elapsed: Duration,
        over: bool,
        clock: Clock,
        local: Local,
    ) -> Self {
        let timebox = state.commitment.as_ref().and_then(|it| it.timebox_secs);
        let over = over || timebox.is_some_and(|secs| Duration::from_secs(secs) <= elapsed);
        let (stand, says) = stand(state, over, local);
        let mut face = Self::plain(stand, &says);
        if let Some(commitment) = &state.commitment {
            face.text = render::typed(&commitment.text);
            face.next = commitment.next_action.as_deref().map(render::typed).unwrap_or_default();
            face.time = time(elapsed, timebox, clock);
            face.percentage = timebox.map(|secs| (elapsed.as_secs() * 100 / secs.max(1)).min(100));
        }
        if let (Stand::Detour, Some(detour)) = (stand, &state.detour) {
            face.text = render::typed(&detour.text);
        }
        if let Some(window) = &state.window {
            face.title = render::title(&window.title);
            face.class = render::title(&window.class);
        }
        let reason = state.drift.as_ref().and_then(|drift| drift.reason.as_deref());
        face.reason = reason.map(render::message).unwrap_or_default();
        face
    }

    /// The line of a bar that asks for nothing else.
    pub(crate) fn line(&self) -> String {
        let parts: &[&str] = match self.stand {
            Stand::Down | Stand::Planning => &[&self.says],
            Stand::Away | Stand::Paused | Stand::Detour | Stand::Review => {
                &[&self.says, &self.text]
            }
            Stand::Drifting => {
                &[&self.says, if self.reason.is_empty() { &self.title } else { &self.reason }]
            }
            Stand::Overtime | Stand::Ontask | Stand::Checking | Stand::Active => {
                return [&*self.text, &*self.time].join(" ");
            }
        };
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(": ")
    }

    /// A few lines for a pointer that rests on it.
    pub(crate) fn tooltip(&self) -> String {
        let status = match (self.stand, self.reason.as_str()) {
            (Stand::Drifting | Stand::Ontask, reason) if !reason.is_empty() => {
                format!("{}: {reason}", self.says)
            }
            _ => self.says.clone(),
        };
        let next =
            if self.next.is_empty() { String::new() } else { format!("next: {}", self.next) };
        let lines = [&*status, &*self.text, &*next, &*self.time];
        lines.iter().filter(|line| !line.is_empty()).copied().collect::<Vec<_>>().join("\n")
    }

    /// The fields that a template may name, with what each of them is now.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        Some(match name {
            "state" => self.stand.word(),
            "says" => &self.says,
            "text" => &self.text,
            "next" => &self.next,
            "time" => &self.time,
            "reason" => &self.reason,
            "title" => &self.title,
            "class" => &self.class,
            _ => return None,
        })
    }
}

fn stand(state: &State, over: bool, local: Local) -> (Stand, String) {
    let word = |stand, word: &str| (stand, word.to_owned());
    match state.phase {
        Phase::Review => return word(Stand::Review, "ended"),
        Phase::Active => {}
        Phase::Planning | Phase::Unknown => return word(Stand::Planning, "no session"),
    }
    if let Some(aside) = render::aside(state, local) {
        let stand = match (&state.paused, state.away) {
            (Some(_), _) => Stand::Paused,
            (None, Some(_)) => Stand::Away,
            (None, None) => Stand::Detour,
        };
        return (stand, aside);
    }
    match state.drift.as_ref().map(|drift| drift.status) {
        Some(DriftStatus::Drifting) => word(Stand::Drifting, "drifting"),
        _ if over => word(Stand::Overtime, "the time is up"),
        Some(DriftStatus::Ontask) => word(Stand::Ontask, "on task"),
        Some(DriftStatus::Pending) => word(Stand::Checking, "checking"),
        _ => word(Stand::Active, "in session"),
    }
}

fn time(elapsed: Duration, timebox: Option<u64>, clock: Clock) -> String {
    let shown = |secs: u64| match clock {
        Clock::Minutes => duration::words(secs.max(60)),
        Clock::Seconds => duration::clock(secs),
    };
    let passed = elapsed.as_secs();
    match timebox {
        None => shown(passed),
        Some(timebox) if timebox > passed => {
            // Whole minutes are up when they are up, as on a kitchen timer.
            let left = timebox - passed;
            shown(if clock == Clock::Minutes { left.div_ceil(60) * 60 } else { left })
        }
        Some(timebox) => format!("+{}", shown(passed - timebox)),
    }
}

//! A session under way: its commitment, its sums, its status and its alert.

use std::{fmt, sync::Arc, time::Duration};

use antidrift_protocol::{
    Allowed, ClearedWhy, DriftSource, Outcome, Preset, Record, Review, Spent, Start, Timestamp,
};

use super::{
    Now, SavedSession, Stage, Step, cleared,
    interlude::Interlude,
    ledger::Ledger,
    popups::Popups,
    snapshot::{self, InterludeKind as Kind},
    time::Stopwatch,
};
use crate::evidence::{ContextKey, Matcher, Window};

/// How long an alert of a window that was left can still be answered without naming it.
pub(super) const LEFT_ALERT_LIMIT: Duration = Duration::from_secs(600);

/// What the user set out to do.
#[derive(Clone, Default)]
pub(super) struct Commitment {
    pub(super) text: String,
    pub(super) next_action: Option<String>,
    pub(super) success_condition: Option<String>,
    pub(super) timebox_secs: Option<u64>,
    pub(super) started_at: Timestamp,
}

/// What a person typed is private.
impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commitment")
            .field("timebox_secs", &self.timebox_secs)
            .field("started_at", &self.started_at)
            .finish_non_exhaustive()
    }
}

/// A session under way.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) commitment: Commitment,
    pub(super) clock: Stopwatch,
    pub(super) timebox_elapsed: bool,
    pub(super) allowed: Allowed,
    /// `allowed`, made ready for matching.
    pub(super) matcher: Matcher,
    pub(super) status: Status,
    pub(super) since_at: Timestamp,
    pub(super) sums: Sums,
    pub(super) ledger: Ledger,
    /// The timebox as it was at the start.
    pub(super) planned_secs: Option<u64>,
    pub(super) alerts: u64,
    pub(super) popups: Popups,
    /// The pause or detour under way.
    pub(super) interlude: Option<Interlude>,
    /// The window that was on task last, detours apart.
    pub(super) last_ontask: Option<Arc<Window>>,
    /// The last alert that nobody answered and whose window was left.
    pub(super) left: Option<LeftAlert>,
    /// When the sums were saved last.
    pub(super) saved_at: Duration,
}

/// Time with the daemon running by what it was spent on: suspend is time away, all else is time
/// awake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) ontask: Duration,
    pub(super) drifting: Duration,
    pub(super) other: Duration,
    pub(super) away: Duration,
    pub(super) paused: Duration,
    pub(super) detour: Duration,
}

/// What is known of the present window.
#[derive(PartialEq, Eq)]
pub(super) enum Status {
    Idle,
    Pending,
    OnTask { source: DriftSource, reason: Option<String> },
    Drifting { source: DriftSource, alert: Alert },
}

/// A reason may quote the title.
impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("Idle"),
            Self::Pending => f.write_str("Pending"),
            Self::OnTask { source, .. } => write!(f, "OnTask({source:?})"),
            Self::Drifting { source, alert } => write!(f, "Drifting({source:?}, {})", alert.number),
        }
    }
}

impl Status {
    /// Whether an alert about this context stands.
    pub(super) fn is_about(&self, key: &ContextKey) -> bool {
        matches!(self, Self::Drifting { alert, .. } if alert.key == *key)
    }
}

/// An alert that stands.
#[derive(PartialEq, Eq)]
pub(super) struct Alert {
    pub(super) number: u64,
    pub(super) window: Arc<Window>,
    pub(super) key: ContextKey,
    pub(super) reason: Option<String>,
    pub(super) reminders: u64,
    /// Whether the session had no popup left for it.
    pub(super) quiet: bool,
    pub(super) raised_at: Duration,
    pub(super) raised_wall: Timestamp,
    /// When the next reminder is due.
    pub(super) remind_at: Duration,
}

/// An alert whose window was left before anybody answered.
#[derive(Debug)]
pub(super) struct LeftAlert {
    pub(super) number: u64,
    pub(super) window: Arc<Window>,
    pub(super) key: ContextKey,
    pub(super) left_at: Duration,
    /// When it was raised, until the return from there was told.
    pub(super) untold_since: Option<Duration>,
}

/// A session that is over.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) commitment: Commitment,
    pub(super) elapsed: Duration,
    pub(super) review: Review,
    pub(super) ledger: Ledger,
    pub(super) planned_secs: Option<u64>,
    /// Whether it is not to be kept: a person had it forgotten.
    pub(super) forgotten: bool,
}

/// What time is booked under.
#[derive(Debug)]
pub(super) struct Books<'a> {
    pub(super) away: bool,
    pub(super) present: Option<&'a Window>,
    pub(super) keep_titles: bool,
}

impl Ended {
    /// What is kept of it.
    pub(super) fn record(&self) -> Record {
        let Commitment { text, next_action, success_condition, started_at, .. } =
            self.commitment.clone();
        let Review { outcome, note, ended_at, alerts, .. } = self.review.clone();
        Record {
            started_at,
            ended_at,
            text,
            next_action,
            success_condition,
            planned_secs: self.planned_secs,
            outcome,
            note,
            alerts,
            timeline: self.ledger.timeline(),
            classes: self.ledger.classes(),
            titles: self.ledger.titles(),
            answers: self.ledger.answers(),
        }
    }
}

impl Active {
    pub(super) fn begin(start: Start, now: Now) -> Self {
        let Start { text, next_action, success_condition, timebox_secs, allowed } = start;
        let started_at = now.wall;
        Self {
            commitment: Commitment {
                text,
                next_action,
                success_condition,
                timebox_secs,
                started_at,
            },
            clock: Stopwatch::start(now),
            timebox_elapsed: false,
            matcher: Matcher::new(&allowed),
            allowed,
            status: Status::Idle,
            since_at: now.wall,
            sums: Sums::default(),
            ledger: Ledger::default(),
            planned_secs: timebox_secs,
            alerts: 0,
            popups: Popups::resume(0),
            interlude: None,
            last_ontask: None,
            left: None,
            saved_at: now.awake,
        }
    }

    /// Books time that has passed, awake and asleep, under what held meanwhile.
    pub(super) fn book(&mut self, awake: Duration, asleep: Duration, books: &Books<'_>) {
        self.book_as(Spent::Away, asleep, books);
        let spent = match (&self.interlude, &self.status) {
            _ if books.away => Spent::Away,
            (Some(Interlude { kind: Kind::Pause, .. }), _) => Spent::Paused,
            (Some(Interlude { kind: Kind::Detour { .. }, .. }), _) => Spent::Detour,
            (None, Status::OnTask { .. }) => Spent::Ontask,
            (None, Status::Drifting { .. }) => Spent::Drifting,
            (None, Status::Idle | Status::Pending) => Spent::Other,
        };
        self.book_as(spent, awake, books);
    }

    fn book_as(&mut self, spent: Spent, time: Duration, books: &Books<'_>) {
        let sums = &mut self.sums;
        let sum = match spent {
            Spent::Ontask => &mut sums.ontask,
            Spent::Drifting => &mut sums.drifting,
            Spent::Away => &mut sums.away,
            Spent::Paused => &mut sums.paused,
            Spent::Detour => &mut sums.detour,
            Spent::Other | Spent::Down | Spent::Unknown => &mut sums.other,
        };
        *sum = sum.saturating_add(time);
        self.ledger.book(spent, time, books.present, books.keep_titles);
    }

    /// The timebox, if it has not run out yet: how long that still takes.
    pub(super) fn timebox_left(&self, now: Now) -> Option<Duration> {
        let timebox = Duration::from_secs(self.commitment.timebox_secs?);
        (!self.timebox_elapsed).then(|| timebox.saturating_sub(self.clock.elapsed(now)))
    }

    pub(super) fn alert(&self) -> Option<&Alert> {
        match &self.status {
            Status::Drifting { alert, .. } => Some(alert),
            _ => None,
        }
    }

    /// Replaces the status. An alert that it carried ends, for the reason given.
    pub(super) fn set_status(
        &mut self,
        status: Status,
        why: ClearedWhy,
        now: Now,
        step: &mut Step,
    ) {
        let word = |status: &Status| std::mem::discriminant(status);
        let old = std::mem::replace(&mut self.status, status);
        if word(&old) != word(&self.status) || self.alert().is_some() {
            self.since_at = now.wall;
        }
        if let Status::Drifting { alert, .. } = old {
            step.edge(cleared(alert.number, why));
            let stood = now.awake.saturating_sub(alert.raised_at);
            self.ledger.answered(alert.raised_wall, &alert.window.class, why, stood);
            if why == ClearedWhy::Moved {
                let Alert { number, window, key, raised_at, .. } = alert;
                let (left_at, untold_since) = (now.awake, Some(raised_at));
                self.left = Some(LeftAlert { number, window, key, left_at, untold_since });
            }
        }
    }

    /// Ends the alert, if one stands.
    pub(super) fn clear_alert(&mut self, why: ClearedWhy, now: Now, step: &mut Step) {
        if self.alert().is_some() {
            self.set_status(Status::Idle, why, now, step);
        }
    }

    /// The alert that can still be answered although its window was left.
    pub(super) fn left_alert(&self, now: Now) -> Option<&LeftAlert> {
        self.left.as_ref().filter(|left| now.awake < left.left_at + LEFT_ALERT_LIMIT)
    }

    pub(super) fn end(&self, outcome: Option<Outcome>, note: Option<String>, now: Now) -> Ended {
        let review = Review {
            outcome,
            note,
            ended_at: now.wall,
            ontask_secs: self.sums.ontask.as_secs(),
            drifting_secs: self.sums.drifting.as_secs(),
            other_secs: self.sums.other.as_secs(),
            away_secs: self.sums.away.as_secs(),
            paused_secs: self.sums.paused.as_secs(),
            detour_secs: self.sums.detour.as_secs(),
            alerts: self.alerts,
        };
        let elapsed = self.clock.elapsed(now);
        Ended {
            commitment: self.commitment.clone(),
            elapsed,
            review,
            ledger: self.ledger.clone(),
            planned_secs: self.planned_secs,
            forgotten: false,
        }
    }

    /// The beginning of another session like this one, with what is allowed by now.
    pub(super) fn as_started(&self) -> Preset {
        Preset {
            name: String::new(),
            text: Some(self.commitment.text.clone()),
            next_action: self.commitment.next_action.clone(),
            success_condition: self.commitment.success_condition.clone(),
            timebox_secs: self.planned_secs,
            allowed: self.allowed.clone(),
        }
    }

    pub(super) fn allow(&mut self, allowed: Allowed) {
        self.matcher = Matcher::new(&allowed);
        self.allowed = allowed;
    }
}

impl Stage {
    pub(super) fn restore(saved: Option<SavedSession>, now: Now) -> Self {
        let Some(saved) = saved else { return Self::Planning };
        let commitment = Commitment {
            text: saved.text,
            next_action: saved.next_action,
            success_condition: saved.success_condition,
            timebox_secs: saved.timebox_secs,
            started_at: saved.started_at,
        };
        if let Some(review) = saved.review {
            let elapsed = Duration::from_millis(saved.elapsed_ms);
            let (ledger, planned_secs) = (saved.ledger, saved.planned_secs);
            return Self::Review(Box::new(Ended {
                commitment,
                elapsed,
                review,
                ledger,
                planned_secs,
                forgotten: saved.forgotten,
            }));
        }
        let clock = Stopwatch::resume(commitment.started_at, now);
        let mut ledger = saved.ledger;
        ledger.book_downtime(clock.elapsed(now));
        Self::Active(Box::new(Active {
            clock,
            ledger,
            planned_secs: saved.planned_secs,
            commitment,
            timebox_elapsed: saved.timebox_elapsed,
            matcher: Matcher::new(&saved.allowed),
            allowed: saved.allowed,
            // The verdict does not survive: the window may be another by now (design rule 8).
            status: Status::Idle,
            since_at: now.wall,
            sums: Sums {
                ontask: Duration::from_millis(saved.ontask_ms),
                drifting: Duration::from_millis(saved.drifting_ms),
                other: Duration::from_millis(saved.other_ms),
                away: Duration::from_millis(saved.away_ms),
                paused: Duration::from_millis(saved.paused_ms),
                detour: Duration::from_millis(saved.detour_ms),
            },
            alerts: saved.alerts,
            popups: Popups::resume(saved.popups),
            interlude: saved.interlude.map(|saved| Interlude::restore(saved, now)),
            last_ontask: None,
            left: None,
            saved_at: now.awake,
        }))
    }

    pub(super) fn save(&self) -> Option<SavedSession> {
        match self {
            Self::Planning => None,
            Self::Active(active) => Some(SavedSession {
                timebox_elapsed: active.timebox_elapsed,
                allowed: active.allowed.clone(),
                ontask_ms: snapshot::millis(active.sums.ontask),
                drifting_ms: snapshot::millis(active.sums.drifting),
                other_ms: snapshot::millis(active.sums.other),
                away_ms: snapshot::millis(active.sums.away),
                paused_ms: snapshot::millis(active.sums.paused),
                detour_ms: snapshot::millis(active.sums.detour),
                interlude: active.interlude.as_ref().map(Interlude::save),
                ledger: active.ledger.clone(),
                planned_secs: active.planned_secs,
                alerts: active.alerts,
                popups: active.popups.counted,
                ..active.commitment.save()
            }),
            Self::Review(ended) => Some(SavedSession {
                elapsed_ms: snapshot::millis(ended.elapsed),
                review: Some(ended.review.clone()),
                ledger: ended.ledger.clone(),
                planned_secs: ended.planned_secs,
                forgotten: ended.forgotten,
                ..ended.commitment.save()
            }),
        }
    }
}

impl Commitment {
    fn save(&self) -> SavedSession {
        let Self { text, next_action, success_condition, timebox_secs, started_at } = self.clone();
        SavedSession {
            text,
            next_action,
            success_condition,
            timebox_secs,
            started_at,
            ..SavedSession::default()
        }
    }
}

//! The session as it is shown: the one place where what the core holds becomes what the wire says.

use antidrift_protocol::{
    Commitment, Drift, DriftStatus, Judge, Phase, State, Window as WindowView,
};

use super::{
    Now, Session, Stage,
    active::{self, Active, Status},
};
use crate::evidence::Window;

/// A window as the wire shows it.
pub fn window(window: &Window) -> WindowView {
    let Window { class, instance, title, command, domain, .. } = window.clone();
    WindowView { class, instance, title, domain, command }
}

/// The state without what moves on by itself: two of these differ only if there is something to
/// tell.
pub(super) fn without_ticks(mut state: State) -> State {
    if let Some(commitment) = &mut state.commitment {
        commitment.elapsed_secs = 0;
        commitment.remaining_secs = None;
    }
    state
}

impl Session {
    /// The whole state at an instant.
    pub fn state(&self, now: Now) -> State {
        let mut state = State {
            phase: Phase::Planning,
            window: self.focused.present.as_ref().map(|present| window(&present.shown)),
            away: self.presence.away,
            judge: self.judge_view(now),
            sensor: self.focused.sensor.clone(),
            ..State::default()
        };
        match &self.stage {
            Stage::Planning => {}
            Stage::Active(active) => {
                let elapsed = active.clock.elapsed(now).as_secs();
                state.phase = Phase::Active;
                state.commitment = Some(commitment(&active.commitment, elapsed));
                state.allowed = Some(active.allowed.clone());
                state.drift = Some(drift(active));
                state.paused = active.paused_view();
                state.detour = active.detour_view();
            }
            Stage::Review(ended) => {
                state.phase = Phase::Review;
                state.commitment = Some(commitment(&ended.commitment, ended.elapsed.as_secs()));
                state.review = Some(ended.review.clone());
            }
        }
        state
    }

    fn judge_view(&self, now: Now) -> Judge {
        let judge = &self.judge;
        Judge {
            backend: judge.settings.backend.clone(),
            destination: judge.settings.destination,
            status: judge.status(now),
            calls: judge.calls,
            limit: judge.settings.limit,
            last_ok_at: judge.last_ok_at,
            last_error: judge.last_error.clone(),
            last_error_at: judge.last_error_at,
            verdicts: judge.verdicts.clone(),
        }
    }
}

fn commitment(commitment: &active::Commitment, elapsed_secs: u64) -> Commitment {
    let remaining = |timebox: u64| {
        let signed = |secs: u64| i64::try_from(secs).unwrap_or(i64::MAX);
        signed(timebox).saturating_sub(signed(elapsed_secs))
    };
    Commitment {
        text: commitment.text.clone(),
        next_action: commitment.next_action.clone(),
        success_condition: commitment.success_condition.clone(),
        timebox_secs: commitment.timebox_secs,
        started_at: commitment.started_at,
        elapsed_secs,
        remaining_secs: commitment.timebox_secs.map(remaining),
    }
}

fn drift(active: &Active) -> Drift {
    let (status, source, reason) = match &active.status {
        Status::Idle => (DriftStatus::Idle, None, None),
        Status::Pending => (DriftStatus::Pending, None, None),
        Status::OnTask { source, reason } => (DriftStatus::Ontask, Some(*source), reason.clone()),
        Status::Drifting { source, alert } => {
            (DriftStatus::Drifting, Some(*source), alert.reason.clone())
        }
    };
    let alert = active.alert();
    Drift {
        status,
        reason,
        source,
        alert: alert.map(|alert| alert.number),
        quiet: alert.is_some_and(|alert| alert.quiet),
        since_at: active.since_at,
    }
}

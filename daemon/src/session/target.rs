//! Which window `ontask` and `refocus` mean (design rule 15).

use std::sync::Arc;

use antidrift_protocol::{DriftSource, ErrorCode, ErrorObject};

use super::{
    Session,
    active::{Active, LeftAlert, Status},
};
use crate::evidence::{ContextKey, Window};

/// The window that a request means.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) window: Arc<Window>,
    pub(super) key: ContextKey,
    /// Whether it has the focus; else it raised an alert and was left.
    pub(super) is_present: bool,
}

/// What a request says about the window that it means.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hint<'a> {
    /// The alert that it answers.
    pub(super) alert: Option<u64>,
    /// Whether that one may have been left.
    pub(super) or_left: bool,
    /// The processes that it comes from: see [`Input::Request`](super::Input::Request).
    pub(super) lineage: &'a [u32],
}

impl Session {
    /// The window that a request means: the one of the alert that it names; else the focused one if
    /// it drifts; else, if the focused one is where a person would type or click the answer, the
    /// one that raised an alert and was left; else the focused one.
    pub(super) fn target(
        &self,
        active: &Active,
        hint: Hint<'_>,
    ) -> Result<Option<Target>, ErrorObject> {
        if let Some(number) = hint.alert {
            let of_alert = self.of_alert(active, number, hint.or_left);
            return of_alert.map(Some).ok_or_else(|| {
                ErrorObject::new(
                    ErrorCode::StaleAlert,
                    format!("alert {number} is over; nothing was changed"),
                )
            });
        }
        let present = self.present_target();
        let answered_elsewhere = match &active.status {
            Status::Drifting { .. } => false,
            Status::OnTask { source: DriftSource::Rule, .. } => true,
            _ => present.as_ref().is_none_or(|it| self.is_typed_in(&it.window, hint.lineage)),
        };
        let left = active.left_alert(self.now).filter(|_| answered_elsewhere);
        Ok(left.map(Target::from).or(present))
    }

    /// The window of an alert: it stands, or it was left and that is no matter.
    fn of_alert(&self, active: &Active, number: u64, or_left: bool) -> Option<Target> {
        let present = || self.focused.present.as_ref();
        if let Some(standing) = active.alert().filter(|standing| standing.number == number) {
            return present().filter(|it| it.shows(standing)).and_then(|_| self.present_target());
        }
        let left = active.left_alert(self.now).filter(|left| or_left && left.number == number)?;
        // Come back to, it has the focus again before it has settled.
        let is_back =
            present().is_some_and(|it| it.window.id == left.window.id && it.key == left.key);
        if is_back { self.present_target() } else { Some(left.into()) }
    }

    fn present_target(&self) -> Option<Target> {
        self.focused.present.as_ref().map(|present| Target {
            window: Arc::clone(&present.window),
            key: present.key.clone(),
            is_present: true,
        })
    }

    /// Whether a window is the terminal that a request was typed in: one of the processes that it
    /// comes from has put the window up. Where there is no such line, as in tmux or over ssh, the
    /// class has to do.
    pub(super) fn is_typed_in(&self, window: &Window, lineage: &[u32]) -> bool {
        window.process.is_some_and(|process| lineage.contains(&process))
            || self.settings.contexts.is_terminal(&window.class)
    }
}

impl From<&LeftAlert> for Target {
    fn from(left: &LeftAlert) -> Self {
        Self { window: Arc::clone(&left.window), key: left.key.clone(), is_present: false }
    }
}

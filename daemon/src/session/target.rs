//! Which window `ontask` and `refocus` mean (design rule 15).

use std::sync::Arc;

use antidrift_protocol::{DriftSource, ErrorCode, ErrorObject};

use super::{
    Session,
    active::{Active, Status},
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

impl Session {
    /// The window that a request means: the one of the alert that it names; else the focused one if
    /// it drifts; else, if the focused one is where a person would type or click the answer, the
    /// one that raised an alert and was left; else the focused one.
    pub(super) fn target(
        &self,
        active: &Active,
        alert: Option<u64>,
    ) -> Result<Option<Target>, ErrorObject> {
        let present = self.focused.present.as_ref().map(|present| Target {
            window: Arc::clone(&present.window),
            key: present.key.clone(),
            is_present: true,
        });
        if let Some(number) = alert {
            let stands = active.alert().is_some_and(|standing| {
                standing.number == number
                    && self.focused.present.as_ref().is_some_and(|it| it.shows(standing))
            });
            if stands {
                return Ok(present);
            }
            return Err(ErrorObject::new(
                ErrorCode::StaleAlert,
                format!("alert {number} is over; nothing was changed"),
            ));
        }
        let answered_elsewhere = match &active.status {
            Status::Drifting { .. } => false,
            Status::OnTask { source: DriftSource::Rule, .. } => true,
            _ => present
                .as_ref()
                .is_none_or(|target| self.settings.contexts.is_terminal(&target.window.class)),
        };
        let left = active.left_alert(self.now).filter(|_| answered_elsewhere);
        let left = left.map(|left| Target {
            window: Arc::clone(&left.window),
            key: left.key.clone(),
            is_present: false,
        });
        Ok(left.or(present))
    }
}

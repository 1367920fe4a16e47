//! Which alerts deserve a popup. The daemon raises none; it says with each alert whether one would
//! be too much.

use std::{collections::VecDeque, time::Duration};

use antidrift_protocol::{EventBody, Notice, NoticeKind};

use super::{Session, Stage, Step, active::LEFT_ALERT_LIMIT};
use crate::evidence::ContextKey;

/// Within this time of a popup, another one for the same context takes its place (design rule 17),
/// and is not counted.
const PACE: Duration = Duration::from_secs(60);
/// Most contexts that are remembered for [`PACE`]: with settling, nobody sees more in a minute.
const MAX_CONTEXTS: usize = 64;

/// What an alert is told with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Popup {
    /// A popup may be raised.
    Due,
    /// This session has had its popups.
    Quiet,
    /// It has had them, and this is the first time that one is missing.
    Spent,
}

/// The popups of one session.
#[derive(Debug)]
pub(super) struct Popups {
    /// How many there were, and one more once it was said that there are no more.
    pub(super) counted: u64,
    recent: VecDeque<(ContextKey, Duration)>,
}

impl Popups {
    pub(super) fn resume(counted: u64) -> Self {
        Self { counted, recent: VecDeque::new() }
    }

    /// Counts the popup for an alert or a reminder. `budget`: most in one session.
    pub(super) fn count(&mut self, key: &ContextKey, budget: Option<u64>, now: Duration) -> Popup {
        if budget.is_some_and(|budget| self.counted > budget) {
            return Popup::Quiet;
        }
        self.recent.retain(|(_, at)| now < *at + PACE);
        if self.recent.iter().any(|(recent, _)| recent == key) {
            return Popup::Due;
        }
        self.counted = self.counted.saturating_add(1);
        if budget.is_some_and(|budget| self.counted > budget) {
            return Popup::Spent;
        }
        self.recent.truncate(MAX_CONTEXTS - 1);
        self.recent.push_front((key.clone(), now));
        Popup::Due
    }
}

impl Session {
    /// Counts the popup that an alert would raise, and says so once when there are no more. True if
    /// there is none for it.
    pub(super) fn counts_popup(&mut self, key: &ContextKey, step: &mut Step) -> bool {
        let (budget, now) = (self.settings.notify.budget, self.now.awake);
        let Stage::Active(active) = &mut self.stage else { return true };
        let popup = active.popups.count(key, budget, now);
        if let (Popup::Spent, Some(budget)) = (popup, budget) {
            let text = format!(
                "this session has had its {budget} popups ([notify] budget); the bar and antidrift \
                 watch go on"
            );
            let kind = NoticeKind::BudgetSpent;
            step.edge(EventBody::Notice(Notice { kind, text }));
        }
        popup != Popup::Due
    }

    /// Tells one who is back on task by oneself, if that is wanted, and once it is more than a
    /// window passed on the way.
    pub(super) fn tell_return(&mut self, step: &mut Step) {
        let (settings, now) = (&self.settings, self.now);
        let (Stage::Active(active), Some(present)) = (&mut self.stage, &self.focused.present)
        else {
            return;
        };
        let left = active.left.as_mut().filter(|left| now.awake < left.left_at + LEFT_ALERT_LIMIT);
        let Some(left) = left.filter(|_| settings.notify.on_return) else { return };
        let Some(since) = left.untold_since else { return };
        let settled_at = present.settled_at(settings.settle);
        if now.awake < settled_at {
            self.look_at = Some(settled_at);
            return;
        }
        left.untold_since = None;
        let minutes = left.left_at.saturating_sub(since).as_secs() / 60;
        let text = format!("back on task after {} min", minutes.max(1));
        step.edge(EventBody::Notice(Notice { kind: NoticeKind::Returned, text }));
    }
}

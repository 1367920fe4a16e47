//! When the session wants to be looked at again.
//!
//! Deadlines are read off the state rather than kept beside it, so that none can be forgotten or
//! outlive its reason. Each one, once past, is gone after [`Session::run_timers`] and
//! `Session::look`: a deadline that stayed would keep the daemon spinning.

use std::time::Duration;

use antidrift_protocol::{AlertReminder, EventBody};

use super::{Now, Session, Stage, Step, active::Status};
use crate::ai::{Failure, FailureKind};

/// Longest time that sums go unsaved while nothing else is saved.
const SAVE_SUMS_AFTER: Duration = Duration::from_secs(600);
/// From an alert to its first reminder.
pub(super) const FIRST_REMINDER: Duration = Duration::from_secs(120);
/// From the first reminder to the second, which is five minutes into the alert.
const SECOND_REMINDER: Duration = Duration::from_secs(180);
/// Between all further reminders.
const LATER_REMINDERS: Duration = Duration::from_secs(600);

impl Session {
    /// How long until [`Input::Tick`](super::Input::Tick) is due; zero if it is. `None` while
    /// nothing is waited for.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let awake = self.awake_deadlines().into_iter().flatten().min();
        let awake = awake.map(|at| at.saturating_sub(now.awake));
        awake.into_iter().chain(self.session_deadline(now)).min()
    }

    fn awake_deadlines(&self) -> [Option<Duration>; 8] {
        let [no_window, title, title_rests] = self.focused.deadlines(&self.settings);
        let (mut look, mut reminder, mut save_sums) = (None, None, None);
        if let Stage::Active(active) = &self.stage {
            look = self.look_at;
            reminder = active.alert().map(|alert| alert.remind_at);
            save_sums = Some(active.saved_at + SAVE_SUMS_AFTER);
        }
        let judge = self.judge.deadline(self.settings.judge_timeout);
        // Then the state says that it is ready again.
        let ready = self.judge.backs_off_until(self.now);
        [no_window, title, title_rests, look, judge, ready, reminder, save_sums]
    }

    /// Does what is due whoever is there, but for the look at the window itself.
    pub(super) fn run_timers(&mut self, step: &mut Step) {
        let now = self.now;
        self.focused.run_timers(&self.settings, now.awake);
        if self.judge.deadline(self.settings.judge_timeout).is_some_and(|at| at <= now.awake) {
            self.cancel_judge(step);
            let limit = self.settings.judge_timeout.as_secs_f64();
            let message = format!(
                "the judge gave no answer within {limit} s; it is asked again later \
                 ([judge] timeout_secs sets the limit)"
            );
            self.judge.failed(Failure { kind: FailureKind::TimedOut, message }, now);
        }
        let Stage::Active(active) = &mut self.stage else { return };
        if active.saved_at + SAVE_SUMS_AFTER <= now.awake {
            step.save = true;
        }
    }

    /// Reminds of an alert that nobody has answered.
    pub(super) fn remind(&mut self, step: &mut Step) {
        let now = self.now;
        let Stage::Active(active) = &mut self.stage else { return };
        // A reminder is for an alert that still stands after this step; `look` may end it.
        if let Status::Drifting { alert, .. } = &mut active.status
            && alert.remind_at <= now.awake
            && self.focused.present.as_ref().is_some_and(|present| present.shows(alert))
        {
            alert.reminders += 1;
            let pause = if alert.reminders == 1 { SECOND_REMINDER } else { LATER_REMINDERS };
            // From now on, not from when it was due: a machine that stalled owes no backlog.
            alert.remind_at = now.awake + pause;
            let (number, n, key) = (alert.number, alert.reminders, alert.key.clone());
            let repeat = self.settings.notify.repeat;
            let spent = repeat && self.counts_popup(&key, step);
            if let Stage::Active(active) = &mut self.stage
                && let Status::Drifting { alert, .. } = &mut active.status
            {
                alert.quiet |= spent;
            }
            let quiet = !repeat || spent;
            step.edge(EventBody::AlertReminder(AlertReminder { alert: number, n, quiet }));
        }
    }
}

//! Whether anybody is there: a person who is away does not drift.

use antidrift_protocol::{Away, ClearedWhy};
use std::time::Duration;

use super::{Session, Stage, Step, pipeline::Finding};
use crate::sensor::Absence;

/// A gap between the clock that counts suspend and the one that does not, from which on the machine
/// was asleep: whoever comes back from that is greeted as one who was away.
const SLEPT: Duration = Duration::from_secs(5);

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// What the display tells.
    pub(super) display: Absence,
    /// What the login manager tells.
    pub(super) login: Absence,
    /// How the person is away; `None` while present. What is not known is present.
    pub(super) away: Option<Away>,
    /// The machine has slept since the last step, whether anybody announced it or not.
    slept: bool,
}

impl Presence {
    /// Takes note of the time that passed on the clocks with and without suspend.
    pub(super) fn passed(&mut self, boot: Duration, awake: Duration) {
        self.slept = boot.saturating_sub(awake) >= SLEPT;
    }

    fn any(&self, sign: impl Fn(&Absence) -> bool) -> bool {
        sign(&self.display) || sign(&self.login)
    }
}

impl Session {
    /// Settles who is there, as of this step: ends the alert of one who has left, and begins afresh
    /// with the window of one who is back.
    pub(super) fn settle_presence(&mut self, step: &mut Step) {
        let away = if self.presence.any(|it| it.asleep) {
            Some(Away::Suspended)
        } else if self.presence.any(|it| it.locked) {
            Some(Away::Locked)
        } else if self.presence.any(|it| it.idle) && !self.is_watching() {
            Some(Away::Idle)
        } else {
            None
        };
        let was_away = std::mem::replace(&mut self.presence.away, away).is_some();
        let slept = std::mem::take(&mut self.presence.slept);
        if was_away == away.is_some() && !slept {
            return;
        }
        if let Stage::Active(active) = &mut self.stage {
            active.clear_alert(ClearedWhy::Away, self.now, step);
            // The machine may be about to sleep, and not to wake again.
            step.save = true;
        }
        if let Some(present) = &mut self.focused.present {
            present.begin_afresh(self.now.awake);
        }
    }

    /// Whether no input means nothing: a video or a call that fills the screen and is on task. Where
    /// the next video begins by itself, a person who was there is still there until the judge has
    /// spoken about that one.
    fn is_watching(&mut self) -> bool {
        let present = self.focused.present.as_ref();
        if !present.is_some_and(|present| present.window.fullscreen) {
            return false;
        }
        match self.finding() {
            Finding::OnTask(..) => true,
            Finding::Wait(_) | Finding::Ask => self.presence.away.is_none(),
            _ => false,
        }
    }
}

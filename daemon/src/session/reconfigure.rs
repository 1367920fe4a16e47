//! A new configuration while the session goes on.

use super::{Session, Settings, Step, embedded::Embedded, present::Present};

impl Session {
    /// `anew`: what was judged so far may be judged otherwise now, so all of it is forgotten. A
    /// session keeps its commitment, its sums and what is allowed.
    pub(super) fn reconfigured(&mut self, settings: Settings, anew: bool, step: &mut Step) {
        let other_contexts = settings.contexts != self.settings.contexts;
        self.settings = settings;
        // Whoever had a login to mend has mended it.
        self.judge.try_again();
        if anew {
            self.cancel_judge(step);
            self.judge.reconfigured(self.settings.judge.clone());
            self.embedded = Embedded::new(self.settings.judge.embedded.clone());
            self.forget_verdicts();
        }
        if other_contexts && let Some(present) = &mut self.focused.present {
            let window = present.window.clone();
            *present = Present::new(window, &self.settings.contexts, self.now.awake);
        }
    }
}

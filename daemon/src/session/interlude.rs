//! Pause and detour: times in which a person does not want to be judged.

use std::time::Duration;

use antidrift_protocol::{
    Answer, Changed, ClearedWhy, Detour, ErrorCode, ErrorObject, EventBody, MAX_MESSAGE,
    MAX_TIMEBOX_SECS, Notice, NoticeKind, Pause, Paused, TakeDetour, Timestamp, text::clean,
};

use super::{
    Now, Session, Stage, Step,
    active::Active,
    requests::{active_of, not_active},
    snapshot::{InterludeKind as Kind, SavedInterlude},
    time::Stopwatch,
    view,
};
use crate::evidence::Window;

/// A pause or a detour under way. There is one at most: the later one ends the earlier.
#[derive(Debug)]
pub(super) struct Interlude {
    pub(super) kind: Kind,
    since_at: Timestamp,
    clock: Stopwatch,
    /// How long it may last; until it is ended, if there is no limit.
    limit: Option<Duration>,
}

impl Interlude {
    fn begin(kind: Kind, limit: Option<u64>, now: Now) -> Self {
        let limit = limit.map(Duration::from_secs);
        Self { kind, since_at: now.wall, clock: Stopwatch::start(now), limit }
    }

    pub(super) fn restore(saved: SavedInterlude, now: Now) -> Self {
        let SavedInterlude { kind, since_at, limit_secs } = saved;
        let clock = Stopwatch::resume(since_at, now);
        Self { kind, since_at, clock, limit: limit_secs.map(Duration::from_secs) }
    }

    pub(super) fn save(&self) -> SavedInterlude {
        SavedInterlude {
            kind: self.kind.clone(),
            since_at: self.since_at,
            limit_secs: self.limit.map(|limit| limit.as_secs()),
        }
    }

    /// How long it still lasts, suspend included; `None` without a limit.
    fn left(&self, now: Now) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.clock.elapsed(now)))
    }

    fn until_at(&self) -> Option<Timestamp> {
        let millis = i64::try_from(self.limit?.as_millis()).unwrap_or(i64::MAX);
        Some(Timestamp::from_millis(self.since_at.as_millis().saturating_add(millis)))
    }

    /// The notice at its end.
    fn over(&self, commitment: &str) -> Notice {
        let back = format!("back to «{}»", clean(commitment, MAX_MESSAGE / 16));
        let (kind, text) = match &self.kind {
            Kind::Pause => (NoticeKind::PauseEnded, back),
            Kind::Detour { window, .. } => {
                let left = window.as_ref().map(|window| {
                    let title = clean(&window.title, MAX_MESSAGE / 16);
                    let name = if title.is_empty() { clean(&window.class, 64) } else { title };
                    format!("; you left «{name}»")
                });
                (NoticeKind::DetourEnded, back + &left.unwrap_or_default())
            }
        };
        Notice { kind, text }
    }
}

impl Active {
    /// Whether the session is paused.
    pub(super) fn is_paused(&self) -> bool {
        self.interlude.as_ref().is_some_and(|it| it.kind == Kind::Pause)
    }

    /// What the detour is for, if one is under way.
    pub(super) fn detour(&self) -> Option<&str> {
        match &self.interlude.as_ref()?.kind {
            Kind::Detour { text, .. } => Some(text),
            Kind::Pause => None,
        }
    }

    /// How long the pause or detour still lasts, if it ends by itself.
    pub(super) fn interlude_left(&self, now: Now) -> Option<Duration> {
        self.interlude.as_ref()?.left(now)
    }

    /// As the wire shows it.
    pub(super) fn paused_view(&self) -> Option<Paused> {
        let pause = self.interlude.as_ref().filter(|it| it.kind == Kind::Pause)?;
        Some(Paused { since_at: pause.since_at, until_at: pause.until_at() })
    }

    /// As the wire shows it.
    pub(super) fn detour_view(&self) -> Option<Detour> {
        let interlude = self.interlude.as_ref()?;
        let Kind::Detour { text, window } = interlude.kind.clone() else { return None };
        let since_at = interlude.since_at;
        Some(Detour { text, since_at, until_at: interlude.until_at()?, window })
    }
}

impl Session {
    pub(super) fn pause(&mut self, pause: &Pause, step: &mut Step) -> Result<Answer, ErrorObject> {
        active_of(&self.stage)?;
        self.cancel_judge(step);
        self.begin_interlude(Kind::Pause, pause.secs, ClearedWhy::Paused, step);
        Ok(Answer::Pause(Changed { seq: 0, saved: true, warning: None }))
    }

    /// The verdict about the window that is left stands: whoever comes back finds it.
    pub(super) fn take_detour(
        &mut self,
        detour: TakeDetour,
        lineage: &[u32],
        step: &mut Step,
    ) -> Result<Answer, ErrorObject> {
        let window = self.left_for_detour(active_of(&self.stage)?, lineage).map(view::window);
        let TakeDetour { secs, text } = detour;
        self.begin_interlude(Kind::Detour { text, window }, Some(secs), ClearedWhy::Ontask, step);
        Ok(Answer::Detour(Changed { seq: 0, saved: true, warning: None }))
    }

    /// The window that a detour leaves: the focused one, unless that is a terminal in which the
    /// person only typed that there is one.
    fn left_for_detour<'a>(&'a self, active: &'a Active, lineage: &[u32]) -> Option<&'a Window> {
        let present = self.focused.present.as_ref().map(|present| &*present.shown);
        let left = present.filter(|window| !self.is_typed_in(window, lineage));
        left.or(active.last_ontask.as_deref()).or(present)
    }

    fn begin_interlude(
        &mut self,
        kind: Kind,
        limit: Option<u64>,
        why: ClearedWhy,
        step: &mut Step,
    ) {
        let Stage::Active(active) = &mut self.stage else { return };
        active.clear_alert(why, self.now, step);
        active.interlude = Some(Interlude::begin(kind, limit, self.now));
        step.save = true;
    }

    pub(super) fn resume(&mut self, step: &mut Step) -> Result<Answer, ErrorObject> {
        active_of(&self.stage)?;
        if self.end_interlude(step).is_none() {
            let message = "there is neither a pause nor a detour to end";
            return Err(ErrorObject::new(ErrorCode::NotPaused, message));
        }
        Ok(Answer::Resume(Changed { seq: 0, saved: true, warning: None }))
    }

    /// Ends the pause or detour, if there is one. The present window is looked at afresh: nobody is
    /// alarmed in the same breath.
    pub(super) fn end_interlude(&mut self, step: &mut Step) -> Option<Interlude> {
        let Stage::Active(active) = &mut self.stage else { return None };
        let ended = active.interlude.take()?;
        step.save = true;
        if let Some(present) = &mut self.focused.present {
            present.begin_afresh(self.now.awake);
        }
        Some(ended)
    }

    pub(super) fn extend(&mut self, secs: u64, step: &mut Step) -> Result<Answer, ErrorObject> {
        let now = self.now;
        active_of(&self.stage)?;
        let Stage::Active(active) = &mut self.stage else {
            return Err(not_active());
        };
        let Some(timebox) = active.commitment.timebox_secs else {
            let message =
                "the session has no end that could be put off: it was started without --for";
            return Err(ErrorObject::new(ErrorCode::NoTimebox, message));
        };
        // In overtime the time that is over is over: ten minutes more are ten minutes from now.
        let longer = timebox.max(active.clock.elapsed(now).as_secs()) + secs;
        if longer > MAX_TIMEBOX_SECS {
            let message = format!(
                "a session ends a day after its start at the latest ({MAX_TIMEBOX_SECS} s); this \
                 would make it {longer} s"
            );
            return Err(ErrorObject::new(ErrorCode::InvalidRequest, message));
        }
        active.commitment.timebox_secs = Some(longer);
        active.timebox_elapsed = false;
        step.save = true;
        Ok(Answer::Extend(Changed { seq: 0, saved: true, warning: None }))
    }

    /// Ends what has had its time, and says one thing about it: whoever is told that the planned
    /// time is over need not be told that a pause is.
    pub(super) fn run_session_timers(&mut self, step: &mut Step) {
        let now = self.now;
        let Stage::Active(active) = &self.stage else { return };
        // Nobody is there to be told; it is told on return.
        if self.presence.away.is_some() {
            return;
        }
        let mut notice = None;
        if active.interlude_left(now).is_some_and(|left| left.is_zero()) {
            let ended = self.end_interlude(step);
            let Stage::Active(active) = &self.stage else { return };
            notice = ended.map(|ended| EventBody::Notice(ended.over(&active.commitment.text)));
        }
        let Stage::Active(active) = &mut self.stage else { return };
        if !active.is_paused() && active.timebox_left(now).is_some_and(|left| left.is_zero()) {
            active.timebox_elapsed = true;
            step.save = true;
            notice = Some(EventBody::TimeboxElapsed);
        }
        if let Some(notice) = notice {
            step.edge(notice);
        }
    }

    /// How long until [`run_session_timers`](Self::run_session_timers) has something to do.
    pub(super) fn session_deadline(&self, now: Now) -> Option<Duration> {
        let Stage::Active(active) = &self.stage else { return None };
        if self.presence.away.is_some() {
            return None;
        }
        let timebox = active.timebox_left(now).filter(|_| !active.is_paused());
        timebox.into_iter().chain(active.interlude_left(now)).min()
    }
}

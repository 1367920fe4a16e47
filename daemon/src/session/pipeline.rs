//! The drift pipeline: local match, verdict cache, settle, debounce, judge, status, alert.

use std::{sync::Arc, time::Duration};

use antidrift_protocol::{AlertRaised, ClearedWhy, DriftSource, EventBody};

use super::{
    RunId, Session, Stage, Step,
    active::{Active, Alert, Status},
    present::Present,
    timers::FIRST_REMINDER,
    view,
};
use crate::{
    ai::{Failure, Question, Verdict, embedded::Answer},
    evidence::{Window, reason_of},
};

/// What the present window comes to.
pub(super) enum Finding {
    Idle,
    /// What it came to before still holds.
    Unchanged,
    /// It waits: until then, or for a judgement under way.
    Wait(Option<Duration>),
    OnTask(DriftSource, Option<String>),
    Drifting(DriftSource, Option<String>),
    /// The embedded judge has not seen it yet.
    Consult,
    /// Only a judge can tell, and it may be asked now.
    Ask,
}

impl Session {
    /// Looks at the present window. Doing so twice changes nothing.
    pub(super) fn look(&mut self, step: &mut Step) {
        self.look_at = None;
        let Stage::Active(active) = &self.stage else { return };
        if let Some(status) = self.unjudged(active) {
            return self.set_status(status, step);
        }
        let status = match self.finding() {
            Finding::Idle | Finding::Consult => {
                self.look_at = self.next_look();
                Status::Idle
            }
            Finding::Unchanged => return,
            Finding::Wait(until) => {
                self.look_at = until;
                Status::Pending
            }
            Finding::Ask => {
                self.ask(step);
                Status::Pending
            }
            Finding::OnTask(source, reason) => {
                self.count(source);
                self.remember_ontask();
                self.tell_return(step);
                Status::OnTask { source, reason }
            }
            Finding::Drifting(source, reason) => {
                self.count(source);
                return self.alarm(source, reason, step);
            }
        };
        self.set_status(status, step);
    }

    /// The status of a person who is not to be judged: one who is away, paused or on a detour.
    fn unjudged(&self, active: &Active) -> Option<Status> {
        if self.presence.away.is_some() || active.is_paused() {
            return Some(Status::Idle);
        }
        let detour = active.detour()?;
        Some(match &self.focused.present {
            None => Status::Idle,
            Some(_) => {
                let reason = Some(format!("you are on a detour: {detour}"));
                Status::OnTask { source: DriftSource::Rule, reason }
            }
        })
    }

    /// What the present window comes to, the embedded judge's word included.
    pub(super) fn finding(&mut self) -> Finding {
        let Stage::Active(active) = &self.stage else { return Finding::Idle };
        let finding = self.find(active);
        if let (Finding::Consult, Some(present)) = (&finding, &self.focused.present) {
            self.embedded.consult(active, &present.window);
            return self.find(active);
        }
        finding
    }

    fn remember_ontask(&mut self) {
        if let (Stage::Active(active), Some(present)) = (&mut self.stage, &self.focused.present) {
            active.last_ontask = Some(Arc::clone(&present.window));
        }
    }

    fn find(&self, active: &Active) -> Finding {
        let Some(present) = &self.focused.present else { return Finding::Idle };
        if present.window.is_anonymous() {
            return Finding::Idle;
        }
        if let Some(finding) = self.local_match(active, present) {
            return finding;
        }
        if present.window.is_our_view() {
            return match active.status {
                Status::OnTask { .. } => Finding::Unchanged,
                _ => Finding::Idle,
            };
        }
        if present.left_alone_until.is_some() {
            return Finding::Idle;
        }
        let now = self.now;
        let settled_at = present.settled_at(self.settings.settle);
        let settled = settled_at <= now.awake;
        if let Some(verdict) = self.cache.get(&present.key) {
            let source = present.verdict_source();
            let reason = Some(verdict.reason.clone()).filter(|reason| !reason.is_empty());
            return match (verdict.on_task, settled) {
                (true, _) => Finding::OnTask(source, reason),
                (false, true) => Finding::Drifting(source, reason),
                (false, false) => Finding::Wait(Some(settled_at)),
            };
        }
        if self.embedded.is_on() && self.judge.is_embedded_asked() {
            let Some(opinion) = self.embedded.opinion(&present.window) else {
                return if settled { Finding::Consult } else { Finding::Wait(Some(settled_at)) };
            };
            let reason = || Some(opinion.reason.clone());
            match opinion.answer {
                Answer::Drifting if settled => {
                    return Finding::Drifting(DriftSource::Embedded, reason());
                }
                Answer::Drifting => return Finding::Wait(Some(settled_at)),
                Answer::OnTask { firm } if firm || !self.judge.can_be_asked(now) => {
                    return Finding::OnTask(DriftSource::Embedded, reason());
                }
                Answer::OnTask { .. } | Answer::Unsure => {}
            }
        }
        if !self.judge.can_be_asked(now)
            || self.settings.privacy.withheld(&present.window).is_some()
        {
            return Finding::Idle;
        }
        if self.judge.run.is_some() {
            return Finding::Wait(None);
        }
        let debounced_until = self.judge.debounced_until(self.settings.debounce, now);
        match debounced_until.into_iter().chain((!settled).then_some(settled_at)).max() {
            Some(until) => Finding::Wait(Some(until)),
            None => Finding::Ask,
        }
    }

    /// When an idle window is to be looked at again, without an event.
    fn next_look(&self) -> Option<Duration> {
        let left_alone = self.focused.present.as_ref().and_then(|it| it.left_alone_until);
        left_alone.or_else(|| self.judge.backs_off_until(self.now))
    }

    /// What needs no judge: the allowed context covers the window, or the window that it belongs
    /// to is on task.
    fn local_match(&self, active: &Active, present: &Present) -> Option<Finding> {
        let rule = |reason: &str| Some(Finding::OnTask(DriftSource::Rule, Some(reason.into())));
        if let Some(by) = active.matcher.covers(&present.window) {
            return rule(reason_of(by));
        }
        let parent = present.window.parent.as_deref()?;
        if active.matcher.covers(parent).is_some() {
            return rule("it belongs to a window that is allowed");
        }
        let reason = || Some("it belongs to a window that is on task".to_owned());
        if let Some(verdict) = self.cache.get(&self.settings.contexts.key(parent)) {
            return verdict.on_task.then(|| Finding::OnTask(DriftSource::Cache, reason()));
        }
        let opinion = self.embedded.opinion(parent)?;
        let on_task = matches!(opinion.answer, Answer::OnTask { firm: true });
        on_task.then(|| Finding::OnTask(DriftSource::Embedded, reason()))
    }

    fn ask(&mut self, step: &mut Step) {
        let (Stage::Active(active), Some(present)) = (&self.stage, &self.focused.present) else {
            return;
        };
        let question = self.question(active, &present.window);
        let start = self.judge.start(present.key.clone(), question, self.now);
        step.effects.start_judge = Some(start);
    }

    /// What a model would be asked about a window, redacted.
    pub(super) fn question(&self, active: &Active, window: &Window) -> Question {
        let (commitment, privacy) = (&active.commitment, &self.settings.privacy);
        let field = |text: &Option<String>| text.as_ref().map(|text| privacy.redacted(text));
        Question {
            commitment: privacy.redacted(&commitment.text),
            next_action: field(&commitment.next_action),
            success_condition: field(&commitment.success_condition),
            allowed_classes: privacy.redacted_classes(&active.allowed.window_classes),
            class: privacy.redacted(&window.class),
            title: privacy.redacted(&window.title),
        }
    }

    pub(super) fn judge_done(&mut self, run: RunId, result: Result<Verdict, Failure>) {
        // A run that was cancelled is not this one any more: its answer changes nothing.
        let Some(run) = self.judge.run.take_if(|current| current.id == run) else { return };
        match result {
            Ok(verdict) => {
                self.judge.succeeded(self.now);
                if let Some(present) = &mut self.focused.present
                    && present.key == run.key
                {
                    present.judged_by = Some(run.id);
                }
                self.cache.insert(run.key, verdict);
            }
            Err(failure) => self.judge.failed(failure, self.now),
        }
    }

    pub(super) fn cancel_judge(&mut self, step: &mut Step) {
        if self.judge.run.take().is_some() {
            step.effects.cancel_judge = true;
        }
    }

    /// Counts the stage that decided, once for each stay of a window.
    fn count(&mut self, source: DriftSource) {
        let Some(present) = &mut self.focused.present else { return };
        if present.counted.replace(source) == Some(source) {
            return;
        }
        let verdicts = &mut self.judge.verdicts;
        match source {
            DriftSource::Rule => verdicts.rule += 1,
            DriftSource::Cache => verdicts.cache += 1,
            DriftSource::Embedded => verdicts.embedded += 1,
            DriftSource::Judge | DriftSource::Unknown => verdicts.judge += 1,
        }
    }

    fn set_status(&mut self, status: Status, step: &mut Step) {
        let (Stage::Active(active), now) = (&mut self.stage, self.now) else { return };
        if active.status == status {
            return;
        }
        let same_place = match (active.alert(), &self.focused.present) {
            (Some(alert), Some(present)) => present.shows(alert),
            _ => false,
        };
        let why = match (same_place, &status) {
            (false, _) => ClearedWhy::Moved,
            (true, Status::OnTask { source: DriftSource::Rule, .. }) => ClearedWhy::Ontask,
            (true, _) => ClearedWhy::Reverdict,
        };
        active.set_status(status, why, now, step);
    }

    /// The present window drifts and has settled: raises an alert, unless it stands already.
    fn alarm(&mut self, source: DriftSource, reason: Option<String>, step: &mut Step) {
        let (Stage::Active(active), Some(present)) = (&self.stage, &self.focused.present) else {
            return;
        };
        if active.alert().is_some_and(|alert| present.shows(alert) && alert.reason == reason) {
            return;
        }
        self.last_alert += 1;
        let number = self.last_alert;
        let (window, key) = (Arc::clone(&present.window), present.key.clone());
        let quiet = self.counts_popup(&key, step);
        step.save = true;
        let raised = AlertRaised {
            alert: number,
            window: Some(view::window(&window)),
            reason: reason.clone(),
            quiet,
        };
        let alert = Alert {
            number,
            window,
            key,
            reason,
            reminders: 0,
            quiet,
            raised_at: self.now.awake,
            raised_wall: self.now.wall,
            remind_at: self.now.awake + FIRST_REMINDER,
        };
        self.set_status(Status::Drifting { source, alert }, step);
        if let Stage::Active(active) = &mut self.stage {
            active.alerts = active.alerts.saturating_add(1);
            // The person is told afresh about where they are; what they left before is old news.
            active.left.take_if(|left| active.status.is_about(&left.key));
        }
        step.edge(EventBody::AlertRaised(raised));
    }
}

//! The judge's health, and the one judgement that may be under way.

use std::time::Duration;

use antidrift_protocol::{JudgeStatus, Timestamp, Verdicts};

use super::{JudgeNews, JudgeSettings, JudgeStart, Now, RunId};
use crate::{
    ai::{Failure, FailureKind, Question},
    evidence::ContextKey,
};

/// Pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
/// Longest pause after failures, and the pause when a login is asked for.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// What is known of the judge.
#[derive(Debug)]
pub(super) struct JudgeState {
    pub(super) settings: JudgeSettings,
    pub(super) run: Option<Run>,
    /// When the last judgement was started, in whatever session: a debounce is a debounce.
    last_start: Option<Duration>,
    next_run: u64,
    failures: u32,
    retry_at: Option<Duration>,
    pub(super) last_ok_at: Option<Timestamp>,
    pub(super) last_error: Option<String>,
    pub(super) last_error_at: Option<Timestamp>,
    /// Whether it was said once that something leaves the machine.
    pub(super) told_of_cloud: bool,
    /// What the log has not been told of.
    pub(super) news: Option<JudgeNews>,
    /// Judgements started in this session.
    pub(super) calls: u64,
    /// How the windows of this session got their status.
    pub(super) verdicts: Verdicts,
}

/// A judgement under way.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: RunId,
    /// What it is about.
    pub(super) key: ContextKey,
    started: Duration,
}

impl JudgeState {
    pub(super) fn new(settings: JudgeSettings) -> Self {
        Self {
            last_error: settings.error.clone(),
            settings,
            run: None,
            last_start: None,
            next_run: 1,
            failures: 0,
            retry_at: None,
            last_ok_at: None,
            last_error_at: None,
            told_of_cloud: false,
            news: None,
            calls: 0,
            verdicts: Verdicts::default(),
        }
    }

    /// Takes another judge. What this session has used of its allowance stays used.
    pub(super) fn reconfigured(&mut self, settings: JudgeSettings) {
        let begun = (self.calls, self.verdicts.clone());
        let (last_start, next_run) = (self.last_start, self.next_run);
        *self = Self { last_start, next_run, ..Self::new(settings) };
        (self.calls, self.verdicts) = begun;
    }

    /// Ends the pause after a failure: whatever it was may be mended.
    pub(super) fn try_again(&mut self) {
        self.retry_at = None;
    }

    /// Whether nobody judges. An embedded judge that is there for the end of a model's allowance
    /// does nothing without the model.
    pub(super) fn is_off(&self) -> bool {
        !self.settings.model && !self.settings.prefilter
    }

    /// Whether a judgement could be started, now or when the debounce has passed.
    pub(super) fn can_be_asked(&self, now: Now) -> bool {
        self.settings.model && !self.is_spent() && self.backs_off_until(now).is_none()
    }

    /// Whether this session has had all the judgements of a model that it may have.
    pub(super) fn is_spent(&self) -> bool {
        self.settings.limit.is_some_and(|limit| self.calls >= limit)
    }

    /// Whether the embedded judge is asked now.
    pub(super) fn is_embedded_asked(&self) -> bool {
        self.settings.prefilter || (self.settings.model && self.is_spent())
    }

    pub(super) fn status(&self, now: Now) -> JudgeStatus {
        if self.is_off() {
            JudgeStatus::Off
        } else if self.run.is_some() {
            JudgeStatus::Running
        } else if self.backs_off_until(now).is_some() {
            JudgeStatus::BackingOff
        } else {
            JudgeStatus::Ready
        }
    }

    /// Until when it is left alone after a failure.
    pub(super) fn backs_off_until(&self, now: Now) -> Option<Duration> {
        self.retry_at.filter(|&at| now.awake < at)
    }

    /// Until when no judgement may be started because one was.
    pub(super) fn debounced_until(&self, debounce: Duration, now: Now) -> Option<Duration> {
        self.last_start.map(|start| start + debounce).filter(|&at| now.awake < at)
    }

    /// When the run under way has had its time.
    pub(super) fn deadline(&self, timeout: Duration) -> Option<Duration> {
        self.run.as_ref().map(|run| run.started + timeout)
    }

    pub(super) fn begin_session(&mut self) {
        self.calls = 0;
        self.verdicts = Verdicts::default();
    }

    pub(super) fn start(&mut self, key: ContextKey, question: Question, now: Now) -> JudgeStart {
        let id = RunId(self.next_run);
        self.next_run += 1;
        self.calls += 1;
        self.last_start = Some(now.awake);
        self.run = Some(Run { id, key, started: now.awake });
        JudgeStart { run: id, question }
    }

    pub(super) fn succeeded(&mut self, now: Now) {
        let failures = std::mem::take(&mut self.failures);
        if failures > 0 {
            self.news = Some(JudgeNews::Recovered { failures });
        }
        self.retry_at = None;
        self.last_ok_at = Some(now.wall);
    }

    pub(super) fn failed(&mut self, failure: Failure, now: Now) {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16));
        let pause = match failure.kind {
            FailureKind::NotLoggedIn => LONGEST_PAUSE,
            _ => doubled.min(LONGEST_PAUSE),
        };
        if self.failures == 0 {
            self.news = Some(JudgeNews::Fails(failure.message.clone()));
        }
        self.failures = self.failures.saturating_add(1);
        self.retry_at = Some(now.awake + pause);
        self.last_error = Some(failure.message);
        self.last_error_at = Some(now.wall);
    }
}

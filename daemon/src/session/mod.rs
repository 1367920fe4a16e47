//! The session: a pure state machine. It is told what happened and when, and answers with what is
//! to be done; it reads no clock, no file and no environment, and starts nothing.
//!
//! - `requests` and `target`: what a client may ask, and which window it means;
//! - `present`: the window that has the focus, its context, its calmed title;
//! - `pipeline`: local match, cache, settle, debounce, judge, alert;
//! - `absence` and `interlude`: whether anybody is there, and pause and detour;
//! - `embedded` and `explain`: what the embedded judge said, and how a status came about;
//! - `judge` and `cache`: the judge's health and one run, and what it said;
//! - `active`: a session's own sums, timebox and alert;
//! - `reconfigure`: a new configuration while it goes on;
//! - `view`, `snapshot`, `timers`: what is shown, what survives, and when to look again.

mod absence;
mod active;
mod cache;
mod effect;
mod embedded;
mod explain;
mod input;
mod interlude;
mod judge;
mod ledger;
mod pipeline;
mod popups;
mod present;
mod reconfigure;
mod requests;
mod snapshot;
mod target;
mod time;
mod timers;
mod view;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use antidrift_protocol::{
    AlertCleared, Answer, ClearedWhy, Destination, EventBody, Preset, Record, Shutdown, State,
};

use crate::{
    ai::embedded::Catalogue,
    evidence::{Contexts, Privacy},
    history::MAX_WAITING,
    sensor::Observation,
};
use absence::Presence;
use active::{Active, Books};
use cache::VerdictCache;
use embedded::Embedded;
use judge::JudgeState;
use present::Focused;

pub use effect::{Effects, JudgeNews, JudgeStart, ReplyTo};
pub use input::{Input, RunId, Ticket};
pub use requests::cloud_note;
pub use snapshot::{InterludeKind, SavedInterlude, SavedSession, Snapshot};
pub use time::Now;
pub use view::window as wire_window;

/// What a session is set up with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Least time between two starts of a judge (design rule 3: 10 s).
    pub debounce: Duration,
    /// How long a window must keep the focus before it is judged or alarmed about (2 s).
    pub settle: Duration,
    /// How long a judgement may take (30 s).
    pub judge_timeout: Duration,
    /// Which classes hold many contexts, and which are passed over.
    pub contexts: Contexts,
    /// The judge.
    pub judge: JudgeSettings,
    /// What is never put to a model.
    pub privacy: Privacy,
    /// What a person is told of, and how loudly.
    pub notify: NotifySettings,
    /// Whether titles are kept of sessions that are over.
    pub keep_titles: bool,
    /// What a session can be started with by name.
    pub presets: Vec<Preset>,
}

/// What was configured about telling people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifySettings {
    /// Most popups in one session; `None`: no limit.
    pub budget: Option<u64>,
    /// Whether an alert that still stands deserves further popups.
    pub repeat: bool,
    /// Whether a return to the task that nobody asked for is told.
    pub on_return: bool,
    /// Whether the answer «back to task» to an alert raises the last window that was on task.
    pub activate: bool,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self { budget: Some(12), repeat: true, on_return: false, activate: true }
    }
}

/// The judge as it was configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeSettings {
    /// Its name in the configuration.
    pub backend: String,
    /// Where it sends what it is asked; `None` when there is no judge to ask.
    pub destination: Option<Destination>,
    /// Whether there is a judge to be started: a program or a model.
    pub model: bool,
    /// What the embedded judge knows, if that one may have to be asked.
    pub embedded: Option<Arc<Catalogue>>,
    /// Whether it is asked before the model, rather than only when that may be asked no more.
    pub prefilter: bool,
    /// Most judgements of a model in one session.
    pub limit: Option<u64>,
    /// Why there is none although one was named.
    pub error: Option<String>,
}

/// The session, from planning to planning.
#[derive(Debug)]
pub struct Session {
    settings: Settings,
    /// The last instant; time never runs backwards in here.
    now: Now,
    stage: Stage,
    /// How the last session that is over was started, with what was allowed in the end.
    last: Option<Preset>,
    /// Sessions that are over and not in the history yet.
    unkept: Vec<Record>,
    presence: Presence,
    focused: Focused,
    judge: JudgeState,
    cache: VerdictCache,
    embedded: Embedded,
    /// When the present window is to be looked at again, without an event: it settles, the debounce
    /// ends, the judge may be asked again, or it was left alone for a while.
    look_at: Option<Duration>,
    /// The highest alert number that was given out.
    last_alert: u64,
    /// Number of the last change that subscribers can see.
    seq: u64,
    /// What subscribers were shown last, without what ticks.
    shown: State,
    /// The change of window that they were shown last.
    shown_switch: u64,
}

/// Where the session stands, with the data that only this stage has.
#[derive(Debug)]
enum Stage {
    Planning,
    Active(Box<Active>),
    Review(Box<active::Ended>),
}

/// What one step gathers while it runs.
#[derive(Debug, Default)]
struct Step {
    effects: Effects,
    save: bool,
}

impl Step {
    fn edge(&mut self, edge: EventBody) {
        self.effects.edges.push(edge);
    }
}

impl Session {
    /// A session as the snapshot left it, or in planning.
    pub fn new(settings: Settings, restored: Option<Snapshot>, now: Now) -> Self {
        let restored = restored.unwrap_or_default();
        // Numbers start from the daemon's start, so that they cannot repeat even when the last ones
        // were never saved.
        let started = u64::try_from(now.wall.as_millis()).unwrap_or(0);
        let mut session = Self {
            embedded: Embedded::new(settings.judge.embedded.clone()),
            judge: JudgeState::new(settings.judge.clone()),
            settings,
            now,
            stage: Stage::restore(restored.session, now),
            last: restored.last,
            unkept: restored.unkept,
            presence: Presence::default(),
            focused: Focused::default(),
            cache: VerdictCache::default(),
            look_at: None,
            last_alert: restored.last_alert.max(started),
            seq: 0,
            shown: State::default(),
            shown_switch: 0,
        };
        session.shown = view::without_ticks(session.state(now));
        session
    }

    /// Takes one input and answers with what is to be done. A `now` before the last one counts as
    /// the last one.
    pub fn handle(&mut self, input: Input, now: Now) -> Effects {
        let before = self.now;
        self.now = now.not_before(before);
        let awake = self.now.awake.saturating_sub(before.awake);
        let boot = self.now.boot.saturating_sub(before.boot);
        if let Stage::Active(active) = &mut self.stage {
            let asleep = boot.saturating_sub(awake);
            let present = self.focused.present.as_ref().map(|present| &*present.window);
            let books = Books {
                away: self.presence.away.is_some(),
                present,
                keep_titles: self.settings.keep_titles,
            };
            active.book(awake, asleep, &books);
        }
        self.presence.passed(boot, awake);
        let mut step = Step::default();
        match input {
            Input::Observed(observation) => self.observed(observation),
            Input::Absence(absence) => self.presence.login = absence,
            Input::Request { ticket, command, lineage } => {
                let result = self.request(command, &lineage, &mut step);
                step.effects.reply = Some(ReplyTo { ticket, result });
            }
            Input::JudgeDone { run, result } => self.judge_done(run, result),
            Input::Reconfigured { settings, anew } => {
                self.reconfigured(*settings, anew, &mut step);
            }
            Input::Kept(record) => {
                let before = self.unkept.len();
                self.unkept.retain(|it| *it != *record);
                step.save = self.unkept.len() < before;
            }
            Input::Tick => {}
            Input::Shutdown { reason } => {
                self.shut_down(reason, &mut step);
                return self.finish(step);
            }
        }
        self.run_timers(&mut step);
        self.settle_presence(&mut step);
        self.run_session_timers(&mut step);
        self.remind(&mut step);
        self.look(&mut step);
        self.finish(step)
    }

    /// Number of the last change.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The sessions that are over and not in the history yet.
    pub fn unkept(&self) -> &[Record] {
        &self.unkept
    }

    /// Has a session kept that is over, in place of what was to be kept of it before.
    fn keep(&mut self, record: Record, step: &mut Step) {
        self.unkept.retain(|it| it.started_at != record.started_at);
        if self.unkept.len() == MAX_WAITING {
            self.unkept.remove(0);
        }
        self.unkept.push(record.clone());
        step.effects.record = Some(Box::new(record));
        step.save = true;
    }

    /// The window classes that had the focus lately, the newest first; at most 32.
    pub fn recent_classes(&self) -> Vec<String> {
        self.focused.recent.iter().cloned().collect()
    }

    fn observed(&mut self, observation: Observation) {
        let Observation { health, focus, absence } = observation;
        self.presence.display = absence;
        self.focused.observe(health, focus, &self.settings, self.now.awake);
    }

    fn shut_down(&mut self, reason: String, step: &mut Step) {
        self.cancel_judge(step);
        if let Stage::Active(active) = &mut self.stage {
            active.clear_alert(ClearedWhy::Shutdown, self.now, step);
            step.save = true;
        }
        step.edge(EventBody::Shutdown(Shutdown { reason }));
    }

    /// Ends every step: counts the change if there is one, and stamps what carries its number.
    fn finish(&mut self, step: Step) -> Effects {
        let Step { mut effects, save } = step;
        let state = self.state(self.now);
        let calm = view::without_ticks(state.clone());
        let changed = calm != self.shown;
        if changed || !effects.edges.is_empty() {
            self.seq += 1;
        }
        if let Some(ReplyTo { result: Ok(answer), .. }) = &mut effects.reply {
            stamp(answer, self.seq, self.now, &state);
        }
        if changed {
            self.shown = calm;
            effects.switched = self.focused.switches != self.shown_switch;
            self.shown_switch = self.focused.switches;
            effects.state = Some(Box::new(state));
        }
        if save {
            effects.save = Some(Box::new(self.snapshot()));
            if let Stage::Active(active) = &mut self.stage {
                active.saved_at = self.now.awake;
            }
        }
        effects.judge_news = self.judge.news.take();
        effects.seq = self.seq;
        effects.at = self.now.wall;
        effects
    }
}

/// Fills in what is known only at the end of a step.
fn stamp(answer: &mut Answer, seq: u64, now: Now, state: &State) {
    match answer {
        Answer::Status(it) => (it.seq, it.at, it.state) = (seq, now.wall, state.clone()),
        Answer::Start(it) => (it.seq, it.at, it.state) = (seq, now.wall, state.clone()),
        Answer::Refocus(it) => it.seq = seq,
        Answer::Ontask(it) => it.seq = seq,
        Answer::Complete(it) => it.seq = seq,
        Answer::End(it)
        | Answer::Pause(it)
        | Answer::Resume(it)
        | Answer::Extend(it)
        | Answer::Detour(it) => it.seq = seq,
        Answer::Allow(it) => it.seq = seq,
        Answer::Review(it) => it.seq = seq,
        Answer::Hello(_)
        | Answer::Windows(_)
        | Answer::History(_)
        | Answer::Forget(_)
        | Answer::Propose(_)
        | Answer::Explain(_)
        | Answer::Preview(_)
        | Answer::CheckJudge(_)
        | Answer::Presets(_)
        | Answer::Reload(_)
        | Answer::Subscribe(_) => {}
    }
}

/// The edge that an alert's end is.
fn cleared(alert: u64, why: ClearedWhy) -> EventBody {
    EventBody::AlertCleared(AlertCleared { alert, why })
}

//! Every rule of the session, with an invented clock: an hour passes in no time.

mod absence;
mod alerts;
mod answers;
mod embedded;
mod interludes;
mod ledger;
mod own_view;
mod popups;
mod privacy;
mod properties;
mod reconfigure;
mod spec;
mod storms;
mod time_and_titles;

use std::{sync::Arc, time::Duration};

use antidrift_protocol::{
    Allowed, Answer, Command, Complete, Destination, Drift, DriftSource, DriftStatus, ErrorCode,
    ErrorObject, EventBody, NoArgs, Ontask, Refocus, Start, State, Timestamp,
};

use super::{
    Effects, Input, JudgeNews, JudgeSettings, NotifySettings, Now, RunId, Session, Settings,
    Snapshot, Ticket,
};
use crate::{
    ai::{Failure, FailureKind, Verdict},
    evidence::{Contexts, Privacy, Window},
    sensor::{Absence, Focus, Health, Observation},
};

/// Monday, 30 November 2026, 09:00 UTC.
const NINE: i64 = 1_796_029_200_000;

pub(super) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn settings() -> Settings {
    Settings {
        debounce: secs(10),
        settle: secs(2),
        judge_timeout: secs(30),
        contexts: Contexts::default(),
        privacy: Privacy::default(),
        notify: NotifySettings::default(),
        keep_titles: false,
        presets: Vec::new(),
        judge: JudgeSettings {
            backend: "command".into(),
            destination: Some(Destination::Local),
            model: true,
            embedded: None,
            prefilter: false,
            limit: None,
            error: None,
        },
    }
}

/// A session with a clock that moves when it is told to, and everything it ever asked for.
#[derive(Debug)]
pub(super) struct World {
    pub(super) session: Session,
    pub(super) now: Now,
    pub(super) edges: Vec<EventBody>,
    pub(super) states: Vec<State>,
    /// Judgements started, with what was asked; the last one may be under way.
    pub(super) asked: Vec<(RunId, Duration, String)>,
    pub(super) running: Option<RunId>,
    pub(super) saves: Vec<Snapshot>,
    /// The processes that requests come from.
    pub(super) lineage: Vec<u32>,
    tickets: u64,
    /// What the display tells from now on, with the next window.
    pub(super) absence: Absence,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(settings(), None)
    }

    pub(super) fn with(settings: Settings, restored: Option<Snapshot>) -> Self {
        let now = Now { awake: secs(1000), boot: secs(1500), wall: Timestamp::from_millis(NINE) };
        Self::at(settings, restored, now)
    }

    pub(super) fn at(settings: Settings, restored: Option<Snapshot>, now: Now) -> Self {
        Self {
            session: Session::new(settings, restored, now),
            now,
            edges: Vec::new(),
            states: Vec::new(),
            asked: Vec::new(),
            running: None,
            saves: Vec::new(),
            lineage: Vec::new(),
            tickets: 0,
            absence: Absence::default(),
        }
    }

    /// A session that allows the class `code`, with a judge that waits to be answered.
    pub(super) fn started() -> Self {
        let mut world = Self::new();
        world.start("draft the report", &["code"]);
        world
    }

    pub(super) fn step(&mut self, input: Input) -> Effects {
        let effects = self.session.handle(input, self.now);
        if effects.cancel_judge {
            self.running = None;
        }
        self.edges.extend(effects.edges.iter().cloned());
        self.states.extend(effects.state.clone().map(|state| *state));
        self.saves.extend(effects.save.clone().map(|snapshot| *snapshot));
        if let Some(start) = &effects.start_judge {
            assert_eq!(self.running, None, "two judges at once");
            self.running = Some(start.run);
            let title = start.question.title.clone();
            self.asked.push((start.run, self.now.awake, title));
        }
        effects
    }

    /// Moves all clocks on, with a tick at every deadline on the way.
    pub(super) fn pass(&mut self, time: Duration) {
        let end = self.now.awake + time;
        let mut ticks = 0;
        while let Some(wait) = self.session.next_deadline(self.now) {
            if self.now.awake + wait > end {
                break;
            }
            self.jump(wait, wait);
            let _ = self.step(Input::Tick);
            ticks += 1;
            assert!(ticks < 100_000, "a deadline stays in the past: the daemon would spin");
        }
        self.jump(end.saturating_sub(self.now.awake), end.saturating_sub(self.now.awake));
    }

    /// Moves the clocks without a tick; `boot` more than `awake` is suspend.
    pub(super) fn jump(&mut self, awake: Duration, boot: Duration) {
        self.now.awake += awake;
        self.now.boot += boot;
        let millis = i64::try_from(boot.as_millis()).unwrap();
        self.now.wall = Timestamp::from_millis(self.now.wall.as_millis() + millis);
    }

    pub(super) fn see(&mut self, window: Window) {
        let focus = Focus::Window(Arc::new(window));
        let _ = self.step(Input::Observed(Observation {
            health: Health::Ok(None),
            focus,
            absence: self.absence,
        }));
    }

    pub(super) fn see_nothing(&mut self) {
        let observation =
            Observation { health: Health::Ok(None), focus: Focus::Nothing, absence: self.absence };
        let _ = self.step(Input::Observed(observation));
    }

    pub(super) fn ask(&mut self, command: Command) -> Result<Answer, ErrorObject> {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let lineage = self.lineage.clone();
        let input = Input::Request { ticket, command, lineage };
        let reply = self.step(input).reply.expect("an answer");
        assert_eq!(reply.ticket, ticket);
        reply.result
    }

    pub(super) fn start(&mut self, text: &str, classes: &[&str]) {
        let window_classes = classes.iter().map(ToString::to_string).collect();
        let allowed = Allowed { window_classes, ..Allowed::default() };
        self.ask(Command::Start(Start { text: text.into(), allowed, ..Start::default() })).unwrap();
    }

    pub(super) fn ontask(&mut self) -> Result<Answer, ErrorObject> {
        self.ask(Command::Ontask(Ontask::default()))
    }

    pub(super) fn refocus(&mut self) -> Result<Answer, ErrorObject> {
        self.ask(Command::Refocus(Refocus::default()))
    }

    pub(super) fn complete(&mut self) -> Result<Answer, ErrorObject> {
        self.ask(Command::Complete(Complete::default()))
    }

    pub(super) fn end(&mut self) -> Result<Answer, ErrorObject> {
        self.ask(Command::End(NoArgs {}))
    }

    /// What the display tells of the person from now on.
    pub(super) fn signs(&mut self, absence: Absence) {
        self.absence = absence;
        let focus = match &self.session.focused.present {
            Some(present) => Focus::Window(Arc::clone(&present.window)),
            None => Focus::Nothing,
        };
        let _ =
            self.step(Input::Observed(Observation { health: Health::Ok(None), focus, absence }));
    }

    /// A session with a timebox.
    pub(super) fn timebox(&mut self, secs: u64) {
        let timebox_secs = Some(secs);
        self.ask(Command::Start(Start { text: "x".into(), timebox_secs, ..Start::default() }))
            .unwrap();
    }

    /// Answers the judgement under way.
    pub(super) fn judge(&mut self, on_task: bool, reason: &str) {
        let run = self.running.take().expect("a judgement under way");
        let result = Ok(Verdict { on_task, reason: reason.into() });
        let _ = self.step(Input::JudgeDone { run, result });
    }

    pub(super) fn judge_fails(&mut self, kind: FailureKind) {
        let run = self.running.take().expect("a judgement under way");
        let result = Err(Failure { kind, message: "it failed".into() });
        let _ = self.step(Input::JudgeDone { run, result });
    }

    /// Shows a window, lets it settle, and has it judged as drift.
    pub(super) fn drift_on(&mut self, window: Window) -> u64 {
        self.see(window);
        self.pass(secs(12));
        self.judge(false, "unrelated");
        self.alert()
    }

    pub(super) fn state(&self) -> State {
        self.session.state(self.now)
    }

    pub(super) fn drift(&self) -> Drift {
        self.state().drift.expect("an active session")
    }

    pub(super) fn status(&self) -> DriftStatus {
        self.drift().status
    }

    pub(super) fn source(&self) -> Option<DriftSource> {
        self.drift().source
    }

    pub(super) fn alert(&self) -> u64 {
        self.drift().alert.expect("a standing alert")
    }

    pub(super) fn restarted(&self) -> Self {
        let snapshot = self.saves.last().cloned();
        Self::at(self.session.settings.clone(), snapshot, self.now)
    }
}

/// A window of a one-context program.
pub(super) fn program(class: &str) -> Window {
    let id = class.bytes().fold(7, |id: u32, byte| id.wrapping_mul(31) + u32::from(byte));
    Window {
        id,
        class: class.into(),
        instance: class.into(),
        title: class.into(),
        ..Window::default()
    }
}

/// A browser window that shows a page.
pub(super) fn page(title: &str) -> Window {
    let title = format!("{title} — Mozilla Firefox");
    Window { title, ..program("firefox") }
}

pub(super) fn code_of(result: &Result<Answer, ErrorObject>) -> ErrorCode {
    result.as_ref().expect_err("a refusal").code
}

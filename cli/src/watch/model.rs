//! What a watch knows, and what follows from each thing that happens. Reads no clock and does no
//! input or output: time comes in, effects go out.

use std::time::Duration;

use antidrift_protocol::{
    AlertCleared, AlertRaised, Away, ClearedWhy, DriftStatus, Event, EventBody, Notice, Phase,
    State, Window, client::ClientError,
};

use super::popups::Popups;
use crate::{
    bar::{Clock, Face},
    clock::Local,
    notify::{Choice, Kind, Popup, Subject},
};

/// How long a window that was left can still be answered for.
const GRACE: Duration = Duration::from_secs(60);
/// How long the answer to a key stays on the screen.
const NOTE: Duration = Duration::from_secs(8);

/// Something that happens.
#[derive(Debug)]
pub(crate) enum Input {
    /// The daemon's stream is there.
    Connected { instance: String },
    /// An event. `age`: how long before now the daemon wrote it.
    Event { event: Box<Event>, age: Duration },
    /// There is no stream.
    Lost(ClientError),
    /// A key on the terminal.
    Key(char),
    /// A button of a popup.
    Pressed { popup: Kind, choice: Choice },
    /// A request of ours was answered.
    Answered { ask: Ask, outcome: Outcome },
    /// No other watch raises popups: it is on us.
    Holder,
    /// Popups do not work as they should.
    Trouble(String),
    /// Time has passed.
    Tick,
}

/// A request to the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) choice: Choice,
    /// The alert it answers.
    pub(crate) alert: Option<u64>,
    /// Whether it answers that one also after its window was left: a key does, since to press it
    /// the window has to be left for the terminal.
    pub(crate) or_left: bool,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done(String),
    /// Done, but for a part that a person should know of.
    Partly(String),
    /// The alert was over already: nothing happened, and there is nothing to say.
    Stale,
    Failed(String),
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Ask(Ask),
    /// Show this popup; one that asks something replaces the last one of its subject.
    Raise(Popup),
    /// The popup about this is to go.
    Withdraw(Subject),
    /// Tell the person, where no screen shows it.
    Say(String),
    Quit,
}

/// What of the time is shown, and so has to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    Nothing,
    /// By the live view.
    Screen,
    /// By a bar.
    Bar(Clock),
}

/// The present state and when it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) state: State,
    /// Whether the time of the session is up, by the daemon's word: also between two states.
    pub(crate) over: bool,
    elapsed: Duration,
    received: Duration,
}

/// An alert that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alert {
    pub(crate) number: u64,
    pub(crate) window: Option<Window>,
    pub(crate) reason: Option<String>,
    /// What the session is for, as far as it was heard.
    pub(crate) task: Option<String>,
    /// Since when it stands.
    pub(crate) since: Duration,
    seq: u64,
    /// No popup for it: this session has had its own.
    pub(crate) quiet: bool,
}

/// A window that was left while its alert stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    number: u64,
    pub(crate) window: Option<Window>,
    until: Duration,
}

/// Whether there is a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Not known yet.
    Trying,
    Up,
    Down,
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) link: Link,
    pub(crate) seen: Option<Seen>,
    pub(crate) alert: Option<Alert>,
    pub(crate) left: Option<Left>,
    note: Option<(String, Duration)>,
    instance: Option<String>,
    /// Requests under way; keys wait for their end, so that a held key asks once.
    asking: usize,
    /// Why there is no stream.
    outage: Option<String>,
    /// What was said about this outage.
    said: Vec<std::mem::Discriminant<ClientError>>,
    popups: Popups,
    /// Number of the change with which the time was up last.
    time_up: u64,
    troubled: bool,
}

impl Model {
    /// `popups`: whether popups are wanted at all.
    pub(crate) fn new(popups: bool) -> Self {
        Self {
            link: Link::Trying,
            seen: None,
            alert: None,
            left: None,
            note: None,
            instance: None,
            asking: 0,
            outage: None,
            said: Vec::new(),
            popups: Popups::new(popups),
            time_up: 0,
            troubled: false,
        }
    }

    /// Takes one thing that happened at `now`.
    pub(crate) fn handle(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Connected { instance } => self.connected(instance, &mut effects),
            Input::Event { event, age } => self.event(*event, age, now, &mut effects),
            Input::Lost(error) => self.lost(&error, &mut effects),
            Input::Key(key) => effects.extend(self.key(key, now)),
            Input::Pressed { popup, choice } => effects.extend(self.pressed(popup, choice)),
            Input::Answered { ask, outcome } => self.answered(ask, outcome, now, &mut effects),
            Input::Holder => self.popups.hold(),
            Input::Trouble(text) => {
                if !std::mem::replace(&mut self.troubled, true) {
                    self.say(text, now, &mut effects);
                }
            }
            Input::Tick => {}
        }
        self.pass(now, &mut effects);
        effects
    }

    /// What is due by now.
    fn pass(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.left.take_if(|left| left.until <= now);
        self.note.take_if(|(_, until)| *until <= now);
        effects.extend(self.popups.due(self.alert.as_ref(), now));
    }

    /// When [`Input::Tick`] is needed. `counting`: whether a countdown is on a screen.
    pub(crate) fn deadline(&self, now: Duration, counting: Counting) -> Option<Duration> {
        let tick = self.next_count(now, counting);
        [
            tick,
            self.left.as_ref().map(|left| left.until),
            self.note.as_ref().map(|(_, until)| *until),
            self.popups.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When the shown time changes next. A screen counts seconds with a timebox, else minutes; the
    /// minutes of a timebox change with what is left of it. A bar shows no time to nobody.
    fn next_count(&self, now: Duration, counting: Counting) -> Option<Duration> {
        let seen = self.seen.as_ref().filter(|seen| seen.state.phase == Phase::Active)?;
        let aside = seen.state.away.is_some() || seen.state.paused.is_some();
        let timebox = seen.state.commitment.as_ref()?.timebox_secs;
        let clock = match counting {
            Counting::Nothing => return None,
            Counting::Bar(_) if aside => return None,
            Counting::Screen if timebox.is_some() => Clock::Seconds,
            Counting::Screen => Clock::Minutes,
            Counting::Bar(clock) => clock,
        };
        let (step, shift) = match clock {
            Clock::Seconds => (1000, 0),
            Clock::Minutes => (60_000, timebox.unwrap_or(0) % 60 * 1000),
        };
        let elapsed = u64::try_from(seen.elapsed(now).as_millis()).unwrap_or(0);
        let passed = (elapsed + step - shift) % step;
        Some(now + Duration::from_millis(step - passed))
    }

    /// What a bar shows; nothing while nothing is known yet.
    pub(crate) fn face(&self, now: Duration, clock: Clock, local: Local) -> Option<Face> {
        match (self.link, &self.seen) {
            (Link::Down, _) => Some(Face::down(self.outage().unwrap_or_default())),
            (Link::Trying, _) | (Link::Up, None) => None,
            (Link::Up, Some(seen)) => {
                Some(Face::of(&seen.state, seen.elapsed(now), seen.over, clock, local))
            }
        }
    }

    /// Why there is no stream.
    pub(crate) fn outage(&self) -> Option<&str> {
        self.outage.as_deref()
    }

    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_ref().map(|(text, _)| text.as_str())
    }

    fn connected(&mut self, instance: String, effects: &mut Vec<Effect>) {
        if self.instance.as_ref() != Some(&instance) {
            // Another daemon: what we remember is void.
            effects.extend(self.drop_alert());
            effects.extend(self.popups.time_goes_on());
            self.left = None;
            self.popups.forget();
            self.time_up = 0;
            self.said.clear();
            self.instance = Some(instance);
        } else {
            // A stream that cannot be understood is left and taken up again and again; it is
            // complained about once.
            let endless = std::mem::discriminant(&ClientError::NotUnderstood(String::new()));
            self.said.retain(|kind| *kind == endless);
        }
        self.seen = None;
        self.outage = None;
        self.link = Link::Up;
    }

    fn lost(&mut self, error: &ClientError, effects: &mut Vec<Effect>) {
        self.link = Link::Down;
        self.seen = None;
        self.left = None;
        effects.extend(self.drop_alert());
        effects.extend(self.popups.time_goes_on());
        // Gone and not there are the same to a person.
        let gone = std::mem::discriminant(&ClientError::Closed);
        let kind = match error {
            ClientError::NotRunning(_) | ClientError::Closed | ClientError::Broken(_) => gone,
            other => std::mem::discriminant(other),
        };
        if !self.said.contains(&kind) {
            self.said.push(kind);
            let message = match error {
                ClientError::Closed | ClientError::Broken(_) => {
                    format!("the daemon has gone; {}", crate::exit::HOW_TO_START)
                }
                error => crate::exit::client_message(error),
            };
            self.outage = Some(message.clone());
            effects.push(Effect::Say(format!("{message}; waiting for it")));
        }
    }

    fn event(&mut self, event: Event, age: Duration, now: Duration, effects: &mut Vec<Effect>) {
        let seq = event.seq;
        match event.body {
            EventBody::State(state) => {
                self.popups.lock(state.away == Some(Away::Locked));
                let status_at = state.drift.as_ref().map_or(event.at, |drift| drift.since_at);
                let since = now.saturating_sub(age + event.at.since(status_at));
                self.standing(&state, seq, since, now, effects);
                let elapsed = elapsed_at(&state, &event.at) + age;
                // The daemon holds back states of a burst: one may be older than its word.
                let over = crate::render::is_over(&state) || seq < self.time_up;
                if !over {
                    effects.extend(self.popups.time_goes_on());
                }
                self.seen = Some(Seen { state: *state, over, elapsed, received: now });
            }
            EventBody::AlertRaised(AlertRaised { alert, window, reason, quiet }) => {
                let commitment = self.seen.as_ref().and_then(|it| it.state.commitment.as_ref());
                let task = commitment.map(|it| it.text.clone());
                let since = now.saturating_sub(age);
                let alert = Alert { number: alert, window, reason, task, since, seq, quiet };
                self.raise(alert, now, effects);
            }
            EventBody::AlertReminder(reminder) => {
                let alert = self.alert.as_ref().filter(|it| it.number == reminder.alert);
                if let Some(alert) = alert.filter(|_| !reminder.quiet) {
                    effects.extend(self.popups.alert(alert, reminder.n, now));
                }
            }
            EventBody::AlertCleared(AlertCleared { alert, why }) => {
                let Some(over) = self.alert.take_if(|it| it.number == alert) else { return };
                effects.extend(self.popups.withdraw());
                if why == ClearedWhy::Moved {
                    let Alert { number, window, .. } = over;
                    self.left = Some(Left { number, window, until: now + GRACE });
                }
            }
            EventBody::TimeboxElapsed => {
                self.time_up = seq;
                let text = self.seen.as_mut().and_then(|seen| {
                    seen.over = true;
                    Some(seen.state.commitment.as_ref()?.text.clone())
                });
                self.popups.queue(Popup { kind: Kind::TimeUp, body: text.into_iter().collect() });
            }
            EventBody::Notice(Notice { kind, text }) => {
                self.note = Some((crate::render::message(&text), now + NOTE));
                self.popups.queue(Popup { kind: Kind::Notice(kind), body: vec![text] });
            }
            EventBody::Shutdown(_) => {
                self.left = None;
                effects.extend(self.drop_alert());
                effects.extend(self.popups.time_goes_on());
            }
            // A whole state follows.
            EventBody::Lagged(_) | EventBody::Unknown => {}
        }
    }

    /// Holds what we know of the alert against a whole state: edges are missed by those who connect
    /// late or read slowly.
    fn standing(
        &mut self,
        state: &State,
        seq: u64,
        since: Duration,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        let drift = state.drift.as_ref().filter(|drift| drift.status == DriftStatus::Drifting);
        let number = drift.and_then(|drift| drift.alert);
        let quiet = drift.is_some_and(|drift| drift.quiet);
        if state.phase != Phase::Active || state.paused.is_some() {
            self.left = None;
        }
        match (number, &self.alert) {
            (Some(number), Some(alert)) if alert.number == number => {}
            (_, Some(alert)) if alert.seq > seq => {}
            (Some(number), _) => {
                let reason = drift.and_then(|drift| drift.reason.clone());
                let window = state.window.clone();
                let task = state.commitment.as_ref().map(|it| it.text.clone());
                let alert = Alert { number, window, reason, task, since, seq, quiet };
                self.raise(alert, now, effects);
            }
            (None, Some(_)) => effects.extend(self.drop_alert()),
            (None, None) => {}
        }
    }

    fn raise(&mut self, alert: Alert, now: Duration, effects: &mut Vec<Effect>) {
        effects.extend(self.drop_alert());
        self.left = None;
        if !alert.quiet {
            effects.extend(self.popups.alert(&alert, 0, now));
        }
        self.alert = Some(alert);
    }

    fn drop_alert(&mut self) -> Option<Effect> {
        self.alert = None;
        self.popups.withdraw()
    }

    /// The keys that mean something now, beside q, as the screen shows them.
    pub(crate) fn keys(&self, now: Duration) -> Vec<(char, Choice)> {
        let mut keys = Vec::new();
        // Keys answer what is on the screen; without a question they would end a session by a slip.
        if self.alert.is_some() || self.left.is_some() {
            keys.extend([('b', Choice::Back), ('t', Choice::Ontask), ('e', Choice::End)]);
        }
        let Some(seen) = self.seen.as_ref().filter(|seen| seen.state.phase == Phase::Active) else {
            return keys;
        };
        if seen.is_over(now) {
            keys.push(('+', Choice::More));
        }
        let is_aside = seen.state.paused.is_some() || seen.state.detour.is_some();
        keys.push(('p', if is_aside { Choice::Resume } else { Choice::Pause }));
        keys
    }

    fn key(&mut self, key: char, now: Duration) -> Option<Effect> {
        let key = key.to_ascii_lowercase();
        // Ctrl-D too.
        if matches!(key, 'q' | '\u{4}') {
            return Some(Effect::Quit);
        }
        let (_, choice) = self.keys(now).into_iter().find(|(name, _)| *name == key)?;
        if self.asking > 0 {
            return None;
        }
        self.asking += 1;
        let left = self.left.as_ref().map(|left| left.number);
        let shown = self.alert.as_ref().map(|alert| alert.number).or(left);
        let alert = shown.filter(|_| choice.is_about_drift());
        Some(Effect::Ask(Ask { choice, alert, or_left: alert.is_some() }))
    }

    /// Ending a session and giving it more time name no alert on the wire, so an old button must be
    /// stopped here.
    fn pressed(&mut self, popup: Kind, choice: Choice) -> Option<Effect> {
        let standing = self.alert.as_ref().map(|alert| alert.number);
        let alert = match popup {
            Kind::Drift { alert, .. } => Some(standing.filter(|&standing| standing == alert)?),
            Kind::TimeUp if self.popups.asks_about_time() => None,
            Kind::TimeUp | Kind::Notice(_) => return None,
        };
        self.asking += 1;
        Some(Effect::Ask(Ask { choice, alert, or_left: false }))
    }

    fn answered(&mut self, ask: Ask, outcome: Outcome, now: Duration, effects: &mut Vec<Effect>) {
        self.asking = self.asking.saturating_sub(1);
        if !matches!(outcome, Outcome::Failed(_)) {
            self.left.take_if(|left| Some(left.number) == ask.alert);
        }
        match outcome {
            Outcome::Done(text) => self.note = Some((text, now + NOTE)),
            Outcome::Partly(text) => self.say(text, now, effects),
            Outcome::Stale => {}
            Outcome::Failed(text) => self.say(text, now, effects),
        }
    }

    fn say(&mut self, text: String, now: Duration, effects: &mut Vec<Effect>) {
        self.note = Some((text.clone(), now + NOTE));
        effects.push(Effect::Say(text));
    }
}

impl Seen {
    /// Whether the time of the session is up by now: during a pause the daemon says nothing of it.
    fn is_over(&self, now: Duration) -> bool {
        let timebox = self.state.commitment.as_ref().and_then(|it| it.timebox_secs);
        self.over || timebox.is_some_and(|secs| Duration::from_secs(secs) <= self.elapsed(now))
    }

    /// How long the session has lasted by now.
    pub(crate) fn elapsed(&self, now: Duration) -> Duration {
        if self.state.phase == Phase::Active {
            self.elapsed + now.saturating_sub(self.received)
        } else {
            self.elapsed
        }
    }
}

/// How long the session had lasted when the state was written. The seconds on the wire are whole;
/// where the two instants agree with them they are finer, and the countdown does not jump by a
/// second at each change.
fn elapsed_at(state: &State, at: &antidrift_protocol::Timestamp) -> Duration {
    let Some(commitment) = &state.commitment else { return Duration::ZERO };
    let whole = Duration::from_secs(commitment.elapsed_secs);
    let fine = at.since(commitment.started_at);
    if fine.abs_diff(whole) <= Duration::from_secs(1) { fine } else { whole }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

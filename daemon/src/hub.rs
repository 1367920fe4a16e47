//! Fan-out of changes to subscribers.
//!
//! The controller publishes and never waits. Each subscriber has a bounded queue and a task of its
//! own that writes it out; whoever falls behind is told how much it missed and given the newest
//! state. An event is encoded once, however many listen.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use antidrift_protocol::{Event, EventBody, Lagged, State, Timestamp, Topic};
use tokio::sync::Notify;

use crate::session::{Effects, Now};

/// Most events that wait for one subscriber. At twenty states a second it is three seconds.
pub const QUEUE: usize = 64;
/// States that come sooner than this after the one before are merged into one, unless they show
/// another window: whoever switches fast shall find every switch in the stream.
const MERGE: Duration = Duration::from_millis(50);

/// An encoded event; shared by all who wait for it.
type Line = Arc<str>;

/// Everybody who listens.
#[derive(Debug, Default)]
pub struct Hub {
    subscribers: Vec<Weak<Queue>>,
    /// When the last state went out, on the awake clock.
    sent_at: Option<Duration>,
    /// A state that waits for its turn.
    pending: Option<Event>,
}

/// What one subscriber has yet to be told.
#[derive(Debug)]
struct Queue {
    states: bool,
    alerts: bool,
    inbox: Mutex<Inbox>,
    changed: Notify,
}

#[derive(Default)]
struct Inbox {
    lines: VecDeque<Line>,
    /// Number of the newest state that was queued.
    state_seq: u64,
    /// The newest state, for whoever fell behind.
    newest: Option<(u64, Timestamp, Line)>,
    /// Events that were dropped since the last that was taken.
    missed: u64,
    /// The last line before the end; told even to those who lag.
    farewell: Option<Line>,
    closed: bool,
}

/// The lines hold titles.
impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("lines", &self.lines.len())
            .field("missed", &self.missed)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

/// A subscriber's end of its queue; dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

impl Hub {
    /// Adds a subscriber, with the whole state as its first event. Called by the controller between
    /// two steps, so that nothing is lost or told twice in between.
    pub fn subscribe(
        &mut self,
        topics: &[Topic],
        seq: u64,
        state: State,
        now: Now,
    ) -> Subscription {
        let wants = |topic| topics.contains(&topic) || topics.contains(&Topic::All);
        let queue = Arc::new(Queue {
            states: wants(Topic::State),
            alerts: wants(Topic::Alert),
            inbox: Mutex::default(),
            changed: Notify::new(),
        });
        let event = Event { seq, at: now.wall, body: EventBody::State(Box::new(state)) };
        queue.push_state(&event, &event.to_line().into());
        self.subscribers.retain(|other| other.strong_count() > 0);
        self.subscribers.push(Arc::downgrade(&queue));
        Subscription { queue }
    }

    /// Passes on what a step changed. Edges go out at once, before the state that shows them.
    pub fn publish(&mut self, effects: &mut Effects, now: Now) {
        for body in effects.edges.drain(..) {
            let event = Event { seq: effects.seq, at: effects.at, body };
            let line: Line = event.to_line().into();
            let farewell = matches!(event.body, EventBody::Shutdown(_));
            self.each(|queue| {
                if farewell {
                    queue.inbox().farewell = Some(Arc::clone(&line));
                } else if queue.alerts {
                    queue.push(&line);
                }
            });
        }
        if let Some(state) = effects.state.take() {
            let body = EventBody::State(state);
            self.pending = Some(Event { seq: effects.seq, at: effects.at, body });
            if effects.switched {
                self.sent_at = None;
            }
            self.flush(now);
        }
    }

    /// How long until [`flush`](Self::flush) has something to send.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        self.pending.as_ref()?;
        Some(self.sent_at.map_or(Duration::ZERO, |at| (at + MERGE).saturating_sub(now.awake)))
    }

    /// Sends the state that waits, once its turn has come.
    pub fn flush(&mut self, now: Now) {
        if self.next_deadline(now).is_none_or(|wait| !wait.is_zero()) {
            return;
        }
        self.sent_at = Some(now.awake);
        self.send_pending();
    }

    /// Sends what waits and ends every subscription after it.
    pub fn close(&mut self) {
        self.send_pending();
        self.each(Queue::close);
        self.subscribers.clear();
    }

    fn send_pending(&mut self) {
        let Some(event) = self.pending.take() else { return };
        // Nobody listens: nothing is encoded.
        let mut line: Option<Line> = None;
        self.each(|queue| {
            let line = line.get_or_insert_with(|| event.to_line().into());
            if queue.states {
                queue.push_state(&event, line);
            } else {
                // Who hears only of alerts gets a state when it has lagged: then the newest.
                queue.inbox().renew(&event, line);
            }
        });
    }

    fn each(&mut self, mut tell: impl FnMut(&Queue)) {
        self.subscribers.retain(|subscriber| match subscriber.upgrade() {
            Some(queue) => {
                tell(&queue);
                true
            }
            None => false,
        });
    }
}

impl Queue {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        // A panic leaves no half-made change in it.
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &Line) {
        let mut inbox = self.inbox();
        // Once behind, everything is missed until the newest state has been taken.
        if inbox.missed > 0 || inbox.lines.len() >= QUEUE {
            inbox.missed += 1 + inbox.lines.len() as u64;
            inbox.lines.clear();
        } else {
            inbox.lines.push_back(Arc::clone(line));
        }
        drop(inbox);
        self.changed.notify_one();
    }

    fn push_state(&self, event: &Event, line: &Line) {
        {
            let mut inbox = self.inbox();
            if !inbox.renew(event, line) {
                return;
            }
        }
        self.push(line);
    }

    fn close(&self) {
        self.inbox().closed = true;
        self.changed.notify_one();
    }
}

impl Inbox {
    /// Takes a newer state. False if it is not: a subscriber that came while this state waited was
    /// given it, or a newer one, already.
    fn renew(&mut self, event: &Event, line: &Line) -> bool {
        if self.newest.is_some() && event.seq <= self.state_seq {
            return false;
        }
        self.state_seq = event.seq;
        self.newest = Some((event.seq, event.at, Arc::clone(line)));
        true
    }
}

impl Subscription {
    /// The next lines to write, in order; `None` when the daemon ends.
    pub async fn next(&self) -> Option<Vec<Line>> {
        loop {
            {
                let mut inbox = self.queue.inbox();
                if inbox.missed > 0
                    && let Some((seq, at, newest)) = inbox.newest.clone()
                {
                    let missed = std::mem::take(&mut inbox.missed);
                    let body = EventBody::Lagged(Lagged { missed });
                    let lagged = Event { seq, at, body }.to_line().into();
                    inbox.lines.clear();
                    inbox.lines.extend([lagged, newest]);
                }
                let farewell = if inbox.closed { inbox.farewell.take() } else { None };
                inbox.lines.extend(farewell);
                if !inbox.lines.is_empty() {
                    return Some(inbox.lines.drain(..).collect());
                }
                if inbox.closed {
                    return None;
                }
            }
            self.queue.changed.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::{AlertReminder, Phase, Shutdown};

    use super::*;

    fn at(millis: u64) -> Now {
        let time = Duration::from_millis(millis);
        Now { awake: time, boot: time, wall: Timestamp::from_millis(0) }
    }

    fn change(seq: u64, state: bool, edge: bool) -> Effects {
        Effects {
            seq,
            state: state.then(|| Box::new(State { phase: Phase::Active, ..State::default() })),
            edges: edge
                .then_some(EventBody::AlertReminder(AlertReminder {
                    alert: 1,
                    n: seq,
                    quiet: false,
                }))
                .into_iter()
                .collect(),
            ..Effects::default()
        }
    }

    fn next(subscription: &Subscription) -> Option<Vec<(String, u64)>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lines = runtime.block_on(subscription.next())?;
        let event = |line: &Line| Event::parse(line.trim_end().as_bytes()).unwrap();
        Some(lines.iter().map(event).map(|it| (it.body.name().to_owned(), it.seq)).collect())
    }

    fn pair(word: &str, seq: u64) -> (String, u64) {
        (word.to_owned(), seq)
    }

    #[test]
    fn the_first_of_a_burst_goes_out_at_once_and_the_rest_as_one() {
        let mut hub = Hub::default();
        let all = hub.subscribe(&[Topic::All], 7, State::default(), at(0));
        assert_eq!(next(&all), Some(vec![pair("state", 7)]));
        hub.publish(&mut change(8, true, false), at(100));
        assert_eq!(next(&all), Some(vec![pair("state", 8)]));
        for seq in 9..20 {
            hub.publish(&mut change(seq, true, seq == 15), at(100 + seq));
        }
        assert_eq!(hub.next_deadline(at(119)), Some(Duration::from_millis(31)));
        hub.flush(at(149));
        hub.flush(at(150));
        let edge_then_state = vec![pair("alert_reminder", 15), pair("state", 19)];
        assert_eq!(next(&all), Some(edge_then_state));
        assert_eq!(hub.next_deadline(at(151)), None);
    }

    #[test]
    fn every_change_of_window_goes_out_at_once() {
        let mut hub = Hub::default();
        let all = hub.subscribe(&[Topic::All], 0, State::default(), at(0));
        for seq in 1..=40 {
            hub.publish(&mut Effects { switched: true, ..change(seq, true, false) }, at(seq * 5));
        }
        hub.close();
        let lines = next(&all).unwrap();
        assert_eq!(lines.last(), Some(&pair("state", 40)));
        assert_eq!(lines.len(), 41);
    }

    #[test]
    fn topics_are_kept_apart_and_the_first_state_and_the_farewell_are_for_all() {
        let mut hub = Hub::default();
        let states = hub.subscribe(&[Topic::State], 1, State::default(), at(0));
        let alerts = hub.subscribe(&[Topic::Alert], 1, State::default(), at(0));
        hub.publish(&mut change(2, true, true), at(100));
        let mut farewell = Effects { seq: 3, ..Effects::default() };
        farewell.edges.push(EventBody::Shutdown(Shutdown { reason: "stopped".into() }));
        hub.publish(&mut farewell, at(200));
        hub.close();
        let expected = vec![pair("state", 1), pair("state", 2), pair("shutdown", 3)];
        assert_eq!(next(&states), Some(expected));
        let expected = vec![pair("state", 1), pair("alert_reminder", 2), pair("shutdown", 3)];
        assert_eq!(next(&alerts), Some(expected));
        assert_eq!((next(&states), next(&alerts)), (None, None));
    }

    #[test]
    fn a_state_that_waited_is_not_told_twice_to_who_came_meanwhile() {
        let mut hub = Hub::default();
        hub.publish(&mut change(1, true, false), at(100));
        hub.publish(&mut change(2, true, false), at(110));
        let late = hub.subscribe(&[Topic::All], 2, State::default(), at(120));
        hub.flush(at(150));
        hub.close();
        assert_eq!(next(&late), Some(vec![pair("state", 2)]));
        assert_eq!(next(&late), None);
    }

    #[test]
    fn who_hears_only_of_alerts_and_falls_behind_gets_the_newest_state_and_the_farewell() {
        let mut hub = Hub::default();
        let slow = hub.subscribe(&[Topic::Alert], 0, State::default(), at(0));
        for seq in 1..=150 {
            hub.publish(&mut change(seq, true, true), at(100 * seq));
        }
        let mut farewell = Effects { seq: 151, ..Effects::default() };
        farewell.edges.push(EventBody::Shutdown(Shutdown { reason: "stopped".into() }));
        hub.publish(&mut farewell, at(20_000));
        hub.close();
        let told = next(&slow).unwrap();
        assert_eq!(told[1..], [pair("state", 150), pair("shutdown", 151)]);
        assert_eq!(told[0].0, "lagged");
        assert_eq!(next(&slow), None);
    }

    #[test]
    fn who_falls_behind_is_told_how_much_and_given_the_newest_state() {
        let mut hub = Hub::default();
        let slow = hub.subscribe(&[Topic::All], 0, State::default(), at(0));
        for seq in 1..=150 {
            hub.publish(&mut change(seq, true, false), at(100 * seq));
        }
        assert_eq!(next(&slow), Some(vec![pair("lagged", 150), pair("state", 150)]));
        hub.publish(&mut change(151, true, false), at(20_000));
        assert_eq!(next(&slow), Some(vec![pair("state", 151)]), "and is up to date again");

        drop(slow);
        hub.publish(&mut change(152, true, false), at(30_000));
        assert_eq!(hub.subscribers.len(), 0, "whoever left is forgotten");
    }
}

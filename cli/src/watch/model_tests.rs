use antidrift_protocol::{
    AlertReminder, Commitment, Detour, Drift, Lagged, NoticeKind, Paused, Shutdown, Timestamp,
};

use super::*;

/// A model with invented time, and what it did.
struct Watch {
    model: Model,
    now: Duration,
    seq: u64,
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn window(title: &str) -> Window {
    Window { class: "firefox".into(), title: title.into(), ..Window::default() }
}

fn state(alert: Option<u64>) -> State {
    let status = if alert.is_some() { DriftStatus::Drifting } else { DriftStatus::Ontask };
    State {
        phase: Phase::Active,
        commitment: Some(Commitment {
            text: "report".into(),
            timebox_secs: Some(1500),
            started_at: Timestamp::from_millis(1_000_000),
            elapsed_secs: 100,
            remaining_secs: Some(1400),
            ..Commitment::default()
        }),
        window: Some(window("reddit")),
        drift: Some(Drift {
            status,
            alert,
            reason: Some("no".into()),
            since_at: Timestamp::from_millis(1_100_400),
            ..Drift::default()
        }),
        ..State::default()
    }
}

/// A session in overtime.
fn over() -> State {
    let mut over = state(None);
    if let Some(commitment) = &mut over.commitment {
        (commitment.elapsed_secs, commitment.remaining_secs) = (1600, Some(-100));
    }
    over
}

fn popup(alert: u64, reminder: u64, body: &[&str]) -> Effect {
    let body = body.iter().map(|&line| line.to_owned()).collect();
    Effect::Raise(Popup { kind: Kind::Drift { alert, reminder }, body })
}

/// The popup about a session that was not heard of.
fn popup_of(alert: u64, reminder: u64) -> Effect {
    popup(alert, reminder, &["no", "firefox: reddit"])
}

impl Watch {
    fn new() -> Self {
        let mut watch = Self { model: Model::new(true), now: secs(1000), seq: 0 };
        assert_eq!(watch.on(Input::Holder), []);
        watch.connect("one");
        watch
    }

    fn on(&mut self, input: Input) -> Vec<Effect> {
        self.model.handle(input, self.now)
    }

    fn connect(&mut self, instance: &str) -> Vec<Effect> {
        self.on(Input::Connected { instance: instance.into() })
    }

    fn event(&mut self, body: EventBody) -> Vec<Effect> {
        self.seq += 1;
        let at = Timestamp::from_millis(1_100_400);
        let event = Box::new(Event { seq: self.seq, at, body });
        self.on(Input::Event { event, age: Duration::ZERO })
    }

    fn state(&mut self, state: State) -> Vec<Effect> {
        self.event(EventBody::State(Box::new(state)))
    }

    fn raised(&mut self, alert: u64) -> Vec<Effect> {
        let reason = Some("no".to_owned());
        let window = Some(window("reddit"));
        self.event(EventBody::AlertRaised(AlertRaised { alert, window, reason, quiet: false }))
    }

    fn cleared(&mut self, alert: u64, why: ClearedWhy) -> Vec<Effect> {
        self.event(EventBody::AlertCleared(AlertCleared { alert, why }))
    }

    fn later(&mut self, by: Duration) -> Vec<Effect> {
        self.now += by;
        self.on(Input::Tick)
    }
}

fn asks(choice: Choice, alert: Option<u64>, or_left: bool) -> Vec<Effect> {
    vec![Effect::Ask(Ask { choice, alert, or_left })]
}

#[test]
fn an_alert_is_shown_answered_and_withdrawn() {
    let mut watch = Watch::new();
    assert_eq!(watch.raised(7), [popup_of(7, 0)]);
    assert_eq!(watch.state(state(Some(7))), []);
    assert_eq!(watch.model.alert.as_ref().unwrap().number, 7);
    assert_eq!(watch.on(Input::Key('t')), asks(Choice::Ontask, Some(7), true));
    // A held key asks once.
    assert_eq!(watch.on(Input::Key('t')), []);
    assert_eq!(watch.cleared(7, ClearedWhy::Ontask), [Effect::Withdraw(Subject::Drift)]);
    assert!(watch.model.alert.is_none() && watch.model.left.is_none());
    let ask = Ask { choice: Choice::Ontask, alert: Some(7), or_left: true };
    watch.on(Input::Answered { ask, outcome: Outcome::Done("added".into()) });
    assert_eq!(watch.model.note(), Some("added"));
    watch.later(NOTE);
    assert_eq!(watch.model.note(), None);
    // Without a question keys do nothing, but q ends.
    for key in ['b', 't', 'e', 'x'] {
        assert_eq!(watch.on(Input::Key(key)), []);
    }
    assert_eq!(watch.on(Input::Key('Q')), [Effect::Quit]);
}

#[test]
fn a_window_that_was_left_can_be_answered_for_a_minute() {
    let mut watch = Watch::new();
    watch.raised(7);
    assert_eq!(watch.cleared(7, ClearedWhy::Moved), [Effect::Withdraw(Subject::Drift)]);
    watch.state(state(None));
    watch.later(secs(59));
    assert_eq!(watch.model.left.as_ref().unwrap().window, Some(window("reddit")));
    // What is shown is answered, whatever has the focus by now.
    assert_eq!(watch.on(Input::Key('t')), asks(Choice::Ontask, Some(7), true));
    let ask = Ask { choice: Choice::Ontask, alert: Some(7), or_left: true };
    watch.on(Input::Answered { ask, outcome: Outcome::Failed("no".into()) });
    assert!(watch.model.left.is_some(), "it can be answered again");
    for outcome in [Outcome::Done("added".into()), Outcome::Stale] {
        watch.raised(7);
        watch.cleared(7, ClearedWhy::Moved);
        let other = Ask { alert: Some(6), ..ask };
        watch.on(Input::Answered { ask: other, outcome: outcome.clone() });
        assert!(watch.model.left.is_some(), "another alert's answer");
        watch.on(Input::Answered { ask, outcome });
        assert!(watch.model.left.is_none());
    }

    watch.raised(8);
    watch.cleared(8, ClearedWhy::Moved);
    assert!(watch.model.deadline(watch.now, Counting::Nothing).is_some());
    watch.later(secs(60));
    assert!(watch.model.left.is_none());
    assert_eq!(watch.on(Input::Key('t')), []);

    // It ends with the session, too.
    watch.raised(9);
    watch.cleared(9, ClearedWhy::Moved);
    watch.state(State { phase: Phase::Review, ..state(None) });
    assert!(watch.model.left.is_none());
}

#[test]
fn a_standing_alert_is_found_by_those_who_connect_late() {
    let mut watch = Watch::new();
    let body = ["You set out to: report", "no", "firefox: reddit"];
    assert_eq!(watch.state(state(Some(7))), [popup(7, 0, &body)]);
    // The same alert again is no news; another one is, but its context had its popup.
    assert_eq!(watch.state(state(Some(7))), []);
    assert_eq!(watch.state(state(Some(8))), [Effect::Withdraw(Subject::Drift)]);
    // Edges that were missed are made good by the state.
    assert_eq!(watch.event(EventBody::Lagged(Lagged { missed: 9 })), []);
    watch.state(state(None));
    assert!(watch.model.alert.is_none());
}

#[test]
fn a_popup_says_what_for_why_and_for_how_long() {
    let task = "You set out to: report";
    let mut watch = Watch::new();
    watch.state(state(None));
    assert_eq!(watch.raised(7), [popup(7, 0, &[task, "no", "firefox: reddit"])]);
    let remind = |watch: &mut Watch, n| {
        let reminder = AlertReminder { alert: 7, n, quiet: false };
        watch.event(EventBody::AlertReminder(reminder))
    };
    watch.later(secs(120));
    assert_eq!(remind(&mut watch, 1), [popup(7, 1, &[task, "no", "firefox: reddit (for 2 min)"])]);
    watch.later(secs(4980));
    let lasts = "firefox: reddit (for 1 h 25 min)";
    assert_eq!(remind(&mut watch, 2), [popup(7, 2, &[task, "no", lasts])]);

    // Who connects later counts from when it began: two minutes before this state.
    let mut late = Watch::new();
    let mut standing = state(Some(7));
    standing.drift.as_mut().unwrap().since_at = Timestamp::from_millis(1_100_400 - 125_000);
    let body = [task, "no", "firefox: reddit (for 2 min)"];
    assert_eq!(late.state(standing), [popup(7, 0, &body)]);
}

#[test]
fn a_standing_alert_whose_popups_are_spent_has_none_for_those_who_connect_late() {
    let mut watch = Watch::new();
    let mut standing = state(Some(7));
    standing.drift.as_mut().unwrap().quiet = true;
    assert_eq!(watch.state(standing), []);
    assert!(watch.model.alert.as_ref().unwrap().quiet, "the screen shows it");
}

#[test]
fn popups_of_one_context_rest_for_a_minute() {
    let mut watch = Watch::new();
    assert_eq!(watch.raised(1), [popup_of(1, 0)]);
    for alert in 2..30 {
        watch.now += secs(1);
        watch.cleared(alert - 1, ClearedWhy::Moved);
        assert_eq!(watch.raised(alert), [], "{alert}");
    }
    // What still stands when the minute is over is shown then.
    let due = watch.model.deadline(watch.now, Counting::Nothing).unwrap();
    assert_eq!(due, secs(1060));
    let wait = due - watch.now;
    assert_eq!(watch.later(wait), [popup_of(29, 0)]);
    // A counter in the title makes no other context, another title does.
    let raise = |watch: &mut Watch, alert, title: &str| {
        let window = Some(window(title));
        let raised = AlertRaised { alert, window, ..AlertRaised::default() };
        watch.event(EventBody::AlertRaised(raised)).len()
    };
    assert_eq!(raise(&mut watch, 30, "(3) reddit"), 1); // only the old one's withdrawal
    assert_eq!(raise(&mut watch, 31, "news"), 1);
}

#[test]
fn reminders_replace_and_those_of_other_alerts_say_nothing() {
    let mut watch = Watch::new();
    watch.raised(7);
    let remind = |alert, n| EventBody::AlertReminder(AlertReminder { alert, n, quiet: false });
    watch.now += secs(120);
    assert_eq!(watch.event(remind(7, 1)), [popup(7, 1, &["no", "firefox: reddit (for 2 min)"])]);
    assert_eq!(watch.event(remind(6, 1)), []);
    // A backlog after a pause is one popup.
    watch.now += secs(300);
    let shown: usize = (2..9).map(|n| watch.event(remind(7, n)).len()).sum();
    assert_eq!(shown, 1);
}

#[test]
fn buttons_of_alerts_that_are_over_do_nothing() {
    let mut watch = Watch::new();
    watch.raised(7);
    let press = |alert, choice| {
        let popup = Kind::Drift { alert, reminder: 0 };
        Input::Pressed { popup, choice }
    };
    assert_eq!(watch.on(press(7, Choice::End)), asks(Choice::End, Some(7), false));
    watch.cleared(7, ClearedWhy::Moved);
    for choice in [Choice::Back, Choice::Ontask, Choice::End] {
        assert_eq!(watch.on(press(7, choice)), []);
    }
    // And if the daemon found it stale, nothing is said.
    let ask = Ask { choice: Choice::End, alert: Some(7), or_left: false };
    assert_eq!(watch.on(Input::Answered { ask, outcome: Outcome::Stale }), []);
    assert_eq!(watch.model.note(), None);
    let said = watch.on(Input::Answered { ask, outcome: Outcome::Failed("no".into()) });
    assert_eq!(said, [Effect::Say("no".into())]);
}

#[test]
fn what_was_done_in_part_is_over_and_said() {
    let mut watch = Watch::new();
    watch.raised(7);
    watch.cleared(7, ClearedWhy::Moved);
    let ask = Ask { choice: Choice::Back, alert: Some(7), or_left: true };
    assert_eq!(watch.on(Input::Key('b')), [Effect::Ask(ask)]);
    let said = watch.on(Input::Answered { ask, outcome: Outcome::Partly("not raised".into()) });
    assert_eq!(said, [Effect::Say("not raised".into())]);
    assert_eq!((watch.model.note(), &watch.model.left), (Some("not raised"), &None));
}

#[test]
fn another_daemon_makes_everything_void() {
    let mut watch = Watch::new();
    watch.raised(7);
    watch.state(state(Some(7)));
    let lost = watch.on(Input::Lost(ClientError::Closed));
    assert_eq!(lost[0], Effect::Withdraw(Subject::Drift));
    assert!(matches!(&lost[1], Effect::Say(text) if text.contains("gone")), "{lost:?}");
    assert!(watch.model.seen.is_none() && watch.model.alert.is_none());
    // Said once, however often it is tried.
    for _ in 0..20 {
        assert_eq!(watch.on(Input::Lost(ClientError::NotRunning("/x".into()))), []);
    }
    // Another reason is news.
    let other = watch.on(Input::Lost(ClientError::Incompatible("protocol 9".into())));
    assert_eq!(other.len(), 1);
    watch.connect("two");
    // A popup for the same context comes at once: the minute was the other daemon's.
    let body = ["You set out to: report", "no", "firefox: reddit"];
    assert_eq!(watch.state(state(Some(1))), [popup(1, 0, &body)]);
    assert_eq!(watch.on(Input::Lost(ClientError::Closed)).len(), 2);
}

#[test]
fn a_stream_of_nonsense_is_complained_about_once() {
    let mut watch = Watch::new();
    let nonsense = || Input::Lost(ClientError::NotUnderstood("x".into()));
    assert_eq!(watch.on(nonsense()).len(), 1);
    for _ in 0..5 {
        watch.connect("one");
        assert_eq!(watch.on(nonsense()), []);
    }
}

#[test]
fn shutdown_withdraws() {
    let mut watch = Watch::new();
    watch.raised(7);
    let body = EventBody::Shutdown(Shutdown { reason: "stopped".into() });
    assert_eq!(watch.event(body), [Effect::Withdraw(Subject::Drift)]);
}

#[test]
fn the_next_holder_shows_what_stands() {
    let mut watch = Watch { model: Model::new(true), now: secs(1000), seq: 0 };
    watch.connect("one");
    assert_eq!(watch.raised(7), []);
    assert_eq!(watch.model.deadline(watch.now, Counting::Nothing), None);
    watch.now += secs(500);
    let body = ["no", "firefox: reddit (for 8 min)"];
    assert_eq!(watch.on(Input::Holder), [popup(7, 0, &body)]);
    // Nothing is owed for an alert that is over.
    let mut watch = Watch { model: Model::new(true), now: secs(1000), seq: 0 };
    watch.connect("one");
    watch.raised(7);
    watch.cleared(7, ClearedWhy::Refocus);
    assert_eq!(watch.on(Input::Holder), []);
    // Without popups there are none, whoever holds the lock.
    let mut watch = Watch { model: Model::new(false), now: secs(1000), seq: 0 };
    watch.connect("one");
    assert_eq!(watch.raised(7), []);
    assert_eq!(watch.event(EventBody::TimeboxElapsed), []);
}

#[test]
fn notices_and_the_end_of_the_timebox_wait_for_the_screen_to_be_unlocked() {
    let mut watch = Watch::new();
    watch.state(state(None));
    let up = |effects: &[Effect]| match effects {
        [Effect::Raise(popup)] => (popup.kind, popup.body.join("|")),
        other => panic!("{other:?}"),
    };
    let effects = watch.event(EventBody::TimeboxElapsed);
    assert_eq!(up(&effects), (Kind::TimeUp, "report".to_owned()));
    watch.state(State { away: Some(Away::Locked), ..over() });
    assert_eq!(watch.event(EventBody::TimeboxElapsed), []);
    let effects = watch.state(over());
    assert_eq!(up(&effects).0, Kind::TimeUp);
    // What waits for the screen is not shown when it is void by then.
    watch.state(State { away: Some(Away::Locked), ..over() });
    watch.event(EventBody::TimeboxElapsed);
    assert_eq!(watch.state(state(None)), [Effect::Withdraw(Subject::Time)]);
    let notice = Notice { kind: NoticeKind::BudgetSpent, text: "three a day".into() };
    let effects = watch.event(EventBody::Notice(notice));
    assert_eq!(up(&effects), (Kind::Notice(NoticeKind::BudgetSpent), "three a day".to_owned()));
    assert_eq!(watch.model.note(), Some("three a day"));
}

#[test]
fn the_end_of_the_timebox_asks_until_it_is_void() {
    let more = || Input::Pressed { popup: Kind::TimeUp, choice: Choice::More };
    let end = || Input::Pressed { popup: Kind::TimeUp, choice: Choice::End };
    let withdrawn = [Effect::Withdraw(Subject::Time)];
    let up = || {
        let mut watch = Watch::new();
        watch.state(state(None));
        assert!(matches!(watch.event(EventBody::TimeboxElapsed)[..], [Effect::Raise(_)]));
        watch
    };
    let mut watch = up();
    // A state that was held back, from a moment before.
    watch.seq -= 2;
    assert_eq!(watch.state(state(None)), []);
    assert!(watch.model.seen.as_ref().unwrap().over);
    watch.seq += 1;
    assert_eq!(watch.state(over()), []);
    assert_eq!(watch.on(more()), asks(Choice::More, None, false));
    // More time, by whatever means: the question is void, and so are its buttons.
    assert_eq!(watch.state(state(None)), withdrawn);
    assert_eq!((watch.on(more()), watch.on(end())), (vec![], vec![]));
    assert_eq!(watch.state(state(None)), []);
    // So they are when the session ends, or the daemon.
    let mut watch = up();
    assert_eq!(watch.on(end()), asks(Choice::End, None, false));
    assert_eq!(watch.state(State { phase: Phase::Review, ..over() }), withdrawn);
    assert_eq!(watch.on(end()), []);
    assert_eq!(up().on(Input::Lost(ClientError::Closed))[0], withdrawn[0]);
    assert_eq!(up().connect("two"), withdrawn);
    let shutdown = EventBody::Shutdown(Shutdown { reason: "stopped".into() });
    assert_eq!(up().event(shutdown), withdrawn);
    // A drift popup is another matter.
    let mut watch = up();
    watch.raised(7);
    assert_eq!(watch.cleared(7, ClearedWhy::Moved), [Effect::Withdraw(Subject::Drift)]);
    assert_eq!(watch.on(more()), asks(Choice::More, None, false));
}

#[test]
fn keys_for_pauses_and_more_time_apply_when_they_are_shown() {
    let mut watch = Watch::new();
    assert_eq!((watch.on(Input::Key('p')), watch.on(Input::Key('+'))), (vec![], vec![]));
    let done = |watch: &mut Watch, choice, alert| {
        let ask = Ask { choice, alert, or_left: false };
        watch.on(Input::Answered { ask, outcome: Outcome::Done("done".into()) })
    };
    watch.state(state(None));
    assert_eq!(watch.on(Input::Key('+')), []);
    assert_eq!(watch.on(Input::Key('p')), asks(Choice::Pause, None, false));
    // A held key asks once.
    assert_eq!(watch.on(Input::Key('p')), []);
    done(&mut watch, Choice::Pause, None);
    watch.state(State { paused: Some(Paused::default()), ..state(None) });
    assert_eq!(watch.on(Input::Key('P')), asks(Choice::Resume, None, false));
    done(&mut watch, Choice::Resume, None);
    watch.state(State { detour: Some(Detour::default()), ..state(None) });
    assert_eq!(watch.on(Input::Key('p')), asks(Choice::Resume, None, false));
    done(&mut watch, Choice::Resume, None);
    watch.state(over());
    assert_eq!(watch.on(Input::Key('+')), asks(Choice::More, None, false));
    done(&mut watch, Choice::More, None);
    // Beside an alert they name none, and they answer none.
    watch.raised(7);
    assert_eq!(watch.on(Input::Key('p')), asks(Choice::Pause, None, false));
    watch.cleared(7, ClearedWhy::Moved);
    done(&mut watch, Choice::Pause, None);
    assert!(watch.model.left.is_some());
    // Whoever pauses is not asked about what was left.
    watch.state(State { paused: Some(Paused::default()), ..state(None) });
    assert!(watch.model.left.is_none());
    watch.state(State { phase: Phase::Review, ..over() });
    assert_eq!((watch.on(Input::Key('p')), watch.on(Input::Key('+'))), (vec![], vec![]));
}

#[test]
fn an_alert_on_a_locked_screen_waits_and_keeps_nobody_awake() {
    let mut watch = Watch::new();
    watch.state(State { away: Some(Away::Locked), ..state(Some(7)) });
    assert_eq!(watch.model.deadline(watch.now, Counting::Nothing), None, "nothing to wake up for");
    let effects = watch.state(state(Some(7)));
    assert!(matches!(effects.as_slice(), [Effect::Raise(_)]), "{effects:?}");
}

#[test]
fn trouble_with_popups_is_said_once() {
    let mut watch = Watch::new();
    let trouble = |watch: &mut Watch| watch.on(Input::Trouble("no notify-send".into())).len();
    assert_eq!((trouble(&mut watch), trouble(&mut watch)), (1, 0));
}

#[test]
fn the_countdown_goes_on_from_the_states_instant_and_ticks_only_when_shown() {
    let mut watch = Watch::new();
    assert_eq!(watch.model.deadline(watch.now, Counting::Screen), None);
    watch.state(state(None));
    // 100.4 s by the instants, which agree with the whole seconds.
    let elapsed = |watch: &Watch| watch.model.seen.as_ref().unwrap().elapsed(watch.now);
    assert_eq!(elapsed(&watch), Duration::from_millis(100_400));
    assert_eq!(watch.model.deadline(watch.now, Counting::Nothing), None);
    let tick = watch.model.deadline(watch.now, Counting::Screen).unwrap();
    assert_eq!(tick - watch.now, Duration::from_millis(600));
    // The lid was closed for an hour.
    watch.now += secs(3600);
    assert_eq!(elapsed(&watch), Duration::from_millis(3_700_400));
    // A clock that was set makes the instants useless: the seconds count then.
    let mut odd = state(None);
    if let Some(commitment) = &mut odd.commitment {
        commitment.started_at = Timestamp::from_millis(999_999_999);
        commitment.timebox_secs = None;
    }
    watch.state(odd);
    assert_eq!(elapsed(&watch), secs(100));
    // Without a timebox only minutes are shown.
    assert_eq!(watch.model.deadline(watch.now, Counting::Screen).unwrap() - watch.now, secs(20));
    // In review nothing counts.
    watch.state(State { phase: Phase::Review, ..state(None) });
    watch.now += secs(50);
    assert_eq!(elapsed(&watch), Duration::from_millis(100_400));
    assert_eq!(watch.model.deadline(watch.now, Counting::Screen), None);
}

#[test]
fn what_is_to_be_quiet_raises_no_popup_and_shows_all_the_same() {
    let mut watch = Watch::new();
    let raised = AlertRaised { alert: 7, quiet: true, ..AlertRaised::default() };
    assert_eq!(watch.event(EventBody::AlertRaised(raised)), []);
    assert_eq!(watch.model.alert.as_ref().map(|alert| alert.number), Some(7));
    watch.now += secs(120);
    let reminder = AlertReminder { alert: 7, n: 1, quiet: true };
    assert_eq!(watch.event(EventBody::AlertReminder(reminder)), []);
    let reminder = AlertReminder { alert: 7, n: 2, quiet: false };
    assert_eq!(watch.event(EventBody::AlertReminder(reminder)).len(), 1);
}

#[test]
fn a_bar_is_woken_only_when_what_it_shows_changes() {
    let next = |timebox: Option<u64>, elapsed: u64, counting| {
        let mut watch = Watch::new();
        let mut seen = state(None);
        let commitment = seen.commitment.as_mut().unwrap();
        (commitment.timebox_secs, commitment.elapsed_secs) = (timebox, elapsed);
        // Whole seconds, so that nothing is finer than they are.
        commitment.started_at = Timestamp::from_millis(0);
        watch.state(seen);
        watch.model.deadline(watch.now, counting).map(|at| at - watch.now)
    };
    let minutes = Counting::Bar(Clock::Minutes);
    for (timebox, elapsed, counting, expected) in [
        (Some(1500), 764, Counting::Nothing, None),
        (Some(1500), 764, minutes, Some(secs(16))),
        (Some(1510), 764, minutes, Some(secs(26))),
        (Some(1510), 1600, minutes, Some(secs(30))),
        (None, 764, minutes, Some(secs(16))),
        (None, 764, Counting::Bar(Clock::Seconds), Some(secs(1))),
        (Some(1500), 764, Counting::Screen, Some(secs(1))),
        (None, 764, Counting::Screen, Some(secs(16))),
    ] {
        assert_eq!(
            next(timebox, elapsed, counting),
            expected,
            "{timebox:?} {elapsed} {counting:?}"
        );
    }
    let mut watch = Watch::new();
    watch.state(State { phase: Phase::Planning, ..State::default() });
    assert_eq!(watch.model.deadline(watch.now, minutes), None, "nothing counts without a session");
    let away = State { away: Some(Away::Locked), ..state(None) };
    let paused = State { paused: Some(Paused::default()), ..state(None) };
    for aside in [away, paused] {
        watch.state(aside);
        let seconds = Counting::Bar(Clock::Seconds);
        assert_eq!(watch.model.deadline(watch.now, seconds), None, "nor for nobody");
    }
}

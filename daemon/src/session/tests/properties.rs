//! Random operations, with the rules held as invariants after each.

use antidrift_protocol::{Allow, ClearedWhy, Extend, Pause, Phase, TakeDetour};
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Op {
    See(usize),
    SeeNothing,
    Pass(u64),
    Suspend(u64),
    SetClock(i64),
    Start,
    Ontask(Option<usize>),
    OntaskAlert(u64),
    Refocus,
    Complete,
    End,
    Verdict(bool),
    LateVerdict(u64),
    Fail(bool),
    Restart,
    Absence(Absence),
    LoginAbsence(Absence),
    Pause(Option<u64>),
    Resume,
    Detour(u64),
    Extend(u64),
    Allow(bool),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..windows().len()).prop_map(Op::See),
        1 => Just(Op::SeeNothing),
        8 => prop_oneof![0..200_u64, 0..3_000_u64, 0..20_000_u64, Just(700_000_u64)].prop_map(Op::Pass),
        1 => (0..100_000_u64).prop_map(Op::Suspend),
        1 => any::<i64>().prop_map(Op::SetClock),
        3 => Just(Op::Start),
        2 => proptest::option::of(0..4_usize).prop_map(Op::Ontask),
        1 => (0..5_u64).prop_map(Op::OntaskAlert),
        2 => Just(Op::Refocus),
        1 => Just(Op::Complete),
        1 => Just(Op::End),
        6 => any::<bool>().prop_map(Op::Verdict),
        1 => (0..20_u64).prop_map(Op::LateVerdict),
        2 => any::<bool>().prop_map(Op::Fail),
        1 => Just(Op::Restart),
        2 => absence().prop_map(Op::Absence),
        1 => absence().prop_map(Op::LoginAbsence),
        1 => proptest::option::of(1..600_u64).prop_map(Op::Pause),
        1 => Just(Op::Resume),
        1 => (1..600_u64).prop_map(Op::Detour),
        1 => (1..90_000_u64).prop_map(Op::Extend),
        1 => any::<bool>().prop_map(Op::Allow),
    ]
}

/// Mostly present.
fn absence() -> impl Strategy<Value = Absence> {
    let sign = || proptest::bool::weighted(0.2);
    (sign(), sign(), sign()).prop_map(|(idle, locked, asleep)| Absence { idle, locked, asleep })
}

fn windows() -> Vec<Window> {
    let dialog = Window { parent: Some(Box::new(program("code"))), ..program("dialog") };
    vec![
        program("code"),
        program("steam"),
        program("gimp"),
        page("football"),
        page("Funny cats - YouTube"),
        page("manual"),
        page("(3) manual"),
        page("https://docs.rs/x"),
        Window { title: "~".into(), ..program("XTerm") },
        program("pinentry"),
        Window { fullscreen: true, ..program("code") },
        dialog,
        Window { id: 99, ..Window::default() },
    ]
}

/// What the rules are checked against: a second, much simpler account of the same history.
#[derive(Debug, Default)]
struct Account {
    /// Contexts that some judge called drift in this session.
    drift_verdicts: std::collections::HashSet<crate::evidence::ContextKey>,
    running_for: Option<crate::evidence::ContextKey>,
    last_seq: u64,
    last_alert: u64,
    standing: Option<u64>,
    /// Whether the embedded judge may call drift too.
    embedded: bool,
}

fn apply(world: &mut World, account: &mut Account, op: Op) -> Result<(), TestCaseError> {
    let allowed_before = world.state().allowed;
    let changes_allowed = matches!(
        op,
        Op::Start
            | Op::Ontask(_)
            | Op::OntaskAlert(_)
            | Op::Complete
            | Op::End
            | Op::Restart
            | Op::Allow(_)
    );
    let hushed_before = hushed(world);
    let edges_before = world.edges.len();
    let asked_before = world.asked.len();
    match op {
        Op::See(n) => world.see(windows().swap_remove(n)),
        Op::SeeNothing => world.see_nothing(),
        Op::Pass(millis) => world.pass(Duration::from_millis(millis)),
        Op::Suspend(secs) => {
            world.jump(Duration::ZERO, Duration::from_secs(secs));
            let _ = world.step(Input::Tick);
        }
        Op::SetClock(millis) => world.now.wall = Timestamp::from_millis(millis),
        Op::Start => {
            let before = world.state().phase;
            let allowed = Allowed { window_classes: vec!["code".into()], ..Allowed::default() };
            let start =
                Start { text: "x".into(), allowed, timebox_secs: Some(60), ..Start::default() };
            let answer = world.ask(Command::Start(start));
            prop_assert_eq!(answer.is_err(), before == Phase::Active);
            if answer.is_ok() {
                account.drift_verdicts.clear();
            }
        }
        Op::Ontask(selector) => {
            let mut ontask = Ontask::default();
            match selector {
                Some(0) => ontask.window_class = Some("gimp".into()),
                Some(1) => ontask.window_title_substring = Some("man".into()),
                Some(2) => ontask.domain = Some("rs".into()),
                Some(_) => ontask.command = Some("vim".into()),
                None => {}
            }
            drop(world.ask(Command::Ontask(ontask)));
        }
        Op::OntaskAlert(back) => {
            let alert = Some(account.last_alert.saturating_sub(back));
            let stands = alert == account.standing && alert.is_some();
            let answer = world.ask(Command::Ontask(Ontask { alert, ..Ontask::default() }));
            prop_assert!(stands || answer.is_err());
        }
        Op::Refocus => drop(world.refocus()),
        Op::Complete => drop(world.complete()),
        Op::End => drop(world.end()),
        Op::Verdict(on_task) => {
            if let Some(run) = world.running.take() {
                if let (false, Some(key)) = (on_task, account.running_for.clone()) {
                    account.drift_verdicts.insert(key);
                }
                let result = Ok(Verdict { on_task, reason: String::new() });
                let _ = world.step(Input::JudgeDone { run, result });
            }
        }
        Op::LateVerdict(run) => {
            let run = RunId(run);
            // What is due anyway is not the late verdict's doing.
            let _ = world.step(Input::Tick);
            if world.running != Some(run) {
                let result = Ok(Verdict { on_task: false, reason: "late".into() });
                let effects = world.step(Input::JudgeDone { run, result });
                prop_assert!(effects.save.is_none() && effects.state.is_none());
                prop_assert!(effects.edges.is_empty() && effects.start_judge.is_none());
            }
        }
        Op::Fail(login) => {
            if world.running.is_some() {
                let kind = if login { FailureKind::NotLoggedIn } else { FailureKind::TimedOut };
                world.judge_fails(kind);
                // Pending is left only for a verdict that is known and waits for the window to settle.
                let pending =
                    world.state().drift.is_some_and(|it| it.status == DriftStatus::Pending);
                let present = world.session.focused.present.as_ref();
                let known = present.is_some_and(|it| account.drift_verdicts.contains(&it.key));
                let settle = world.session.settings.settle;
                let unsettled = present.is_some_and(|it| world.now.awake < it.settled_at(settle));
                let known = known || (account.embedded && unsettled);
                prop_assert!(!pending || known, "a failure leaves the window pending");
            }
        }
        Op::Absence(absence) => world.signs(absence),
        Op::LoginAbsence(absence) => drop(world.step(Input::Absence(absence))),
        Op::Pause(secs) => drop(world.ask(Command::Pause(Pause { secs }))),
        Op::Resume => {
            let before = world.state();
            let answer = world.ask(Command::Resume(NoArgs {}));
            prop_assert_eq!(answer.is_ok(), before.paused.is_some() || before.detour.is_some());
        }
        Op::Detour(secs) => {
            drop(world.ask(Command::Detour(TakeDetour { secs, text: "y".into() })));
        }
        Op::Extend(secs) => drop(world.ask(Command::Extend(Extend { secs }))),
        Op::Allow(more) => {
            let entry = Allowed { window_classes: vec!["gimp".into()], ..Allowed::default() };
            let none = Allowed::default();
            let (add, remove) = if more { (entry, none) } else { (none, entry) };
            drop(world.ask(Command::Allow(Allow { add, remove })));
        }
        Op::Restart => {
            let before = world.state();
            let _ = world.step(Input::Shutdown { reason: "restart".into() });
            let (last, edges) = (world.asked.clone(), std::mem::take(&mut world.edges));
            *world = world.restarted_from_session();
            (world.asked, world.edges) = (last, edges);
            account.drift_verdicts.clear();
            (account.running_for, account.last_seq) = (None, 0);
            let after = world.state();
            prop_assert_eq!(before.phase, after.phase);
            prop_assert_eq!(before.allowed, after.allowed);
            prop_assert_eq!(before.review, after.review);
            prop_assert_eq!(before.detour.is_some(), after.detour.is_some());
            prop_assert_eq!(before.paused.is_some(), after.paused.is_some());
        }
    }
    if !changes_allowed {
        prop_assert_eq!(&allowed_before, &world.state().allowed, "the allowed context changed");
    }
    for edge in &world.edges[edges_before..] {
        match edge {
            EventBody::AlertRaised(raised) => {
                prop_assert!(raised.alert > account.last_alert, "alert numbers repeat");
                prop_assert_eq!(account.standing, None, "two alerts stand");
                (account.last_alert, account.standing) = (raised.alert, Some(raised.alert));
            }
            EventBody::AlertCleared(cleared) => {
                prop_assert_eq!(account.standing.take(), Some(cleared.alert));
                prop_assert_ne!(cleared.why, ClearedWhy::Unknown);
            }
            EventBody::AlertReminder(reminder) => {
                prop_assert_eq!(account.standing, Some(reminder.alert));
            }
            _ => {}
        }
    }
    let told = |edge: &EventBody| {
        matches!(edge, EventBody::Notice(_) | EventBody::TimeboxElapsed | EventBody::AlertRaised(_))
    };
    if hushed(world) {
        prop_assert_eq!(world.asked.len(), asked_before, "a judge for one who is away or paused");
        let told = world.edges[edges_before..].iter().any(told);
        prop_assert!(!hushed_before || !told, "one who is away or paused was told something");
    }
    if world.asked.len() > asked_before {
        account.running_for = world.session.judge.run.as_ref().map(|run| run.key.clone());
    }
    verify(world, account)
}

/// Whether nothing may be said or asked.
fn hushed(world: &World) -> bool {
    let state = world.state();
    state.away.is_some() || state.paused.is_some()
}

fn verify(world: &World, account: &mut Account) -> Result<(), TestCaseError> {
    let state = world.state();
    let active = state.phase == Phase::Active;
    prop_assert_eq!(state.drift.is_some(), active);
    prop_assert_eq!(state.allowed.is_some(), active);
    prop_assert_eq!(state.review.is_some(), state.phase == Phase::Review);
    prop_assert_eq!(state.commitment.is_some(), state.phase != Phase::Planning);
    prop_assert!(world.session.seq() >= account.last_seq, "the number of changes fell");
    account.last_seq = world.session.seq();
    let run = world.session.judge.run.as_ref().map(|run| run.id);
    prop_assert_eq!(run, world.running, "the shell and the session disagree about the judge");
    prop_assert!(state.paused.is_none() || state.detour.is_none(), "paused and on a detour");
    prop_assert!(active || (state.paused.is_none() && state.detour.is_none()));
    if let Some(drift) = state.drift {
        if state.away.is_some() || state.paused.is_some() {
            prop_assert_eq!(drift.status, DriftStatus::Idle);
        } else if state.detour.is_some() {
            let expected =
                if state.window.is_some() { DriftStatus::Ontask } else { DriftStatus::Idle };
            prop_assert_eq!(drift.status, expected);
        }
        prop_assert_eq!(drift.status == DriftStatus::Drifting, drift.alert.is_some());
        prop_assert_eq!(drift.alert, account.standing);
        let decided = matches!(drift.status, DriftStatus::Drifting | DriftStatus::Ontask);
        prop_assert_eq!(decided, drift.source.is_some());
        if drift.status == DriftStatus::Drifting {
            let present = world.session.focused.present.as_ref().expect("a window drifts");
            let (since, settle) = (present.since, world.session.settings.settle);
            prop_assert!(since + settle <= world.now.awake, "an alert before it settled");
            let said = if drift.source == Some(DriftSource::Embedded) {
                account.embedded && embedded::calls_drift("x", &present.window)
            } else {
                account.drift_verdicts.contains(&present.key)
            };
            prop_assert!(said, "drift was made up");
        }
    }
    if !active {
        prop_assert_eq!(world.running, None, "a judge without a session");
        prop_assert_eq!(account.standing, None, "an alert without a session");
    }
    for pair in world.asked.windows(2) {
        let gap = pair[1].1.saturating_sub(pair[0].1);
        let restarted = pair[1].0 <= pair[0].0;
        prop_assert!(restarted || gap >= secs(10), "two judges within {gap:?}");
    }
    let snapshot = world.session.snapshot();
    let json = serde_json::to_string(&snapshot).unwrap();
    prop_assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), snapshot);
    Ok(())
}

impl World {
    fn restarted_from_session(&self) -> Self {
        let snapshot = self.session.snapshot();
        Self::at(self.session.settings.clone(), Some(snapshot), self.now)
    }
}

proptest! {
    #[test]
    fn the_rules_hold_whatever_happens(ops in proptest::collection::vec(op(), 1..120)) {
        let (mut world, mut account) = (World::new(), Account::default());
        for op in ops {
            apply(&mut world, &mut account, op)?;
        }
    }

    #[test]
    fn they_hold_with_the_embedded_judge_before_the_model(
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        let mut world = World::with(embedded::before_a_model(), None);
        let mut account = Account { embedded: true, ..Account::default() };
        for op in ops {
            apply(&mut world, &mut account, op)?;
        }
    }
}

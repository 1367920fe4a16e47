//! One value of every shape that goes over the wire.

use antidrift_protocol::*;

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn list(entries: &[&str]) -> Vec<String> {
    entries.iter().copied().map(Into::into).collect()
}

pub(crate) fn requests() -> Vec<Request> {
    let mut id = 0;
    let commands = vec![
        Command::Hello(Hello { client: "bar 0.3".into(), protocol: 1 }),
        Command::Status(NoArgs {}),
        Command::Start(Start { text: "draft the report".into(), ..Start::default() }),
        Command::Start(Start {
            text: "- [ ] \"draft\"\nthe \\ report ✓".into(),
            next_action: some("outline section 2"),
            success_condition: some("outline agreed"),
            timebox_secs: Some(1500),
            allowed: allowed(),
        }),
        Command::Refocus(Refocus::default()),
        Command::Refocus(Refocus {
            alert: Some(1_764_490_000_007),
            or_left: None,
            activate: Some(true),
        }),
        Command::Ontask(Ontask::default()),
        Command::Ontask(Ontask { alert: Some(7), ..Ontask::default() }),
        Command::Ontask(Ontask { window_class: some("firefox"), ..Ontask::default() }),
        Command::Ontask(Ontask { window_title: some("The Manual"), ..Ontask::default() }),
        Command::Ontask(Ontask { window_title_substring: some("Manual"), ..Ontask::default() }),
        Command::Ontask(Ontask { domain: some("example.org"), ..Ontask::default() }),
        Command::Ontask(Ontask { alert: Some(8), command: some("nvim"), ..Ontask::default() }),
        Command::Complete(Complete::default()),
        Command::Complete(Complete { outcome: Some(Outcome::Done), note: some("at last") }),
        Command::Complete(Complete { outcome: Some(Outcome::Partial), note: None }),
        Command::Complete(Complete { outcome: Some(Outcome::Abandoned), note: None }),
        Command::End(NoArgs {}),
        Command::Propose(Propose { intent: "write something".into() }),
        Command::Subscribe(Subscribe::default()),
        Command::Subscribe(Subscribe { topics: Some(vec![Topic::All]) }),
        Command::Subscribe(Subscribe { topics: Some(vec![Topic::State, Topic::Alert]) }),
        Command::Explain(NoArgs {}),
        Command::Ontask(Ontask { of_window: Some(OfWindow::WindowClass), ..Ontask::default() }),
        Command::Ontask(Ontask {
            alert: Some(9),
            of_window: Some(OfWindow::WindowTitle),
            ..Ontask::default()
        }),
        Command::Preview(NoArgs {}),
        Command::CheckJudge(NoArgs {}),
        Command::Pause(Pause::default()),
        Command::Pause(Pause { secs: Some(600) }),
        Command::Resume(NoArgs {}),
        Command::Extend(Extend { secs: 600 }),
        Command::Detour(TakeDetour { secs: 300, text: "look up the flag".into() }),
        Command::Allow(Allow::default()),
        Command::Allow(Allow {
            add: allowed(),
            remove: Allowed { domains: list(&["example.com"]), ..Allowed::default() },
        }),
        Command::Windows(NoArgs {}),
        Command::Refocus(Refocus { alert: Some(10), or_left: Some(true), activate: None }),
        Command::Ontask(Ontask { alert: Some(10), or_left: Some(true), ..Ontask::default() }),
        Command::Review(GiveReview::default()),
        Command::Review(GiveReview { outcome: Some(Outcome::Done), note: some("at last") }),
        Command::History(AskHistory::default()),
        Command::History(AskHistory {
            since: Some(at("2026-11-01T00:00:00Z")),
            before: Some(at("2026-12-01T00:00:00Z")),
        }),
        Command::Forget(NoArgs {}),
        Command::Presets(NoArgs {}),
        Command::Reload(NoArgs {}),
    ];
    let mut requests: Vec<Request> = commands
        .into_iter()
        .map(|command| {
            id += 1;
            Request { id: Some(id), command }
        })
        .collect();
    requests.push(Request { id: None, command: Command::Status(NoArgs {}) });
    requests.push(Request { id: Some(u64::MAX), command: Command::End(NoArgs {}) });
    requests
}

fn allowed() -> Allowed {
    Allowed {
        window_classes: list(&["code", "Zathura"]),
        window_titles: list(&["The \"Manual\""]),
        window_title_substrings: list(&["report"]),
        domains: list(&["example.org"]),
        commands: list(&["nvim"]),
    }
}

fn window() -> Window {
    Window {
        class: "firefox".into(),
        instance: "Navigator".into(),
        title: "reddit: the front page".into(),
        domain: some("reddit.com"),
        command: None,
    }
}

/// Every control that could act on a terminal, which is escaped, and what is not.
fn hostile_window() -> Window {
    Window {
        class: String::new(),
        instance: String::new(),
        title: "ok\u{1b}[31m\t\u{7}\u{7f}\u{9b}\u{202e}\u{2066}\u{61c}\u{2028} <b>&%{F#f00} é😀"
            .into(),
        domain: None,
        command: some("sh"),
    }
}

fn commitment() -> Commitment {
    Commitment {
        text: "draft the report".into(),
        next_action: some("outline section 2"),
        success_condition: some("outline agreed"),
        timebox_secs: Some(1500),
        started_at: at("2026-11-30T09:00:00Z"),
        elapsed_secs: 764,
        remaining_secs: Some(736),
    }
}

fn planning() -> State {
    State {
        phase: Phase::Planning,
        judge: Judge { backend: "none".into(), status: JudgeStatus::Off, ..Judge::default() },
        sensor: Sensor {
            kind: "x11".into(),
            status: SensorStatus::Unavailable,
            detail: some("no display"),
        },
        ..State::default()
    }
}

fn drifting() -> State {
    State {
        phase: Phase::Active,
        commitment: Some(commitment()),
        allowed: Some(allowed()),
        window: Some(window()),
        drift: Some(Drift {
            status: DriftStatus::Drifting,
            reason: some("Reddit is unrelated to drafting the report"),
            source: Some(DriftSource::Judge),
            alert: Some(1_764_490_000_007),
            quiet: true,
            since_at: at("2026-11-30T09:12:44Z"),
        }),
        judge: Judge {
            backend: "claude".into(),
            destination: Some(Destination::Cloud),
            status: JudgeStatus::Ready,
            calls: 3,
            limit: Some(40),
            last_ok_at: Some(at("2026-11-30T09:12:42.5Z")),
            last_error: some("timed out after 30 s"),
            last_error_at: Some(at("2026-11-30T09:05:00Z")),
            verdicts: Verdicts { rule: 12, cache: 31, embedded: 0, judge: 3 },
        },
        sensor: Sensor { kind: "x11".into(), status: SensorStatus::Ok, detail: None },
        ..State::default()
    }
}

fn detour() -> State {
    let until = at("2026-11-30T09:20:00Z");
    let since_at = at("2026-11-30T09:10:00Z");
    State {
        window: Some(hostile_window()),
        commitment: Some(Commitment {
            next_action: None,
            success_condition: None,
            timebox_secs: Some(60),
            remaining_secs: Some(-704),
            ..commitment()
        }),
        drift: Some(Drift { status: DriftStatus::Idle, since_at, ..Drift::default() }),
        away: Some(Away::Idle),
        paused: Some(Paused { since_at, until_at: Some(until) }),
        detour: Some(Detour {
            text: "pay the bill".into(),
            since_at,
            until_at: until,
            window: Some(window()),
        }),
        ..drifting()
    }
}

fn review() -> State {
    State {
        phase: Phase::Review,
        allowed: None,
        drift: None,
        commitment: Some(Commitment { timebox_secs: None, remaining_secs: None, ..commitment() }),
        review: Some(sums()),
        ..drifting()
    }
}

fn sums() -> Review {
    Review {
        outcome: Some(Outcome::Partial),
        note: some("half of it"),
        ended_at: at("2026-11-30T09:30:00Z"),
        ontask_secs: 900,
        drifting_secs: 120,
        other_secs: 60,
        away_secs: 600,
        paused_secs: 300,
        detour_secs: 120,
        alerts: 2,
    }
}

pub(crate) fn greetings() -> Vec<Greeting> {
    let server = "antidriftd 0.1.0".into();
    vec![Greeting { server, protocol: 1, instance: "1764489600000-4242".into(), max_line: 131_072 }]
}

pub(crate) fn statuses() -> Vec<Status> {
    let states = [planning(), drifting(), detour(), review()];
    let at = at("2026-11-30T09:12:44.12Z");
    states.into_iter().map(|state| Status { seq: 118, at, state }).collect()
}

pub(crate) fn started() -> Vec<Started> {
    let at = at("2026-11-30T09:00:00Z");
    let state = drifting();
    let clean = Started { seq: 119, at, saved: true, warning: None, state, notes: vec![] };
    let warning = some("the state could not be saved: no space left on device");
    let notes = list(&["domains cannot be seen by this sensor"]);
    vec![clean.clone(), Started { saved: false, warning, notes, ..clean }]
}

pub(crate) fn refocused() -> Vec<Refocused> {
    let plain =
        Refocused { seq: 120, saved: true, warning: None, window: Some(window()), activated: None };
    vec![
        Refocused { activated: Some(true), ..plain.clone() },
        Refocused { activated: Some(false), window: None, ..plain.clone() },
        plain,
    ]
}

pub(crate) fn allowing() -> Vec<Allowing> {
    let added = |kind: Selector, value: &str| Allowing {
        seq: 121,
        saved: true,
        warning: None,
        added: Some(Added { kind: kind.as_str().into(), value: value.into() }),
        window: Some(window()),
    };
    let nothing = added(Selector::WindowClass, "");
    vec![
        added(Selector::WindowClass, "firefox"),
        added(Selector::WindowTitle, "The Manual"),
        added(Selector::WindowTitleSubstring, "Manual"),
        added(Selector::Domain, "example.org"),
        added(Selector::Command, "nvim"),
        Allowing { saved: false, warning: some("read-only"), added: None, window: None, ..nothing },
    ]
}

pub(crate) fn completed() -> Vec<Completed> {
    let review = Review { outcome: None, note: None, ..sums() };
    vec![
        Completed { seq: 122, saved: true, warning: None, review: sums() },
        Completed { seq: 122, saved: false, warning: some("read-only"), review },
    ]
}

pub(crate) fn changed() -> Vec<Changed> {
    vec![
        Changed { seq: 123, saved: true, warning: None },
        Changed { seq: 123, saved: false, warning: some("read-only") },
    ]
}

pub(crate) fn allowances() -> Vec<Allowance> {
    vec![
        Allowance { seq: 124, saved: true, warning: None, allowed: allowed() },
        Allowance {
            seq: 124,
            saved: false,
            warning: some("read-only"),
            allowed: Allowed::default(),
        },
    ]
}

pub(crate) fn windows() -> Vec<Windows> {
    vec![Windows { windows: vec![window(), hostile_window()], omitted: 3 }, Windows::default()]
}

fn record() -> Record {
    let stretch = |(&spent, secs)| Stretch { spent, secs };
    let share = |name: &str| Share {
        name: name.into(),
        ontask_secs: 900,
        drifting_secs: 120,
        other_secs: 60,
    };
    Record {
        started_at: at("2026-11-30T09:00:00Z"),
        ended_at: at("2026-11-30T09:30:00Z"),
        text: "draft the report".into(),
        next_action: some("outline section 2"),
        success_condition: some("outline agreed"),
        planned_secs: Some(1500),
        outcome: Some(Outcome::Partial),
        note: some("half of it"),
        alerts: 2,
        timeline: Spent::KNOWN.iter().zip(100..).map(stretch).collect(),
        classes: vec![share("firefox"), share("")],
        titles: vec![share("The Manual")],
        answers: vec![AlertAnswer {
            at: at("2026-11-30T09:12:44Z"),
            class: "firefox".into(),
            why: ClearedWhy::Refocus,
            secs: 12,
        }],
    }
}

pub(crate) fn reviewed() -> Vec<Reviewed> {
    vec![
        Reviewed { seq: 125, saved: true, warning: None, record: record() },
        Reviewed { seq: 125, saved: false, warning: some("read-only"), record: Record::default() },
    ]
}

pub(crate) fn histories() -> Vec<History> {
    vec![History { sessions: vec![record(), Record::default()], more: true }, History::default()]
}

pub(crate) fn forgotten() -> Vec<Forgotten> {
    vec![Forgotten { sessions: 12 }]
}

pub(crate) fn proposed() -> Vec<Proposed> {
    let proposal = Proposal {
        next_action: "outline section 2".into(),
        success_condition: "outline agreed".into(),
        timebox_secs: 1500,
        allowed: allowed(),
    };
    vec![Proposed { proposal, unseen: list(&["Zathura"]) }]
}

pub(crate) fn explained() -> Vec<Explained> {
    let step = |step: &str, outcome: &str, detail: &str| ExplainedStep {
        step: step.into(),
        outcome: outcome.into(),
        detail: detail.into(),
    };
    let steps = vec![
        step("window", "firefox", "title: Bench \"Ada\" - IKEA"),
        step("rule", "drifting", "pastime: IKEA is a shopping site"),
    ];
    vec![Explained { steps }, Explained { steps: Vec::new() }]
}

pub(crate) fn previewed() -> Vec<Previewed> {
    vec![
        Previewed {
            backend: "claude".into(),
            destination: Some(Destination::Cloud),
            text: "You judge …\nDATA {}\n".into(),
            withheld: None,
        },
        Previewed {
            backend: "command".into(),
            withheld: some("it is private"),
            ..Previewed::default()
        },
    ]
}

pub(crate) fn checked() -> Vec<CheckedJudge> {
    vec![
        CheckedJudge { verdict: some("drifting"), detail: "a video site".into(), millis: 812 },
        CheckedJudge {
            verdict: None,
            detail: "claude: no answer within 30 s".into(),
            millis: 30_001,
        },
    ]
}

pub(crate) fn presets() -> Vec<Presets> {
    let preset = Preset {
        name: "writing".into(),
        text: some("write the thesis"),
        next_action: some("outline section 2"),
        success_condition: some("outline agreed"),
        timebox_secs: Some(1500),
        allowed: allowed(),
    };
    let last = Preset { text: some("draft the report"), allowed: allowed(), ..Preset::default() };
    let bare = Preset { name: "mail".into(), ..Preset::default() };
    vec![Presets { presets: vec![bare, preset], last: Some(last) }, Presets::default()]
}

pub(crate) fn reloaded() -> Vec<Reloaded> {
    vec![
        Reloaded {
            changed: list(&["judge.backend", "presets.writing"]),
            notes: list(&["the judge is off: claude is not installed"]),
        },
        Reloaded::default(),
    ]
}

pub(crate) fn subscribed() -> Vec<Subscribed> {
    vec![Subscribed { instance: "1764489600000-4242".into() }]
}

/// One of every code, and those that carry data.
pub(crate) fn errors() -> Vec<ErrorObject> {
    let mut errors: Vec<ErrorObject> = ErrorCode::KNOWN
        .iter()
        .map(|&code| ErrorObject::new(code, format!("because of {}", code.as_str())))
        .collect();
    errors.push(ErrorObject::unsupported_protocol("antidriftd 0.1.0"));
    let mut failed = ErrorObject::new(ErrorCode::CoachFailed, "the coach failed");
    failed.data.insert("detail".into(), "exit status 1".into());
    errors.push(failed);
    errors
}

pub(crate) fn events() -> Vec<Event> {
    let mut bodies: Vec<EventBody> = [planning(), drifting(), detour(), review()]
        .into_iter()
        .map(|state| EventBody::State(Box::new(state)))
        .collect();
    let raised =
        |window, reason| AlertRaised { alert: 1_764_490_000_007, window, reason, quiet: false };
    bodies.push(EventBody::AlertRaised(raised(Some(window()), some("unrelated"))));
    bodies.push(EventBody::AlertRaised(raised(None, None)));
    bodies.push(EventBody::AlertReminder(AlertReminder {
        alert: 1_764_490_000_007,
        n: 2,
        quiet: true,
    }));
    for &why in ClearedWhy::KNOWN {
        bodies.push(EventBody::AlertCleared(AlertCleared { alert: 1_764_490_000_007, why }));
    }
    bodies.push(EventBody::TimeboxElapsed);
    for &kind in NoticeKind::KNOWN {
        bodies.push(EventBody::Notice(Notice { kind, text: "the pause is over".into() }));
    }
    bodies.push(EventBody::Lagged(Lagged { missed: 87 }));
    bodies.push(EventBody::Shutdown(Shutdown { reason: "stopped by SIGTERM".into() }));
    let at = at("2026-11-30T09:12:44.12Z");
    bodies.into_iter().zip(118..).map(|(body, seq)| Event { seq, at, body }).collect()
}

/// Every word of every enumeration.
pub(crate) fn words() -> serde_json::Value {
    serde_json::json!({
        "away": Away::KNOWN,
        "cleared_why": ClearedWhy::KNOWN,
        "destination": Destination::KNOWN,
        "drift_source": DriftSource::KNOWN,
        "drift_status": DriftStatus::KNOWN,
        "error_code": ErrorCode::KNOWN,
        "judge_status": JudgeStatus::KNOWN,
        "notice_kind": NoticeKind::KNOWN,
        "outcome": Outcome::KNOWN,
        "phase": Phase::KNOWN,
        "spent": Spent::KNOWN,
        "sensor_status": SensorStatus::KNOWN,
        "topic": [Topic::State, Topic::Alert, Topic::All],
    })
}

//! What fits into a line, and that requests within their bounds come through whole.
#![allow(clippy::unwrap_used, reason = "tests")]

use antidrift_protocol::*;
use proptest::{prelude::*, sample::select};

/// Characters by how they are written: as they are in one to four bytes, with a backslash, and as
/// six bytes for one, two and three.
const CHARS: [char; 12] =
    ['x', 'é', '日', '😀', '"', '\\', '\n', '\u{1}', '\u{7f}', '\u{9b}', '\u{61c}', '\u{202e}'];

/// The longest text of one character within a number of bytes, with a letter where one is asked
/// for.
fn full(c: char, bytes: usize) -> String {
    c.to_string().repeat(bytes / c.len_utf8())
}

/// The fullest lists. An entry has no control characters: in their place stands what is as wide.
fn fullest(c: char) -> Allowed {
    let c = if c.is_control() { '"' } else { c };
    // Of one character, for most quotes and commas, until the bytes are gone; then long ones.
    let short = format!("x{c}");
    let mut lists: [Vec<String>; 5] = std::array::from_fn(|_| vec![short.clone(); MAX_ENTRIES]);
    let build = |lists: &[Vec<String>; 5]| {
        let [window_classes, window_titles, window_title_substrings, domains, commands] =
            lists.clone();
        Allowed { window_classes, window_titles, window_title_substrings, domains, commands }
    };
    let long = format!("x{}", full(c, MAX_ENTRY - 1));
    'fill: for list in 0..lists.len() {
        for entry in 0..MAX_ENTRIES {
            lists[list][entry] = long.clone();
            if build(&lists).size() > MAX_ALLOWED {
                lists[list][entry] = short.clone();
                break 'fill;
            }
        }
    }
    build(&lists)
}

fn window(c: char) -> Window {
    Window {
        class: full(c, MAX_CLASS),
        instance: full(c, MAX_CLASS),
        title: full(c, MAX_TITLE),
        domain: Some(full(c, MAX_CLASS)),
        command: Some(full(c, MAX_CLASS)),
    }
}

fn at() -> Timestamp {
    Timestamp::from_millis(i64::MAX)
}

fn active(c: char) -> State {
    State {
        phase: Phase::Planning, // the longest word
        commitment: Some(Commitment {
            text: full(c, MAX_TEXT),
            next_action: Some(full(c, MAX_FIELD)),
            success_condition: Some(full(c, MAX_FIELD)),
            timebox_secs: Some(MAX_TIMEBOX_SECS),
            started_at: at(),
            elapsed_secs: u64::MAX,
            remaining_secs: Some(i64::MIN),
        }),
        allowed: Some(fullest(c)),
        window: Some(window(c)),
        drift: Some(Drift {
            status: DriftStatus::Drifting,
            reason: Some(full(c, MAX_REASON)),
            source: Some(DriftSource::Embedded),
            alert: Some(u64::MAX),
            quiet: false,
            since_at: at(),
        }),
        away: Some(Away::Suspended),
        paused: Some(Paused { since_at: at(), until_at: Some(at()) }),
        detour: Some(Detour {
            text: full(c, MAX_FIELD),
            since_at: at(),
            until_at: at(),
            window: Some(window(c)),
        }),
        review: None,
        judge: Judge {
            backend: full(c, MAX_CLASS),
            destination: Some(Destination::Local),
            status: JudgeStatus::BackingOff,
            calls: u64::MAX,
            limit: Some(u64::MAX),
            last_ok_at: Some(at()),
            last_error: Some(full(c, MAX_MESSAGE)),
            last_error_at: Some(at()),
            verdicts: Verdicts {
                rule: u64::MAX,
                cache: u64::MAX,
                embedded: u64::MAX,
                judge: u64::MAX,
            },
        },
        sensor: Sensor {
            kind: "x11".into(),
            status: SensorStatus::Unavailable,
            detail: Some(full(c, MAX_MESSAGE)),
        },
    }
}

fn review(c: char) -> Review {
    Review {
        outcome: Some(Outcome::Abandoned),
        note: Some(full(c, MAX_FIELD)),
        ended_at: at(),
        ontask_secs: u64::MAX,
        drifting_secs: u64::MAX,
        other_secs: u64::MAX,
        away_secs: u64::MAX,
        paused_secs: u64::MAX,
        detour_secs: u64::MAX,
        alerts: u64::MAX,
    }
}

/// Names are cleaned, so they hold nothing that is long when escaped but quotes.
fn record(c: char) -> Record {
    let name = if text::clean(&c.to_string(), 1).is_empty() { '"' } else { c };
    let name = name.to_string().repeat(MAX_NAME);
    let share = Share {
        name: name.clone(),
        ontask_secs: u64::MAX,
        drifting_secs: u64::MAX,
        other_secs: u64::MAX,
    };
    // Longer than any session is.
    let stretch = Stretch { spent: Spent::Drifting, secs: 10_000_000_000 };
    let answer = AlertAnswer { at: at(), class: name, why: ClearedWhy::Completed, secs: u64::MAX };
    Record {
        started_at: at(),
        ended_at: at(),
        text: full(c, MAX_TEXT),
        next_action: Some(full(c, MAX_FIELD)),
        success_condition: Some(full(c, MAX_FIELD)),
        planned_secs: Some(MAX_TIMEBOX_SECS),
        outcome: Some(Outcome::Abandoned),
        note: Some(full(c, MAX_FIELD)),
        alerts: u64::MAX,
        timeline: vec![stretch; MAX_STRETCHES],
        classes: vec![share.clone(); MAX_NAMES],
        titles: vec![share; MAX_NAMES],
        answers: vec![answer; MAX_ALERTS],
    }
}

fn ended(c: char) -> State {
    let review = Some(review(c));
    State { allowed: None, drift: None, paused: None, detour: None, review, ..active(c) }
}

/// A session that has just begun: nobody has paused it or left it yet.
fn begun(c: char) -> State {
    State { paused: None, detour: None, ..active(c) }
}

fn event(body: EventBody) -> String {
    Event { seq: u64::MAX, at: at(), body }.to_line()
}

fn reply(answer: Answer) -> String {
    Reply { id: Some(u64::MAX), result: Ok(answer) }.to_line()
}

/// The longest line of each kind, made of one character.
fn longest(c: char) -> Vec<(&'static str, String)> {
    let warning = Some(full(c, MAX_MESSAGE));
    let seq = u64::MAX;
    let status = |state| Answer::Status(Box::new(Status { seq, at: at(), state }));
    let detail = serde_json::json!({ "detail": full(c, MAX_REASON) });
    let serde_json::Value::Object(data) = detail else { panic!("{detail}") };
    let error =
        ErrorObject { data, ..ErrorObject::new(ErrorCode::CoachFailed, full(c, MAX_MESSAGE)) };
    vec![
        ("state while active", event(EventBody::State(Box::new(active(c))))),
        ("state in review", event(EventBody::State(Box::new(ended(c))))),
        (
            "alert_raised",
            event(EventBody::AlertRaised(AlertRaised {
                alert: u64::MAX,
                window: Some(window(c)),
                reason: Some(full(c, MAX_REASON)),
                quiet: false,
            })),
        ),
        (
            "notice",
            event(EventBody::Notice(Notice {
                kind: NoticeKind::DetourEnded,
                text: full(c, MAX_MESSAGE),
            })),
        ),
        ("shutdown", event(EventBody::Shutdown(Shutdown { reason: full(c, MAX_MESSAGE) }))),
        ("status while active", reply(status(active(c)))),
        ("status in review", reply(status(ended(c)))),
        (
            "start",
            reply(Answer::Start(Box::new(Started {
                seq,
                at: at(),
                saved: false,
                warning: warning.clone(),
                state: begun(c),
                // As a rule the judge's or the sensor's own sentence with a few words before it.
                notes: vec!["x".repeat(50) + &full(c, MAX_MESSAGE); MAX_NOTES],
            }))),
        ),
        (
            "refocus",
            reply(Answer::Refocus(Refocused {
                seq,
                saved: false,
                warning: warning.clone(),
                window: Some(window(c)),
                activated: Some(false),
            })),
        ),
        (
            "ontask",
            reply(Answer::Ontask(Allowing {
                seq,
                saved: false,
                warning: warning.clone(),
                added: Some(Added {
                    kind: Selector::WindowTitleSubstring.as_str().into(),
                    value: full(c, MAX_ENTRY),
                }),
                window: Some(window(c)),
            })),
        ),
        (
            "complete",
            reply(Answer::Complete(Completed {
                seq,
                saved: false,
                warning: warning.clone(),
                review: review(c),
            })),
        ),
        (
            "allow",
            reply(Answer::Allow(Allowance {
                seq,
                saved: false,
                warning: warning.clone(),
                allowed: fullest(c),
            })),
        ),
        ("windows", reply(Answer::Windows(Windows::within_a_line(vec![window(c); 1000])))),
        (
            "allow request",
            Request {
                id: Some(u64::MAX),
                command: Command::Allow(Allow { add: fullest(c), remove: fullest(c) }),
            }
            .to_line(),
        ),
        (
            "review",
            reply(Answer::Review(Box::new(Reviewed {
                seq,
                saved: false,
                warning: warning.clone(),
                record: record(c),
            }))),
        ),
        ("history", reply(Answer::History(History::within_a_line(vec![record(c); 9], true)))),
        (
            "propose",
            reply(Answer::Propose(Proposed {
                proposal: Proposal {
                    next_action: full(c, MAX_FIELD),
                    success_condition: full(c, MAX_FIELD),
                    timebox_secs: u64::MAX,
                    allowed: fullest(c),
                },
                unseen: vec![full(c, 64); 16],
            })),
        ),
        (
            "preview",
            reply(Answer::Preview(Previewed {
                backend: full(c, MAX_FIELD),
                destination: Some(Destination::Cloud),
                text: full(c, 8000),
                withheld: Some(full(c, MAX_FIELD)),
            })),
        ),
        (
            "explain",
            reply(Answer::Explain(Explained {
                steps: (0..16)
                    .map(|_| ExplainedStep {
                        step: "site or program".into(),
                        outcome: full(c, 64),
                        detail: full(c, 1024),
                    })
                    .collect(),
            })),
        ),
        (
            "presets",
            reply(Answer::Presets(Box::new(Presets {
                // As many as the configuration may hold, whatever their characters.
                presets: vec![Preset { name: "x".repeat(MAX_PRESETS - 150), ..Preset::default() }],
                last: Some(Preset {
                    name: String::new(),
                    text: Some(full(c, MAX_TEXT)),
                    next_action: Some(full(c, MAX_FIELD)),
                    success_condition: Some(full(c, MAX_FIELD)),
                    timebox_secs: Some(MAX_TIMEBOX_SECS),
                    allowed: fullest(c),
                }),
            }))),
        ),
        (
            "reload",
            reply(Answer::Reload(Reloaded {
                changed: vec![full(c, 96); 64],
                notes: vec![full(c, MAX_MESSAGE); MAX_NOTES],
            })),
        ),
        ("error", Reply::<()> { id: Some(u64::MAX), result: Err(error) }.to_line()),
        (
            "start request",
            Request {
                id: Some(u64::MAX),
                command: Command::Start(Start {
                    text: full(c, MAX_TEXT),
                    next_action: Some(full(c, MAX_FIELD)),
                    success_condition: Some(full(c, MAX_FIELD)),
                    timebox_secs: Some(MAX_TIMEBOX_SECS),
                    allowed: fullest(c),
                }),
            }
            .to_line(),
        ),
    ]
}

#[test]
fn the_longest_line_of_every_kind_fits() {
    for c in CHARS {
        for (kind, line) in longest(c) {
            let length = line.len() - 1;
            assert!(length <= MAX_LINE, "{kind} of {c:?}: {length} bytes");
        }
    }
    // Neither do the bounds have room for twice as much.
    let most = longest('\u{1}').into_iter().map(|(_, line)| line.len()).max();
    assert!(most > Some(MAX_LINE * 3 / 4), "{most:?}");
}

#[test]
fn the_fullest_lists_are_accepted() {
    for c in CHARS {
        let allowed = fullest(c);
        assert!(allowed.size() > MAX_ALLOWED - 6 * MAX_ENTRY, "{c:?}: {}", allowed.size());
        allowed.check_bounds("allowed").unwrap();
    }
}

fn text(bytes: usize) -> impl Strategy<Value = String> {
    let c = prop_oneof![3 => select(&CHARS[..]), 1 => any::<char>()];
    (prop::collection::vec(c, 0..80), prop_oneof![4 => Just(0), 1 => 0..=bytes]).prop_map(
        move |(chars, fill)| {
            let mut text = full(*chars.first().unwrap_or(&'x'), fill);
            for c in chars.into_iter().cycle() {
                if text.len() + c.len_utf8() > bytes || text.len() > fill + 80 {
                    break;
                }
                text.push(c);
            }
            text
        },
    )
}

/// Not blank: an escape sequence would take a letter behind it with it.
fn typed(bytes: usize) -> impl Strategy<Value = String> {
    text(bytes - 1).prop_map(|text| "x".to_owned() + &text)
}

fn entry() -> impl Strategy<Value = String> {
    typed(MAX_ENTRY).prop_map(|text| text.chars().filter(|c| !c.is_control()).collect())
}

/// What stands in an address or a path, mostly.
fn part() -> impl Strategy<Value = String> {
    let fits = |c: &char| !c.is_control() && !c.is_whitespace();
    text(MAX_ENTRY - 40).prop_map(move |text| text.chars().filter(fits).collect())
}

fn host() -> impl Strategy<Value = String> {
    part().prop_map(|part| format!("https://example.org/{part}"))
}

fn program() -> impl Strategy<Value = String> {
    part().prop_map(|part| format!("/{part}/make"))
}

fn allowed() -> impl Strategy<Value = Allowed> {
    let list = || prop::collection::vec(entry(), 0..6);
    (
        prop_oneof![9 => list(), 1 => prop::collection::vec(entry(), 64)],
        list(),
        list(),
        prop::collection::vec(host(), 0..6),
        prop::collection::vec(program(), 0..6),
    )
        .prop_map(|(window_classes, window_titles, window_title_substrings, domains, commands)| {
            Allowed { window_classes, window_titles, window_title_substrings, domains, commands }
        })
        .prop_map(|mut allowed| {
            while allowed.size() > MAX_ALLOWED {
                let Allowed { window_classes, domains, window_titles, .. } = &mut allowed;
                let lists = [window_classes, domains, window_titles];
                lists.into_iter().for_each(|list| drop(list.pop()));
            }
            allowed
        })
}

fn field() -> impl Strategy<Value = Option<String>> {
    prop::option::of(text(MAX_FIELD))
}

fn start() -> impl Strategy<Value = Start> {
    (typed(MAX_TEXT), field(), field(), prop::option::of(1..=MAX_TIMEBOX_SECS), allowed()).prop_map(
        |(text, next_action, success_condition, timebox_secs, allowed)| Start {
            text,
            next_action,
            success_condition,
            timebox_secs,
            allowed,
        },
    )
}

fn ontask() -> impl Strategy<Value = Ontask> {
    let any_of = prop_oneof![
        (0..3_usize, entry()),
        host().prop_map(|host| (3, host)),
        program().prop_map(|program| (4, program)),
    ];
    let selector = prop::option::of(any_of);
    (answered(), selector).prop_map(|((alert, or_left), selector)| {
        let mut ontask = Ontask { alert, or_left, ..Ontask::default() };
        if let Some((which, value)) = selector {
            let Ontask {
                window_class, window_title, window_title_substring, domain, command, ..
            } = &mut ontask;
            let fields = [window_class, window_title, window_title_substring, domain, command];
            for (_, field) in fields.into_iter().enumerate().filter(|(n, _)| *n == which) {
                *field = Some(value.clone());
            }
        }
        ontask
    })
}

/// The alert that is answered, and whether it may have been left.
fn answered() -> impl Strategy<Value = (Option<u64>, Option<bool>)> {
    any::<(Option<u64>, Option<bool>)>()
        .prop_map(|(alert, or_left)| (alert, or_left.filter(|_| alert.is_some())))
}

fn request() -> impl Strategy<Value = Request> {
    let topics = prop::collection::vec(select(vec![Topic::State, Topic::Alert, Topic::All]), 1..64);
    let command = prop_oneof![
        (text(MAX_FIELD), any::<u64>())
            .prop_map(|(client, protocol)| Command::Hello(Hello { client, protocol })),
        Just(Command::Status(NoArgs {})),
        start().prop_map(Command::Start),
        (answered(), any::<Option<bool>>()).prop_map(|((alert, or_left), activate)| {
            Command::Refocus(Refocus { alert, or_left, activate })
        }),
        ontask().prop_map(Command::Ontask),
        (prop::option::of(select(Outcome::KNOWN)), field())
            .prop_map(|(outcome, note)| Command::Complete(Complete { outcome, note })),
        Just(Command::End(NoArgs {})),
        Just(Command::Resume(NoArgs {})),
        Just(Command::Windows(NoArgs {})),
        Just(Command::Forget(NoArgs {})),
        Just(Command::Presets(NoArgs {})),
        Just(Command::Reload(NoArgs {})),
        (prop::option::of(select(Outcome::KNOWN)), field())
            .prop_map(|(outcome, note)| Command::Review(GiveReview { outcome, note })),
        (allowed(), allowed()).prop_map(|(add, remove)| Command::Allow(Allow { add, remove })),
        prop::option::of(1..=MAX_TIMEBOX_SECS).prop_map(|secs| Command::Pause(Pause { secs })),
        (1..=MAX_TIMEBOX_SECS).prop_map(|secs| Command::Extend(Extend { secs })),
        (1..=MAX_TIMEBOX_SECS, typed(MAX_FIELD))
            .prop_map(|(secs, text)| Command::Detour(TakeDetour { secs, text })),
        typed(MAX_TEXT).prop_map(|intent| Command::Propose(Propose { intent })),
        prop::option::of(topics).prop_map(|topics| Command::Subscribe(Subscribe { topics })),
    ];
    (any::<Option<u64>>(), command).prop_map(|(id, command)| Request { id, command })
}

proptest! {
    #[test]
    fn a_request_within_its_bounds_comes_through_whole(request in request()) {
        prop_assert_eq!(request.command.check(), Ok(()));
        let line = request.to_line();
        let line = line.strip_suffix('\n').unwrap();
        prop_assert!(line.len() <= MAX_LINE && !line.chars().any(char::is_control));
        prop_assert_eq!(Request::parse(line.as_bytes()), Ok(request));
    }

    /// Not only of one character, and with a commitment and lists that the daemon accepts.
    #[test]
    fn a_state_within_its_bounds_fits(
        start in start(),
        reason in text(MAX_REASON),
        title in text(MAX_TITLE),
    ) {
        let mut state = active('\u{1}');
        let commitment = state.commitment.take().unwrap();
        state.commitment = Some(Commitment { text: start.text, ..commitment });
        state.allowed = Some(start.allowed);
        state.window.as_mut().unwrap().title = title;
        state.drift.as_mut().unwrap().reason = Some(reason);
        state.commitment.as_mut().unwrap().next_action = start.next_action;
        let sent = Event { seq: 1, at: at(), body: EventBody::State(Box::new(state)) };
        let line = sent.to_line();
        prop_assert!(line.len() <= MAX_LINE + 1, "{}", line.len());
        prop_assert_eq!(Event::parse(line.as_bytes()).unwrap(), sent);
    }
}

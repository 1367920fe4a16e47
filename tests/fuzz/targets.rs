//! What is tried, and what each promises of any input.

use std::{path::Path, sync::LazyLock, time::Duration};

use antidrift_daemon::{
    ai::{
        embedded::{Aim, Catalogue, judge},
        envelope::Envelope,
        parse,
    },
    config::{Config, dump},
    evidence::{Contexts, Privacy, context_title, domain_in_title},
    sensor::text::{Encoding, decode, pair, single},
    session::{Input, JudgeSettings, NotifySettings, Now, Session, Settings},
    store::snapshot_in,
};
use antidrift_protocol::{
    Event, MAX_LINE, Reply, Request, Status, Timestamp,
    frame::{Frame, LineDecoder},
    text,
};

/// The words of a message without what it repeats.
fn shape(message: &str) -> String {
    message.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(48).collect()
}

fn frames(input: &[u8], piece: usize) -> Vec<Frame> {
    let (mut lines, mut buffer, mut frames) = (LineDecoder::default(), Vec::new(), Vec::new());
    for piece in input.chunks(piece) {
        buffer.extend_from_slice(piece);
        while let Some(frame) = lines.next(&mut buffer) {
            if let Frame::Line(line) = &frame {
                assert!(line.len() <= MAX_LINE && !line.contains(&b'\n'));
            }
            frames.push(frame);
        }
    }
    frames
}

/// Lines are the same in whatever pieces they come.
pub(crate) fn frame(input: &[u8]) -> String {
    let whole = frames(input, usize::MAX);
    for piece in [1, 7, 4096] {
        assert!(frames(input, piece) == whole, "pieces of {piece}");
    }
    format!("{}", whole.len().min(64))
}

/// What is accepted is written as it was meant; what is refused is refused in a short line.
pub(crate) fn request(input: &[u8]) -> String {
    match Request::parse(input) {
        Ok(request) => {
            let line = request.to_line();
            assert_eq!(Request::parse(line.trim_end().as_bytes()).as_ref(), Ok(&request));
            assert!(line.len() <= MAX_LINE + 1);
            request.command.name().to_owned()
        }
        Err(refusal) => {
            assert!(refusal.error.message.len() <= 1024, "{}", refusal.error.message.len());
            assert!(!refusal.error.message.contains('\n'));
            format!("{} {}", refusal.error.code.as_str(), shape(&refusal.error.message))
        }
    }
}

/// What is read can be written and read again.
pub(crate) fn event(input: &[u8]) -> String {
    match Event::parse(input) {
        Ok(event) => {
            let again = Event::parse(event.to_line().as_bytes()).unwrap();
            assert_eq!(again.to_line(), event.to_line());
            format!("{:?}", std::mem::discriminant(&event.body))
        }
        Err(error) => shape(&error.to_string()),
    }
}

/// The same for an answer.
pub(crate) fn reply(input: &[u8]) -> String {
    match Reply::<Status>::parse(input) {
        Ok(reply) => {
            let again = Reply::<Status>::parse(reply.to_line().as_bytes()).unwrap();
            assert!(again == reply);
            format!("{}", reply.result.is_ok())
        }
        Err(error) => shape(&error.to_string()),
    }
}

/// One line that acts on nothing.
fn check_clean(text: &str, cap: usize) {
    assert!(text.chars().count() <= cap, "{}", text.chars().count());
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

/// A reason is one short clean line, and nothing that was quoted speaks.
pub(crate) fn verdict(input: &[u8]) -> String {
    // All of it stands in the window's own title: then nobody has answered.
    if let Ok(quoted) = str::from_utf8(input) {
        assert!(parse::verdict(input, &[quoted]).is_err(), "a title has answered");
    }
    match parse::verdict(input, &[]) {
        Ok(verdict) => {
            check_clean(&verdict.reason, 300);
            format!("{} {}", verdict.on_task, verdict.reason.is_empty())
        }
        Err(error) => shape(&error.to_string()),
    }
}

/// Fields are within the bounds of the protocol.
pub(crate) fn proposal(input: &[u8]) -> String {
    match parse::proposal(input, &[]) {
        Ok(proposal) => {
            check_clean(&proposal.next_action, 1024);
            check_clean(&proposal.success_condition, 1024);
            assert!((1..=1440).contains(&proposal.timebox_minutes), "{}", proposal.timebox_minutes);
            assert!(proposal.allowed_window_classes.len() <= 64);
            format!("{}", proposal.allowed_window_classes.len())
        }
        Err(error) => shape(&error.to_string()),
    }
}

/// Any output is opened or refused; what comes out is read as any answer is.
pub(crate) fn envelope(input: &[u8]) -> String {
    let all = [
        Envelope::Plain,
        Envelope::Claude,
        Envelope::Gemini,
        Envelope::CodexLines,
        Envelope::OpencodeLines,
        Envelope::OpenAi,
    ];
    let words = all.map(|envelope| match envelope.open(input) {
        Ok(text) => format!("{}", parse::verdict(&text, &[]).is_ok()),
        Err(closed) => format!("{closed:?}").chars().take(5).collect(),
    });
    words.join(" ")
}

fn settings() -> Settings {
    Settings {
        debounce: Duration::from_secs(10),
        settle: Duration::from_secs(2),
        judge_timeout: Duration::from_secs(30),
        contexts: Contexts::default(),
        judge: JudgeSettings::default(),
        privacy: Privacy::default(),
        notify: NotifySettings::default(),
        keep_titles: true,
        presets: Vec::new(),
    }
}

/// A session goes on from whatever was accepted, tells itself in a line, and saves what it would
/// accept again.
pub(crate) fn snapshot(input: &[u8]) -> String {
    let Some(snapshot) = snapshot_in(input) else { return "aside".into() };
    let wall = Timestamp::from_millis(1_796_029_200_000);
    let now = Now { awake: Duration::from_secs(10), boot: Duration::from_secs(20), wall };
    let mut session = Session::new(settings(), Some(snapshot), now);
    let hour = Duration::from_secs(3600);
    let later = Now { awake: now.awake + hour, boot: now.boot + hour * 2, wall };
    for now in [now, later] {
        let _ = session.handle(Input::Tick, now);
        let state = session.state(now);
        let line = serde_json::to_string(&state).unwrap();
        assert!(line.len() < MAX_LINE, "{}", line.len());
        session.snapshot().check().unwrap();
    }
    session.state(later).phase.as_str().to_owned()
}

/// Bytes of a property become text within its bound, and a title a clean line at each place.
pub(crate) fn title(input: &[u8]) -> String {
    let mut word = String::new();
    for encoding in [Encoding::Utf8, Encoding::Latin1, Encoding::CompoundText] {
        for cap in [0, 1, 5, 1024] {
            assert!(decode(encoding, input, cap).len() <= cap);
            assert!(single(encoding, input, cap).len() <= cap);
            let (instance, class) = pair(encoding, input, cap);
            assert!(instance.len() <= cap && class.len() <= cap);
        }
        let title = decode(encoding, input, 1024);
        check_clean(&text::clean(&title, 200), 200);
        check_clean(&text::terminal(&title, 200), 2000);
        let context = context_title(&title);
        assert_eq!(context_title(&context), context, "the context of a context is itself");
        word.push_str(if context.is_empty() { "-" } else { "x" });
        word.push_str(if domain_in_title(&title).is_some() { "d" } else { "." });
        word.push_str(if title.contains('\u{fffd}') { "?" } else { "." });
    }
    word
}

/// A configuration is accepted, and then its dump is and comes to the same, or has a fault with a
/// place.
pub(crate) fn config(input: &[u8]) -> String {
    let Ok(file) = str::from_utf8(input) else { return "bytes".into() };
    match Config::parse(Path::new("c"), file, None) {
        Ok(config) => {
            let dumped = dump(&config.settings);
            let again = Config::parse(Path::new("c"), &dumped, None)
                .unwrap_or_else(|error| panic!("{error}\n{dumped}"));
            let values = |config: &Config| {
                let of = |it: &antidrift_daemon::config::Setting| {
                    (it.table.clone(), it.name.clone(), it.literal.clone())
                };
                config.settings.iter().map(of).collect::<Vec<_>>()
            };
            assert_eq!(values(&again), values(&config), "{dumped}");
            format!("{}", config.presets.len())
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("c:"), "{message}");
            assert!(!message.contains('\n'), "{message}");
            shape(&message)
        }
    }
}

/// Any window is judged, with a reason that is one clean line.
pub(crate) fn judgement(input: &[u8]) -> String {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::default);
    let text = String::from_utf8_lossy(input);
    let (class, title) = text.split_once('\n').unwrap_or(("firefox", &text));
    let aim = Aim::new(&CATALOGUE, &["write the report on river floods", title], &[class.into()]);
    let opinion = judge(&CATALOGUE, &aim, class, title);
    check_clean(&opinion.reason, 400);
    let other = Aim::new(&CATALOGUE, &["write the report on river floods"], &[]);
    let opinion = judge(&CATALOGUE, &other, class, title);
    check_clean(&opinion.reason, 400);
    format!("{:?}", opinion.answer)
}

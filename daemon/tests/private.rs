//! No debug output of what the controller handles holds a title, a reason, or what a person typed:
//! one careless log line must not publish them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use antidrift_daemon::{
    ai::Verdict,
    evidence::{Contexts, Window},
    hub::Hub,
    sensor::{Absence, Focus, Health, Observation},
    session::{Input, JudgeSettings, NotifySettings, Now, RunId, Session, Settings, Ticket},
};
use antidrift_protocol::{
    Allowed, Command, Complete, Destination, NoArgs, Ontask, Refocus, Start, Timestamp, Topic,
};

const SECRET: &str = "s3cr3t";

fn secret() -> String {
    SECRET.to_owned()
}

fn settings() -> Settings {
    Settings {
        debounce: Duration::ZERO,
        settle: Duration::ZERO,
        judge_timeout: Duration::from_secs(30),
        contexts: Contexts::default(),
        privacy: antidrift_daemon::evidence::Privacy::default(),
        notify: NotifySettings::default(),
        keep_titles: false,
        presets: Vec::new(),
        judge: JudgeSettings {
            backend: "command".into(),
            destination: Some(Destination::Local),
            error: None,
            model: true,
            ..JudgeSettings::default()
        },
    }
}

fn start() -> Command {
    Command::Start(Start {
        text: secret(),
        next_action: Some(secret()),
        success_condition: Some(secret()),
        timebox_secs: None,
        allowed: Allowed {
            window_titles: vec![secret()],
            window_title_substrings: vec![format!("no {SECRET}")],
            domains: vec![format!("{SECRET}.org")],
            ..Allowed::default()
        },
    })
}

fn focus(id: u32, title: &str) -> Input {
    let window = Window {
        id,
        class: "firefox".into(),
        title: title.into(),
        domain: Some(format!("www.{SECRET}.net")),
        ..Window::default()
    };
    Input::Observed(Observation {
        health: Health::Ok(None),
        focus: Focus::Window(window.into()),
        absence: Absence::default(),
    })
}

fn request(command: Command) -> Input {
    Input::Request { ticket: Ticket(1), command, lineage: Vec::new() }
}

fn judged(run: u64, on_task: bool) -> Input {
    Input::JudgeDone { run: RunId(run), result: Ok(Verdict { on_task, reason: secret() }) }
}

#[test]
fn debug_output_holds_no_private_text() {
    let mut now = Now {
        awake: Duration::from_secs(100),
        boot: Duration::from_secs(100),
        wall: Timestamp::from_millis(0),
    };
    let mut session = Session::new(settings(), None, now);
    let mut hub = Hub::default();
    let subscription = hub.subscribe(&[Topic::All], 0, session.state(now), now);
    let inputs = [
        request(start()),
        focus(1, "a s3cr3t page"),
        judged(1, false),
        focus(2, "another s3cr3t page"),
        judged(2, true),
        request(Command::Ontask(Ontask { window_title: Some(secret()), ..Ontask::default() })),
        // Its verdict was forgotten.
        judged(3, true),
        focus(3, "a third s3cr3t page"),
        judged(4, false),
        focus(4, "s3cr3t"),
        request(Command::Refocus(Refocus::default())),
        request(Command::Status(NoArgs {})),
        request(Command::Complete(Complete { note: Some(secret()), outcome: None })),
        Input::Shutdown { reason: "stopped".into() },
    ];
    let (mut judgements, mut alerts) = (0, 0);
    for input in inputs {
        let told = format!("{input:?}");
        now.awake += Duration::from_secs(1);
        let mut effects = session.handle(input, now);
        judgements += usize::from(effects.start_judge.is_some());
        alerts += effects.edges.iter().filter(|edge| edge.name() == "alert_raised").count();
        let answered = format!("{effects:?}");
        hub.publish(&mut effects, now);
        let shown = format!("{told}\n{answered}\n{session:?}\n{hub:?}\n{subscription:?}");
        assert!(!shown.contains(SECRET), "{shown}");
    }
    assert_eq!((judgements, alerts), (4, 2), "everything was met");
}

#[test]
fn what_passes_between_judges_coaches_and_models_tells_nothing() {
    use antidrift_daemon::ai::{
        Question,
        backend::{Answered, Prompt},
        coach::{Intent, Proposal},
        prompt::{self, Task},
    };
    let question = Question {
        commitment: secret(),
        next_action: Some(secret()),
        success_condition: Some(secret()),
        allowed_classes: vec![secret()],
        class: "firefox".into(),
        title: secret(),
    };
    let intent = Intent { text: secret(), classes: vec!["firefox".into()] };
    let prompt =
        Prompt { task: Task::Judge, text: prompt::judge(&question), private: vec![secret()] };
    let answered = Answered { text: secret().into_bytes(), complaint: String::new() };
    let proposal = Proposal {
        next_action: secret(),
        success_condition: secret(),
        timebox_minutes: 25,
        allowed_window_classes: vec!["firefox".into()],
    };
    let shown = format!("{question:?} {intent:?} {prompt:?} {answered:?} {proposal:?}");
    let bytes = format!("{:?}", secret().into_bytes());
    assert!(!shown.contains(SECRET) && !shown.contains(bytes.trim_matches(['[', ']'])), "{shown}");
}

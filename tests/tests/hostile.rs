//! Titles that were made to break things, through the whole product: each is set on a real window,
//! a judge repeats it as its reason, and every place that shows or sends it has what the fixtures
//! say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;

use antidrift_protocol::text::clean;
use antidrift_tests::{Manager, Scene, TestWindow, WindowSpec, until};
use serde_json::Value;

/// Answers with the title as it stands in the question.
const ECHO: &str = r#"title=${window#*'"title":'}
printf '{"on_task": false, "reason": %s}\n' "${title%'}}'}""#;

/// One fixture, on the screen.
struct Case<'a> {
    name: String,
    class: String,
    /// The title as people are to read it.
    wanted: String,
    sinks: Value,
    prompt: Option<String>,
    window: TestWindow<'a>,
}

/// Whether it could act on a terminal or turn a line around.
fn acts(c: char) -> bool {
    c.is_control()
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[track_caller]
fn harmless(name: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|&c| acts(c) && c != '\n').collect();
    assert!(found.is_empty(), "{name}: {found:?} in {text:?}");
}

#[test]
fn every_hostile_title_is_harmless_in_every_place() {
    let mut scene = Scene::on(Manager::Bare)
        .dunst()
        .settings(|it| it.drift = "[notify]\nbudget = 0".into())
        .start();
    scene.judge.rule("Fun", ECHO);
    scene.begin("the report");
    let desktop = scene.desktop();
    let mut lines = scene.watch(&[]);
    let mut json_lines = scene.watch(&["--json", "--no-notify"]);
    let fixtures = fs::read_to_string("fixtures/judge/hostile_titles.jsonl").unwrap();
    let rows: Vec<Value> =
        fixtures.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 36);
    for (n, row) in rows.iter().enumerate() {
        let (name, class) = (row["name"].as_str().unwrap().to_owned(), format!("Fun{n}"));
        let bytes = title_of(row);
        let window = WindowSpec::new("").class(&class).unmapped().open(&desktop);
        window.set("_NET_WM_NAME", "UTF8_STRING", &bytes);
        window.map();
        window.focus();
        let alert = scene.subscriber.until_alert();
        let seen = alert.window.unwrap().title;
        // NUL ends a title, so the rest of such a one is not seen.
        let whole = !bytes.contains(&0);
        let wanted = clean(&seen, 200);
        assert!(!whole || wanted == row["clean"].as_str().unwrap(), "{name}: {wanted:?}");
        assert_eq!(alert.reason.unwrap_or_default(), wanted, "{name}: the judge repeats it");
        let sinks = if whole { row["sinks"].clone() } else { Value::Null };
        let prompt = row["prompt_json"].as_str().filter(|_| whole).map(str::to_owned);
        let case = Case { name, class, wanted, sinks, prompt, window };
        in_the_prompt(&scene, &case);
        at_the_terminal(&scene, &case);
        in_json(&scene, &case, &seen);
        in_the_popup(&scene, &case);
        let line = lines.until("the alert", |line| line.contains(&format!("[{}", case.class)));
        let shown = format!("drifting: {} [{}]", case.terminal(), case.in_a_line());
        assert_eq!(line, shown, "{}: a line in a pipe", case.name);
        let line = json_lines.until("the alert", |line| {
            line.contains("\"alert_raised\"") && line.contains(&format!("\"{}\"", case.class))
        });
        harmless(&case.name, &line);
        let event: Value = serde_json::from_str(&line).unwrap();
        let reason = event["data"]["reason"].as_str().unwrap_or_default();
        assert_eq!(reason, case.wanted, "{}: an event", case.name);
        case.window.destroy();
    }
    let log = scene.daemon().log();
    for row in rows {
        let title = row["clean"].as_str().unwrap();
        assert!(title.len() < 4 || !log.contains(title), "{}: in the log", row["name"]);
    }
    assert_eq!(scene.dunst().complaints(), "");
}

impl Case<'_> {
    fn terminal(&self) -> &str {
        self.sinks["terminal"].as_str().unwrap_or(&self.wanted)
    }

    /// As a window is written.
    fn in_a_line(&self) -> String {
        match self.terminal() {
            "" => self.class.clone(),
            title => format!("{}: {title}", self.class),
        }
    }
}

/// What the judge was sent, and what a preview shows of it.
fn in_the_prompt(scene: &Scene, case: &Case<'_>) {
    let calls = fs::read_to_string(scene.judge.file("calls")).unwrap();
    let data = calls.lines().last().unwrap();
    if let Some(literal) = &case.prompt {
        assert!(data.ends_with(&format!("\"title\":{literal}}}}}")), "{}: {data}", case.name);
    }
    let previewed = scene.cli(&["preview"]);
    assert_eq!(previewed.code, 0, "{previewed:?}");
    assert!(previewed.stderr.starts_with("to command"), "{previewed:?}");
    let line = previewed.stdout.lines().nth(1);
    assert_eq!(line, Some(format!("DATA {data}").as_str()), "{}: the preview", case.name);
    assert_eq!(previewed.stdout.lines().count(), 5, "{}: {previewed:?}", case.name);
}

fn at_the_terminal(scene: &Scene, case: &Case<'_>) {
    let said = scene.cli(&["status"]).ok();
    harmless(&case.name, &said);
    let row = |name: &str| {
        let found = said.lines().find_map(|line| line.strip_prefix(&format!("  {name:<9} ")));
        found.unwrap_or_else(|| panic!("{}: no {name} in {said}", case.name)).to_owned()
    };
    assert_eq!(row("window"), case.in_a_line(), "{}", case.name);
    let reason = match case.terminal() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    assert!(row("drift").ends_with(&reason), "{}: {said}", case.name);
    harmless(&case.name, &scene.cli(&["why"]).ok());
}

fn in_json(scene: &Scene, case: &Case<'_>, seen: &str) {
    for args in [["status", "--json"], ["why", "--json"], ["preview", "--json"]] {
        let said = scene.cli(&args).ok();
        harmless(&case.name, &said);
        assert_eq!(said.lines().count(), 1, "{}: {said:?}", case.name);
        let value: Value = serde_json::from_str(&said).unwrap();
        if args[0] == "status" {
            let state = &value["state"];
            // Clients get the title as it is.
            assert_eq!(state["window"]["title"].as_str(), Some(seen), "{}", case.name);
            let reason = state["drift"]["reason"].as_str().unwrap_or_default();
            assert_eq!(reason, case.wanted, "{}", case.name);
        }
    }
}

/// What the notification service gets, after notify-send.
fn in_the_popup(scene: &Scene, case: &Case<'_>) {
    let shown = until("the popup", || {
        scene.dunst().shown().into_iter().rev().find(|it| {
            it.body.lines().last().is_some_and(|line| {
                line == case.class || line.starts_with(&format!("{}:", case.class))
            })
        })
    });
    assert_eq!((shown.summary.as_str(), shown.urgency.as_str()), ("Possible drift", "NORMAL"));
    harmless(&case.name, &shown.body);
    let Some(body) = case.sinks["notify_body"].as_str() else { return };
    let wanted = match body {
        "" => case.class.clone(),
        body => format!("{body}\n{}: {body}", case.class),
    };
    let wanted = format!("You set out to: the report\n{wanted}");
    assert_eq!(shown.body, wanted, "{}", case.name);
}

fn title_of(case: &Value) -> Vec<u8> {
    if let Some(title) = case["title"].as_str() {
        return title.as_bytes().to_vec();
    }
    if let Some(hex) = case["title_hex"].as_str() {
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        return (0..hex.len()).step_by(2).map(byte).collect();
    }
    let made = &case["title_gen"];
    let part = |name: &str| made[name].as_str().unwrap();
    let times = usize::try_from(made["times"].as_u64().unwrap()).unwrap();
    (part("prefix").to_owned() + &part("unit").repeat(times) + part("suffix")).into_bytes()
}

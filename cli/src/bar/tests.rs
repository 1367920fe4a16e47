//! Each stand of the state in each format.

use std::time::Duration;

use antidrift_protocol::State;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::{Clock, Face, Format, Style, Template, WIDEST, face::Stand};
use crate::render::tests::{hostile_sinks, hostile_titles, utc};

const FORMATS: [Format; 6] = [
    Format::Plain,
    Format::Json,
    Format::Polybar,
    Format::I3blocks,
    Format::Waybar,
    Format::I3statusRust,
];

fn state(part: &Value) -> State {
    let mut whole = json!({
        "phase": "active",
        "commitment": {"text": "draft <b>the</b> report", "next_action": "outline",
            "timebox_secs": 1500, "started_at": "2026-11-30T09:00:00Z", "elapsed_secs": 764},
        "drift": {"status": "ontask", "reason": "its window class is allowed"},
        "window": {"class": "code", "title": "main.rs"},
    });
    whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

fn face(part: &Value) -> Face {
    Face::of(&state(part), Duration::from_secs(764), false, Clock::Minutes, utc)
}

fn style(format: Format) -> Style {
    Style { format, template: None, hide_when_idle: false, max_width: WIDEST }
}

/// A state for each stand.
fn stands() -> Vec<Face> {
    let drifting = json!({"drift": {"status": "drifting", "reason": "a video site", "alert": 7}});
    let aside = |part: Value| {
        let mut part = part;
        part["since_at"] = json!("2026-11-30T09:10:00Z");
        part["until_at"] = json!("2026-11-30T09:20:00Z");
        part
    };
    let over = Face::of(&state(&json!({})), Duration::from_secs(1680), false, Clock::Minutes, utc);
    vec![
        Face::down("the daemon is not running"),
        face(&json!({"phase": "planning", "commitment": null})),
        face(&json!({"away": "locked"})),
        face(&json!({"paused": aside(json!({}))})),
        face(&json!({"detour": aside(json!({"text": "look it up"}))})),
        face(&drifting),
        over,
        face(&json!({})),
        face(&json!({"drift": {"status": "pending"}})),
        face(&json!({"drift": {"status": "idle"}})),
        face(&json!({"phase": "review", "review": {"ontask_secs": 700, "alerts": 1}})),
    ]
}

fn ontask() -> Face {
    face(&json!({}))
}

/// Each stand in each format, as `golden.txt` has it.
#[test]
fn each_bar_gets_what_it_reads() {
    let mut lines = String::new();
    for (face, stand) in stands().iter().zip(Stand::ALL) {
        assert_eq!(face.stand, stand);
        for format in FORMATS {
            lines.push_str(&style(format).line(face));
            lines.push('\n');
        }
    }
    assert_eq!(lines, include_str!("golden.txt"));
}

/// A bar without colours tells the stands apart, and so do classes, colours and the words of
/// i3status-rust where they matter.
#[test]
fn no_two_stands_look_the_same() {
    let mut lines: Vec<String> =
        stands().iter().map(|face| style(Format::Plain).line(face)).collect();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), Stand::ALL.len(), "{lines:#?}");
    let colours =
        [Stand::Planning, Stand::Drifting, Stand::Ontask, Stand::Checking, Stand::Overtime]
            .map(Stand::colour);
    assert!((1..colours.len()).all(|at| !colours[..at].contains(&colours[at])), "{colours:?}");
}

/// What the fixtures ask of each sink, down to the byte.
#[test]
fn every_hostile_title_is_what_the_fixtures_say() {
    let title = |format, title: &str| {
        let template = Some(Template::parse("{title}").unwrap());
        let face = face(&json!({"window": {"class": "x", "title": title}}));
        Style { template, ..style(format) }.line(&face)
    };
    for (hostile, expected) in hostile_sinks("terminal") {
        assert_eq!(title(Format::Plain, &hostile), expected);
    }
    for (hostile, expected) in hostile_sinks("polybar") {
        let line = title(Format::Polybar, &hostile);
        let wrapped = format!("%{{F#3fa266}}{expected}%{{F-}}");
        assert_eq!(line, if expected.is_empty() { expected } else { wrapped });
    }
    for (hostile, expected) in hostile_sinks("i3blocks_pango") {
        let line = title(Format::I3blocks, &hostile);
        let wrapped = format!("<span color='#3fa266'>{expected}</span>");
        assert_eq!(line, if expected.is_empty() { expected } else { wrapped });
    }
    for format in [Format::Waybar, Format::I3statusRust] {
        for (hostile, expected) in hostile_sinks("waybar_text") {
            let object: Value = serde_json::from_str(&title(format, &hostile)).unwrap();
            assert_eq!(object["text"], expected);
        }
    }
}

#[test]
fn every_line_is_one_line_and_every_object_parses() {
    for (title, _) in hostile_titles() {
        let hostile = json!({
            "commitment": {"text": title, "next_action": title, "timebox_secs": 60},
            "drift": {"status": "drifting", "reason": title, "alert": 7},
            "window": {"class": title, "title": title},
        });
        let face = face(&hostile);
        for format in FORMATS {
            for template in [None, Some("{reason}{{{title}|{text} {class}")] {
                let template = template.map(|it| Template::parse(it).unwrap());
                let line = Style { template, ..style(format) }.line(&face);
                assert!(!line.chars().any(char::is_control), "{format:?}: {line:?}");
                match format {
                    Format::Plain => {}
                    Format::I3blocks => {
                        let inside = line.strip_prefix("<span color='#e5484d'>").unwrap();
                        let inside = inside.strip_suffix("</span>").unwrap();
                        assert!(!inside.contains(['<', '>']), "{line:?}");
                    }
                    Format::Polybar => {
                        let inside = line.strip_prefix("%{F#e5484d}").unwrap();
                        let inside = inside.strip_suffix("%{F-}").unwrap();
                        assert!(!inside.contains("%{"), "{line:?}");
                    }
                    _ => {
                        let object: Value = serde_json::from_str(&line).unwrap();
                        let text = &object["text"];
                        if format != Format::Json {
                            assert!(!text.as_str().unwrap().contains(['<', '>']), "{line:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn without_a_session_a_bar_can_be_empty() {
    for (face, stand) in stands().iter().zip(Stand::ALL) {
        let style = Style { hide_when_idle: true, ..style(Format::Polybar) };
        assert_eq!(style.line(face).is_empty(), stand.is_quiet(), "{stand:?}");
        let style = Style { format: Format::I3blocks, ..style };
        assert_eq!(style.line(face).is_empty(), stand.is_quiet(), "{stand:?}");
        // Some versions of i3blocks pass over an empty line.
        assert_eq!(style.streamed(face) == "<span></span>", stand.is_quiet(), "{stand:?}");
        let style = Style { format: Format::Waybar, ..style };
        let object: Value = serde_json::from_str(&style.line(face)).unwrap();
        assert_eq!(object["text"].as_str().unwrap().is_empty(), stand.is_quiet(), "{stand:?}");
    }
}

#[test]
fn text_is_cut_before_it_is_escaped_and_the_time_stays() {
    let face = face(&json!({"commitment": {"text": "a & b & c & d", "timebox_secs": 1500}}));
    let style = Style { max_width: 20, ..style(Format::I3blocks) };
    assert_eq!(style.line(&face), "<span color='#3fa266'>on task: a &amp;… 13 min</span>");
    let style = Style {
        max_width: 13,
        template: Some(Template::parse("{text} for {time}").unwrap()),
        ..style
    };
    assert_eq!(style.line(&face), "<span color='#3fa266'>a… for 13 min</span>");
}

#[test]
fn a_line_is_as_narrow_as_it_has_to_be() {
    let template = || Some(Template::parse("{says} {text} {title}").unwrap());
    for (title, _) in hostile_titles() {
        let face = face(&json!({"commitment": {"text": title}, "window": {"title": title}}));
        for max_width in [0, 1, 7, 8, 20, 39] {
            for template in [None, template()] {
                let line = Style { template, max_width, ..style(Format::Plain) }.line(&face);
                // The two characters around the fields are not cut.
                assert!(line.width() <= max_width.max(3), "{max_width}: {line:?}");
            }
        }
    }
}

/// Nobody is there to see it, or nothing is judged: a bar that is woken for the time would be woken
/// for nothing.
#[test]
fn no_time_is_told_while_nothing_counts() {
    for face in stands() {
        let none =
            matches!(face.stand, Stand::Down | Stand::Planning | Stand::Away | Stand::Paused);
        assert_eq!(face.time.is_empty(), none, "{face:?}");
    }
}

#[test]
fn time_is_told_in_minutes_or_seconds() {
    let planned = state(&json!({}));
    let free = state(&json!({"commitment": {"text": "x"}}));
    for (state, elapsed, clock, expected) in [
        (&planned, 0, Clock::Minutes, "25 min"),
        (&planned, 1, Clock::Minutes, "25 min"),
        (&planned, 1441, Clock::Minutes, "1 min"),
        (&planned, 1500, Clock::Minutes, "+1 min"),
        (&planned, 764, Clock::Seconds, "12:16"),
        (&planned, 1507, Clock::Seconds, "+0:07"),
        (&free, 30, Clock::Minutes, "1 min"),
        (&free, 3700, Clock::Minutes, "1 h 01 min"),
        (&free, 3700, Clock::Seconds, "1:01:40"),
    ] {
        let face = Face::of(state, Duration::from_secs(elapsed), false, clock, utc);
        assert_eq!(face.time, expected, "{elapsed} {clock:?}");
    }
}

#[test]
fn templates_name_fields_and_a_slip_is_named() {
    let face = ontask();
    let filled = |template: &str| {
        let template = Some(Template::parse(template).unwrap());
        Style { template, ..style(Format::Plain) }.line(&face)
    };
    assert_eq!(filled("[{state}] {time} {{{class}}}"), "[ontask] 13 min {code}");
    assert_eq!(filled("no field"), "no field");
    let fields = "state, says, text, next, time, reason, title, class";
    for (template, said) in [
        ("{sate}", format!("there is no field {{sate}}; there are {fields}")),
        ("{", "a { is never closed; {{ is a brace".into()),
        ("x}", "a } closes nothing; }} is a brace".into()),
        ("{state}\n", "a bar has one line, so a template has no line break".into()),
    ] {
        assert_eq!(Template::parse(template), Err(said));
    }
}

#[test]
fn no_field_makes_a_tag_with_what_follows() {
    let template = Template::parse("{text}{{x").unwrap();
    let face = face(&json!({"commitment": {"text": "100%"}}));
    let style = Style { template: Some(template), ..style(Format::Polybar) };
    assert_eq!(style.line(&face), "%{F#3fa266}100% {x%{F-}");
}

//! Each stand of the state in each format.

use std::time::Duration;

use antidrift_protocol::State;
use serde_json::{Value, json};

use super::{Clock, Face, Format, Style, Template, WIDEST, face::Stand};
use crate::render::tests::{hostile_titles, utc};

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

/// A state for each stand, with what a bar says of it.
fn stands() -> Vec<(Stand, Face, &'static str)> {
    let drifting = json!({"drift": {"status": "drifting", "reason": "a video site", "alert": 7}});
    let aside = |part: Value| {
        let mut part = part;
        part["since_at"] = json!("2026-11-30T09:10:00Z");
        part["until_at"] = json!("2026-11-30T09:20:00Z");
        part
    };
    let paused = json!({"paused": aside(json!({}))});
    let detour = json!({"detour": aside(json!({"text": "look it up"}))});
    let of = |stand, part: Value, line| (stand, face(&part), line);
    let over = Face::of(&state(&json!({})), Duration::from_secs(1680), false, Clock::Minutes, utc);
    let running = "draft <b>the</b> report 13 min";
    vec![
        (Stand::Down, Face::down(), "no daemon"),
        of(Stand::Planning, json!({"phase": "planning", "commitment": null}), "no session"),
        of(Stand::Away, json!({"away": "locked"}), "away (locked): draft <b>the</b> report"),
        of(Stand::Paused, paused, "paused until 09:20: draft <b>the</b> report"),
        of(Stand::Detour, detour, "on a detour until 09:20: look it up"),
        of(Stand::Drifting, drifting, "drifting: a video site"),
        (Stand::Overtime, over, "draft <b>the</b> report +3 min"),
        of(Stand::Ontask, json!({}), running),
        of(Stand::Checking, json!({"drift": {"status": "pending"}}), running),
        of(Stand::Active, json!({"drift": {"status": "idle"}}), running),
        of(Stand::Review, json!({"phase": "review"}), "ended: draft <b>the</b> report"),
    ]
}

#[test]
fn every_stand_has_its_line() {
    let stands = stands();
    assert_eq!(stands.iter().map(|it| it.0).collect::<Vec<_>>(), Stand::ALL);
    for (stand, face, line) in stands {
        assert_eq!((face.stand, face.line().as_str()), (stand, line));
        assert_eq!(style(Format::Plain).line(&face), line);
    }
}

#[test]
fn each_bar_gets_what_it_reads() {
    let (_, face, _) = stands().swap_remove(7);
    let escaped = "draft &lt;b&gt;the&lt;/b&gt; report 13 min";
    let polybar = "%{F#3fa266}draft <b>the</b> report 13 min%{F-}";
    assert_eq!(style(Format::Polybar).line(&face), polybar);
    let object = |format| -> Value { serde_json::from_str(&style(format).line(&face)).unwrap() };
    let i3blocks = format!("<span color='#3fa266'>{escaped}</span>");
    assert_eq!(style(Format::I3blocks).line(&face), i3blocks);
    let tooltip =
        |text: &str| format!("on task: its window class is allowed\n{text}\nnext: outline\n13 min");
    assert_eq!(
        object(Format::Waybar),
        json!({
            "text": escaped, "alt": "ontask", "class": "ontask", "percentage": 50,
            "tooltip": tooltip("draft &lt;b&gt;the&lt;/b&gt; report"),
        })
    );
    assert_eq!(
        object(Format::I3statusRust),
        json!({"icon": "", "state": "Good", "text": escaped, "short_text": "13 min"})
    );
    assert_eq!(
        object(Format::Json),
        json!({
            "state": "ontask", "text": "draft <b>the</b> report 13 min", "color": "#3fa266",
            "tooltip": tooltip("draft <b>the</b> report"), "percentage": 50,
        })
    );
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
    for (stand, face, _) in stands() {
        let style = Style { hide_when_idle: true, ..style(Format::Polybar) };
        assert_eq!(style.line(&face).is_empty(), stand.is_quiet(), "{stand:?}");
        let style = Style { format: Format::Waybar, ..style };
        let object: Value = serde_json::from_str(&style.line(&face)).unwrap();
        assert_eq!(object["text"].as_str().unwrap().is_empty(), stand.is_quiet(), "{stand:?}");
    }
}

#[test]
fn text_is_cut_before_it_is_escaped() {
    let face = face(&json!({"commitment": {"text": "a & b & c & d"}}));
    let style = Style { max_width: 4, ..style(Format::I3blocks) };
    assert_eq!(style.line(&face), "<span color='#3fa266'>a &amp;…</span>");
    let wide = Face { text: "漢字漢字".into(), time: String::new(), ..face };
    assert_eq!(Style { format: Format::Plain, ..style }.line(&wide), "漢…");
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
    let (_, face, _) = stands().swap_remove(7);
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

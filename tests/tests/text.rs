//! Text and encoding: titles as programs really set them, through to every place that shows them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use antidrift_protocol::{DriftStatus, State, text::clean};
use antidrift_tests::{Manager, Process, Scene, SceneBuilder, WindowSpec};

const COMPOUND: &str = "COMPOUND_TEXT";

fn scene() -> Scene {
    let mut scene = SceneBuilder::start(Scene::on(Manager::Bare));
    scene.begin("the report");
    scene
}

fn until_shown(scene: &mut Scene, title: &str) {
    scene.subscriber.until_title(title);
    let said = scene.cli(&["status"]).ok();
    // what a person reads: no control characters but the line breaks
    assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
}

#[test]
fn f10_f12_f14_the_type_of_a_title_decides_how_it_is_read() {
    let mut scene = scene();
    let desktop = scene.desktop();
    let window = desktop.open("Editor", "start");
    until_shown(&mut scene, "start");
    let cases: [(&str, &str, &[u8], &str); 7] = [
        ("_NET_WM_NAME", "UTF8_STRING", b"bad\x80\xfftitle", "bad\u{fffd}\u{fffd}title"),
        ("_NET_WM_NAME", "UTF8_STRING", &[b'x'; 200], &"x".repeat(200)),
        ("_NET_WM_NAME", "UTF8_STRING", b"abc", "abc"),
        ("_NET_WM_NAME", "UTF8_STRING", b"two nuls\0\0", "two nuls"),
        ("WM_NAME", "UTF8_STRING", "ᴿᴺᴳ chat".as_bytes(), "ᴿᴺᴳ chat"),
        ("WM_NAME", "STRING", b"caf\xe9", "café"),
        ("WM_NAME", COMPOUND, b"New \xb7 \x1b%G\xe2\x80\x94\x1b%@ Moz", "New · — Moz"),
    ];
    for (property, kind, bytes, expected) in cases {
        if property == "WM_NAME" {
            window.remove("_NET_WM_NAME");
        }
        window.set(property, kind, bytes);
        until_shown(&mut scene, expected);
    }
}

#[test]
fn f11_compound_text_is_read() {
    let mut scene = scene();
    let desktop = scene.desktop();
    let window = desktop.open("Editor", "start");
    window.remove("_NET_WM_NAME");
    // xprop has Xlib make compound text of it: extended segments, other character sets
    let id = window.id().to_string();
    let mut xprop = desktop.command("xprop");
    xprop.args(["-id", &id, "-f", "WM_NAME", "8t", "-set", "WM_NAME", "New — Моз"]);
    assert_eq!(Process::spawn(&mut xprop, "x11-utils").wait(), 0);
    until_shown(&mut scene, "New — Моз");
}

#[test]
fn f13_f16_any_title_passes_every_place() {
    let mut scene = scene();
    scene.judge.drifts("Fun", "no");
    let desktop = scene.desktop();
    let mut titles = Vec::new();
    for unit in ["●", "👩‍👩‍👧‍👦", "م", "😀", "e\u{301}"] {
        titles.extend((0..4).map(|n| "x".repeat(n) + &unit.repeat(300)));
    }
    titles.extend([
        "ไทย 日本語 〜 ★".to_owned(),
        "‏עברית 123 العربية 45".to_owned(),
        "🇩🇪👨‍👩‍👧 flags".to_owned(),
        "\u{301}".to_owned(),
        "a".to_owned() + &"\u{301}".repeat(300),
        "zero\u{200b}width\u{feff} \u{202e}override\u{202c} \u{2066}isolate\u{2069}".to_owned(),
    ]);
    let mut watch = scene.watch(&["--no-notify"]);
    for (n, title) in titles.iter().enumerate() {
        // one context each, so each has its alert
        let window = WindowSpec::new(title).class(&format!("Fun{n}")).open(&desktop);
        window.focus();
        let seen = scene.subscriber.until_alert().window.unwrap();
        assert!(title.starts_with(&seen.title) && seen.title.len() <= 1024, "{seen:?}");
        assert!(title.len() > 1000 || seen.title == *title);
        let said = scene.cli(&["status"]).ok();
        let line = watch.until("the alert", |line| {
            line.starts_with("drifting") && line.contains(&format!("Fun{n}"))
        });
        assert!(!line.chars().any(|c| c.is_control() || "\u{202e}\u{2066}".contains(c)), "{line}");
        let shown = scene.cli(&["status", "--json"]).ok();
        assert!(!shown.contains('\u{202e}') && !said.contains('\u{202e}'), "{said}");
        window.destroy();
    }
    assert!(watch.process().is_running() && scene.daemon().process().is_running());
}

#[test]
fn f15_a_title_of_any_length_is_cut_between_characters() {
    let mut scene = scene();
    let desktop = scene.desktop();
    let title = "é".repeat(60_000);
    WindowSpec::new("x").class("Long").unmapped().open(&desktop).destroy();
    let window = WindowSpec::new(&title).class("Long").open(&desktop);
    window.focus();
    let state = scene.subscriber.until("a long title", |state: &State| {
        state.window.as_ref().is_some_and(|window| window.class == "Long")
    });
    let seen = state.window.unwrap().title;
    assert!(seen.len() <= 1024 && seen.len() > 1000 && title.starts_with(&seen));
    scene.subscriber.until_titled(&seen, DriftStatus::Ontask);
    // the judge gets a shorter one still
    let asked = scene.judge.titles().pop().unwrap();
    assert_eq!(asked, clean(&seen, 200));
}

#[test]
fn f17_no_locale_and_a_strange_one() {
    for (name, value) in [("LC_ALL", "C"), ("LC_ALL", "de_DE.ISO-8859-1")] {
        let mut scene = Scene::on(Manager::Bare).env(name, value).env("LANG", value).start();
        scene.judge.drifts("見出し", "Größe ist nicht der Bericht — нет");
        scene.desktop().open("Editor", "Größe — 見出し");
        let said = scene.cli(&["start", "написать", "отчёт"]).ok();
        assert!(said.contains("написать отчёт"), "{said}");
        let mut watch = scene.watch(&["--no-notify"]);
        let state = scene.subscriber.until_status(DriftStatus::Drifting);
        let reason = "Größe ist nicht der Bericht — нет";
        assert_eq!(state.drift.unwrap().reason.as_deref(), Some(reason));
        watch.until_text(reason);
        let said = scene.cli(&["status"]).ok();
        assert!(said.contains("Größe — 見出し") && said.contains(reason), "{said}");
        scene.cli(&["ontask"]).ok();
        scene.cli(&["complete"]).ok();
        scene.cli(&["end"]).ok();
    }
}

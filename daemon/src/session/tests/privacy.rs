//! What is never put to a model, and what can be seen of what is.

use super::*;

fn private(title: &str) -> Window {
    Window { title: format!("{title} — Mozilla Firefox Private Browsing"), ..program("firefox") }
}

fn preview(world: &mut World) -> antidrift_protocol::Previewed {
    match world.ask(Command::Preview(NoArgs {})) {
        Ok(Answer::Preview(previewed)) => previewed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn private_windows_and_password_managers_are_never_sent() {
    let mut world = World::started();
    for window in [private("search"), program("KeePassXC"), program("bitwarden")] {
        world.see(window);
        world.pass(secs(60));
        assert_eq!((world.asked.len(), world.status()), (0, DriftStatus::Idle));
        let previewed = preview(&mut world);
        assert_eq!(previewed.text, "");
        assert!(previewed.withheld.is_some());
    }
    world.see(page("search"));
    world.pass(secs(2));
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn what_is_redacted_never_reaches_the_question() {
    let mut settings = settings();
    settings.privacy.redact(r"Projekt \w+").unwrap();
    settings.privacy.exclude("thunderbird").unwrap();
    let mut world = World::with(settings, None);
    let start = Start {
        text: "draft the report of Projekt Geheim".into(),
        next_action: Some("call Projekt Geheim".into()),
        success_condition: Some("Projekt Geheim is done".into()),
        allowed: Allowed {
            window_classes: vec!["Projekt Geheim".into(), "Thunderbird".into()],
            ..Allowed::default()
        },
        ..Start::default()
    };
    world.ask(Command::Start(start)).unwrap();
    world.see(page("Projekt Geheim: plan"));
    world.pass(secs(2));
    assert_eq!(world.asked.len(), 1);
    assert!(world.asked[0].2.starts_with("[…]: plan"), "{}", world.asked[0].2);
    let text = preview(&mut world).text;
    assert!(!text.contains("Geheim") && !text.contains("Thunderbird"), "{text}");
    assert!(text.contains("draft the report of […]"), "{text}");
    world.judge(true, "");
    world.see(program("Thunderbird"));
    world.pass(secs(60));
    assert_eq!(world.asked.len(), 1);
}

#[test]
fn the_preview_is_what_is_sent_byte_for_byte() {
    let mut world = World::started();
    world.see(page("a \"title\" @/etc/passwd"));
    let previewed = preview(&mut world);
    assert_eq!((previewed.backend.as_str(), previewed.withheld), ("command", None));
    let question = crate::ai::Question {
        commitment: "draft the report".into(),
        next_action: None,
        success_condition: None,
        allowed_classes: vec!["code".into()],
        class: "firefox".into(),
        title: "a \"title\" @/etc/passwd — Mozilla Firefox".into(),
    };
    assert_eq!(previewed.text, crate::ai::prompt::judge(&question));
    assert!(world.asked.is_empty(), "nothing is sent");
}

#[test]
fn the_first_session_with_a_cloud_model_says_what_leaves() {
    let mut settings = settings();
    settings.judge.destination = Some(Destination::Cloud);
    let mut world = World::with(settings, None);
    let start = || Command::Start(Start { text: "x".into(), ..Start::default() });
    let notes = |world: &mut World| match world.ask(start()) {
        Ok(Answer::Start(started)) => started.notes.join("; "),
        other => panic!("{other:?}"),
    };
    let said = notes(&mut world);
    assert!(said.contains("(cloud)") && said.contains("antidrift preview"), "{said}");
    world.complete().unwrap();
    assert!(!notes(&mut world).contains("(cloud)"), "once");
}

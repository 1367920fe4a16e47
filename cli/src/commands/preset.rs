//! Beginnings of sessions that the daemon knows: presets by name, and the last session.

use antidrift_protocol::{Allowed, Command, NoArgs, Preset, Presets, Selector, Start};

use super::Daemon;
use crate::{exit::Failure, render};

/// Takes the preset's name off the front of a text, if it begins with one: `@writing`, a word of
/// its own.
pub(super) fn named(text: &mut Vec<String>) -> Result<Option<String>, Failure> {
    let Some(name) = text.first().and_then(|word| word.strip_prefix('@')) else { return Ok(None) };
    if name.contains(char::is_whitespace) {
        return Ok(None);
    }
    if name.is_empty() {
        let message = "a preset is named right behind the @, as in @writing";
        return Err(Failure::Usage(message.to_owned()));
    }
    let name = name.to_owned();
    text.remove(0);
    Ok(Some(name))
}

/// The preset of this name, or how the last session began.
pub(super) fn find(daemon: &Daemon, name: Option<&str>) -> Result<Preset, Failure> {
    let Presets { presets, last } = daemon.ask(Command::Presets(NoArgs {}))?;
    let Some(name) = name else {
        let message = "there is no earlier session to begin again";
        return last.ok_or_else(|| Failure::Undone(message.to_owned()));
    };
    choose(presets, name).map_err(Failure::Undone)
}

fn choose(mut presets: Vec<Preset>, name: &str) -> Result<Preset, String> {
    if let Some(at) = presets.iter().position(|preset| preset.name == name) {
        return Ok(presets.swap_remove(at));
    }
    let shown = render::title(name);
    let known: Vec<String> =
        presets.iter().map(|it| format!("@{}", render::title(&it.name))).collect();
    Err(if known.is_empty() {
        format!(
            "there is no preset @{shown}; add [presets.{shown}] to the configuration, then \
             antidrift reload"
        )
    } else {
        format!("there is no preset @{shown}; there is {}", known.join(", "))
    })
}

/// What was typed wins; what is allowed comes together.
pub(super) fn fill_in(start: &mut Start, preset: Preset) {
    let Preset { text, next_action, success_condition, timebox_secs, allowed, .. } = preset;
    if start.text.is_empty() {
        start.text = text.unwrap_or_default();
    }
    start.next_action = start.next_action.take().or(next_action);
    start.success_condition = start.success_condition.take().or(success_condition);
    start.timebox_secs = start.timebox_secs.or(timebox_secs);
    add(&mut start.allowed, &allowed);
}

fn add(to: &mut Allowed, from: &Allowed) {
    for selector in Selector::ALL {
        for entry in from.list(selector) {
            let list = to.list_mut(selector);
            if !list.contains(entry) {
                list.push(entry.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_preset_is_the_first_word() {
        for (typed, name, rest) in [
            (&["@writing", "chapter", "2"][..], Some("writing"), &["chapter", "2"][..]),
            (&["@writing"], Some("writing"), &[]),
            (&["mail", "@anna"], None, &["mail", "@anna"]),
            (&["@anna needs an answer"], None, &["@anna needs an answer"]),
            (&[], None, &[]),
        ] {
            let mut text = words(typed);
            assert_eq!(named(&mut text).unwrap().as_deref(), name, "{typed:?}");
            assert_eq!(text, rest);
        }
        assert!(named(&mut words(&["@", "x"])).is_err());
    }

    #[test]
    fn what_was_typed_wins_and_lists_come_together() {
        let allowed = |classes: &[&str]| Allowed {
            window_classes: words(classes),
            domains: words(&["docs.example"]),
            ..Allowed::default()
        };
        let preset = Preset {
            name: "writing".into(),
            text: Some("write".into()),
            next_action: Some("open it".into()),
            success_condition: Some("a page".into()),
            timebox_secs: Some(1500),
            allowed: allowed(&["code", "zathura"]),
        };
        let mut start = Start {
            text: "chapter 2".into(),
            timebox_secs: Some(60),
            allowed: allowed(&["zathura", "emacs"]),
            ..Start::default()
        };
        fill_in(&mut start, preset.clone());
        assert_eq!((start.text.as_str(), start.timebox_secs), ("chapter 2", Some(60)));
        assert_eq!(start.next_action.as_deref(), Some("open it"));
        assert_eq!(start.success_condition.as_deref(), Some("a page"));
        assert_eq!(start.allowed.window_classes, ["zathura", "emacs", "code"]);
        assert_eq!(start.allowed.domains, ["docs.example"]);
        let mut start = Start::default();
        fill_in(&mut start, preset);
        assert_eq!((start.text.as_str(), start.timebox_secs), ("write", Some(1500)));
    }

    #[test]
    fn an_unknown_preset_is_told_what_there_is() {
        let preset = |name: &str| Preset { name: name.into(), ..Preset::default() };
        let said = choose(vec![preset("mail"), preset("writing")], "wrting").unwrap_err();
        assert_eq!(said, "there is no preset @wrting; there is @mail, @writing");
        let said = choose(Vec::new(), "x\u{1b}[31m").unwrap_err();
        assert!(said.contains("add [presets.x]"), "{said:?}");
        assert!(choose(vec![preset("mail")], "mail").is_ok());
    }
}

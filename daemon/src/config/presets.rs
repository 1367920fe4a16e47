//! Presets: beginnings of sessions that have a name.

use std::{collections::BTreeMap, ops::Range};

use antidrift_protocol::{
    Allowed, Command, MAX_PRESETS, MAX_TIMEBOX_SECS, Preset, Presets, Reply, Start, duration,
    entry, text,
};
use toml::Spanned;

use super::{ConfigError, tables::PresetTable};

/// Most characters of a preset's name.
const MAX_NAME: usize = 64;

/// What the protocol calls a field, and what the configuration does.
const FIELDS: [(&str, &str); 8] = [
    ("args.text", "text"),
    ("args.next_action", "next"),
    ("args.success_condition", "success"),
    ("args.timebox_secs", "for"),
    ("args.allowed.window_classes", "allow"),
    ("args.allowed.window_title_substrings", "allow_titles"),
    ("args.allowed.domains", "allow_domains"),
    ("args.allowed.commands", "allow_commands"),
];

/// Every preset, by name, each fit to start a session with.
pub(super) fn presets(
    tables: BTreeMap<Spanned<String>, Spanned<PresetTable>>,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<Vec<Preset>, ConfigError> {
    let mut presets = Vec::new();
    for (name, table) in tables {
        let (span, place) = (name.span(), table.span());
        let name = name.into_inner();
        if !is_name(&name) {
            let name = text::terminal(&name, MAX_NAME);
            let message = format!(
                "a preset's name is of at most {MAX_NAME} letters, digits, - and _, but this is \
                 «{name}»"
            );
            return Err(at(Some(span), message));
        }
        let preset = preset(name, table.into_inner(), at)?;
        check(&preset).map_err(|message| at(Some(place), message))?;
        presets.push(preset);
    }
    let alone = Presets { presets, last: None };
    let reply = Reply { id: None, result: Ok(alone) };
    let size = reply.to_line().len();
    if size > MAX_PRESETS {
        let message = format!(
            "[presets]: all together may have at most {MAX_PRESETS} bytes of JSON, but have {size}"
        );
        return Err(at(None, message));
    }
    Ok(reply.result.map(|it: Presets| it.presets).unwrap_or_default())
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.chars().count() <= MAX_NAME && name.chars().all(fits)
}

fn preset(
    name: String,
    table: PresetTable,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<Preset, ConfigError> {
    let secs = |typed: &Spanned<String>| {
        let shown = text::terminal(typed.get_ref(), MAX_NAME);
        let fault = |what: &str| at(Some(typed.span()), format!("for: «{shown}» {what}"));
        match duration::length(typed.get_ref().trim()) {
            None => Err(fault("is no duration; use 25m, 1h30 or 90s")),
            Some(0) => Err(fault("is no time at all; use 25m, 1h30 or 90s")),
            Some(secs) if secs > MAX_TIMEBOX_SECS => {
                Err(fault("is more than a day, and 24h is the most"))
            }
            Some(secs) => Ok(secs),
        }
    };
    let hosts = table.allow_domains.into_iter();
    let programs = table.allow_commands.into_iter();
    Ok(Preset {
        name,
        text: table.text,
        next_action: table.next,
        success_condition: table.success,
        timebox_secs: table.length.as_ref().map(secs).transpose()?,
        allowed: Allowed {
            window_classes: table.allow,
            window_titles: Vec::new(),
            window_title_substrings: table.allow_titles,
            // As on the command line: an address stands for its host, a path for its program.
            domains: hosts.map(|typed| entry::host(&typed).unwrap_or(typed)).collect(),
            commands: programs.map(|typed| program(&typed)).collect(),
        },
    })
}

/// A path stands for its program; what has arguments is left for the protocol to refuse.
fn program(typed: &str) -> String {
    let typed = typed.trim();
    match entry::program(typed) {
        name if name.is_empty() || typed.contains(char::is_whitespace) => typed.to_owned(),
        name => name.to_owned(),
    }
}

/// Holds a preset against the bounds of what a session can be started with.
fn check(preset: &Preset) -> Result<(), String> {
    let start = Start {
        text: preset.text.clone().unwrap_or_else(|| "what is said at the start".into()),
        next_action: preset.next_action.clone(),
        success_condition: preset.success_condition.clone(),
        timebox_secs: preset.timebox_secs,
        allowed: preset.allowed.clone(),
    };
    Command::Start(start).check().map_err(|error| {
        let named = FIELDS.into_iter().find_map(|(wire, ours)| {
            let rest = error.message.strip_prefix(wire)?;
            rest.starts_with([':', '[']).then(|| format!("{ours}{rest}"))
        });
        named.unwrap_or(error.message)
    })
}

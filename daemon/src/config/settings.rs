//! What is in force, key by key, and where each value comes from.

use std::{fmt, fmt::Write as _, path::PathBuf};

use toml::de::{DeTable, DeValue};

use super::keys::{PRESETS, TABLES, Table, Value};

/// The environment variable that names a judge.
pub const BACKEND: &str = "ANTIDRIFT_AI_BACKEND";

/// One key as it is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its table, as in `judge.http`.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Its value as it would stand in the file; `None` if there is none.
    pub literal: Option<String>,
    /// Who says so.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody has set it.
    Default,
    /// A line of the file, from 1.
    File(PathBuf, usize),
    /// `$ANTIDRIFT_AI_BACKEND`.
    Environment,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment => write!(f, "${BACKEND}"),
        }
    }
}

/// Every key, in the order of [`TABLES`], out of a file that is known to be good.
pub(super) fn settings(path: &std::path::Path, text: &str, backend: Option<&str>) -> Vec<Setting> {
    let (Ok(spans), Ok(values)) = (DeTable::parse(text), text.parse::<toml::Table>()) else {
        return Vec::new();
    };
    let file = File { path, text, spans: spans.get_ref(), values: &values };
    let mut settings = Vec::new();
    for table in TABLES {
        if table.name == PRESETS {
            for (name, preset) in file.tables("presets") {
                let of_preset = format!("presets.{name}");
                let keys = table.keys.iter().filter(|key| preset.contains_key(key.name));
                settings.extend(keys.filter_map(|key| file.setting(&of_preset, key.name)));
            }
        } else if table.is_open() {
            let names = file.table(table.name).into_iter().flat_map(|it| it.keys());
            settings.extend(names.filter_map(|name| file.setting(table.name, name.get_ref())));
        } else {
            settings.extend(table.keys.iter().map(|key| {
                file.setting(table.name, key.name).unwrap_or_else(|| Setting {
                    table: table.name.into(),
                    name: key.name.into(),
                    literal: match key.value {
                        Value::Default(literal) => Some(literal.into()),
                        Value::Unset(_) => None,
                    },
                    origin: Origin::Default,
                })
            }));
        }
    }
    let named = |it: &&mut Setting| it.table == "judge" && it.name == "backend";
    if let Some(backend) = backend.filter(|name| !name.is_empty())
        && let Some(setting) = settings.iter_mut().find(named)
    {
        setting.literal = Some(toml::Value::from(backend).to_string());
        setting.origin = Origin::Environment;
    }
    settings
}

/// A file with the places of what stands in it.
struct File<'a> {
    path: &'a std::path::Path,
    text: &'a str,
    spans: &'a DeTable<'a>,
    values: &'a toml::Table,
}

impl<'a> File<'a> {
    fn table(&self, name: &str) -> Option<&'a DeTable<'a>> {
        name.split('.').try_fold(self.spans, |table, part| match table.get(part)?.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        })
    }

    fn tables(&self, name: &str) -> impl Iterator<Item = (&'a str, &'a DeTable<'a>)> {
        self.table(name).into_iter().flatten().filter_map(|(name, value)| match value.get_ref() {
            DeValue::Table(table) => Some((&**name.get_ref(), table)),
            _ => None,
        })
    }

    /// What the file says of a key; `None` if it says nothing.
    fn setting(&self, table: &str, name: &str) -> Option<Setting> {
        let place = self.table(table)?.get(name)?.span().start;
        let value = table
            .split('.')
            .try_fold(self.values, |values, part| values.get(part)?.as_table())?
            .get(name)?;
        let line = self.text.get(..place)?.matches('\n').count() + 1;
        Some(Setting {
            table: table.into(),
            name: name.into(),
            literal: Some(value.to_string()),
            origin: Origin::File(self.path.into(), line),
        })
    }
}

/// The names of the keys whose values differ. Of what the user names only the table is told.
pub fn changed(before: &[Setting], after: &[Setting]) -> Vec<String> {
    let value = |of: &[Setting], wanted: &Setting| {
        let same = |it: &&Setting| (&it.table, &it.name) == (&wanted.table, &wanted.name);
        of.iter().find(same).and_then(|it| it.literal.clone())
    };
    let mut changed = Vec::new();
    for setting in after.iter().chain(before) {
        if value(before, setting) != value(after, setting) {
            let fixed = |table: &&Table| table.name == setting.table && !table.is_open();
            let name = if TABLES.iter().any(|it| fixed(&it)) {
                format!("{}.{}", setting.table, setting.name)
            } else if setting.table.starts_with("presets.") {
                "presets".to_owned()
            } else {
                setting.table.clone()
            };
            if !changed.contains(&name) {
                changed.push(name);
            }
        }
    }
    changed
}

/// The settings as a file that would give the same, with where each comes from.
pub fn dump(settings: &[Setting]) -> String {
    let mut out = String::new();
    let mut table = None;
    for setting in settings {
        if table != Some(&setting.table) {
            let gap = if table.is_some() { "\n" } else { "" };
            let _ = writeln!(out, "{gap}[{}]", quoted_path(&setting.table));
            table = Some(&setting.table);
        }
        let name = quoted(&setting.name);
        let _ = match &setting.literal {
            Some(literal) => writeln!(out, "{name} = {literal}  # {}", setting.origin),
            None => writeln!(out, "#{name} is not set"),
        };
    }
    out
}

/// A name as a bare key, or quoted where it is none.
fn quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_owned();
    }
    toml::Value::from(name).to_string()
}

/// Only the last part of a table's name may be the user's.
fn quoted_path(table: &str) -> String {
    match table.strip_prefix("presets.") {
        Some(name) => format!("presets.{}", quoted(name)),
        None => table.to_owned(),
    }
}

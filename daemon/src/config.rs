//! The configuration file: TOML, every key optional, no key unknown.
//!
//! A faulty file stops the start, with line and column: running on defaults could send what the
//! user had excluded. The one exception is the judge's name, which only switches the judge off.

mod choice;

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

pub use choice::Choice;
use choice::choose;

use crate::{
    ai::embedded::{Catalogue, CatalogueError, Entry, catalogue},
    evidence::{ClassListError, Contexts, Privacy, PrivacyError},
    history::HistorySettings,
    session::NotifySettings,
};

/// Most bytes of a configuration file: far more than a person writes.
const MAX_FILE: u64 = 1024 * 1024;
/// Longest duration that can be set.
const MAX_SECS: f64 = 3600.0;
/// Most letters of a word that are compared with known ones.
const MAX_NAME: usize = 64;

/// What was configured.
#[derive(Clone, Debug)]
pub struct Config {
    /// The judge.
    pub judge: Choice,
    /// The model that a tool is told to use, if one is named.
    pub model: Option<String>,
    /// The coach; as the judge, if that is a model and no other is named.
    pub coach: Choice,
    /// The model that the coach is told to use.
    pub coach_model: Option<String>,
    /// How long a proposal may take.
    pub coach_timeout: Duration,
    /// Most judgements of a model in one session; none if there is no limit.
    pub max_per_session: Option<u64>,
    /// Whether the embedded judge is asked before the one that is named.
    pub prefilter: bool,
    /// What the embedded judge knows.
    pub catalogue: Catalogue,
    /// What is never put to a model.
    pub privacy: Privacy,
    /// Where it is written down what was sent, if anywhere.
    pub audit_file: Option<PathBuf>,
    /// How long a judgement may take.
    pub judge_timeout: Duration,
    /// Least time between two starts of a judge.
    pub debounce: Duration,
    /// How long a window must keep the focus before it is judged.
    pub settle: Duration,
    /// Which classes hold many contexts, and which are passed over.
    pub contexts: Contexts,
    /// How long there is no input before a person counts as away; `None`: that is not looked at.
    pub idle_after: Option<Duration>,
    /// What a person is told of, and how loudly.
    pub notify: NotifySettings,
    /// What is kept of sessions that are over.
    pub history: HistorySettings,
}

/// What stands in the file, as it stands there.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    judge: JudgeTable,
    coach: CoachTable,
    privacy: PrivacyTable,
    drift: DriftTable,
    away: AwayTable,
    notify: NotifyTable,
    history: HistoryTable,
    catalogue: CatalogueTable,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct JudgeTable {
    backend: Option<String>,
    command: Option<Spanned<Vec<String>>>,
    model: Option<Spanned<String>>,
    prefilter: Option<bool>,
    max_per_session: Option<u64>,
    http: Option<Spanned<HttpTable>>,
    timeout_secs: Option<Seconds>,
}

/// Entries for the embedded judge, by kind; the kind `forget` takes built-in entries away.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct CatalogueTable {
    sites: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    programs: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

#[derive(Clone, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct HttpTable {
    base_url: Option<String>,
    model: Option<String>,
    api_key_env: Option<String>,
    api_key_file: Option<PathBuf>,
    allow_remote: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct CoachTable {
    backend: Option<String>,
    command: Option<Spanned<Vec<String>>>,
    model: Option<String>,
    http: Option<Spanned<HttpTable>>,
    timeout_secs: Option<Seconds>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PrivacyTable {
    redact: Vec<Spanned<String>>,
    exclude_classes: Vec<Spanned<String>>,
    audit_file: Option<Spanned<PathBuf>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct DriftTable {
    debounce_secs: Option<Seconds>,
    settle_secs: Option<Seconds>,
    many_context_classes: Option<Vec<Spanned<String>>>,
    ignore_classes: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct AwayTable {
    idle_secs: Option<Seconds>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct NotifyTable {
    budget: Option<u64>,
    repeat: Option<bool>,
    on_return: Option<bool>,
    activate: Option<bool>,
}

impl NotifyTable {
    fn settings(&self) -> NotifySettings {
        let default = NotifySettings::default();
        NotifySettings {
            budget: self.budget.map_or(default.budget, |budget| Some(budget).filter(|&it| it > 0)),
            repeat: self.repeat.unwrap_or(default.repeat),
            on_return: self.on_return.unwrap_or(default.on_return),
            activate: self.activate.unwrap_or(default.activate),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct HistoryTable {
    enabled: Option<bool>,
    titles: Option<bool>,
    keep_days: Option<u32>,
}

impl HistoryTable {
    fn settings(&self) -> HistorySettings {
        let default = HistorySettings::default();
        HistorySettings {
            enabled: self.enabled.unwrap_or(default.enabled),
            titles: self.titles.unwrap_or(default.titles),
            keep_days: self.keep_days.map_or(default.keep_days, |it| Some(it).filter(|&it| it > 0)),
        }
    }
}

/// A duration: seconds, fractions allowed, 0 to 3600.
struct Seconds(Duration);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl de::Visitor<'_> for Number {
            type Value = Seconds;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds")
            }
            fn visit_f64<E: de::Error>(self, secs: f64) -> Result<Seconds, E> {
                // Not a number is in no range, so it is refused too.
                if (0.0..=MAX_SECS).contains(&secs) {
                    return Ok(Seconds(Duration::from_secs_f64(secs)));
                }
                Err(E::custom(format!("must be between 0 and {MAX_SECS} seconds, but is {secs}")))
            }
            fn visit_i64<E: de::Error>(self, secs: i64) -> Result<Seconds, E> {
                // Exact up to 2^53, and all beyond is out of range anyway.
                #[expect(clippy::cast_precision_loss, reason = "see above")]
                self.visit_f64(secs as f64)
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something in it is wrong.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Faulty {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// What is wrong and what was expected.
        message: String,
    },
}

impl Config {
    /// Reads the file that the user named, else the default one if there is one. `backend` is
    /// `ANTIDRIFT_AI_BACKEND`, which wins over the file.
    ///
    /// # Errors
    ///
    /// A named file that is missing, any file that cannot be read, and any fault in it.
    pub fn load(
        named: Option<&Path>,
        default: Option<&Path>,
        backend: Option<&str>,
    ) -> Result<Self, ConfigError> {
        let Some(path) = named.or(default) else { return Self::parse(Path::new(""), "", backend) };
        let text = match read(path) {
            Ok(text) => text,
            Err(error)
                if named.is_none()
                    && matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
            {
                Vec::new()
            }
            Err(source) => return Err(ConfigError::Unreadable { path: path.into(), source }),
        };
        match str::from_utf8(&text) {
            Ok(text) => Self::parse(path, text, backend),
            Err(error) => {
                let good = String::from_utf8_lossy(&text[..error.valid_up_to()]);
                Err(fault(path, &good, good.len(), "the file is not UTF-8".into()))
            }
        }
    }

    fn parse(path: &Path, text: &str, backend: Option<&str>) -> Result<Self, ConfigError> {
        let at = |span: Option<Range<usize>>, message: String| {
            fault(path, text, span.map_or(0, |span| span.start), message)
        };
        let Tables { judge, coach, privacy, drift, away, notify, history, catalogue } =
            toml::from_str(text)
                .map_err(|error| at(error.span(), with_suggestion(&one_line(error.message()))))?;

        let command = |command: Option<&Spanned<Vec<String>>>| match command {
            Some(command) if command.get_ref().first().is_none_or(|program| program.is_empty()) => {
                let message = "command: must begin with a program, as in [\"/path/to/judge\"]";
                Err(at(Some(command.span()), message.into()))
            }
            command => Ok(command.map(|command| command.get_ref().clone())),
        };
        let http = |table: &Option<Spanned<HttpTable>>| {
            table.as_ref().map(|table| table.get_ref().clone()).unwrap_or_default()
        };
        let named = backend.filter(|name| !name.is_empty()).or(judge.backend.as_deref());
        let judge_command = command(judge.command.as_ref())?;
        let coach_command = command(coach.command.as_ref())?;
        nothing_unused(&judge, named, &coach, &at)?;
        let chosen =
            choose("judge", named.unwrap_or("embedded"), judge_command, &http(&judge.http));
        let coach_chosen = match &coach.backend {
            Some(name) => choose("coach", name, coach_command, &http(&coach.http)),
            None if coach_command.is_some() => {
                choose("coach", "command", coach_command, &http(&coach.http))
            }
            None if chosen.is_model() => chosen.clone(),
            None => Choice::None,
        };
        let model = judge.model.map(Spanned::into_inner);
        let (many, ignored) = (&drift.many_context_classes, &drift.ignore_classes);
        let (many, ignored) = (
            class_list("many_context_classes", many.as_deref(), &at)?,
            class_list("ignore_classes", ignored.as_deref(), &at)?,
        );
        let secs = |value: Option<Seconds>, default| {
            value.map_or(Duration::from_secs(default), |Seconds(value)| value)
        };
        Ok(Self {
            judge: chosen,
            coach_model: coach.model.or_else(|| model.clone()),
            model,
            coach: coach_chosen,
            coach_timeout: secs(coach.timeout_secs, 60),
            max_per_session: judge.max_per_session.filter(|&limit| limit > 0),
            prefilter: judge.prefilter.unwrap_or(false),
            catalogue: own_catalogue(&catalogue, &at)?,
            privacy: own_privacy(&privacy, &at)?,
            audit_file: privacy
                .audit_file
                .map(|file| absolute("audit_file", file, &at))
                .transpose()?,
            judge_timeout: secs(judge.timeout_secs, 30),
            debounce: secs(drift.debounce_secs, 10),
            settle: secs(drift.settle_secs, 2),
            idle_after: Some(secs(away.idle_secs, 300)).filter(|time| !time.is_zero()),
            notify: notify.settings(),
            history: history.settings(),
            // Both lists were tried above.
            contexts: Contexts::from_config(many.as_deref(), ignored.as_deref())
                .map_err(|error| at(None, error.to_string()))?,
        })
    }
}

/// A key that only a named backend uses, where none is named: whoever set it meant a judge to be
/// asked that would not be, or left it behind from one that shall not be asked any more. Which of
/// them is not to be guessed, since the one sends what the other has taken back.
fn nothing_unused(
    judge: &JudgeTable,
    named: Option<&str>,
    coach: &CoachTable,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<(), ConfigError> {
    let coach_is_named = coach.backend.is_some() || coach.command.is_some();
    let judge_is_named = named.is_some();
    for (used, span, key, backend) in [
        (judge_is_named, judge.command.as_ref().map(Spanned::span), "[judge] command", "command"),
        (judge_is_named, judge.http.as_ref().map(Spanned::span), "[judge.http]", "http"),
        (
            // The coach takes it too.
            judge_is_named || coach_is_named,
            judge.model.as_ref().map(Spanned::span),
            "[judge] model",
            "claude",
        ),
        (coach_is_named, coach.http.as_ref().map(Spanned::span), "[coach.http]", "http"),
    ] {
        if let (false, Some(span)) = (used, span) {
            let message = format!(
                "{key} is set, but no backend that uses it; name one beside it, such as backend = \
                 {backend:?}, or take it out"
            );
            return Err(at(Some(span), message));
        }
    }
    Ok(())
}

/// Reads a file of bounded size, so that a device or a log given by mistake does no harm.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is larger than 1 MiB, which no configuration is",
        ));
    }
    Ok(text)
}

/// The built-in catalogue with the user's entries. A clash names both.
fn own_catalogue(
    table: &CatalogueTable,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<Catalogue, ConfigError> {
    let mut catalogue = Catalogue::default();
    for (what, kinds) in [(Entry::Site, &table.sites), (Entry::Program, &table.programs)] {
        for (kind, entries) in kinds {
            for entry in entries {
                catalogue.add(what, kind.get_ref(), entry.get_ref()).map_err(|error| {
                    let place = match error {
                        CatalogueError::UnknownKind { .. } => kind.span(),
                        _ => entry.span(),
                    };
                    at(Some(place), with_kind_suggestion(&error, kind.get_ref()))
                })?;
            }
        }
    }
    Ok(catalogue)
}

/// A path that means the same wherever the daemon was started. No `~` is expanded, so one that begins
/// with it would be a directory of that name.
fn absolute(
    key: &str,
    path: Spanned<PathBuf>,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<PathBuf, ConfigError> {
    if path.get_ref().is_absolute() {
        return Ok(path.into_inner());
    }
    Err(at(Some(path.span()), format!("{key}: must be a whole path that begins with /")))
}

/// A rule that does not compile stops the start: without it something would be sent.
fn own_privacy(
    table: &PrivacyTable,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<Privacy, ConfigError> {
    let mut privacy = Privacy::default();
    let fault = |entry: &Spanned<String>, error: PrivacyError| {
        at(Some(entry.span()), one_line(&error.to_string()))
    };
    for entry in &table.exclude_classes {
        privacy.exclude(entry.get_ref()).map_err(|error| fault(entry, error))?;
    }
    for entry in &table.redact {
        privacy.redact(entry.get_ref()).map_err(|error| fault(entry, error))?;
    }
    Ok(privacy)
}

fn with_kind_suggestion(error: &CatalogueError, kind: &str) -> String {
    let meant = match error {
        CatalogueError::UnknownKind { .. } => nearest(kind, catalogue::kind_names()),
        _ => None,
    };
    meant.map_or_else(|| error.to_string(), |near| format!("{error}; did you mean `{near}`?"))
}

/// The entries of a class list, once the list is known to be good.
fn class_list(
    key: &str,
    entries: Option<&[Spanned<String>]>,
    at: &dyn Fn(Option<Range<usize>>, String) -> ConfigError,
) -> Result<Option<Vec<String>>, ConfigError> {
    let Some(entries) = entries else { return Ok(None) };
    let list: Vec<String> = entries.iter().map(|entry| entry.get_ref().clone()).collect();
    if let Err(error) = Contexts::from_config(Some(&list), None) {
        let (ClassListError::Mixed { entry } | ClassListError::Blank { entry }) = &error;
        let place = entries.iter().find(|it| it.get_ref() == entry).map(Spanned::span);
        return Err(at(place, format!("{key}: {error}")));
    }
    Ok(Some(list))
}

fn fault(path: &Path, text: &str, offset: usize, message: String) -> ConfigError {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    ConfigError::Faulty {
        path: path.into(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        message,
    }
}

/// The parser's messages may span lines; ours are one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds what was probably meant to a message of the form «unknown field `x`, expected one of `a`,
/// `b`».
fn with_suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(found) if message.starts_with("unknown field") => match nearest(found, quoted) {
            Some(near) => format!("{message}; did you mean `{near}`?"),
            None => message.to_owned(),
        },
        _ => message.to_owned(),
    }
}

/// The word that differs least, if it differs little.
fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, near) =
        candidates.map(|candidate| (distance(word, candidate), candidate)).min()?;
    (distance <= 2.max(near.len() / 4)).then_some(near)
}

/// How many letters must be changed, added or taken away to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(MAX_NAME).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;

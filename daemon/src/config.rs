//! The configuration file: TOML, every key optional, no key unknown.
//!
//! A faulty file stops the start, with line and column: running on defaults could send what the
//! user had excluded. The one exception is the judge's name, which only switches the judge off.

mod choice;
mod faults;
pub mod keys;
mod presets;
mod sample;
mod settings;
mod tables;

use std::{
    fs::File,
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use toml::Spanned;

use antidrift_protocol::Preset;

pub use choice::Choice;
use choice::choose;
use faults::{fault, nearest, one_line, with_suggestion};
pub use sample::sample;
pub use settings::{BACKEND, Origin, Setting, changed, dump};
use tables::{CatalogueTable, CoachTable, HttpTable, JudgeTable, PrivacyTable, Seconds, Tables};

use crate::{
    ai::embedded::{Catalogue, CatalogueError, Entry, catalogue},
    evidence::{ClassListError, Contexts, Privacy, PrivacyError},
    history::HistorySettings,
    session::NotifySettings,
};

/// Most bytes of a configuration file: far more than a person writes.
const MAX_FILE: u64 = 1024 * 1024;

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
    /// What a session can be started with by name.
    pub presets: Vec<Preset>,
    /// Every key as it is in force, and who says so.
    pub settings: Vec<Setting>,
}

/// Where the configuration is read.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file that the user named; it must be there.
    pub named: Option<PathBuf>,
    /// The file that is read otherwise, if it is there.
    pub default: Option<PathBuf>,
    /// `ANTIDRIFT_AI_BACKEND`, which wins over the file.
    pub backend: Option<String>,
}

impl Source {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// A named file that is missing, any file that cannot be read, and any fault in it.
    pub fn load(&self) -> Result<Config, ConfigError> {
        Config::load(self.named.as_deref(), self.default.as_deref(), self.backend.as_deref())
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
    fn load(
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

    /// Reads a text as what stands in this file.
    ///
    /// # Errors
    ///
    /// The first fault, with its place.
    pub fn parse(path: &Path, text: &str, backend: Option<&str>) -> Result<Self, ConfigError> {
        let at = |span: Option<Range<usize>>, message: String| {
            fault(path, text, span.map_or(0, |span| span.start), message)
        };
        let Tables { judge, coach, privacy, drift, away, notify, history, catalogue, presets } =
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
            presets: presets::presets(presets, &at)?,
            settings: settings::settings(path, text, backend),
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
        (judge_is_named, used_table(judge.http.as_ref()), "[judge.http]", "http"),
        (
            // The coach takes it too.
            judge_is_named || coach_is_named,
            judge.model.as_ref().map(Spanned::span),
            "[judge] model",
            "claude",
        ),
        (coach_is_named, used_table(coach.http.as_ref()), "[coach.http]", "http"),
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

/// Where a table stands in which something is set otherwise than by default.
fn used_table(table: Option<&Spanned<HttpTable>>) -> Option<Range<usize>> {
    let plain = HttpTable { allow_remote: Some(false), ..HttpTable::default() };
    table
        .filter(|table| ![&HttpTable::default(), &plain].contains(&table.get_ref()))
        .map(Spanned::span)
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

#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod tests;

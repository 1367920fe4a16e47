//! The file as it stands there.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use crate::{history::HistorySettings, session::NotifySettings};

/// Longest duration that can be set.
const MAX_SECS: f64 = 3600.0;

/// What stands in the file, as it stands there.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tables {
    pub(super) judge: JudgeTable,
    pub(super) coach: CoachTable,
    pub(super) privacy: PrivacyTable,
    pub(super) drift: DriftTable,
    pub(super) away: AwayTable,
    pub(super) notify: NotifyTable,
    pub(super) history: HistoryTable,
    pub(super) catalogue: CatalogueTable,
    pub(super) presets: BTreeMap<Spanned<String>, Spanned<PresetTable>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct JudgeTable {
    pub(super) backend: Option<String>,
    pub(super) command: Option<Spanned<Vec<String>>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) prefilter: Option<bool>,
    pub(super) max_per_session: Option<u64>,
    pub(super) http: Option<Spanned<HttpTable>>,
    pub(super) timeout_secs: Option<Seconds>,
}

/// Entries for the embedded judge, by kind; the kind `forget` takes built-in entries away.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CatalogueTable {
    pub(super) sites: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    pub(super) programs: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

#[derive(Clone, Deserialize, Default, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HttpTable {
    pub(super) base_url: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key_env: Option<String>,
    pub(super) api_key_file: Option<PathBuf>,
    pub(super) allow_remote: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CoachTable {
    pub(super) backend: Option<String>,
    pub(super) command: Option<Spanned<Vec<String>>>,
    pub(super) model: Option<String>,
    pub(super) http: Option<Spanned<HttpTable>>,
    pub(super) timeout_secs: Option<Seconds>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PrivacyTable {
    pub(super) redact: Vec<Spanned<String>>,
    pub(super) exclude_classes: Vec<Spanned<String>>,
    pub(super) audit_file: Option<Spanned<PathBuf>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DriftTable {
    pub(super) debounce_secs: Option<Seconds>,
    pub(super) settle_secs: Option<Seconds>,
    pub(super) many_context_classes: Option<Vec<Spanned<String>>>,
    pub(super) ignore_classes: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AwayTable {
    pub(super) idle_secs: Option<Seconds>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct NotifyTable {
    pub(super) budget: Option<u64>,
    pub(super) repeat: Option<bool>,
    pub(super) on_return: Option<bool>,
    pub(super) activate: Option<bool>,
}

impl NotifyTable {
    pub(super) fn settings(&self) -> NotifySettings {
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
pub(super) struct HistoryTable {
    pub(super) enabled: Option<bool>,
    pub(super) titles: Option<bool>,
    pub(super) keep_days: Option<u32>,
}

impl HistoryTable {
    pub(super) fn settings(&self) -> HistorySettings {
        let default = HistorySettings::default();
        HistorySettings {
            enabled: self.enabled.unwrap_or(default.enabled),
            titles: self.titles.unwrap_or(default.titles),
            keep_days: self.keep_days.map_or(default.keep_days, |it| Some(it).filter(|&it| it > 0)),
        }
    }
}

/// A beginning of a session.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PresetTable {
    pub(super) text: Option<String>,
    pub(super) next: Option<String>,
    pub(super) success: Option<String>,
    #[serde(rename = "for")]
    pub(super) length: Option<Spanned<String>>,
    pub(super) allow: Vec<String>,
    pub(super) allow_titles: Vec<String>,
    pub(super) allow_domains: Vec<String>,
    pub(super) allow_commands: Vec<String>,
}

/// A duration: seconds, fractions allowed, 0 to 3600.
pub(super) struct Seconds(pub(super) Duration);

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

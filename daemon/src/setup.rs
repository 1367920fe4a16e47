//! What a configuration comes to: the judge, the coach, and the session's settings.

use std::{path::Path, sync::Arc, time::Duration};

use antidrift_protocol::Destination;

use crate::{
    ai::{Judge, coach::Coach, prompt::Task},
    audit::Audit,
    backends::{self, Use},
    config::{Choice, Config},
    server::{Checkable, Coaching},
    session::{JudgeSettings, Settings, cloud_note},
};

/// How much longer a judgement is waited for than its backend may take: the backend knows what the
/// time went into, and says so when it is up.
const BACKSTOP: Duration = Duration::from_secs(1);

/// Everything that depends on the configuration and is made of it.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) settings: Settings,
    pub(crate) judge: Option<Arc<dyn Judge>>,
    pub(crate) checkable: Checkable,
    pub(crate) coaching: Coaching,
}

impl Setup {
    /// Looks for the programs that are named; nothing is started and nothing sent.
    pub(crate) fn new(config: &Config, runtime_dir: &Path, audit: Option<&Audit>) -> Self {
        let (judge, judge_settings) = judge(config, runtime_dir, audit);
        let checkable = match (&judge, &judge_settings) {
            (Some(judge), _) => {
                Checkable::Model(Arc::clone(judge), config.judge_timeout + BACKSTOP)
            }
            (None, JudgeSettings { prefilter: true, embedded: Some(catalogue), .. }) => {
                Checkable::Embedded(Arc::clone(catalogue))
            }
            (None, settings) => Checkable::Nothing(
                settings.error.clone().unwrap_or_else(|| "no judge is configured".into()),
            ),
        };
        let coaching = Coaching::new(coach(config, runtime_dir, audit), config.privacy.clone());
        let settings = Settings {
            debounce: config.debounce,
            settle: config.settle,
            judge_timeout: config.judge_timeout + BACKSTOP,
            contexts: config.contexts.clone(),
            judge: judge_settings,
            privacy: config.privacy.clone(),
            notify: config.notify.clone(),
            keep_titles: config.history.titles,
            presets: config.presets.clone(),
        };
        Self { settings, judge, checkable, coaching }
    }

    /// What a person should know who has just asked for it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let judge = &self.settings.judge;
        let off = judge.error.as_ref().map(|error| format!("the judge is off: {error}"));
        let cloud = judge.model && judge.destination == Some(Destination::Cloud);
        off.into_iter().chain(cloud.then(|| cloud_note(&judge.backend))).collect()
    }
}

/// The judge that was configured. One that cannot be had is no reason not to start: local matching
/// works without, and the state says why there is none.
fn judge(
    config: &Config,
    runtime_dir: &Path,
    audit: Option<&Audit>,
) -> (Option<Arc<dyn Judge>>, JudgeSettings) {
    let to = Use {
        task: Task::Judge,
        model: config.model.as_deref(),
        timeout: config.judge_timeout,
        runtime_dir,
        audit,
    };
    let found = backends::find(&config.judge, to);
    if let Some(error) = &found.error {
        tracing::warn!("the judge is off: {error}");
    }
    let first = config.prefilter || config.judge == Choice::Embedded;
    let settings = JudgeSettings {
        backend: found.name,
        destination: found.destination,
        model: found.model.is_some(),
        // At a session's cap the embedded judge goes on alone.
        embedded: (first || config.max_per_session.is_some())
            .then(|| Arc::new(config.catalogue.clone())),
        prefilter: first,
        limit: config.max_per_session,
        error: found.error,
    };
    (found.model.map(|model| Arc::new(model) as Arc<dyn Judge>), settings)
}

/// The coach that was configured, or why there is none.
fn coach(
    config: &Config,
    runtime_dir: &Path,
    audit: Option<&Audit>,
) -> Result<Arc<dyn Coach>, String> {
    let to = Use {
        task: Task::Coach,
        model: config.coach_model.as_deref(),
        timeout: config.coach_timeout,
        runtime_dir,
        audit,
    };
    let found = backends::find(&config.coach, to);
    found.model.map(|model| Arc::new(model) as Arc<dyn Coach>).ok_or_else(|| {
        found.error.unwrap_or_else(|| {
            "no coach is configured; name a model under [judge] or [coach], or give the fields \
             yourself (see antidrift start --help)"
                .into()
        })
    })
}

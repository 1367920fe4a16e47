//! The configuration, read again while the daemon runs: on SIGHUP, and when a client asks. A faulty
//! one changes nothing.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use antidrift_protocol::{ErrorCode, ErrorObject, Reloaded};
use tokio::{
    signal::unix::Signal,
    sync::{mpsc, oneshot, watch},
};
use tokio_util::sync::CancellationToken;

use crate::{
    audit::Audit,
    config::{self, Config, Source},
    controller::{Message, Reconfiguration, shutting_down},
    history::History,
    sensor::{self, Observation, SensorHandle},
    server::Services,
    setup::Setup,
    store::StateDir,
};

/// Most clients that wait for a reload; one that comes after waits itself.
pub(crate) const RELOAD_QUEUE: usize = 4;
/// What a new value of needs all to be judged anew.
const JUDGED_BY: [&str; 4] = ["judge.", "privacy.", "drift.", "catalogue."];

/// Where the answer to a client that asks goes.
pub(crate) type Asking = oneshot::Sender<Result<Reloaded, ErrorObject>>;

/// What is in force, and who has to be told of another.
#[derive(Debug)]
pub(crate) struct Reloader {
    pub(crate) config: Config,
    pub(crate) source: Source,
    pub(crate) runtime_dir: PathBuf,
    pub(crate) state_dir: StateDir,
    pub(crate) audit: Option<Audit>,
    pub(crate) services: watch::Sender<Services>,
    pub(crate) watcher: Watcher,
    pub(crate) controller: mpsc::Sender<Message>,
    /// Whether the judge that was named is not there.
    pub(crate) judge_is_off: bool,
}

impl Reloader {
    /// Runs until the daemon stops.
    pub(crate) async fn run(
        mut self,
        mut hang_up: Signal,
        mut asked: mpsc::Receiver<Asking>,
        stop: CancellationToken,
    ) {
        loop {
            let asking = tokio::select! {
                () = stop.cancelled() => return,
                _ = hang_up.recv() => None,
                Some(asking) = asked.recv() => Some(asking),
            };
            let done = tokio::select! {
                () = stop.cancelled() => Err(shutting_down()),
                done = self.reload() => done,
            };
            match &done {
                Ok(Reloaded { changed, .. }) if changed.is_empty() => {
                    tracing::info!("the configuration was read again and is the same");
                }
                Ok(Reloaded { changed, notes }) => {
                    tracing::info!("the configuration was read again: {}", changed.join(", "));
                    for note in notes {
                        tracing::warn!("{note}");
                    }
                }
                Err(error) => tracing::warn!("the configuration before is kept: {error}"),
            }
            if let Some(asking) = asking {
                // A client that hung up does not want it any more.
                let _ = asking.send(done);
            }
        }
    }

    async fn reload(&mut self) -> Result<Reloaded, ErrorObject> {
        let source = self.source.clone();
        // A file on a disk that hangs, or a pipe, holds up nobody but whoever waits for it.
        let loaded = tokio::task::spawn_blocking(move || source.load()).await;
        let config = match loaded {
            Ok(Ok(config)) => config,
            Ok(Err(error)) => return Err(refused(error.to_string())),
            Err(_) => return Err(refused("the configuration could not be read".into())),
        };
        let failed = |error: io::Error| refused(format!("it cannot be put into force: {error}"));
        if config.audit_file != self.config.audit_file {
            self.audit = config.audit_file.clone().map(Audit::new).transpose().map_err(failed)?;
        }
        self.watcher.idle_after(config.idle_after).map_err(failed)?;
        let setup = Setup::new(&config, &self.runtime_dir, self.audit.as_ref());
        let changed = config::changed(&self.config.settings, &config.settings);
        let notes = setup.notes();
        let history = (config.history != self.config.history)
            .then(|| History::new(&self.state_dir, &config.history));
        let Setup { settings, judge, checkable, coaching } = setup;
        self.services.send_modify(|services| {
            (services.coaching, services.judge) = (coaching, checkable);
            if let Some(history) = &history {
                services.history = history.clone();
            }
        });
        // Without a change, too: a program that was missing may be there now.
        let is_judged_by = |key: &String| JUDGED_BY.iter().any(|table| key.starts_with(table));
        let anew = changed.iter().any(is_judged_by) || settings.judge.error.is_some();
        let anew =
            anew || std::mem::replace(&mut self.judge_is_off, settings.judge.error.is_some());
        let reconfiguration = Reconfiguration { settings, judge, history, anew };
        let message = Message::Reconfigure(Box::new(reconfiguration));
        self.controller.send(message).await.map_err(|_| shutting_down())?;
        self.config = config;
        Ok(Reloaded { changed, notes })
    }
}

fn refused(message: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::BadConfig, message)
}

/// The sensor, to be started again when it is to look for something else.
pub(crate) struct Watcher {
    settings: sensor::Settings,
    observed: Arc<watch::Sender<Option<Observation>>>,
    /// Number of the sensor that is listened to. One that was told to end may say a last word after
    /// the first of its successor.
    current: Arc<AtomicU64>,
    /// Dropped, it ends.
    sensor: SensorHandle,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

impl Watcher {
    /// Starts a sensor.
    ///
    /// # Errors
    ///
    /// The process is out of threads or descriptors.
    pub(crate) fn start(
        settings: sensor::Settings,
        observed: watch::Sender<Option<Observation>>,
    ) -> io::Result<Self> {
        let (observed, current) = (Arc::new(observed), Arc::default());
        let sensor = spawn(&settings, &observed, &current)?;
        Ok(Self { settings, observed, current, sensor })
    }

    fn idle_after(&mut self, idle_after: Option<Duration>) -> io::Result<()> {
        if idle_after == self.settings.idle_after {
            return Ok(());
        }
        self.settings.idle_after = idle_after;
        self.sensor = spawn(&self.settings, &self.observed, &self.current)?;
        Ok(())
    }
}

fn spawn(
    settings: &sensor::Settings,
    observed: &Arc<watch::Sender<Option<Observation>>>,
    current: &Arc<AtomicU64>,
) -> io::Result<SensorHandle> {
    let (observed, current) = (Arc::clone(observed), Arc::clone(current));
    let own = current.fetch_add(1, Ordering::Relaxed) + 1;
    sensor::spawn(
        settings.clone(),
        Box::new(move |observation| {
            // The newest replaces the one before.
            observed.send_if_modified(|newest| {
                let is_current = current.load(Ordering::Relaxed) == own;
                if is_current {
                    *newest = Some(observation);
                }
                is_current
            });
        }),
    )
}

//! The antidrift daemon as a library: what `main` starts and what tests drive.

pub mod ai;
pub mod clock;
pub mod config;
pub mod controller;
pub mod evidence;
mod fd;
pub mod hub;
pub mod instance;
pub mod logging;
pub mod sensor;
pub mod server;
pub mod service_manager;
pub mod session;
pub mod store;

use std::{io, sync::Arc};

use antidrift_protocol::{Destination, paths::SocketPath};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
};
use tokio_util::sync::CancellationToken;

use ai::{Judge, command::CommandJudge};
use config::{Config, JudgeChoice};
use controller::{Controller, REQUEST_QUEUE};
use server::{Server, ServerError};
use session::{JudgeSettings, Session, Settings};
use store::{StateDir, Store};

/// What the daemon is started with; all of it was read from the environment, the command line and
/// the configuration by `main`.
#[derive(Debug)]
pub struct Options {
    /// Where it listens. Its directory has been prepared, and the lock beside it is held.
    pub socket: SocketPath,
    /// Where it saves.
    pub state_dir: StateDir,
    /// How it decides.
    pub config: Config,
    /// `DISPLAY`.
    pub display: Option<String>,
    /// Whether this is a Wayland session.
    pub wayland: bool,
}

/// Why the daemon could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The socket.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Threads, descriptors or memory.
    #[error("the daemon cannot start: {0}")]
    Resources(#[from] io::Error),
}

/// Runs the daemon until a signal ends it: SIGTERM or SIGINT.
///
/// # Errors
///
/// What keeps it from starting. Nothing that happens later ends it.
pub async fn run(options: Options) -> Result<(), RunError> {
    let Options { socket, state_dir, config, display, wayland } = options;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // A daemon that was started from a terminal outlives it.
    let mut hang_up = signal(SignalKind::hangup())?;

    let started = clock::now();
    let (store, restored) = Store::open(state_dir);
    let (judge, judge_settings) = judge(&config, &socket);
    let settings = Settings {
        debounce: config.debounce,
        settle: config.settle,
        judge_timeout: config.judge_timeout,
        contexts: config.contexts,
        judge: judge_settings,
    };
    let session = Session::new(settings, restored, started);
    let controller = Controller::new(session, judge, store)?;

    let stop = CancellationToken::new();
    let (sender, messages) = mpsc::channel(REQUEST_QUEUE);
    let instance = format!("{:x}-{:x}", std::process::id(), started.boot.as_nanos());
    let server = Server::bind(&socket, sender, instance, stop.clone())?;
    let (observed, observations) = watch::channel(None);
    let sensor = sensor::spawn(
        sensor::Settings { display, wayland, is_terminal: evidence::is_terminal },
        Box::new(move |observation| {
            // The newest replaces the one before; nobody listens any more at the very end.
            let _ = observed.send(Some(observation));
        }),
    )?;
    service_manager::notify("READY=1");
    tracing::info!("listening on {}", socket.path.display());

    let signals = async {
        loop {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hang_up.recv() => tracing::debug!("SIGHUP is ignored"),
            }
        }
    };
    let stopping = stop.clone();
    let end = async {
        signals.await;
        service_manager::notify("STOPPING=1");
        stopping.cancel();
    };
    let reason = || "the daemon was stopped".to_owned();
    tokio::join!(end, server.run(), controller.run(messages, observations, stop, reason));
    drop(sensor);
    tracing::info!("stopped");
    Ok(())
}

/// The judge that was configured. One that cannot be had is no reason not to start: local matching
/// works without, and the state says why there is none.
fn judge(config: &Config, socket: &SocketPath) -> (Option<Arc<dyn Judge>>, JudgeSettings) {
    let catalogue = || Some(Arc::new(config.catalogue.clone()));
    // A judge that cannot be had takes nothing from the one that would be asked before it.
    let embedded = if config.prefilter { catalogue() } else { None };
    let off = |backend: &str, error: Option<String>| {
        if let Some(error) = &error {
            tracing::warn!("the judge is off: {error}");
        }
        let backend = backend.to_owned();
        (
            None,
            JudgeSettings {
                backend,
                error,
                embedded: embedded.clone(),
                ..JudgeSettings::default()
            },
        )
    };
    match &config.judge {
        JudgeChoice::Embedded => {
            let settings = JudgeSettings {
                backend: "embedded".into(),
                destination: Some(Destination::Local),
                embedded: catalogue(),
                ..JudgeSettings::default()
            };
            (None, settings)
        }
        JudgeChoice::None => {
            (None, JudgeSettings { backend: "none".into(), ..JudgeSettings::default() })
        }
        JudgeChoice::Off { backend, error } => off(backend, Some(error.clone())),
        JudgeChoice::Command(argv) => match CommandJudge::new(argv, socket.dir()) {
            Ok(judge) => {
                // The session holds the limit; this one is for a session that does not.
                let judge = judge.with_timeout(config.judge_timeout * 2);
                let settings = JudgeSettings {
                    backend: "command".into(),
                    destination: Some(Destination::Local),
                    model: true,
                    embedded,
                    error: None,
                };
                (Some(Arc::new(judge)), settings)
            }
            Err(failure) => off("command", Some(failure.message)),
        },
    }
}

//! The antidrift daemon as a library: what `main` starts and what tests drive.

pub mod ai;
pub mod audit;
pub mod backends;
pub mod clock;
pub mod config;
pub mod controller;
pub mod desk;
pub mod evidence;
mod fd;
pub mod history;
pub mod hub;
pub mod instance;
pub mod logging;
pub mod login;
pub mod sensor;
pub mod server;
pub mod service_manager;
pub mod session;
pub mod socket_activation;
pub mod store;

use std::{io, sync::Arc, time::Duration};

use antidrift_protocol::paths::SocketPath;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
};
use tokio_util::sync::CancellationToken;

use ai::{Judge, coach::Coach, prompt::Task};
use audit::Audit;
use backends::Use;
use config::{Choice, Config};
use controller::{Controller, REQUEST_QUEUE};
use desk::Desk;
use history::History;
use sensor::Absence;
use server::{Checkable, Coaching, Listening, Server, ServerError, Services};
use session::{JudgeSettings, Session, Settings};
use socket_activation::Given;
use store::{StateDir, Store};

/// How much longer a judgement is waited for than its backend may take: the backend knows what the
/// time went into, and says so when it is up.
const BACKSTOP: Duration = Duration::from_secs(1);

/// What the daemon is started with; all of it was read from the environment, the command line and
/// the configuration by `main`.
#[derive(Debug)]
pub struct Options {
    /// Where it listens. Its directory has been prepared, and the lock beside it is held.
    pub socket: SocketPath,
    /// The socket itself, if the service manager has opened it.
    pub given: Option<Given>,
    /// Where it saves.
    pub state_dir: StateDir,
    /// How it decides.
    pub config: Config,
    /// `DISPLAY`.
    pub display: Option<String>,
    /// Whether this is a Wayland session.
    pub wayland: bool,
    /// Where the login manager is.
    pub login: login::Settings,
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
    let Options { socket, given, state_dir, config, display, wayland, login } = options;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // A daemon that was started from a terminal outlives it.
    let mut hang_up = signal(SignalKind::hangup())?;

    let started = clock::now();
    let history = History::new(&state_dir, &config.history);
    let (store, restored) = Store::open(state_dir);
    let audit = config.audit_file.clone().map(Audit::new).transpose()?;
    let (judge, judge_settings) = judge(&config, &socket, audit.as_ref());
    let checkable = match (&judge, &judge_settings) {
        (Some(judge), _) => Checkable::Model(Arc::clone(judge), config.judge_timeout + BACKSTOP),
        (None, JudgeSettings { prefilter: true, embedded: Some(catalogue), .. }) => {
            Checkable::Embedded(Arc::clone(catalogue))
        }
        (None, settings) => Checkable::Nothing(
            settings.error.clone().unwrap_or_else(|| "no judge is configured".into()),
        ),
    };
    let coaching = Coaching::new(coach(&config, &socket, audit.as_ref()), config.privacy.clone());
    let settings = Settings {
        debounce: config.debounce,
        settle: config.settle,
        judge_timeout: config.judge_timeout + BACKSTOP,
        contexts: config.contexts,
        judge: judge_settings,
        privacy: config.privacy,
        notify: config.notify,
        keep_titles: config.history.titles,
    };
    let session = Session::new(settings, restored, started);
    let sensing = sensor::Settings {
        display,
        wayland,
        idle_after: config.idle_after,
        is_terminal: evidence::is_terminal,
    };
    let desk = Desk::new(sensing.clone());
    let controller = Controller::new(session, judge, store, desk.clone(), history.clone())?;

    let services = Services { coaching, judge: checkable, desk, history };
    let stop = CancellationToken::new();
    let (sender, messages) = mpsc::channel(REQUEST_QUEUE);
    let instance = format!("{:x}-{:x}", std::process::id(), started.boot.as_nanos());
    let listening = match given {
        Some(given) => Listening::on_given(given, &socket)?,
        None => Listening::bind(&socket)?,
    };
    let server = Server::new(listening, sender, instance, services, stop.clone());
    let (observed, observations) = watch::channel(None);
    let sensor = sensor::spawn(
        sensing,
        Box::new(move |observation| {
            // The newest replaces the one before; nobody listens any more at the very end.
            let _ = observed.send(Some(observation));
        }),
    )?;
    let (told, logins) = watch::channel(Absence::default());
    let login = login::follow(login, told, stop.clone());
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
    let control = controller.run(messages, observations, logins, stop, reason);
    tokio::join!(end, server.run(), control, login);
    drop(sensor);
    tracing::info!("stopped");
    Ok(())
}

/// The judge that was configured. One that cannot be had is no reason not to start: local matching
/// works without, and the state says why there is none.
fn judge(
    config: &Config,
    socket: &SocketPath,
    audit: Option<&Audit>,
) -> (Option<Arc<dyn Judge>>, JudgeSettings) {
    let to = Use {
        task: Task::Judge,
        model: config.model.as_deref(),
        timeout: config.judge_timeout,
        runtime_dir: socket.dir(),
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
    socket: &SocketPath,
    audit: Option<&Audit>,
) -> Result<Arc<dyn Coach>, String> {
    let to = Use {
        task: Task::Coach,
        model: config.coach_model.as_deref(),
        timeout: config.coach_timeout,
        runtime_dir: socket.dir(),
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

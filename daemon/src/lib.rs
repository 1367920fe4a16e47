//! The antidrift daemon as a library: what `main` starts and what tests drive.

pub mod ai;
pub mod audit;
pub mod backends;
pub mod clock;
pub mod config;
pub mod config_command;
pub mod controller;
pub mod desk;
pub mod evidence;
mod fd;
pub mod history;
pub mod hub;
pub mod instance;
pub mod logging;
pub mod login;
mod reload;
pub mod sensor;
pub mod server;
pub mod service_manager;
pub mod session;
mod setup;
pub mod socket_activation;
pub mod store;

use std::{io, path::PathBuf};

use antidrift_protocol::paths::SocketPath;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
};
use tokio_util::sync::CancellationToken;

use audit::Audit;
use config::{Config, Source};
use controller::{Controller, REQUEST_QUEUE};
use desk::Desk;
use history::History;
use reload::{RELOAD_QUEUE, Reloader, Watcher};
use sensor::Absence;
use server::{Asked, Listening, Server, ServerError, Services};
use session::Session;
use setup::Setup;
use socket_activation::Given;
use store::{StateDir, Store};

/// What the daemon is started with; all of it was read from the environment, the command line and
/// the configuration by `main`.
#[derive(Debug)]
pub struct Options {
    /// Where it listens. Its directory has been prepared, and the lock beside it is held.
    pub socket: SocketPath,
    /// The socket itself, if the service manager has opened it.
    pub given: Option<Given>,
    /// Where programs that judge get their files and directories, wherever the socket is. It is made
    /// when there is such a program.
    pub runtime_dir: PathBuf,
    /// Where it saves.
    pub state_dir: StateDir,
    /// How it decides.
    pub config: Config,
    /// Where that was read, to read it again.
    pub source: Source,
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
    let Options { socket, given, runtime_dir, state_dir, config, source, display, wayland, login } =
        options;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let hang_up = signal(SignalKind::hangup())?;

    let started = clock::now();
    let history = History::new(&state_dir, &config.history);
    let (store, restored) = Store::open(state_dir.clone());
    let audit = config.audit_file.clone().map(Audit::new).transpose()?;
    let setup = Setup::new(&config, &runtime_dir, audit.as_ref());
    let judge_is_off = setup.settings.judge.error.is_some();
    let session = Session::new(setup.settings, restored, started);
    let sensing = sensor::Settings {
        display,
        wayland,
        idle_after: config.idle_after,
        is_terminal: evidence::is_terminal,
    };
    let desk = Desk::new(sensing.clone());
    let controller = Controller::new(session, setup.judge, store, desk.clone(), history.clone())?;
    let (services, served) = watch::channel(Services {
        coaching: setup.coaching,
        judge: setup.checkable,
        desk,
        history,
    });
    let stop = CancellationToken::new();
    let (sender, messages) = mpsc::channel(REQUEST_QUEUE);
    let (reload, reloads) = mpsc::channel(RELOAD_QUEUE);
    let instance = format!("{:x}-{:x}", std::process::id(), started.boot.as_nanos());
    let listening = match given {
        Some(given) => Listening::on_given(given, &socket)?,
        None => Listening::bind(&socket)?,
    };
    let asked = Asked { controller: sender.clone(), reload, services: served };
    let server = Server::new(listening, asked, instance, stop.clone());
    let (observed, observations) = watch::channel(None);
    let watcher = Watcher::start(sensing, observed)?;
    let listens_on = socket.path.display().to_string();
    let reloader = Reloader {
        config,
        source,
        runtime_dir,
        state_dir,
        audit,
        services,
        watcher,
        controller: sender,
        judge_is_off,
    };
    let (told, logins) = watch::channel(Absence::default());
    let login = login::follow(login, told, stop.clone());
    service_manager::notify("READY=1");
    tracing::info!("listening on {listens_on}");

    let signals = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    let stopping = stop.clone();
    let end = async {
        signals.await;
        service_manager::notify("STOPPING=1");
        stopping.cancel();
    };
    let reason = || "the daemon was stopped".to_owned();
    let reloading = reloader.run(hang_up, reloads, stop.clone());
    let control = controller.run(messages, observations, logins, stop, reason);
    tokio::join!(end, server.run(), control, login, reloading);
    tracing::info!("stopped");
    Ok(())
}

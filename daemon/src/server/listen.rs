//! The listening socket.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
    time::Duration,
};

use antidrift_protocol::paths::SocketPath;
use interprocess::{
    local_socket::{
        GenericFilePath, ListenerOptions, ToFsName,
        traits::{StreamCommon, tokio::Listener as _},
    },
    os::unix::{local_socket::ListenerOptionsExt, uds_local_socket::tokio::Listener},
};
use tokio::sync::{mpsc, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{check::Checkable, connection, places::Places, propose::Coaching};
use crate::{
    controller::Message, desk::Desk, history::History, reload::Asking, socket_activation::Given,
};

/// How long connections have at the end of the daemon: half of what `--replace` waits.
const FAREWELL: Duration = Duration::from_secs(5);
/// Most connections that wait to be accepted. Who comes behind a crowd waits for all of it, so it
/// must be short; a client that finds it full tries again.
const BACKLOG: i32 = 128;
/// How long accepting rests after an error such as «too many open files», which would only repeat.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Why nobody can connect.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {}: {source}", path.display())]
pub struct ServerError {
    path: PathBuf,
    source: io::Error,
}

/// A socket that is listened on.
#[derive(Debug)]
pub struct Listening {
    listener: Listener,
    /// What is to be removed in the end: a socket that we made.
    made: Option<(PathBuf, Inode)>,
}

type Inode = (u64, u64);

impl Listening {
    /// Binds the socket, readable and writable for its owner only from the first moment. Whoever
    /// calls holds the daemon's lock, so a socket that lies there is nobody's.
    ///
    /// # Errors
    ///
    /// The socket cannot be bound.
    pub fn bind(socket: &SocketPath) -> Result<Self, ServerError> {
        let path = socket.path.clone();
        let failed = |source| ServerError { path: path.clone(), source };
        let name = path.as_path().to_fs_name::<GenericFilePath>().map_err(failed)?;
        let listener = ListenerOptions::new()
            .name(name)
            .mode(0o600)
            // We remove it ourselves, and only if it is still ours.
            .reclaim_name(false)
            .create_tokio_as::<Listener>()
            .map_err(failed)?;
        // The kernel's limit is some thousands. Listening once more only sets it.
        rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
        let made = inode(&path).map(|inode| (path, inode));
        Ok(Self { listener, made })
    }

    /// Takes the socket that a service manager opened. It stays when we end: clients that come
    /// meanwhile are answered by the next daemon.
    ///
    /// # Errors
    ///
    /// The runtime cannot wait on it.
    pub fn on_given(given: Given, socket: &SocketPath) -> Result<Self, ServerError> {
        let listener = Listener::try_from(OwnedFd::from(given.into_listener()))
            .map_err(|source| ServerError { path: socket.path.clone(), source })?;
        Ok(Self { listener, made: None })
    }

    /// Removes the socket if we made it, and stops listening.
    fn end(self) {
        if let Some((path, made)) = &self.made
            // After `--replace` another daemon's socket may lie there.
            && inode(path).as_ref() == Some(made)
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// The socket, from its first connection to the last one's end.
#[derive(Debug)]
pub struct Server {
    listening: Listening,
    /// What every connection has.
    shared: Shared,
}

/// What connections ask themselves, past the controller, so that nobody else waits for it.
#[derive(Clone, Debug)]
pub struct Services {
    /// The coach.
    pub coaching: Coaching,
    /// The judge, for a check.
    pub judge: Checkable,
    /// The display.
    pub desk: Desk,
    /// The sessions that are over.
    pub history: History,
}

/// Whom connections ask.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The owner of the session.
    pub controller: mpsc::Sender<Message>,
    /// Who reads the configuration again.
    pub reload: mpsc::Sender<Asking>,
    /// What the present configuration gives.
    pub services: watch::Receiver<Services>,
}

/// What every connection has.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) asked: Asked,
    /// Names this run of the daemon.
    pub(super) instance: String,
    pub(super) places: Places,
    pub(super) stop: CancellationToken,
    pub(super) tasks: TaskTracker,
}

impl Shared {
    /// What the present configuration gives.
    pub(super) fn services(&self) -> Services {
        self.asked.services.borrow().clone()
    }
}

impl Server {
    /// Serves on this socket, once it runs.
    pub fn new(
        listening: Listening,
        asked: Asked,
        instance: String,
        stop: CancellationToken,
    ) -> Self {
        let shared =
            Shared { asked, instance, places: Places::default(), stop, tasks: TaskTracker::new() };
        Self { listening, shared }
    }

    /// Accepts until the daemon stops, then gives the socket up and waits for what is being said.
    pub async fn run(self) {
        let own_uid = rustix::process::geteuid().as_raw();
        loop {
            let accepted = tokio::select! {
                () = self.shared.stop.cancelled() => break,
                accepted = self.listening.listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    tokio::select! {
                        () = self.shared.stop.cancelled() => break,
                        () = tokio::time::sleep(ACCEPT_PAUSE) => continue,
                    }
                }
            };
            // The mode of the socket keeps others out already; root is not kept out by it.
            let peer = stream.peer_creds().ok();
            let user = peer.and_then(|peer| peer.euid());
            if user != Some(own_uid) {
                tracing::warn!("a connection of user {user:?} was refused");
                continue;
            }
            let process = peer.and_then(|peer| peer.pid()).and_then(|pid| pid.try_into().ok());
            let serving = connection::serve(stream, process, self.shared.clone());
            self.shared.tasks.spawn(serving);
            // What it asks is looked at before the next one comes, who may need its place; and a
            // crowd is never let in faster than those before it are let out.
            tokio::task::yield_now().await;
        }
        self.listening.end();
        self.shared.tasks.close();
        // A client that takes its last lines slowly, or not at all, must not hold up the end: another
        // daemon may wait to take over.
        let _ = tokio::time::timeout(FAREWELL, self.shared.tasks.wait()).await;
    }
}

fn inode(path: &Path) -> Option<Inode> {
    fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

//! A listening socket that a service manager opened for us: socket activation, sd_listen_fds(3).
//!
//! The socket is the manager's: it was there before us and stays when we end, so that clients wait
//! rather than fail while the daemon starts. We neither bind nor remove it.

use std::{
    env, fs, io,
    os::{
        fd::{IntoRawFd, OwnedFd},
        unix::{
            fs::{FileTypeExt, MetadataExt, PermissionsExt},
            net::UnixListener,
        },
    },
    path::{Path, PathBuf},
};

use antidrift_protocol::paths::SocketPath;
use rustix::{
    io::{FdFlags, fcntl_setfd},
    net::{
        SocketType,
        sockopt::{socket_acceptconn, socket_type},
    },
};

/// Why the socket of the service manager is not used.
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// `LISTEN_FDS` is no number, or not one.
    #[error("the service manager passed {0} sockets, but antidriftd takes exactly one")]
    NotOne(String),
    /// What was passed is not what we could accept connections from.
    #[error("the service manager passed no listening Unix stream socket: {0}")]
    Unfit(String),
    /// Clients would look for us elsewhere.
    #[error(
        "the service manager listens on {}, but clients look for {}; give ListenStream= of the \
         socket unit and ANTIDRIFT_SOCKET the same path",
        given.display(),
        expected.display()
    )]
    Elsewhere {
        /// Where the socket is bound.
        given: PathBuf,
        /// Where the rule puts it.
        expected: PathBuf,
    },
    /// Nothing leads to the socket any more.
    #[error(
        "the service manager's socket is no longer at {}: {why}; restart its socket unit \
         (systemctl --user restart antidriftd.socket)",
        path.display()
    )]
    Unreachable {
        /// Where it should be.
        path: PathBuf,
        /// What is there.
        why: String,
    },
}

/// Takes the socket that was passed to this process, if one was. To be called once and first of
/// all: until then its descriptor belongs to nobody. What it starts later does not inherit it.
///
/// # Errors
///
/// Anything else than one listening Unix stream socket with a path.
pub fn take() -> Result<Option<Given>, ActivationError> {
    let var = |name| env::var(name).unwrap_or_default();
    // They may be those of a parent that did not remove them.
    if var("LISTEN_PID") != std::process::id().to_string() {
        return Ok(None);
    }
    let count = var("LISTEN_FDS");
    if count != "1" {
        return Err(ActivationError::NotOne(count));
    }
    let passed = sd_listen_fds::get().map_err(|error| ActivationError::Unfit(error.to_string()))?;
    let Some((_, fd)) = passed.into_iter().next() else { return Ok(None) };
    let fd = fd.into_std();
    if let Err(error) = fcntl_setfd(&fd, FdFlags::CLOEXEC) {
        // It is not open: its number may be given to somebody else's file, which we must not close.
        let _ = fd.into_raw_fd();
        return Err(ActivationError::Unfit(error.to_string()));
    }
    Given::new(fd).map(Some)
}

/// A socket that was passed to us.
#[derive(Debug)]
pub struct Given {
    listener: UnixListener,
    path: PathBuf,
}

impl Given {
    fn new(fd: OwnedFd) -> Result<Self, ActivationError> {
        let unfit = |error: io::Error| ActivationError::Unfit(error.to_string());
        let listener = UnixListener::from(fd);
        let address = listener.local_addr().map_err(unfit)?;
        let stream = socket_type(&listener).map_err(|error| unfit(error.into()))?;
        let listens = socket_acceptconn(&listener).map_err(|error| unfit(error.into()))?;
        if stream != SocketType::STREAM || !listens {
            return Err(ActivationError::Unfit("it is of another kind".to_owned()));
        }
        match address.as_pathname() {
            Some(path) => Ok(Self { path: path.to_owned(), listener }),
            None => Err(ActivationError::Unfit("it has no path".to_owned())),
        }
    }

    /// Checks that clients find it: that it lies where the rule says, and is ours. It is closed to
    /// others as a socket that we bind is, whatever the unit says.
    ///
    /// # Errors
    ///
    /// A socket elsewhere, one that was removed, and one of somebody else.
    pub fn check(&self, socket: &SocketPath) -> Result<(), ActivationError> {
        if self.path != socket.path {
            let (given, expected) = (self.path.clone(), socket.path.clone());
            return Err(ActivationError::Elsewhere { given, expected });
        }
        close_to_others(&self.path).map_err(|error| ActivationError::Unreachable {
            path: self.path.clone(),
            why: error.to_string(),
        })
    }

    /// To listen on.
    #[must_use]
    pub fn into_listener(self) -> UnixListener {
        self.listener
    }
}

fn close_to_others(path: &Path) -> io::Result<()> {
    // No link is followed: in /tmp it could lead anywhere.
    let meta = fs::symlink_metadata(path)?;
    if !meta.file_type().is_socket() {
        return Err(io::Error::other("something else is there"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to the user {}", meta.uid())));
    }
    if meta.mode() & 0o177 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixDatagram, UnixStream};

    use super::*;

    fn place() -> (tempfile::TempDir, SocketPath) {
        let dir = tempfile::tempdir().unwrap();
        let socket = SocketPath::chosen(&dir.path().join("d.sock")).unwrap();
        (dir, socket)
    }

    #[test]
    fn only_a_listening_stream_socket_with_a_path_is_taken() {
        let (dir, socket) = place();
        let listener = UnixListener::bind(&socket.path).unwrap();
        let stream = UnixStream::connect(&socket.path).unwrap();
        let datagrams = UnixDatagram::bind(dir.path().join("datagrams")).unwrap();
        let internet = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let file = fs::File::open("/dev/null").unwrap();
        for fd in [stream.into(), datagrams.into(), internet.into(), OwnedFd::from(file)] {
            let error = Given::new(fd).unwrap_err().to_string();
            assert!(error.contains("no listening Unix stream socket"), "{error}");
        }
        Given::new(listener.into()).unwrap().check(&socket).unwrap();
    }

    #[test]
    fn it_must_be_where_clients_look_and_is_closed_to_others() {
        let (dir, socket) = place();
        let given = Given::new(UnixListener::bind(&socket.path).unwrap().into()).unwrap();
        let mode = |mode| fs::set_permissions(&socket.path, fs::Permissions::from_mode(mode));
        mode(0o666).unwrap();
        given.check(&socket).unwrap();
        assert_eq!(fs::metadata(&socket.path).unwrap().mode() & 0o777, 0o600);

        let other = SocketPath::chosen(&dir.path().join("other.sock")).unwrap();
        let error = given.check(&other).unwrap_err().to_string();
        assert!(error.contains("d.sock") && error.contains("other.sock"), "{error}");

        fs::remove_file(&socket.path).unwrap();
        let error = given.check(&socket).unwrap_err().to_string();
        assert!(error.contains("restart antidriftd.socket"), "{error}");
        fs::write(&socket.path, "precious").unwrap();
        let error = given.check(&socket).unwrap_err().to_string();
        assert!(error.contains("something else"), "{error}");
    }
}

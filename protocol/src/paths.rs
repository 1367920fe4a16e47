//! Where the socket, the state and the configuration lie: the only rule, used by both binaries.
//!
//! | what | where |
//! |---|---|
//! | socket | [`Environment::socket_path`] |
//! | the daemon's lock | beside the socket: [`SocketPath::lock`] |
//! | the lock of the `watch` that raises popups | beside the socket: [`SocketPath::notify_lock`] |
//! | working directories of judges | in [`Environment::runtime_dir`], with names of their own |
//! | snapshot | [`state_dir`] |
//! | configuration | [`config_file`] |
//!
//! The locks belong to one daemon, so they follow the socket, also to a place that `ANTIDRIFT_SOCKET`
//! names: two daemons on two sockets have two sets of popups. A judge's directory must be closed to
//! others, and a place that a person chose for a socket may be `/tmp`; so these never follow.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};

/// Longest path a Unix socket address takes, in bytes: `sun_path` less its NUL (unix(7)).
pub const MAX_SOCKET_PATH: usize = 107;

/// Name of the directory that we make under a runtime, state or configuration directory.
const OURS: &str = "antidrift";
const SOCKET: &str = "antidriftd.sock";

/// What the rules look at, so that tests need not change the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `$ANTIDRIFT_SOCKET`.
    pub socket: Option<PathBuf>,
    /// `$XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// Where per-user runtime directories lie: `/run/user`.
    pub run_user: PathBuf,
    /// Where the last resort lies: `/tmp`, whatever `TMPDIR` says, since it may differ between the
    /// two sides.
    pub tmp: PathBuf,
    /// Our user id.
    pub uid: u32,
}

impl Environment {
    /// As this process has it.
    pub fn of_process() -> Self {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            socket: var("ANTIDRIFT_SOCKET").map(PathBuf::from),
            runtime_dir: var("XDG_RUNTIME_DIR").map(PathBuf::from),
            run_user: "/run/user".into(),
            tmp: "/tmp".into(),
            uid: rustix::process::geteuid().as_raw(),
        }
    }

    /// The socket's path: `$ANTIDRIFT_SOCKET`, else in `$XDG_RUNTIME_DIR` if that is an absolute
    /// path to a directory of ours (XDG base directories), else in `/run/user/<uid>`, else in
    /// `/tmp/antidrift-<uid>`.
    ///
    /// # Errors
    ///
    /// A path that no socket address can hold, or a relative one without a working directory.
    pub fn socket_path(&self) -> Result<SocketPath, PathError> {
        match self.socket.as_deref().filter(|path| !path.as_os_str().is_empty()) {
            // Made absolute: the working directory may change or go.
            Some(path) => SocketPath::chosen(path),
            None => {
                let path = self.runtime_dir().join(SOCKET);
                SocketPath { path, made_by_user: false }.fits()
            }
        }
    }

    /// The directory for the socket and the working directories of judges, wherever
    /// `$ANTIDRIFT_SOCKET` puts the socket. It may not exist yet: see [`prepare_private_dir`].
    pub fn runtime_dir(&self) -> PathBuf {
        let run_user = self.run_user.join(self.uid.to_string());
        match &self.runtime_dir {
            Some(dir) if dir.is_absolute() && self.is_ours(dir) => dir.join(OURS),
            _ if self.is_ours(&run_user) => run_user.join(OURS),
            _ => self.tmp.join(format!("{OURS}-{}", self.uid)),
        }
    }

    fn is_ours(&self, dir: &Path) -> bool {
        fs::metadata(dir).is_ok_and(|meta| meta.is_dir() && meta.uid() == self.uid)
    }
}

/// The directory for the snapshot: `$XDG_STATE_HOME/antidrift` (XDG base directories), else under
/// the home directory, which is `$HOME` or, without it, the user database's. `None` if there is no
/// home directory or its path is relative: then nothing can be saved.
pub fn state_dir() -> Option<PathBuf> {
    dirs::state_dir().filter(|dir| dir.is_absolute()).map(|dir| dir.join(OURS))
}

/// The configuration file: `$XDG_CONFIG_HOME/antidrift/config.toml`, else under the home directory.
/// `None` as for [`state_dir`]: then all is default.
pub fn config_file() -> Option<PathBuf> {
    let dir = dirs::config_dir().filter(|dir| dir.is_absolute())?;
    Some(dir.join(OURS).join("config.toml"))
}

/// Makes a directory of ours if it is missing, closed to others (0700). One that exists must be a
/// directory, no symbolic link, and ours; it is closed to others too. Its parent must exist.
///
/// # Errors
///
/// A directory that cannot be made or closed, or that is somebody else's.
pub fn prepare_private_dir(dir: &Path) -> Result<(), PathError> {
    if make(dir)? {
        return Ok(());
    }
    check(dir, false)?;
    let close = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    close.map_err(|source| PathError::Unusable { path: dir.into(), source })
}

/// Makes a directory; whether it was missing.
fn make(dir: &Path) -> Result<bool, PathError> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(PathError::Unusable { path: dir.into(), source }),
    }
}

/// Whether a directory can be trusted: it is ours, or, if a person chose it, one like `/tmp` where
/// nobody can replace what is ours.
fn check(dir: &Path, chosen: bool) -> Result<(), PathError> {
    let unusable = |source| PathError::Unusable { path: dir.into(), source };
    // Ours is not followed: in /tmp a foreign symbolic link could lead anywhere.
    let meta = if chosen { fs::metadata(dir) } else { fs::symlink_metadata(dir) };
    let meta = meta.map_err(unusable)?;
    if !meta.is_dir() {
        return Err(unusable(io::ErrorKind::NotADirectory.into()));
    }
    let ours = meta.uid() == rustix::process::geteuid().as_raw();
    let sticky = meta.mode() & 0o1000 != 0;
    // In a directory that anybody may write to, only the sticky bit keeps our files ours.
    if ours && chosen && meta.mode() & 0o002 != 0 && !sticky {
        return Err(PathError::Open { path: dir.into() });
    }
    if ours || (chosen && meta.uid() == 0 && sticky) {
        return Ok(());
    }
    Err(PathError::Foreign { path: dir.into(), uid: meta.uid() })
}

/// Where the daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketPath {
    /// The socket.
    pub path: PathBuf,
    /// Whether a person chose the path, so that its directory is theirs and never changed.
    pub made_by_user: bool,
}

impl SocketPath {
    /// A path that a person chose, made absolute.
    ///
    /// # Errors
    ///
    /// A path that no socket address can hold, an empty one, or a relative one without a working
    /// directory.
    pub fn chosen(path: &Path) -> Result<Self, PathError> {
        let path = std::path::absolute(path)
            .map_err(|source| PathError::Unusable { path: path.into(), source })?;
        Self { path, made_by_user: true }.fits()
    }

    fn fits(self) -> Result<Self, PathError> {
        let length = self.path.as_os_str().len();
        if length > MAX_SOCKET_PATH {
            return Err(PathError::TooLong { path: self.path, length });
        }
        Ok(self)
    }

    /// The lock file beside the socket; whoever holds it is the daemon. `antidriftd.lock` for
    /// `antidriftd.sock`; another ending stays, so that no two sockets share it by accident.
    pub fn lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    /// The lock file beside the socket that the `watch` which raises the popups holds:
    /// `notify.lock`, or `<name>.notify.lock` beside a socket that a person put somewhere.
    pub fn notify_lock(&self) -> PathBuf {
        if self.made_by_user { self.beside(".notify.lock") } else { self.dir().join("notify.lock") }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let own = self.path.extension().is_some_and(|it| it == "sock");
        let mut path = if own { self.path.with_extension("") } else { self.path.clone() };
        path.as_mut_os_string().push(ending);
        path
    }

    /// The directory of the socket.
    pub fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Makes the directory if it is missing (0700), and checks it: our own must be ours and closed
    /// to others; one that a person chose must be ours, or root's with the sticky bit, and is never
    /// changed.
    ///
    /// # Errors
    ///
    /// A directory that cannot be made or that somebody else could write to.
    pub fn prepare_dir(&self) -> Result<(), PathError> {
        let dir = self.dir();
        if !self.made_by_user {
            return prepare_private_dir(dir);
        }
        if make(dir)? { Ok(()) } else { self.check_dir() }
    }

    /// Checks the directory without changing it.
    ///
    /// # Errors
    ///
    /// A directory that is not there or that somebody else could write to.
    pub fn check_dir(&self) -> Result<(), PathError> {
        check(self.dir(), self.made_by_user)
    }
}

/// Opens a lock file, or makes it (0600). A link is not followed, since what it points to would be
/// written to, and a file of somebody else is refused, since they could hold its lock for ever.
///
/// # Errors
///
/// What is no regular file of ours, and what cannot be opened.
pub fn open_lock(path: &Path) -> io::Result<fs::File> {
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
        .map_err(|error| match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::LOOP) => io::Error::other("it is a symbolic link"),
            _ => error,
        })?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to the user {}", meta.uid())));
    }
    Ok(file)
}

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// A socket address could not hold it.
    #[error(
        "the socket path {} is {length} bytes long, but a socket address holds at most \
         {MAX_SOCKET_PATH}; set ANTIDRIFT_SOCKET or XDG_RUNTIME_DIR to something shorter",
        path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// It belongs to somebody else.
    #[error("{} belongs to user {uid}, not to you; it is not used", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// The owner.
        uid: u32,
    },
    /// A directory that anybody may write to.
    #[error(
        "anybody may write to {}, and so put another socket in the place of ours; close it with \
         chmod o-w",
        path.display()
    )]
    Open {
        /// The path.
        path: PathBuf,
    },
    /// It cannot be made or looked at.
    #[error("{} cannot be used: {source}", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

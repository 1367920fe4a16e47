//! Where the socket, the state and the configuration lie: the only rule, used by both binaries.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

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
    /// A path that no socket address can hold.
    pub fn socket_path(&self) -> Result<SocketPath, PathError> {
        let place = if let Some(path) = &self.socket {
            // A client started in another directory would look elsewhere.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            SocketPath { path, made_by_user: true }
        } else {
            SocketPath { path: self.runtime_dir().join(SOCKET), made_by_user: false }
        };
        place.fits()
    }

    /// The directory for the socket, the locks and the judge's working directories.
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
/// the home directory. `None` without either.
pub fn state_dir() -> Option<PathBuf> {
    dirs::state_dir().map(|dir| dir.join(OURS))
}

/// The configuration file: `$XDG_CONFIG_HOME/antidrift/config.toml`, else under the home directory.
pub fn config_file() -> Option<PathBuf> {
    dirs::config_dir().map(|dir| dir.join(OURS).join("config.toml"))
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
    /// A path that a person chose.
    ///
    /// # Errors
    ///
    /// A path that no socket address can hold.
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

    /// The lock file beside the socket; whoever holds it is the daemon.
    pub fn lock(&self) -> PathBuf {
        self.path.with_extension("lock")
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
        match fs::DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(PathError::Unusable { path: dir.into(), source }),
            Ok(()) => return Ok(()),
        }
        self.check_dir()?;
        if !self.made_by_user {
            let close = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
            close.map_err(|source| PathError::Unusable { path: dir.into(), source })?;
        }
        Ok(())
    }

    /// Checks the directory without changing it.
    ///
    /// # Errors
    ///
    /// As [`prepare_dir`](Self::prepare_dir).
    pub fn check_dir(&self) -> Result<(), PathError> {
        let dir = self.dir();
        let unusable = |source| PathError::Unusable { path: dir.into(), source };
        // Not followed: in /tmp a foreign symbolic link could lead anywhere.
        let meta = if self.made_by_user { fs::metadata(dir) } else { fs::symlink_metadata(dir) }
            .map_err(unusable)?;
        if !meta.is_dir() {
            return Err(unusable(io::ErrorKind::NotADirectory.into()));
        }
        let ours = meta.uid() == rustix::process::geteuid().as_raw();
        let sticky = meta.uid() == 0 && meta.mode() & 0o1000 != 0;
        if ours || (self.made_by_user && sticky) {
            return Ok(());
        }
        Err(PathError::Foreign { path: dir.into(), uid: meta.uid() })
    }
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
    /// It cannot be made or looked at.
    #[error("{} cannot be used: {source}", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(root: &Path) -> Environment {
        Environment {
            run_user: root.join("run-user"),
            tmp: root.join("tmp"),
            uid: rustix::process::geteuid().as_raw(),
            ..Environment::default()
        }
    }

    #[test]
    fn the_first_place_that_is_ours_wins() {
        let root = tempfile::tempdir().unwrap();
        let mut env = environment(root.path());
        let uid = env.uid.to_string();
        let tmp = root.path().join("tmp").join(format!("antidrift-{uid}"));
        assert_eq!(env.runtime_dir(), tmp);

        for useless in ["", "relative", "/nonexistent/runtime"] {
            env.runtime_dir = Some(useless.into());
            assert_eq!(env.runtime_dir(), tmp, "{useless:?}");
        }
        let run = root.path().join("run-user").join(uid);
        fs::create_dir_all(&run).unwrap();
        assert_eq!(env.runtime_dir(), run.join("antidrift"));

        let xdg = root.path().join("xdg");
        fs::create_dir(&xdg).unwrap();
        env.runtime_dir = Some(xdg.clone());
        assert_eq!(env.socket_path().unwrap().path, xdg.join("antidrift/antidriftd.sock"));

        env.socket = Some(root.path().join("own.sock"));
        let chosen = env.socket_path().unwrap();
        assert!(chosen.made_by_user);
        assert_eq!(chosen.lock(), root.path().join("own.lock"));
    }

    #[test]
    fn a_path_over_the_limit_is_refused_with_the_limit() {
        let mut env = environment(Path::new("/"));
        env.socket = Some(format!("/{}", "x".repeat(MAX_SOCKET_PATH - 1)).into());
        assert!(env.socket_path().is_ok());
        env.socket = Some(format!("/{}", "x".repeat(MAX_SOCKET_PATH)).into());
        let message = env.socket_path().unwrap_err().to_string();
        assert!(message.contains("108 bytes") && message.contains("at most 107"), "{message}");
    }

    #[test]
    fn our_own_directory_is_closed_and_a_chosen_one_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let dir = root.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
            dir
        };
        let mode = |dir: &Path| fs::metadata(dir).unwrap().mode() & 0o777;
        for (name, made_by_user, expected) in [("ours", false, 0o700), ("chosen", true, 0o755)] {
            let dir = open(name);
            let place = SocketPath { path: dir.join("s.sock"), made_by_user };
            place.prepare_dir().unwrap();
            assert_eq!(mode(&dir), expected, "{name}");
        }
        let fresh = root.path().join("fresh");
        SocketPath::chosen(&fresh.join("s.sock")).unwrap().prepare_dir().unwrap();
        assert_eq!(mode(&fresh), 0o700);

        let link = root.path().join("link");
        std::os::unix::fs::symlink(root.path().join("ours"), &link).unwrap();
        let place = SocketPath { path: link.join("s.sock"), made_by_user: false };
        assert!(matches!(place.prepare_dir(), Err(PathError::Unusable { .. })));
    }
}

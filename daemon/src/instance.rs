//! One daemon for one socket: the lock file beside the socket says who it is.
//!
//! Only the lock counts. A socket that nobody answers on proves nothing (a stopped daemon is not
//! dead), and neither does a process id in a file. The lock file itself is never removed: whoever
//! had it open would hold a lock that nobody else can see.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use antidrift_protocol::paths::{SocketPath, open_lock};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::sockopt::socket_peercred,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

/// How long `--replace` waits for the other daemon to end: it may have a judge to end and a
/// snapshot to save.
const REPLACE_LIMIT: Duration = Duration::from_secs(10);

/// How often, at intervals of [`RETRY_PAUSE`], a lock is tried again that nobody should hold, and a
/// holder's id is looked for that is not written yet.
const RETRIES: u32 = 25;
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Why this process cannot be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another process is.
    #[error(
        "antidriftd is already running{}: it holds {}; end it, or start with --replace to take over",
        pid.map(|pid| format!(" as process {pid}")).unwrap_or_default(),
        path.display()
    )]
    Held {
        /// Its process id, if it could be read.
        pid: Option<i32>,
        /// The lock file.
        path: PathBuf,
    },
    /// `--replace` did not get it out of the way.
    #[error("the running antidriftd cannot be replaced: {0}")]
    NotReplaced(String),
    /// The lock file cannot be made.
    #[error("the lock file {} cannot be opened: {source}", path.display())]
    Unusable {
        /// The lock file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something that is no socket lies where the socket should.
    #[error(
        "{} exists and is no socket, so it is left alone; move it away or choose another path",
        .0.display()
    )]
    Foreign(PathBuf),
    /// The old socket cannot be removed.
    #[error("the old socket {} cannot be removed: {source}", path.display())]
    Stuck {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Someone listens on the socket who is not the daemon.
    #[error(
        "{} is the socket of a service manager, which starts antidriftd itself; use that \
         (systemctl --user restart antidriftd.service), or end it first (systemctl --user stop \
         antidriftd.socket)",
        .0.display()
    )]
    Managed(PathBuf),
    /// There is an old socket, and no lock to tell whether it is in use.
    #[error(
        "{} exists, and without locks nobody can tell whether it is in use; remove it if no \
         antidriftd runs",
        .0.display()
    )]
    Unproven(PathBuf),
}

/// How somebody wants to be the daemon.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claim {
    /// It takes over from the daemon that runs.
    pub replace: bool,
    /// A service manager gave it the socket, so what lies there stays.
    pub given: bool,
}

/// The right to be the daemon; it ends with the process, however that ends.
#[derive(Debug)]
pub struct Instance {
    /// `None` where the file system has no locks.
    _lock: Option<File>,
}

impl Instance {
    /// Takes the lock, and removes a socket that an earlier daemon left behind. The directory must
    /// have been prepared.
    ///
    /// # Errors
    ///
    /// Another daemon runs, or something is in the way that is not ours to remove.
    pub fn acquire(socket: &SocketPath, claim: Claim) -> Result<Self, InstanceError> {
        let path = socket.lock();
        let file = open_lock(&path)
            .map_err(|source| InstanceError::Unusable { path: path.clone(), source })?;
        let lock = match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) if claim.replace => {
                let holder = Holder { lock: &file, path: &path, socket: &socket.path };
                holder.replace()?;
                Some(file)
            }
            Err(TryLockError::WouldBlock) => {
                let pid = written_pid(&file).map(|pid| pid.as_raw_nonzero().get());
                return Err(InstanceError::Held { pid, path });
            }
            Err(TryLockError::Error(error)) => {
                tracing::warn!(
                    "locking is unavailable on {} ({error}): a second antidriftd would not be \
                     noticed",
                    path.display()
                );
                None
            }
        };
        if let Some(mut file) = lock.as_ref() {
            // Only for the message of whoever comes second; the lock holds without it.
            let own = format!("{}\n", std::process::id());
            let written = file
                .rewind()
                .and_then(|()| file.set_len(0))
                .and_then(|()| file.write_all(own.as_bytes()));
            if let Err(error) = written {
                tracing::debug!(%error, "the process id could not be written to the lock file");
            }
        }
        if !claim.given {
            remove_stale(&socket.path, lock.is_some())?;
        }
        Ok(Self { _lock: lock })
    }
}

/// Removes a socket that no daemon can be behind, since we hold the lock.
fn remove_stale(path: &Path, locked: bool) -> Result<(), InstanceError> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    if !meta.file_type().is_socket() {
        return Err(InstanceError::Foreign(path.into()));
    }
    if !locked {
        return Err(InstanceError::Unproven(path.into()));
    }
    if is_listened_on(path) {
        // A daemon that was killed drops its lock a moment before its socket.
        std::thread::sleep(RETRY_PAUSE);
        if is_listened_on(path) {
            return Err(InstanceError::Managed(path.into()));
        }
    }
    fs::remove_file(path).map_err(|source| InstanceError::Stuck { path: path.into(), source })
}

/// Whether the kernel lists a listening socket with this path. To connect instead would have a
/// service manager start a daemon, which would take over from us.
fn is_listened_on(path: &Path) -> bool {
    let sockets = fs::read("/proc/net/unix").unwrap_or_default();
    sockets.split(|&byte| byte == b'\n').any(|line| is_listener(line, path))
}

/// Whether a line of `/proc/net/unix` (proc_net(5)) is a listening socket with this path.
fn is_listener(line: &[u8], path: &Path) -> bool {
    /// `__SO_ACCEPTCON`, the flag of sockets that listen.
    const LISTENS: &[u8] = b"00010000";
    // `0000000000000000: 00000002 00000000 00010000 0001 01  1874 /run/user/1000/bus`
    let mut fields = line.splitn(7, |&byte| byte == b' ');
    let listens = fields.nth(3) == Some(LISTENS);
    let Some(rest) = fields.nth(2).map(<[u8]>::trim_ascii_start) else { return false };
    // The inode's number, padded in front, and the path, which may hold spaces.
    let mut rest = rest.splitn(2, |&byte| byte == b' ');
    listens && rest.nth(1) == Some(path.as_os_str().as_bytes())
}

/// Whoever holds the lock that we want.
struct Holder<'a> {
    lock: &'a File,
    path: &'a Path,
    socket: &'a Path,
}

impl Holder<'_> {
    /// Asks it to end, and takes the lock once it has.
    fn replace(&self) -> Result<(), InstanceError> {
        let refused = |why: String| InstanceError::NotReplaced(why);
        let Some(pid) = written_pid(self.lock) else {
            return Err(refused(format!("{} names no process", self.path.display())));
        };
        // A descriptor of the process, taken before it is checked: its number may be given to
        // another process at any time, the descriptor stays.
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => process,
            Err(Errno::SRCH) => return self.take(pid),
            Err(error) => return Err(refused(format!("process {pid}: {error}"))),
        };
        if !self.is_held_by(pid) {
            return Err(refused(format!(
                "process {pid}, which {} names, does not hold it",
                self.path.display()
            )));
        }
        tracing::info!("asking process {pid} to end");
        for signal in [Signal::TERM, Signal::CONT] {
            // Continued as well: a stopped process would end only when somebody continues it.
            match pidfd_send_signal(&process, signal) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(error) => return Err(refused(format!("process {pid}: {error}"))),
            }
        }
        let limit = Timespec {
            tv_sec: i64::try_from(REPLACE_LIMIT.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: 0,
        };
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)) {
            Ok(0) => {
                let secs = REPLACE_LIMIT.as_secs();
                Err(refused(format!("process {pid} has not ended within {secs} s")))
            }
            Ok(_) => self.take(pid),
            Err(error) => Err(refused(format!("waiting for process {pid}: {error}"))),
        }
    }

    /// Takes the lock of a process that has ended. The kernel drops it in passing, so it may need
    /// a moment; if it stays held, a third daemon was faster.
    fn take(&self, pid: Pid) -> Result<(), InstanceError> {
        for _ in 0..RETRIES {
            match self.lock.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY_PAUSE),
                Err(TryLockError::Error(error)) => {
                    return Err(InstanceError::NotReplaced(error.to_string()));
                }
            }
        }
        Err(InstanceError::NotReplaced(format!(
            "process {pid} has ended, but something else holds {} now",
            self.path.display()
        )))
    }

    /// Whether the kernel says that this process holds the lock, or listens on the socket.
    fn is_held_by(&self, pid: Pid) -> bool {
        let inode = self.lock.metadata().map_or(0, |meta| meta.ino());
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let listens = || {
            let peer = UnixStream::connect(self.socket).and_then(|it| Ok(socket_peercred(it)?));
            peer.is_ok_and(|peer| peer.pid == pid)
        };
        locks.lines().any(|line| is_lock(line, pid, inode)) || listens()
    }
}

/// Whether a line of `/proc/locks` (proc_locks(5)) is this process's whole-file lock on this inode.
/// Devices are not compared: some file systems give another number there than to stat(2).
fn is_lock(line: &str, pid: Pid, inode: u64) -> bool {
    // `1: FLOCK  ADVISORY  WRITE 2312 fd:01:9437242 0 EOF`
    let mut fields = line.split_ascii_whitespace().skip(1);
    fields.next() == Some("FLOCK")
        && fields.nth(2).and_then(|field| field.parse().ok()) == Some(pid.as_raw_nonzero().get())
        && fields.next().and_then(|place| place.rsplit(':').next()?.parse().ok()) == Some(inode)
}

/// The process id that stands in the lock file. Between taking the lock and writing it there is a
/// moment, so an empty file is read again.
fn written_pid(mut file: &File) -> Option<Pid> {
    for _ in 0..RETRIES {
        let mut text = String::new();
        // A process id has at most ten digits.
        file.rewind().and_then(|()| file.take(32).read_to_string(&mut text)).ok()?;
        if text.ends_with('\n') {
            return Pid::from_raw(text.trim().parse().ok().filter(|&pid| pid > 0)?);
        }
        std::thread::sleep(RETRY_PAUSE);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn place() -> (tempfile::TempDir, SocketPath) {
        let dir = tempfile::tempdir().unwrap();
        let socket = SocketPath::chosen(&dir.path().join("d.sock")).unwrap();
        (dir, socket)
    }

    #[test]
    fn the_second_is_told_who_is_first() {
        let (_dir, socket) = place();
        let first = Instance::acquire(&socket, Claim::default()).unwrap();
        let error = Instance::acquire(&socket, Claim::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        assert!(error.contains("--replace"), "{error}");
        drop(first);
        Instance::acquire(&socket, Claim::default()).unwrap();
    }

    #[test]
    fn an_old_socket_is_removed_and_nothing_else_is() {
        let (_dir, socket) = place();
        drop(UnixListener::bind(&socket.path).unwrap());
        drop(Instance::acquire(&socket, Claim::default()).unwrap());
        assert!(!socket.path.exists());

        fs::write(&socket.path, "precious").unwrap();
        let error = Instance::acquire(&socket, Claim::default()).unwrap_err();
        assert!(matches!(error, InstanceError::Foreign(_)), "{error}");
        assert_eq!(fs::read(&socket.path).unwrap(), b"precious");

        fs::remove_file(&socket.path).unwrap();
        drop(UnixListener::bind(&socket.path).unwrap());
        let error = remove_stale(&socket.path, false).unwrap_err();
        assert!(matches!(error, InstanceError::Unproven(_)), "{error}");
        assert!(socket.path.exists());
    }

    /// A service manager listens, though no daemon runs.
    #[test]
    fn a_socket_that_is_listened_on_is_left_alone() {
        let (_dir, socket) = place();
        let listener = UnixListener::bind(&socket.path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let error = Instance::acquire(&socket, Claim::default()).unwrap_err();
        assert!(matches!(error, InstanceError::Managed(_)), "{error}");
        assert!(listener.accept().is_err(), "a connection would start the daemon");
        drop(Instance::acquire(&socket, Claim { replace: false, given: true }).unwrap());
        assert!(socket.path.exists());
        drop(listener);
        drop(Instance::acquire(&socket, Claim::default()).unwrap());
        assert!(!socket.path.exists());
    }

    #[test]
    fn a_process_that_does_not_hold_the_lock_is_not_ended() {
        let (dir, socket) = place();
        let _first = Instance::acquire(&socket, Claim::default()).unwrap();
        // As if the holder could not write its own id and an old one stood there.
        let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        fs::write(dir.path().join("d.lock"), format!("{}\n", bystander.id())).unwrap();
        let error = Instance::acquire(&socket, Claim { replace: true, given: false })
            .unwrap_err()
            .to_string();
        assert!(error.contains("does not hold"), "{error}");
        assert!(bystander.try_wait().unwrap().is_none(), "it was ended");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }

    #[test]
    fn lines_of_proc_locks() {
        let pid = Pid::from_raw(2312).unwrap();
        for (line, expected) in [
            ("1: FLOCK  ADVISORY  WRITE 2312 fd:01:9437242 0 EOF", true),
            ("1: FLOCK  ADVISORY  WRITE 2313 fd:01:9437242 0 EOF", false),
            ("1: FLOCK  ADVISORY  WRITE 2312 fd:01:9437243 0 EOF", false),
            ("1: POSIX  ADVISORY  WRITE 2312 fd:01:9437242 0 EOF", false),
            ("1: -> FLOCK  ADVISORY  WRITE 2312 fd:01:9437242 0 EOF", false),
            ("", false),
        ] {
            assert_eq!(is_lock(line, pid, 9_437_242), expected, "{line}");
        }
    }

    #[test]
    fn lines_of_proc_net_unix() {
        let path = Path::new("/run/user/1000/a b.sock");
        for (line, expected) in [
            (
                "0000000000000000: 00000002 00000000 00010000 0001 01 21874 /run/user/1000/a b.sock",
                true,
            ),
            (
                "0000000000000000: 00000002 00000000 00010000 0001 01  1874 /run/user/1000/a b.sock",
                true,
            ),
            (
                "0000000000000000: 00000003 00000000 00000000 0001 03 21875 /run/user/1000/a b.sock",
                false,
            ),
            ("0000000000000000: 00000002 00000000 00010000 0001 01 21874 /run/user/1000/a", false),
            ("0000000000000000: 00000002 00000000 00010000 0001 01 21874", false),
            ("Num       RefCount Protocol Flags    Type St Inode Path", false),
            ("", false),
        ] {
            assert_eq!(is_listener(line.as_bytes(), path), expected, "{line}");
        }
    }
}

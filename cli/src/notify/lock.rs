//! Of several watches one raises the popups: the one that holds `notify.lock` beside the socket.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
};

use antidrift_protocol::paths::SocketPath;

/// Waits, without polling, until no other watch of this daemon raises popups. The lock is held as
/// long as the file that is given back.
pub(crate) fn hold(socket: &SocketPath) -> io::Result<File> {
    socket.prepare_dir().map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path(socket))?;
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(|()| file),
        }
    }
}

/// A socket in a place of its own has a lock of its own: its daemon is another one.
fn path(socket: &SocketPath) -> PathBuf {
    if socket.made_by_user {
        socket.path.with_extension("notify.lock")
    } else {
        socket.path.with_file_name("notify.lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_lies_beside_the_socket() {
        let at = |made_by_user| {
            path(&SocketPath { path: "/run/x/antidrift/antidriftd.sock".into(), made_by_user })
        };
        assert_eq!(at(false), PathBuf::from("/run/x/antidrift/notify.lock"));
        assert_eq!(at(true), PathBuf::from("/run/x/antidrift/antidriftd.notify.lock"));
    }

    #[test]
    fn the_next_one_waits_for_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let socket = SocketPath { path: dir.path().join("a/s.sock"), made_by_user: true };
        let first = hold(&socket).unwrap();
        let (sender, held) = std::sync::mpsc::channel();
        let second = socket.clone();
        std::thread::spawn(move || sender.send(hold(&second).unwrap()));
        assert!(held.try_recv().is_err());
        drop(first);
        held.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
    }
}

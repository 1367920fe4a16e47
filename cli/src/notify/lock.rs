//! Of several watches one raises the popups: the one that holds `notify.lock` beside the socket.

use std::{fs::File, io};

use antidrift_protocol::paths::{SocketPath, open_lock};

/// Waits, without polling, until no other watch of this daemon raises popups. The lock is held as
/// long as the file that is given back.
pub(crate) fn hold(socket: &SocketPath) -> io::Result<File> {
    socket.prepare_dir().map_err(io::Error::other)?;
    let file = open_lock(&socket.notify_lock())?;
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(|()| file),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use antidrift_tests::{PATIENCE, until};

    use super::*;

    #[test]
    fn two_sockets_in_one_directory_have_two_locks() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name| SocketPath { path: dir.path().join(name), made_by_user: true };
        let _first = hold(&at("a.1")).unwrap();
        let _second = hold(&at("a.2")).unwrap();
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let socket = SocketPath { path: dir.path().join("s"), made_by_user: true };
        std::os::unix::fs::symlink(dir.path().join("victim"), socket.notify_lock()).unwrap();
        assert!(hold(&socket).unwrap_err().to_string().contains("symbolic link"));
        assert!(!dir.path().join("victim").exists());
    }

    #[test]
    fn the_next_one_waits_for_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let socket = SocketPath { path: dir.path().join("a/s.sock"), made_by_user: true };
        let first = hold(&socket).unwrap();
        let (sender, held) = std::sync::mpsc::channel();
        let second = socket.clone();
        std::thread::spawn(move || sender.send(hold(&second).unwrap()));
        let inode = first.metadata().unwrap().ino();
        until("the second waits", || {
            assert!(held.try_recv().is_err(), "it did not wait");
            // `1: -> FLOCK  ADVISORY  WRITE 2312 fd:01:9437242 0 EOF`, see proc_locks(5).
            let locks = std::fs::read_to_string("/proc/locks").unwrap();
            let waits = |line: &str| line.contains("->") && line.contains(&format!(":{inode} "));
            locks.lines().any(waits).then_some(())
        });
        drop(first);
        held.recv_timeout(PATIENCE).unwrap();
    }
}

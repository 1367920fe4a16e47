//! The client at a pseudo-terminal, with the test at its other side.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};

use super::*;

pub(crate) struct Terminal {
    pub(crate) child: Child,
    pub(crate) master: File,
    /// All that was written, and what came since it was looked at last.
    raw: Arc<Mutex<Vec<u8>>>,
}

pub(crate) fn resize(master: &File, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

impl Terminal {
    pub(crate) fn start(daemon: &FakeDaemon, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave: OwnedFd = ioctl_tiocgptpeer(&master, flags).unwrap();
        let master = File::from(master);
        resize(&master, 24, 80);
        let side = || Stdio::from(slave.try_clone().unwrap());
        // A session of its own, with the terminal as its controlling one.
        let mut command = Command::new("/usr/bin/setsid");
        command
            .args(["--ctty", env!("CARGO_BIN_EXE_antidrift")])
            .args(args)
            .env_clear()
            .env("TERM", "xterm-256color")
            .env("PATH", "/nonexistent")
            .env("XDG_RUNTIME_DIR", daemon.dir.path())
            .envs(environment.iter().copied())
            .stdin(side())
            .stdout(side())
            .stderr(side());
        let child = command.spawn().unwrap();
        drop((command, slave));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, into) = (master.try_clone().unwrap(), Arc::clone(&raw));
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                lock(&into).extend_from_slice(&chunk[..read]);
            }
        });
        Self { child, master, raw }
    }

    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&lock(&self.raw)).into_owned()
    }

    pub(crate) fn screen(&self) -> Vec<String> {
        screen(&self.raw())
    }

    pub(crate) fn wait_for(&self, text: &str) -> Vec<String> {
        until(&format!("{text:?} on the screen"), || {
            let screen = self.screen();
            screen.iter().any(|line| line.contains(text)).then_some(screen)
        })
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    pub(crate) fn wait_for_keys(&self) {
        until("keys to be taken one by one", || self.is_raw().then_some(()));
    }

    /// Whether it is as a shell leaves it: lines, and what is typed is shown.
    pub(crate) fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&self.master).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for a text in all that was ever written.
    pub(crate) fn wait_for_raw(&self, text: &str) -> String {
        until(&format!("{text:?} in all that was written"), || {
            Some(self.raw()).filter(|raw| raw.contains(text))
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As much of a terminal as is needed: rows, clearing, no colours.
pub(crate) fn screen(raw: &str) -> Vec<String> {
    let mut rows = vec![String::new(); 100];
    let (mut row, mut rest) = (0, raw);
    while let Some(at) = rest.find('\u{1b}') {
        rows[row].push_str(&rest[..at]);
        let tail = &rest[at + 2..];
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(tail.len() - 1);
        match &tail[..=end] {
            "2J" => rows.iter_mut().for_each(String::clear),
            other => {
                if let Some(position) = other.strip_suffix(";1H") {
                    row = position.parse::<usize>().unwrap() - 1;
                    rows[row].clear();
                }
            }
        }
        rest = &tail[end + 1..];
    }
    rows[row].push_str(rest);
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

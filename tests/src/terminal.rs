use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};

use crate::{Process, until};

/// A program at a pseudo-terminal, with the test at its other side.
#[derive(Debug)]
pub struct Terminal {
    process: Process,
    master: File,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts a command that was prepared without standard streams, in a session of its own.
    pub fn start(command: &Command, package: &str) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave: OwnedFd = ioctl_tiocgptpeer(&master, flags).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let side = || Stdio::from(slave.try_clone().unwrap());
        let mut led = Command::new("/usr/bin/setsid");
        led.arg("--ctty").arg(command.get_program()).args(command.get_args());
        led.env_clear().env("TERM", "xterm-256color");
        led.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(dir) = command.get_current_dir() {
            led.current_dir(dir);
        }
        led.stdout(side()).stderr(side());
        let process = Process::spawn_with(&mut led, side(), package);
        let master = File::from(master);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, into) = (master.try_clone().unwrap(), Arc::clone(&written));
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                into.lock().unwrap().extend_from_slice(&chunk[..read]);
            }
        });
        Self { process, master, written }
    }

    /// The program's process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// All that was written.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// Types, without waiting for anything.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until it takes keys one by one, as a shell does while a line is edited.
    #[track_caller]
    pub fn until_keys(&self) {
        until("keys to be taken one by one", || {
            let modes = tcgetattr(&self.master).unwrap().local_modes;
            (!modes.contains(LocalModes::ICANON)).then_some(())
        });
    }
}

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// The directories of one invented user. Commands see these and nothing else of the surroundings.
#[derive(Debug)]
pub struct Home {
    dir: TempDir,
}

const PARTS: [(&str, &str); 6] = [
    ("HOME", "home"),
    ("XDG_RUNTIME_DIR", "run"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_DATA_HOME", "data"),
];

impl Home {
    /// New, empty directories.
    #[expect(clippy::new_without_default, reason = "it makes directories")]
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("antidrift-test-").tempdir().unwrap();
        for (_, part) in PARTS {
            fs::DirBuilder::new().mode(0o700).create(dir.path().join(part)).unwrap();
        }
        Self { dir }
    }

    /// Where they stand.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The socket that the daemon makes.
    pub fn socket(&self) -> PathBuf {
        self.path().join("run/antidrift/antidriftd.sock")
    }

    /// The daemon's state directory.
    pub fn state_dir(&self) -> PathBuf {
        self.path().join("state/antidrift")
    }

    /// The daemon's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.path().join("config/antidrift/config.toml")
    }

    /// Writes the daemon's configuration.
    pub fn configure(&self, text: &str) {
        fs::create_dir_all(self.config_file().parent().unwrap()).unwrap();
        fs::write(self.config_file(), text).unwrap();
    }

    /// A command in these surroundings. Programs put into [`bin`](Self::bin) come first on PATH.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into());
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin().display()))
            .env("LANG", "C.UTF-8")
            .current_dir(self.path());
        for (name, part) in PARTS {
            command.env(name, self.path().join(part));
        }
        // the machine's own bus knows whether the person who runs the tests has locked the screen
        let no_bus = self.path().join("no-system-bus");
        command.env("DBUS_SYSTEM_BUS_ADDRESS", format!("unix:path={}", no_bus.display()));
        command
    }

    /// The first directory on PATH.
    pub fn bin(&self) -> PathBuf {
        self.path().join("bin")
    }

    /// Puts a shell script first on PATH.
    pub fn install(&self, name: &str, script: &str) -> PathBuf {
        fs::create_dir_all(self.bin()).unwrap();
        let path = self.bin().join(name);
        // written under another name: a script that is open for writing cannot be run
        let draft = self.path().join(format!("{name}.draft"));
        fs::write(&draft, script).unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&draft, &path).unwrap();
        path
    }
}

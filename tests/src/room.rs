use std::{
    fs,
    io::{BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Home, Process, antidriftd};

/// Mounts of its own, with empty directories in the places where programs go by themselves: `/run`,
/// `/tmp` and the home directory that the user database names. Nothing in it is seen outside.
#[derive(Debug)]
pub struct Room {
    holder: Process,
}

/// Covers each place, with what has to be seen in it laid out again at its own path.
const SCRIPT: &str = r#"
set -e
keep=$1; shift
for place; do
  [ -d "$place" ] || continue
  mount -t tmpfs -o mode=755 tmpfs /mnt
  for kept in $keep; do
    case $kept in "$place"/*) ;; *) continue ;; esac
    mkdir -p "/mnt/${kept#"$place"/}"
    mount --rbind "$kept" "/mnt/${kept#"$place"/}"
  done
  mount --move /mnt "$place"
done
chmod 1777 /tmp
mkdir /run/user
echo ready
exec sleep 1000000
"#;

impl Room {
    /// A room where `home` and the built binaries lie where they are. `None`, with a word about it,
    /// where this user may not mount anything.
    pub fn open(home: &Home) -> Option<Self> {
        let built = antidriftd();
        let keep = [home.path(), built.parent().unwrap()];
        let keep = keep.map(|it| it.display().to_string()).join(" ");
        let mut command = home.command("unshare");
        command.args(["--mount", "sh", "-c", SCRIPT, "room", &keep, "/run", "/tmp", "/root"]);
        command.stdout(Stdio::piped());
        let mut holder = Process::spawn(&mut command, "util-linux");
        let mut line = String::new();
        BufReader::new(holder.take_stdout().unwrap()).read_line(&mut line).unwrap();
        if line != "ready\n" {
            let _ = writeln!(std::io::stderr(), "skipped: nothing can be mounted here");
            return None;
        }
        Some(Self { holder })
    }

    /// A program in these surroundings, in the room.
    pub fn command(&self, home: &Home, program: impl AsRef<Path>) -> Command {
        let mut command = home.command("nsenter");
        command.args(["--mount", "--target", &self.holder.id().to_string(), "--"]);
        command.arg(program.as_ref());
        command
    }

    /// Where a place in the room is found from outside.
    pub fn at(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.holder.id()))
    }

    /// Empties its places again.
    pub fn clear(&self, paths: &[&str]) {
        for path in paths {
            let path = self.at(path);
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if meta.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

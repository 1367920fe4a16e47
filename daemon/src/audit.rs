//! What was sent to a model, written down where the user asked for it. Off unless a file is named.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use antidrift_protocol::Timestamp;
use serde_json::json;

/// When the file is this long it becomes `FILE.old`, in the place of the one before, and a new one
/// begins.
const MAX_FILE: u64 = 1024 * 1024;

/// The file.
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    failed: bool,
}

impl Audit {
    /// Writes to this file (0600), which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path, failed: false }
    }

    /// Adds a line. A failure is logged once; the judge goes on.
    pub fn write(&mut self, at: Timestamp, backend: &str, text: &str) {
        let line = format!("{}\n", json!({"at": at, "backend": backend, "text": text}));
        match self.append(&line) {
            Ok(()) => self.failed = false,
            Err(error) if !std::mem::replace(&mut self.failed, true) => {
                tracing::warn!("what is sent cannot be written to {}: {error}", self.path.display())
            }
            Err(_) => {}
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        if fs::metadata(&self.path).is_ok_and(|meta| meta.len() > MAX_FILE) {
            let mut old = self.path.clone().into_os_string();
            old.push(".old");
            fs::rename(&self.path, old)?;
        }
        // A pipe or a link in its place would hold us up, or write elsewhere.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags.bits().cast_signed())
            .open(&self.path)?;
        file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_line_is_there_and_the_file_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sent.jsonl");
        let mut audit = Audit::new(path.clone());
        for _ in 0..300 {
            audit.write(Timestamp::from_millis(0), "claude", &"x".repeat(8000));
        }
        let text = fs::read_to_string(&path).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(line["backend"], "claude");
        let size = |it: io::Result<fs::DirEntry>| it.unwrap().metadata().unwrap().len();
        let sizes: u64 = fs::read_dir(dir.path()).unwrap().map(size).sum();
        assert!(sizes < 3 * MAX_FILE, "{sizes}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}

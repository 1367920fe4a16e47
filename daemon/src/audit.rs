//! What was sent to a model, written down where the user asked for it. Off unless a file is named.
//!
//! It stands between models and their backends, so that nothing is sent beside it: not by the
//! judge, not by the coach, not by a check.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
};

use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    ai::backend::{Answering, Backend, Prompt},
    clock,
};

/// When the file is this long it becomes `FILE.old`, in the place of the one before, and a new one
/// begins.
const MAX_FILE: u64 = 1024 * 1024;

/// Writes the file, on a thread of its own: a slow disk holds up the prompt and nothing else.
#[derive(Clone, Debug)]
pub struct Audit {
    lines: mpsc::Sender<(String, oneshot::Sender<()>)>,
}

impl Audit {
    /// Writes to this file (0600), which need not exist.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let (lines, waiting) = mpsc::channel::<(String, oneshot::Sender<()>)>();
        thread::Builder::new().name("audit".into()).spawn(move || {
            let mut file = File { path, failed: false };
            for (line, done) in waiting {
                file.write(&line);
                // Who was cancelled meanwhile sends nothing; then the file says too much.
                let _ = done.send(());
            }
        })?;
        Ok(Self { lines })
    }

    async fn write(&self, line: String) {
        let (done, written) = oneshot::channel();
        if self.lines.send((line, done)).is_ok() {
            let _ = written.await;
        }
    }
}

/// A backend whose prompts are written down before they are sent.
#[derive(Debug)]
pub struct Audited<B> {
    backend: Arc<B>,
    /// As the state names it.
    name: String,
    audit: Audit,
}

impl<B> Audited<B> {
    /// `name` is who the file says it was sent to.
    pub fn new(backend: B, name: String, audit: Audit) -> Self {
        Self { backend: Arc::new(backend), name, audit }
    }
}

impl<B: Backend + 'static> Backend for Audited<B> {
    fn name(&self) -> String {
        self.backend.name()
    }

    fn ask(self: Arc<Self>, prompt: Prompt) -> Answering {
        Box::pin(async move {
            let (at, task) = (clock::now().wall, prompt.task.word());
            let entry = json!({"at": at, "backend": self.name, "for": task, "text": prompt.text});
            self.audit.write(format!("{entry}\n")).await;
            Arc::clone(&self.backend).ask(prompt).await
        })
    }
}

struct File {
    path: PathBuf,
    failed: bool,
}

impl File {
    /// A failure is logged once; what was to be sent is sent all the same.
    fn write(&mut self, line: &str) {
        match self.append(line) {
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
    use crate::ai::{backend::Answered, prompt::Task};

    #[derive(Debug)]
    struct Silent;

    impl Backend for Silent {
        fn name(&self) -> String {
            "silent".into()
        }

        fn ask(self: Arc<Self>, _: Prompt) -> Answering {
            Box::pin(async { Ok(Answered { text: Vec::new(), complaint: String::new() }) })
        }
    }

    #[test]
    fn every_line_is_there_and_the_file_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sent.jsonl");
        let audit = Audit::new(path.clone()).unwrap();
        let audited = Arc::new(Audited::new(Silent, "claude".into(), audit));
        let text = "x".repeat(8000);
        let prompt = Prompt { task: Task::Coach, text, private: Vec::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..300 {
            let answered = runtime.block_on(Arc::clone(&audited).ask(prompt.clone()));
            assert!(answered.is_ok(), "it is sent on");
        }
        let text = fs::read_to_string(&path).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!((&line["backend"], &line["for"]), (&json!("claude"), &json!("coach")));
        let size = |it: io::Result<fs::DirEntry>| it.unwrap().metadata().unwrap().len();
        let sizes: u64 = fs::read_dir(dir.path()).unwrap().map(size).sum();
        assert!(sizes < 3 * MAX_FILE, "{sizes}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}

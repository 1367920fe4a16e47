//! The snapshot on disk: `session.json` in the state directory.
//!
//! It is replaced as a whole (written beside, synced, renamed, the directory synced), so that a kill
//! or a full disk at any moment leaves the old one or the new one. The disk is never waited for by
//! the controller: a thread that lives while there is something to save does the writing, and only
//! the newest snapshot is written however many wait.

use std::{
    fmt,
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::session::Snapshot;

/// Version of the file. Raised when an older daemon would misread it.
const VERSION: u64 = 1;
/// Most bytes of a snapshot: more than twice what the bounds of the protocol allow for, most of which
/// are sessions that are not in the history yet.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// Most files that are kept of those that could not be read.
const KEPT: u32 = 5;
const FILE: &str = "session.json";

#[derive(Serialize)]
struct Envelope<'a> {
    version: u64,
    snapshot: &'a Snapshot,
}

/// Called once with how the save went; on whatever thread, so it may only hand over.
pub type Waiter = Box<dyn FnOnce(Result<(), &str>) + Send>;

/// Where the state directory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    /// Its path, or why there is none.
    pub path: Result<PathBuf, String>,
    /// Whether a person chose it, so that its mode is theirs.
    pub made_by_user: bool,
}

/// Saves snapshots.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: StateDir,
    queue: Mutex<Queue>,
}

/// What waits for the writing thread. The waiters are bounded by the connections, each of which has
/// one request under way.
#[derive(Default)]
struct Queue {
    pending: Option<Box<Snapshot>>,
    waiters: Vec<Waiter>,
    /// Whether there is a writing thread.
    running: bool,
    /// What the last attempt could not save.
    unsaved: Option<Box<Snapshot>>,
    /// Whether the last attempt failed, which was said then.
    failing: bool,
    /// Called before each write, so that a test can come in between.
    #[cfg(test)]
    before_write: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("waiters", &self.waiters.len())
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the state directory and reads what an earlier daemon left. Nothing that is found there
    /// keeps the daemon from starting: what is no snapshot is set aside under another name. What
    /// cannot be read may be a whole one, so it is left in its place and nothing is saved over it.
    pub fn open(mut dir: StateDir) -> (Self, Option<Snapshot>) {
        let mut snapshot = None;
        let opened = dir.path.clone().and_then(|path| {
            let prepared = prepare(&path, dir.made_by_user);
            if prepared.is_ok() {
                remove_leftovers(&path);
            }
            snapshot = restore(&path)?;
            // It is made again at each save: it may come back.
            if let Err(error) = prepared {
                tracing::warn!("nothing will be saved: {}: {error}", path.display());
            }
            Ok(path)
        });
        if let Err(why) = &opened {
            tracing::warn!("nothing will be saved: {why}");
        }
        dir.path = opened;
        let shared = Arc::new(Shared { dir, queue: Mutex::default() });
        (Self { shared }, snapshot)
    }

    /// Saves a snapshot, or a newer one that comes before it is written.
    pub fn save(&self, snapshot: Box<Snapshot>, waiter: Option<Waiter>) {
        if let Err(why) = &self.shared.dir.path {
            if let Some(waiter) = waiter {
                waiter(Err(why));
            }
            return;
        }
        let mut queue = self.shared.queue();
        queue.pending = Some(snapshot);
        queue.waiters.extend(waiter);
        self.run(queue);
    }

    /// Tries once more what could not be saved, and calls back when nothing is left to do.
    pub fn flush(&self, waiter: Waiter) {
        if let Err(why) = &self.shared.dir.path {
            return waiter(Err(why));
        }
        let mut queue = self.shared.queue();
        if queue.pending.is_none() {
            queue.pending = queue.unsaved.take();
        }
        if queue.pending.is_none() && !queue.running {
            drop(queue);
            return waiter(Ok(()));
        }
        queue.waiters.push(waiter);
        self.run(queue);
    }

    fn run(&self, mut queue: MutexGuard<'_, Queue>) {
        if queue.running {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("store".into()).stack_size(128 * 1024);
        match thread.spawn(move || shared.write_all()) {
            Ok(_) => queue.running = true,
            Err(error) => {
                queue.unsaved = queue.pending.take();
                let waiters = std::mem::take(&mut queue.waiters);
                drop(queue);
                let why = format!("the session could not be saved: no thread: {error}");
                tracing::warn!("{why}");
                waiters.into_iter().for_each(|waiter| waiter(Err(&why)));
            }
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // A panic leaves no half-made change in it: each is one assignment.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes until nothing waits.
    fn write_all(&self) {
        loop {
            let mut queue = self.queue();
            let waiters = std::mem::take(&mut queue.waiters);
            // Who came while a write was under way that failed waits for what was not saved.
            let unsaved = if waiters.is_empty() { None } else { queue.unsaved.take() };
            let Some(snapshot) = queue.pending.take().or(unsaved) else {
                queue.running = false;
                drop(queue);
                return waiters.into_iter().for_each(|waiter| waiter(Ok(())));
            };
            #[cfg(test)]
            let before_write = queue.before_write.clone();
            drop(queue);
            #[cfg(test)]
            before_write.iter().for_each(|call| call());
            let result = match &self.dir.path {
                Ok(dir) => write(dir, self.dir.made_by_user, &snapshot),
                Err(_) => Ok(()),
            };
            let failed_before = {
                let mut queue = self.queue();
                queue.unsaved = result.is_err().then_some(snapshot);
                std::mem::replace(&mut queue.failing, result.is_err())
            };
            match result {
                Ok(()) => {
                    if failed_before {
                        tracing::info!("the session can be saved again");
                    }
                    waiters.into_iter().for_each(|waiter| waiter(Ok(())));
                }
                Err(why) => {
                    // Said once; each request that it concerns says it again to whoever asked.
                    if !failed_before {
                        tracing::warn!("{why}");
                    }
                    waiters.into_iter().for_each(|waiter| waiter(Err(&why)));
                }
            }
        }
    }
}

/// Makes the directory, closed to others, and has it outlive a loss of power. One that a person
/// chose and made keeps its mode.
fn prepare(dir: &Path, made_by_user: bool) -> io::Result<()> {
    if let Ok(meta) = fs::metadata(dir) {
        let ours = meta.uid() == rustix::process::geteuid().as_raw();
        if meta.is_dir() && ours && !made_by_user && meta.mode() & 0o777 != 0o700 {
            fs::set_permissions(dir, Permissions::from_mode(0o700))?;
        }
        if meta.is_dir() {
            return Ok(());
        }
    }
    let missing: Vec<&Path> = dir.ancestors().take_while(|it| !it.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let synced =
        missing.iter().filter_map(|it| it.parent()).try_for_each(|it| match sync_dir(it) {
            // A directory that may be written to but not read cannot be synced by us.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced,
        });
    if synced.is_err() {
        // So that the next attempt, which would find them there, does it all again.
        missing.iter().for_each(|it| drop(fs::remove_dir(it)));
    }
    synced
}

/// Has the names in a directory outlive a loss of power.
fn sync_dir(dir: &Path) -> io::Result<()> {
    match File::open(dir)?.sync_all() {
        // Some file systems cannot sync a directory; the names are all there is then.
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
        _ => Ok(()),
    }
}

/// Removes what a daemon that was killed while writing left behind.
fn remove_leftovers(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&format!("{FILE}.")) && name.ends_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Replaces the snapshot. The error is a sentence for people.
fn write(dir: &Path, made_by_user: bool, snapshot: &Snapshot) -> Result<(), String> {
    // The process id keeps two daemons with one state directory from writing into one file.
    let temporary = dir.join(format!("{FILE}.{}.tmp", std::process::id()));
    let attempt = || -> io::Result<()> {
        let mut text = serde_json::to_vec(&Envelope { version: VERSION, snapshot })?;
        text.push(b'\n');
        // Again each time: it may have been removed, or come back with its file system.
        prepare(dir, made_by_user)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&temporary, dir.join(FILE))?;
        sync_dir(dir)
    };
    attempt().map_err(|error| {
        // What was written so far takes up the room that is missing.
        let _ = fs::remove_file(&temporary);
        format!("the session could not be saved in {}: {error}", dir.display())
    })
}

/// Why a file is no snapshot for this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    Corrupt,
    Newer,
}

/// Reads the snapshot; sets aside what is none. The error says why it is neither read nor gone.
fn restore(dir: &Path) -> Result<Option<Snapshot>, String> {
    let path = dir.join(FILE);
    let in_place = |problem: String| {
        format!(
            "the saved session {} {problem}; it is left as it is, so that nothing is lost: see to it \
             and restart the daemon",
            path.display()
        )
    };
    let (unfit, why) = match read(&path) {
        Ok(Some(text)) => match parse(&text) {
            Ok(snapshot) => return Ok(Some(snapshot)),
            Err(reason) => reason,
        },
        Ok(None) => (Unfit::Corrupt, "it is no regular file".to_owned()),
        Err(_) if is_absent(&path) => return Ok(None),
        Err(error) => return Err(in_place(format!("cannot be read ({error})"))),
    };
    let aside = aside_name(dir, unfit);
    if let Err(error) = fs::rename(&path, &aside) {
        return Err(in_place(format!(
            "cannot be used ({why}), nor moved out of the way ({error})"
        )));
    }
    tracing::warn!(
        "the saved session {} cannot be used ({why}); it is kept as {}",
        path.display(),
        aside.display()
    );
    Ok(None)
}

/// Whether nothing of that name is there, not even a link that leads nowhere.
fn is_absent(path: &Path) -> bool {
    let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    fs::symlink_metadata(path).is_err_and(|error| absent.contains(&error.kind()))
}

/// What stands in the file; `None` if it is something else than a file.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    // Opening a pipe would wait for a writer for ever.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    file.take(MAX_FILE).read_to_end(&mut text)?;
    Ok(Some(text))
}

/// The snapshot that a saved session's file holds; `None` if it would be set aside.
pub fn snapshot_in(text: &[u8]) -> Option<Snapshot> {
    parse(text).ok()
}

fn parse(text: &[u8]) -> Result<Snapshot, (Unfit, String)> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    #[derive(Deserialize)]
    struct Body {
        snapshot: Snapshot,
    }
    // The words of the reader are left out: they may quote what stands in the file.
    let corrupt = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let why = if error.is_eof() { "it is cut short" } else { "it is damaged" };
        (Unfit::Corrupt, format!("{why} at line {line}, column {column}"))
    };
    let Version { version } = serde_json::from_slice(text).map_err(corrupt)?;
    if version > VERSION {
        return Err((Unfit::Newer, format!("it is of a newer antidrift, version {version}")));
    }
    let Body { snapshot } = serde_json::from_slice(text).map_err(corrupt)?;
    snapshot.check().map_err(|why| (Unfit::Corrupt, why))?;
    Ok(snapshot)
}

/// A free name, else that of the oldest file that was set aside.
fn aside_name(dir: &Path, unfit: Unfit) -> PathBuf {
    let kind = match unfit {
        Unfit::Corrupt => "corrupt",
        Unfit::Newer => "newer",
    };
    let names = (1..=KEPT).map(|n| dir.join(format!("{FILE}.{kind}-{n}")));
    let age = |path: &PathBuf| {
        fs::symlink_metadata(path).map_or(SystemTime::UNIX_EPOCH, |meta| {
            meta.modified().unwrap_or(SystemTime::UNIX_EPOCH)
        })
    };
    names.min_by_key(age).unwrap_or_else(|| dir.join(format!("{FILE}.{kind}")))
}

#[cfg(test)]
mod tests;

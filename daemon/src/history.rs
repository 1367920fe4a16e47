//! Sessions that are over: `history.db` in the state directory, which nobody but the daemon opens.
//!
//! It is opened for each use and closed after it, so an idle daemon holds none of it. Nothing that
//! is wrong with it stops the daemon: what is not ours to read is set aside under another name, and
//! a session that could not be kept waits here for the next use and in the snapshot for the next
//! daemon.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use antidrift_protocol::{AskHistory, History as Answer, MAX_LINE, Record, Timestamp};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use tokio::sync::{Semaphore, mpsc::UnboundedSender};

use crate::{clock, store::StateDir};

const FILE: &str = "history.db";
/// Version of the tables. Raised when an older daemon would misread them.
const VERSION: i64 = 1;
/// How long another program that has the file open is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most sessions that are read for one answer; a line holds fewer in practice.
const MAX_READ: i64 = 256;
/// Most bytes that are read for one answer, once there is something to answer with.
const MAX_READ_BYTES: usize = 4 * MAX_LINE;
/// Most sessions that wait to be kept: the latest.
pub const MAX_WAITING: usize = 8;
/// Most questions that are worked on at a time. One whose client has gone is worked on to its end.
const ERRANDS: usize = 2;
/// Most files that are kept of those that were set aside.
const KEPT: u32 = 5;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// What was configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistorySettings {
    /// Whether sessions are kept.
    pub enabled: bool,
    /// Whether their titles are.
    pub titles: bool,
    /// For how many days; `None`: for ever.
    pub keep_days: Option<u32>,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self { enabled: true, titles: false, keep_days: Some(365) }
    }
}

/// The sessions that are kept.
#[derive(Clone, Debug)]
pub struct History {
    /// The file, or why there is none.
    place: Result<Arc<Place>, String>,
    /// The file of earlier days, where nothing is kept any more.
    left: Option<Arc<Place>>,
    errands: Arc<Semaphore>,
}

/// Where a session goes back to when it need not be remembered any more.
pub type Kept = UnboundedSender<Box<Record>>;

#[derive(Debug)]
struct Place {
    file: PathBuf,
    keep_days: Option<u32>,
    /// One at a time: each use opens the file.
    turn: Mutex<()>,
    /// Taken for a moment only, also by whoever has the turn.
    waiting: Mutex<Waiting>,
}

/// Sessions that are to be kept.
#[derive(Debug, Default)]
struct Waiting {
    records: Vec<(Box<Record>, Kept)>,
    /// Whether somebody is on the way to keep them.
    errand: bool,
}

impl History {
    /// In this directory. Nothing is opened yet.
    pub fn new(dir: &StateDir, settings: &HistorySettings) -> Self {
        let file = dir.path.as_ref().ok().map(|dir| dir.join(FILE));
        let left = file.filter(|_| !settings.enabled).map(|it| Arc::new(Place::new(it, None)));
        let place = match (&dir.path, settings.enabled) {
            (_, false) => Err("no sessions are kept: [history] enabled = false".to_owned()),
            (Err(why), true) => Err(why.clone()),
            (Ok(dir), true) => Ok(Arc::new(Place::new(dir.join(FILE), settings.keep_days))),
        };
        Self { place, left, errands: Arc::new(Semaphore::new(ERRANDS)) }
    }

    /// Keeps a session, in place of what was kept of it before, and gives it back then; one that
    /// cannot be kept now waits for the next use. Needs a runtime, which waits for it at its end.
    pub fn keep(&self, record: Box<Record>, kept: &Kept) {
        let Ok(place) = &self.place else {
            // Nobody wants it.
            let _ = kept.send(record);
            return;
        };
        if place.take_in(record, kept) {
            let place = Arc::clone(place);
            tokio::task::spawn_blocking(move || {
                if let Err(why) = place.keep_waiting() {
                    tracing::warn!("the session could not be kept for antidrift report: {why}");
                }
            });
        }
    }

    /// The sessions that are asked for, the latest first, as many as fit into a line. Needs a
    /// runtime.
    ///
    /// # Errors
    ///
    /// Why none can be read, in a sentence.
    pub async fn sessions(&self, range: AskHistory) -> Result<Answer, String> {
        self.ask(self.place.clone(), move |place| {
            // What stands in the way of it stands in the way of reading, too, and is said there.
            let _ = place.keep_waiting();
            place.within(|it| it.sessions(&range))
        })
        .await
    }

    /// Wipes all of them, also what was set aside, and says how many there were. Needs a runtime.
    ///
    /// # Errors
    ///
    /// Why not, in a sentence.
    pub async fn forget(&self) -> Result<u64, String> {
        let place = match (&self.place, &self.left) {
            // What was kept before that was switched off is wiped all the same.
            (Err(_), Some(left)) if left.file.is_file() => Ok(Arc::clone(left)),
            (place, _) => place.clone(),
        };
        self.ask(place, |place| place.within(|it| it.forget())).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        place: Result<Arc<Place>, String>,
        question: impl FnOnce(&Place) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let unread = || "the history could not be read".to_owned();
        let place = place?;
        let errand = Arc::clone(&self.errands).acquire_owned().await.map_err(|_| unread())?;
        let asked = tokio::task::spawn_blocking(move || {
            let answer = question(&place);
            drop(errand);
            answer
        });
        asked.await.unwrap_or_else(|_| Err(unread()))
    }
}

impl Place {
    fn new(file: PathBuf, keep_days: Option<u32>) -> Self {
        Self { file, keep_days, turn: Mutex::default(), waiting: Mutex::default() }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody has to be sent to keep it.
    fn take_in(&self, record: Box<Record>, kept: &Kept) -> bool {
        let mut waiting = self.waiting();
        waiting.records.retain(|(known, _)| known.started_at != record.started_at);
        if waiting.records.len() == MAX_WAITING {
            waiting.records.remove(0);
        }
        waiting.records.push((record, kept.clone()));
        !std::mem::replace(&mut waiting.errand, true)
    }

    /// Keeps all that waits, and what comes meanwhile.
    fn keep_waiting(&self) -> Result<(), String> {
        loop {
            let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let next = {
                let mut waiting = self.waiting();
                let next = waiting.records.first().cloned();
                waiting.errand = next.is_some();
                next
            };
            let Some((record, kept)) = next else { return Ok(()) };
            if let Err(why) = self.in_turn(|it| it.keep(&record)) {
                self.waiting().errand = false;
                return Err(why);
            }
            self.waiting().records.retain(|(known, _)| *known != record);
            drop(turn);
            // A daemon that ends has no use for it.
            let _ = kept.send(record);
        }
    }

    fn within<T>(&self, using: impl Fn(&Open<'_>) -> rusqlite::Result<T>) -> Result<T, String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.in_turn(using)
    }

    /// Opens the file for one use. One that is torn or foreign is set aside, and the use has a new
    /// one.
    fn in_turn<T>(&self, using: impl Fn(&Open<'_>) -> rusqlite::Result<T>) -> Result<T, String> {
        let said = |error: &dyn std::error::Error| format!("{}: {error}", self.file.display());
        match self.open().and_then(|open| using(&open)) {
            Err(error) if is_unfit(&error) => {
                self.set_aside(&error).map_err(|error| said(&error))?;
                self.open().and_then(|open| using(&open)).map_err(|error| said(&error))
            }
            used => used.map_err(|error| said(&error)),
        }
    }

    fn open(&self) -> rusqlite::Result<Open<'_>> {
        // Made here, so that it is ours alone from the first moment.
        make(&self.file)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let db = Connection::open(&self.file)?;
        db.busy_timeout(PATIENCE)?;
        // What is forgotten is overwritten, not only unlinked.
        db.pragma_update(None, "secure_delete", true)?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version > VERSION {
            let newer = io::Error::other("it was made by a newer antidriftd");
            return Err(rusqlite::Error::ToSqlConversionFailure(Box::new(newer)));
        }
        let others = "SELECT count(*) FROM sqlite_master
                      WHERE (SELECT user_version FROM pragma_user_version) = 0";
        if db.query_row(others, [], |row| row.get::<_, i64>(0))? > 0 {
            return Err(rusqlite::Error::ToSqlConversionFailure(Box::new(Foreign)));
        }
        if version < VERSION {
            db.execute_batch(
                "BEGIN IMMEDIATE;
                 CREATE TABLE IF NOT EXISTS sessions
                     (started_ms INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;
                 PRAGMA user_version = 1;
                 COMMIT;",
            )?;
        }
        let open = Open { db, place: self };
        open.check()?;
        Ok(open)
    }

    /// Gives the file another name: a free one, else that of the oldest that was set aside. One that
    /// cannot be had, since a directory has it, is passed over.
    fn set_aside(&self, why: &rusqlite::Error) -> io::Result<()> {
        let age = |path: &PathBuf| {
            let modified = fs::symlink_metadata(path).and_then(|meta| meta.modified());
            modified.unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let mut names = self.asides();
        names.sort_by_key(age);
        let mut failed = io::Error::other("no name is free");
        for aside in names {
            match fs::rename(&self.file, &aside) {
                Ok(()) => {
                    // They belong to the file, and would be played back into the new one.
                    for ending in ["-journal", "-wal", "-shm"] {
                        let _ = fs::remove_file(beside(&self.file, ending));
                    }
                    tracing::warn!(
                        "the history cannot be used ({why}); it is kept as {}",
                        aside.display()
                    );
                    return Ok(());
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn asides(&self) -> Vec<PathBuf> {
        (1..=KEPT).map(|n| beside(&self.file, &format!(".corrupt-{n}"))).collect()
    }
}

const PUT: &str = "INSERT OR REPLACE INTO sessions (started_ms, record) VALUES (?1, ?2)";
const GET: &str =
    "SELECT started_ms, record FROM sessions WHERE started_ms >= ?1 AND started_ms < ?2
                   ORDER BY started_ms DESC LIMIT ?3";

/// The file, while it is open.
struct Open<'a> {
    db: Connection,
    place: &'a Place,
}

impl Open<'_> {
    /// Whether it has our tables. A database of somebody else's opens all the same.
    fn check(&self) -> rusqlite::Result<()> {
        for statement in [PUT, GET] {
            self.db.prepare(statement).map_err(|error| match error.sqlite_error_code() {
                // What it is a sign of: no such table, no such column, a view.
                Some(ErrorCode::Unknown) | None => {
                    rusqlite::Error::ToSqlConversionFailure(Box::new(Foreign))
                }
                _ => error,
            })?;
        }
        Ok(())
    }

    fn keep(&self, record: &Record) -> rusqlite::Result<()> {
        // A record of strings and numbers always has a JSON form.
        let json = serde_json::to_string(record).unwrap_or_default();
        self.db.execute(PUT, params![record.started_at.as_millis(), json])?;
        if let Some(days) = self.place.keep_days {
            // A clock that ran ahead must not wipe what it takes for old.
            let now = clock::now().wall.as_millis().min(record.ended_at.as_millis());
            let oldest = now.saturating_sub(i64::from(days) * MILLIS_PER_DAY);
            self.db.execute("DELETE FROM sessions WHERE started_ms < ?1", params![oldest])?;
        }
        Ok(())
    }

    fn sessions(&self, range: &AskHistory) -> rusqlite::Result<Answer> {
        let since = range.since.map_or(i64::MIN, |at| at.as_millis());
        let mut before = range.before.map_or(i64::MAX, |at| at.as_millis());
        // One that cannot be told must not end the story: there may be others before it.
        loop {
            let page = self.page(since, before)?;
            let answer = Answer::within_a_line(page.sessions, page.more);
            match page.first {
                Some(first) if page.more && answer.sessions.is_empty() => before = first,
                _ => return Ok(answer),
            }
        }
    }

    fn page(&self, since: i64, before: i64) -> rusqlite::Result<Page> {
        let mut asked = self.db.prepare(GET)?;
        let mut rows = asked.query(params![since, before, MAX_READ])?;
        let mut page = Page { sessions: Vec::new(), first: None, more: false };
        let (mut read, mut bytes, mut unfit) = (0, 0, 0);
        while let Some(row) = rows.next()? {
            let started = row.get(0)?;
            // What stands there need not be text, nor UTF-8.
            let json = row.get_ref(1)?.as_str().unwrap_or("");
            page.first = Some(started);
            read += 1;
            bytes += json.len();
            match serde_json::from_str::<Record>(json) {
                // The next page is asked for by this.
                Ok(record) => page
                    .sessions
                    .push(Record { started_at: Timestamp::from_millis(started), ..record }),
                Err(_) => unfit += 1,
            }
            page.more = read == MAX_READ || bytes > MAX_READ_BYTES;
            if page.more {
                break;
            }
        }
        if unfit > 0 {
            tracing::warn!("{unfit} sessions of the history cannot be read and are passed over");
        }
        Ok(page)
    }

    /// Those that wait to be kept are forgotten, too.
    fn forget(&self) -> rusqlite::Result<u64> {
        let mut known = self.db.prepare("SELECT 1 FROM sessions WHERE started_ms = ?1")?;
        let mut forgotten = 0;
        for (record, _) in &self.place.waiting().records {
            let at = record.started_at.as_millis();
            forgotten += u64::from(known.query_row([at], |_| Ok(())).optional()?.is_none());
        }
        forgotten += self.db.execute("DELETE FROM sessions", [])? as u64;
        self.place.waiting().records.clear();
        self.db.execute_batch("VACUUM")?;
        for aside in self.place.asides() {
            let _ = fs::remove_file(aside);
        }
        Ok(forgotten)
    }
}

/// What was read at one go.
struct Page {
    sessions: Vec<Record>,
    /// When the earliest one that was read began, also if it could not be understood.
    first: Option<i64>,
    /// Whether there may be earlier ones.
    more: bool,
}

/// The file is a database that somebody else made.
#[derive(Debug)]
struct Foreign;

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("its tables are not ours")
    }
}

impl std::error::Error for Foreign {}

/// Makes the file if it is not there. What is no file, such as a pipe, would block whoever opens it.
fn make(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
    options.custom_flags(i32::try_from(nonblock).unwrap_or_default());
    if options.open(file)?.metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::other("it is no file"))
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether the file itself is to blame, rather than the disk or another program.
fn is_unfit(error: &rusqlite::Error) -> bool {
    if let rusqlite::Error::ToSqlConversionFailure(error) = error {
        return error.is::<Foreign>();
    }
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

#[cfg(test)]
mod tests;

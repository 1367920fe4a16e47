//! Sessions that are over: `history.db` in the state directory, which nobody but the daemon opens.
//!
//! It is opened for each use and closed after it, so an idle daemon holds none of it. Nothing that
//! is wrong with it stops the daemon: what cannot be read is set aside under another name, and the
//! session that could not be kept is still in the snapshot, from which the next daemon keeps it.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use antidrift_protocol::{AskHistory, History as Answer, Record};
use rusqlite::{Connection, ErrorCode, params};

use crate::{clock, store::StateDir};

const FILE: &str = "history.db";
/// Version of the tables. Raised when an older daemon would misread them.
const VERSION: i64 = 1;
/// How long another program that has the file open is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most sessions that are read for one answer; a line holds fewer in practice.
const MAX_READ: i64 = 256;
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
        Self { enabled: false, titles: false, keep_days: Some(365) }
    }
}

/// The sessions that are kept.
#[derive(Clone, Debug)]
pub struct History {
    /// The file, or why there is none.
    place: Result<Arc<Place>, String>,
}

#[derive(Debug)]
struct Place {
    file: PathBuf,
    keep_days: Option<u32>,
    /// One at a time: each use opens the file.
    turn: Mutex<()>,
}

impl History {
    /// In this directory. Nothing is opened yet.
    pub fn new(dir: &StateDir, settings: &HistorySettings) -> Self {
        let place = match (&dir.path, settings.enabled) {
            (_, false) => Err("no sessions are kept: [history] enabled = false".to_owned()),
            (Err(why), true) => Err(why.clone()),
            (Ok(dir), true) => Ok(Arc::new(Place {
                file: dir.join(FILE),
                keep_days: settings.keep_days,
                turn: Mutex::default(),
            })),
        };
        Self { place }
    }

    /// Keeps a session, in place of what was kept of it before. Needs a runtime, which waits for it
    /// at its end.
    pub fn keep(&self, record: Box<Record>) {
        let Ok(place) = self.place.clone() else { return };
        tokio::task::spawn_blocking(move || {
            if let Err(why) = place.within(|it| it.keep(&record)) {
                tracing::warn!("the session could not be kept for antidrift report: {why}");
            }
        });
    }

    /// The sessions that are asked for, the latest first, as many as fit into a line. Needs a
    /// runtime.
    ///
    /// # Errors
    ///
    /// Why none can be read, in a sentence.
    pub async fn sessions(&self, range: AskHistory) -> Result<Answer, String> {
        self.ask(move |it| it.sessions(&range)).await
    }

    /// Wipes all of them, also what was set aside, and says how many there were. Needs a runtime.
    ///
    /// # Errors
    ///
    /// Why not, in a sentence.
    pub async fn forget(&self) -> Result<u64, String> {
        self.ask(|it| it.forget()).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&Open<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let place = self.place.clone()?;
        let asked = tokio::task::spawn_blocking(move || place.within(question)).await;
        asked.unwrap_or_else(|_| Err("the history could not be read".into()))
    }
}

impl Place {
    /// Opens the file for one use. One that is torn is set aside, and the use has a new one.
    fn within<T>(&self, using: impl Fn(&Open<'_>) -> rusqlite::Result<T>) -> Result<T, String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let said = |error: &dyn std::error::Error| format!("{}: {error}", self.file.display());
        match self.open().and_then(|open| using(&open)) {
            Err(error) if is_torn(&error) => {
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
        if version < VERSION {
            db.execute_batch(
                "BEGIN IMMEDIATE;
                 CREATE TABLE IF NOT EXISTS sessions
                     (started_ms INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;
                 PRAGMA user_version = 1;
                 COMMIT;",
            )?;
        }
        Ok(Open { db, place: self })
    }

    fn set_aside(&self, why: &rusqlite::Error) -> io::Result<()> {
        let aside = self.aside();
        fs::rename(&self.file, &aside)?;
        // It belongs to the torn file, and would be played back into the new one.
        let _ = fs::remove_file(beside(&self.file, "-journal"));
        tracing::warn!("the history cannot be used ({why}); it is kept as {}", aside.display());
        Ok(())
    }

    fn aside(&self) -> PathBuf {
        beside(&self.file, ".corrupt")
    }
}

/// The file, while it is open.
struct Open<'a> {
    db: Connection,
    place: &'a Place,
}

impl Open<'_> {
    fn keep(&self, record: &Record) -> rusqlite::Result<()> {
        // A record of strings and numbers always has a JSON form.
        let json = serde_json::to_string(record).unwrap_or_default();
        let put = "INSERT OR REPLACE INTO sessions (started_ms, record) VALUES (?1, ?2)";
        self.db.execute(put, params![record.started_at.as_millis(), json])?;
        if let Some(days) = self.place.keep_days {
            // A clock that ran ahead must not wipe what it takes for old.
            let now = clock::now().wall.as_millis().min(record.ended_at.as_millis());
            let oldest = now.saturating_sub(i64::from(days) * MILLIS_PER_DAY);
            self.db.execute("DELETE FROM sessions WHERE started_ms < ?1", params![oldest])?;
        }
        Ok(())
    }

    fn sessions(&self, range: &AskHistory) -> rusqlite::Result<Answer> {
        let mut asked = self.db.prepare(
            "SELECT record FROM sessions WHERE started_ms >= ?1 AND started_ms < ?2
             ORDER BY started_ms DESC LIMIT ?3",
        )?;
        let since = range.since.map_or(i64::MIN, |at| at.as_millis());
        let before = range.before.map_or(i64::MAX, |at| at.as_millis());
        let rows = asked.query_map(params![since, before, MAX_READ], |row| row.get(0))?;
        let (mut sessions, mut read, mut unfit) = (Vec::new(), 0, 0);
        for row in rows {
            let json: String = row?;
            read += 1;
            match serde_json::from_str(&json) {
                Ok(record) => sessions.push(record),
                Err(_) => unfit += 1,
            }
        }
        if unfit > 0 {
            tracing::warn!("{unfit} sessions of the history cannot be read and are passed over");
        }
        Ok(Answer::within_a_line(sessions, read == MAX_READ))
    }

    fn forget(&self) -> rusqlite::Result<u64> {
        let wiped = self.db.execute("DELETE FROM sessions", [])?;
        self.db.execute_batch("VACUUM")?;
        let _ = fs::remove_file(self.place.aside());
        Ok(wiped as u64)
    }
}

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
fn is_torn(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use antidrift_protocol::{Outcome, Spent, Stretch, Timestamp};

    use super::*;

    const DAY: i64 = MILLIS_PER_DAY;

    fn record(day: i64) -> Record {
        let started_at = Timestamp::from_millis(day * DAY);
        let ended_at = Timestamp::from_millis(day * DAY + 60_000);
        let timeline = vec![Stretch { spent: Spent::Ontask, secs: 60 }];
        Record { started_at, ended_at, text: format!("day {day}"), timeline, ..Record::default() }
    }

    fn place(dir: &Path, keep_days: Option<u32>) -> Place {
        Place { file: dir.join(FILE), keep_days, turn: Mutex::default() }
    }

    fn texts(place: &Place, range: &AskHistory) -> Vec<String> {
        let answer = place.within(|it| it.sessions(range)).unwrap();
        answer.sessions.into_iter().map(|record| record.text).collect()
    }

    fn all(place: &Place) -> Vec<String> {
        texts(place, &AskHistory::default())
    }

    #[test]
    fn sessions_are_kept_once_each_and_told_the_latest_first() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        for day in [2, 1, 3] {
            place.within(|it| it.keep(&record(day))).unwrap();
        }
        assert_eq!(all(&place), ["day 3", "day 2", "day 1"]);
        let done = Record { outcome: Some(Outcome::Done), ..record(2) };
        place.within(|it| it.keep(&done)).unwrap();
        let range = AskHistory {
            since: Some(Timestamp::from_millis(2 * DAY)),
            before: Some(Timestamp::from_millis(3 * DAY)),
        };
        let told = place.within(|it| it.sessions(&range)).unwrap();
        assert_eq!((told.sessions, told.more), (vec![done], false));
        let mode = fs::metadata(&place.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_is_older_than_is_wanted_goes() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), Some(10));
        for day in [1, 4, 6, 15] {
            place.within(|it| it.keep(&record(day))).unwrap();
        }
        assert_eq!(all(&place), ["day 15", "day 6"]);
    }

    #[test]
    fn what_is_forgotten_is_nowhere_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        place.within(|it| it.keep(&Record { text: "s3cr3t".into(), ..record(1) })).unwrap();
        fs::write(place.aside(), "s3cr3t").unwrap();
        assert!(String::from_utf8_lossy(&fs::read(&place.file).unwrap()).contains("s3cr3t"));
        assert_eq!(place.within(|it| it.forget()).unwrap(), 1);
        assert_eq!(all(&place), [""; 0]);
        assert!(!String::from_utf8_lossy(&fs::read(&place.file).unwrap()).contains("s3cr3t"));
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names, [FILE], "nothing else is left");
    }

    #[test]
    fn a_torn_file_is_set_aside_and_the_session_kept_in_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        for torn in [&b"no database"[..], &[0xff; 5000], b"SQLite format 3\0 and no more than that"]
        {
            fs::write(&place.file, torn).unwrap();
            place.within(|it| it.keep(&record(1))).unwrap();
            assert_eq!(all(&place), ["day 1"]);
            assert_eq!(fs::read(place.aside()).unwrap(), torn);
        }
        // Torn in the middle, as a disk that forgets leaves it.
        for day in 0..200 {
            place.within(|it| it.keep(&Record { text: "x".repeat(400), ..record(day) })).unwrap();
        }
        let mut whole = fs::read(&place.file).unwrap();
        let middle = whole.len() / 2;
        whole[4096..middle].fill(0x5a);
        fs::write(&place.file, &whole).unwrap();
        place.within(|it| it.sessions(&AskHistory::default())).unwrap();
        place.within(|it| it.keep(&record(7))).unwrap();
        assert!(all(&place).contains(&"day 7".to_owned()));
    }

    #[test]
    fn a_record_that_cannot_be_read_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        for day in [1, 2, 3] {
            place.within(|it| it.keep(&record(day))).unwrap();
        }
        let db = Connection::open(&place.file).unwrap();
        db.execute("UPDATE sessions SET record = '{' WHERE started_ms = ?1", [2 * DAY]).unwrap();
        assert_eq!(all(&place), ["day 3", "day 1"]);
    }

    #[test]
    fn a_clock_that_runs_ahead_wipes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), Some(10));
        let today = clock::now().wall.as_millis() / DAY;
        place.within(|it| it.keep(&record(today))).unwrap();
        let far = Timestamp::from_millis((today + 4000) * DAY);
        place.within(|it| it.keep(&Record { ended_at: far, ..record(today - 1) })).unwrap();
        assert_eq!(all(&place).len(), 2);
    }

    #[test]
    fn a_pipe_in_its_place_blocks_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &place.file,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        place.within(|it| it.keep(&record(1))).unwrap_err();
    }

    #[test]
    fn a_file_of_a_newer_daemon_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        place.within(|it| it.keep(&record(1))).unwrap();
        Connection::open(&place.file).unwrap().pragma_update(None, "user_version", 2).unwrap();
        let before = fs::read(&place.file).unwrap();
        let said = place.within(|it| it.keep(&record(2))).unwrap_err();
        assert!(said.contains("a newer antidriftd"), "{said}");
        assert_eq!(fs::read(&place.file).unwrap(), before);
    }

    #[test]
    fn what_another_program_holds_is_waited_for_and_then_said() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), None);
        place.within(|it| it.keep(&record(1))).unwrap();
        let other = Connection::open(&place.file).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let said = place.within(|it| it.keep(&record(2))).unwrap_err();
        assert!(said.contains("locked"), "{said}");
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(all(&place), ["day 1"]);
    }
}

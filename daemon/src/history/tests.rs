//! With real files.

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
    Place::new(dir.join(FILE), keep_days)
}

fn texts(place: &Place, range: &AskHistory) -> Vec<String> {
    let answer = place.within(|it| it.sessions(range)).unwrap();
    answer.sessions.into_iter().map(|record| record.text).collect()
}

/// As a client asks on.
fn all(place: &Place) -> Vec<String> {
    let (mut texts, mut range) = (Vec::new(), AskHistory::default());
    loop {
        let answer = place.within(|it| it.sessions(&range)).unwrap();
        range.before = answer.sessions.last().map(|record| record.started_at);
        texts.extend(answer.sessions.into_iter().map(|record| record.text));
        if !answer.more {
            return texts;
        }
    }
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
    fs::write(&place.asides()[0], "s3cr3t").unwrap();
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
    for (n, torn) in
        [&b"no database"[..], &[0xff; 5000], b"SQLite format 3\0 and no more than that"]
            .into_iter()
            .enumerate()
    {
        fs::write(&place.file, torn).unwrap();
        place.within(|it| it.keep(&record(1))).unwrap();
        assert_eq!(all(&place), ["day 1"]);
        assert_eq!(fs::read(&place.asides()[n]).unwrap(), torn);
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
    let garbage = "UPDATE sessions SET record = CAST(x'7bff' AS TEXT) WHERE started_ms = ?1";
    db.execute(garbage, [3 * DAY]).unwrap();
    assert_eq!(all(&place), ["day 1"]);
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

/// As somebody else might have left it in our place.
fn foreign(place: &Place, tables: &str) -> Vec<u8> {
    let _ = fs::remove_file(&place.file);
    Connection::open(&place.file).unwrap().execute_batch(tables).unwrap();
    fs::read(&place.file).unwrap()
}

#[test]
fn a_database_of_somebody_else_is_set_aside_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(dir.path(), None);
    for (n, tables) in [
        "CREATE TABLE bookmarks (url TEXT)",
        "CREATE TABLE sessions (a, b)",
        "CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 1",
        "CREATE TABLE sessions (a, b); PRAGMA user_version = 1",
        "CREATE VIEW sessions AS SELECT 1 AS started_ms, 'x' AS record; PRAGMA user_version = 1",
    ]
    .into_iter()
    .enumerate()
    {
        let theirs = foreign(&place, tables);
        place.within(|it| it.keep(&record(1))).unwrap();
        assert_eq!(all(&place), ["day 1"], "{tables}");
        assert_eq!(fs::read(&place.asides()[n]).unwrap(), theirs, "{tables}");
    }
}

#[test]
fn the_oldest_that_was_set_aside_makes_room_and_a_directory_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(dir.path(), None);
    fs::create_dir(&place.asides()[0]).unwrap();
    for n in 0..=KEPT {
        fs::write(&place.file, format!("torn {n}")).unwrap();
        place.within(|it| it.keep(&record(1))).unwrap();
        assert_eq!(all(&place), ["day 1"]);
    }
    let newest = format!("torn {KEPT}").into_bytes();
    let kept = place.asides().iter().filter_map(|it| fs::read(it).ok()).collect::<Vec<_>>();
    assert_eq!(kept.len(), KEPT as usize - 1);
    assert!(kept.contains(&newest));
    // With every name taken by what cannot be replaced it is said, and no more.
    for aside in place.asides() {
        let _ = fs::remove_file(&aside);
        let _ = fs::create_dir(&aside);
    }
    fs::write(&place.file, "torn").unwrap();
    place.within(|it| it.keep(&record(1))).unwrap_err();
    assert_eq!(fs::read(&place.file).unwrap(), b"torn");
}

#[test]
fn what_cannot_be_told_does_not_end_the_story() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(dir.path(), None);
    for day in 1..=4 {
        place.within(|it| it.keep(&record(day))).unwrap();
    }
    let db = Connection::open(&place.file).unwrap();
    let long = Record { text: "x".repeat(2 * MAX_LINE), ..record(0) };
    let json = serde_json::to_string(&long).unwrap();
    db.execute(
        "UPDATE sessions SET record = ?1 WHERE started_ms IN (?2, ?3)",
        params![json, 4 * DAY, 2 * DAY],
    )
    .unwrap();
    assert_eq!(all(&place), ["day 3", "day 1"]);
    // More of them than are read at one go.
    db.execute("DELETE FROM sessions WHERE started_ms > ?1", [DAY]).unwrap();
    for (first, text) in [(10 * DAY, "{"), (20 * DAY, json.as_str())] {
        for n in 0..=MAX_READ {
            let row = params![first + n, text];
            if text == "{" || n < 9 {
                db.execute("INSERT INTO sessions VALUES (?1, ?2)", row).unwrap();
            }
        }
    }
    assert_eq!(all(&place), ["day 1"]);
    let asked = AskHistory { before: Some(Timestamp::from_millis(DAY)), since: None };
    assert_eq!(texts(&place, &asked), [""; 0]);
}

#[test]
fn what_could_not_be_kept_waits_for_the_next_use() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(dir.path(), None);
    place.within(|it| it.keep(&record(1))).unwrap();
    let (keeping, mut kept) = tokio::sync::mpsc::unbounded_channel();
    let other = Connection::open(&place.file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(place.take_in(Box::new(record(2)), &keeping), "somebody has to go");
    assert!(!place.take_in(Box::new(record(2)), &keeping), "one is enough");
    assert!(!place.take_in(Box::new(record(3)), &keeping));
    place.keep_waiting().unwrap_err();
    assert!(kept.try_recv().is_err());
    other.execute_batch("ROLLBACK").unwrap();
    assert!(place.take_in(Box::new(record(4)), &keeping), "somebody has to go again");
    place.keep_waiting().unwrap();
    assert_eq!(all(&place), ["day 4", "day 3", "day 2", "day 1"]);
    let mut back = Vec::new();
    while let Ok(record) = kept.try_recv() {
        back.push(record.text);
    }
    assert_eq!(back, ["day 2", "day 3", "day 4"]);
    // Whatever comes, no more than a few wait.
    for day in 10..30 {
        place.take_in(Box::new(record(day)), &keeping);
    }
    assert_eq!(place.waiting().records.len(), MAX_WAITING);
    // What waits is forgotten with the rest, and counted once.
    place.take_in(Box::new(record(4)), &keeping);
    assert_eq!(place.within(|it| it.forget()).unwrap(), 4 + MAX_WAITING as u64 - 1);
    place.keep_waiting().unwrap();
    assert_eq!(all(&place), [""; 0]);
}

/// A history in this directory, and a runtime for it.
fn history(dir: &Path, enabled: bool) -> (History, tokio::runtime::Runtime) {
    let dir = StateDir { path: Ok(dir.to_owned()), made_by_user: true };
    let history = History::new(&dir, &HistorySettings { enabled, ..HistorySettings::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    (history, runtime)
}

#[test]
fn whoever_asks_and_goes_leaves_no_more_than_a_few_errands() {
    let dir = tempfile::tempdir().unwrap();
    let (history, runtime) = history(dir.path(), true);
    let place = Arc::clone(history.place.as_ref().unwrap());
    let before = Arc::strong_count(&place);
    let turn = place.turn.lock().unwrap();
    runtime.block_on(async {
        for _ in 0..20 {
            let asked = history.sessions(AskHistory::default());
            tokio::time::timeout(Duration::ZERO, asked).await.unwrap_err();
        }
    });
    assert_eq!(Arc::strong_count(&place), before + ERRANDS);
    drop(turn);
    runtime.block_on(history.sessions(AskHistory::default())).unwrap();
}

#[test]
fn what_was_kept_can_be_forgotten_after_that_was_switched_off() {
    let dir = tempfile::tempdir().unwrap();
    place(dir.path(), None).within(|it| it.keep(&record(1))).unwrap();
    let (history, runtime) = history(dir.path(), false);
    let (keeping, mut kept) = tokio::sync::mpsc::unbounded_channel();
    history.keep(Box::new(record(2)), &keeping);
    assert!(kept.try_recv().is_ok(), "nobody waits for it");
    runtime.block_on(history.sessions(AskHistory::default())).unwrap_err();
    assert_eq!(runtime.block_on(history.forget()).unwrap(), 1);
    fs::remove_file(dir.path().join(FILE)).unwrap();
    runtime.block_on(history.forget()).unwrap_err();
    assert!(!dir.path().join(FILE).exists());
}

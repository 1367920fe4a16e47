use std::sync::mpsc;

use super::*;
use crate::session::SavedSession;

fn chosen(dir: &Path) -> StateDir {
    StateDir { path: Ok(dir.into()), made_by_user: true }
}

fn snapshot(text: &str) -> Box<Snapshot> {
    let started_at = antidrift_protocol::Timestamp::from_millis(1_000);
    let session = SavedSession { text: text.into(), started_at, ..SavedSession::default() };
    Box::new(Snapshot { last_alert: 7, session: Some(session), ..Snapshot::default() })
}

fn save(store: &Store, text: &str) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let waiter: Waiter =
        Box::new(move |result| sender.send(result.map_err(str::to_owned)).unwrap());
    store.save(snapshot(text), Some(waiter));
    receiver.recv_timeout(std::time::Duration::from_secs(10)).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_saved_comes_back() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("a/b");
    let (store, found) = Store::open(chosen(&dir));
    assert_eq!(found, None);
    save(&store, "one").unwrap();
    save(&store, "two").unwrap();
    assert_eq!(Store::open(chosen(&dir)).1, Some(*snapshot("two")));
    assert_eq!(names(&dir), [FILE]);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join(FILE))), (0o700, 0o600));
}

#[test]
fn what_no_client_could_have_asked_for_is_set_aside() {
    let sound = snapshot("sound");
    let damaged = |damage: fn(&mut SavedSession)| {
        let mut snapshot = sound.clone();
        damage(snapshot.session.as_mut().unwrap());
        snapshot
    };
    let mut numbers = sound.clone();
    numbers.last_alert = u64::MAX;
    for snapshot in [
        damaged(|it| it.text = "x".repeat(200_000)),
        damaged(|it| it.text = "\0".into()),
        damaged(|it| it.timebox_secs = Some(u64::MAX)),
        damaged(|it| it.started_at = antidrift_protocol::Timestamp::default()),
        damaged(|it| it.allowed.window_titles = vec!["x".into(); 3000]),
        numbers,
    ] {
        assert!(snapshot.check().is_err(), "{snapshot:?}");
        let root = tempfile::tempdir().unwrap();
        let envelope = Envelope { version: VERSION, snapshot: &snapshot };
        fs::write(root.path().join(FILE), serde_json::to_vec(&envelope).unwrap()).unwrap();
        assert_eq!(Store::open(chosen(root.path())).1, None);
        assert_eq!(names(root.path()), ["session.json.corrupt-1"]);
    }
    assert_eq!(sound.check(), Ok(()));
    // What was once taken is kept, even if nothing could be matched by it.
    let odd = damaged(|it| it.allowed.domains = vec!["two words".into()]);
    assert_eq!(odd.check(), Ok(()));
}

#[test]
fn a_pipe_in_the_place_of_the_file_is_set_aside() {
    let root = tempfile::tempdir().unwrap();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, root.path().join(FILE), mode).unwrap();
    assert_eq!(Store::open(chosen(root.path())).1, None);
    assert_eq!(names(root.path()), ["session.json.corrupt-1"]);
}

/// A loop and a link to a file system that is not there fail for root as well, as a bad sector or a
/// missing right would.
#[test]
fn what_cannot_be_read_is_left_in_its_place_and_nothing_is_saved_over_it() {
    for target in [FILE, "not-mounted/session.json"] {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join(FILE);
        std::os::unix::fs::symlink(target, &link).unwrap();
        let (store, found) = Store::open(chosen(root.path()));
        assert_eq!(found, None);
        let why = save(&store, "new").unwrap_err();
        assert!(why.contains("cannot be read") && why.contains(FILE), "{why}");
        assert!(why.contains("restart the daemon"), "{why}");
        assert_eq!(names(root.path()), [FILE]);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
    }
    // and what is no snapshot but cannot be set aside: the names for that are taken
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join(FILE), "{\"version\":2}").unwrap();
    for n in 1..=KEPT {
        fs::create_dir_all(root.path().join(format!("{FILE}.newer-{n}/full"))).unwrap();
    }
    let store = Store::open(chosen(root.path())).0;
    let why = save(&store, "new").unwrap_err();
    assert!(why.contains("of a newer antidrift") && why.contains("moved"), "{why}");
    assert_eq!(fs::read(root.path().join(FILE)).unwrap(), b"{\"version\":2}");
}

#[test]
fn our_own_directory_is_closed() {
    let root = tempfile::tempdir().unwrap();
    for (made_by_user, expected) in [(true, 0o755), (false, 0o700)] {
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        drop(Store::open(StateDir { path: Ok(root.path().into()), made_by_user }));
        assert_eq!(fs::metadata(root.path()).unwrap().mode() & 0o777, expected);
    }
}

#[test]
fn what_is_no_snapshot_is_set_aside() {
    for (text, name) in [
        (&b""[..], "session.json.corrupt-1"),
        (b"{", "session.json.corrupt-1"),
        (b"{\"version\":1,\"snapshot\":{\"last_alert\":\"x\"}}", "session.json.corrupt-1"),
        (b"{\"version\":1}", "session.json.corrupt-1"),
        (b"\xff\xfe\0", "session.json.corrupt-1"),
        (b"[]", "session.json.corrupt-1"),
        (b"{\"version\":2,\"snapshot\":[]}", "session.json.newer-1"),
    ] {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(FILE), text).unwrap();
        let (store, found) = Store::open(chosen(root.path()));
        assert_eq!(found, None, "{text:?}");
        assert_eq!(names(root.path()), [name], "{text:?}");
        assert_eq!(fs::read(root.path().join(name)).unwrap(), text);
        save(&store, "new").unwrap();
        assert_eq!(names(root.path()), [FILE, name]);
    }
}

#[test]
fn a_newer_snapshot_of_the_same_version_is_read() {
    let root = tempfile::tempdir().unwrap();
    let text = "{\"version\":1,\"by\":\"x\",\"snapshot\":{\"last_alert\":3,\"more\":[1]}}";
    fs::write(root.path().join(FILE), text).unwrap();
    let found = Store::open(chosen(root.path())).1.unwrap();
    assert_eq!((found.last_alert, found.session), (3, None));
}

#[test]
fn few_files_are_kept_and_leftovers_removed() {
    let root = tempfile::tempdir().unwrap();
    for n in 0..9 {
        fs::write(root.path().join(FILE), format!("bad {n}")).unwrap();
        fs::write(root.path().join("session.json.99.tmp"), "half").unwrap();
        drop(Store::open(chosen(root.path())));
    }
    let expected: Vec<String> = (1..=5).map(|n| format!("{FILE}.corrupt-{n}")).collect();
    assert_eq!(names(root.path()), expected);
    let texts: Vec<_> =
        expected.iter().map(|name| fs::read(root.path().join(name)).unwrap()).collect();
    assert!(texts.contains(&b"bad 8".to_vec()), "the newest is kept");
}

#[test]
fn a_failure_is_told_and_mends() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("state");
    // A file in the place of the directory fails for root as well.
    fs::write(&dir, "").unwrap();
    let (store, found) = Store::open(chosen(&dir));
    assert_eq!(found, None);
    let why = save(&store, "lost").unwrap_err();
    assert!(why.contains("could not be saved") && why.contains("state"), "{why}");
    fs::remove_file(&dir).unwrap();
    let (sender, receiver) = mpsc::channel();
    store.flush(Box::new(move |result| sender.send(result.is_ok()).unwrap()));
    assert!(receiver.recv_timeout(std::time::Duration::from_secs(10)).unwrap());
    assert_eq!(Store::open(chosen(&dir)).1, Some(*snapshot("lost")));

    let nowhere = StateDir { path: Err("no home".into()), made_by_user: false };
    assert_eq!(save(&Store::open(nowhere).0, "x"), Err("no home".into()));
}

/// Who asks while a write is under way that fails is not told that all is on disk.
#[test]
fn a_flush_during_a_write_that_fails_fails() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("state");
    fs::write(&dir, "").unwrap();
    let (store, _) = Store::open(chosen(&dir));
    let (entered, in_write) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let may_go = Mutex::new(may_go);
    store.shared.queue().before_write = Some(Arc::new(move || {
        let _ = entered.send(());
        let _ = may_go.lock().unwrap().recv();
    }));
    store.save(snapshot("lost"), None);
    in_write.recv().unwrap();
    let (sender, receiver) = mpsc::channel();
    store.flush(Box::new(move |result| sender.send(result.is_ok()).unwrap()));
    drop(go);
    assert!(!receiver.recv_timeout(std::time::Duration::from_secs(10)).unwrap());
}

#[test]
fn many_waiters_are_served_by_few_writes() {
    let root = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(chosen(root.path()));
    let (sender, receiver) = mpsc::channel();
    for n in 0..200 {
        let sender = sender.clone();
        let waiter: Waiter = Box::new(move |result| sender.send(result.is_ok()).unwrap());
        store.save(snapshot(&n.to_string()), Some(waiter));
    }
    for _ in 0..200 {
        assert!(receiver.recv_timeout(std::time::Duration::from_secs(10)).unwrap());
    }
    assert_eq!(Store::open(chosen(root.path())).1, Some(*snapshot("199")));
}

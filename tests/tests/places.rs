//! Where daemon and client go by themselves when nothing tells them, on mounts of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::Path,
    process::Command,
};

use antidrift_tests::{Daemon, Home, Outcome, Room, antidrift, antidriftd, cli};

/// Changes the surroundings of both programs alike.
type Set<'a> = &'a dyn Fn(&mut Command);

/// Nothing says where anything is, as for cron or after `env -i`.
fn bare(command: &mut Command) {
    for name in [
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
        "HOME",
    ] {
        command.env_remove(name);
    }
}

fn runtime_dir(value: &str) -> impl Fn(&mut Command) {
    move |command| {
        command.env("XDG_RUNTIME_DIR", value);
    }
}

fn client(room: &Room, home: &Home, set: Set<'_>, args: &[&str]) -> Outcome {
    let mut command = room.command(home, antidrift());
    command.args(args);
    set(&mut command);
    cli::run(command, home.path())
}

fn daemon(room: &Room, home: &Home, set: Set<'_>) -> Command {
    let mut command = room.command(home, antidriftd());
    set(&mut command);
    command
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Both meet in this directory, which is closed to others.
#[track_caller]
fn meet(room: &Room, home: &Home, set: Set<'_>, dir: &str) {
    let place = room.at(dir);
    let socket = place.join("antidriftd.sock");
    let said = client(room, home, set, &["status"]).fails(3);
    assert!(said.contains("antidriftd") && said.lines().count() == 1, "{dir}: {said}");
    let daemon = Daemon::start_at(daemon(room, home, set), home, &socket);
    client(room, home, set, &["status"]).ok();
    assert_eq!((mode(&place), mode(&socket)), (0o700, 0o600), "{dir}");
    let log = daemon.log();
    assert!(!log.contains("panicked"), "{log}");
    daemon.stop();
}

/// Both refuse in one line that names the place.
#[track_caller]
fn refused(room: &Room, home: &Home, set: Set<'_>, words: &[&str]) {
    let (code, said) = Daemon::refuses(daemon(room, home, set), home);
    assert_eq!(code, 1, "{said}");
    let by_client = client(room, home, set, &["status"]).fails(3);
    for said in [&said, &by_client] {
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said} lacks one of {words:?}");
    }
}

#[test]
fn without_a_runtime_directory_both_meet_where_the_rule_says() {
    let home = Home::new();
    let Some(room) = Room::open(&home) else { return };
    let tmp = format!("/tmp/antidrift-{}", uid());
    let run = format!("/run/user/{}", uid());
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let foreign = home.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    chown(&foreign, Some(65_534), None).unwrap();
    let useless =
        ["", "relative", "/nonexistent", file.to_str().unwrap(), foreign.to_str().unwrap()];

    meet(&room, &home, &bare, &tmp);
    for value in useless {
        room.clear(&[&tmp]);
        meet(&room, &home, &runtime_dir(value), &tmp);
    }
    // a runtime directory of somebody else, and one that is none, are passed over
    fs::write(room.at(&run), "").unwrap();
    meet(&room, &home, &bare, &tmp);
    room.clear(&[&run]);
    fs::create_dir(room.at(&run)).unwrap();
    chown(room.at(&run), Some(65_534), None).unwrap();
    meet(&room, &home, &bare, &tmp);
    chown(room.at(&run), Some(uid()), None).unwrap();
    let ours = format!("{run}/antidrift");
    meet(&room, &home, &bare, &ours);
    for value in useless {
        room.clear(&[&ours]);
        meet(&room, &home, &runtime_dir(value), &ours);
    }
    // open to all, with or without the sticky bit: what is made in it is closed
    for bits in [0o777, 0o1777] {
        room.clear(&[&ours]);
        fs::set_permissions(room.at(&run), fs::Permissions::from_mode(bits)).unwrap();
        meet(&room, &home, &bare, &ours);
        meet(&room, &home, &runtime_dir(&run), &ours);
    }
    assert_eq!(fs::metadata(room.at(&run)).unwrap().mode() & 0o7777, 0o1777, "it is not ours");
}

#[test]
fn what_somebody_else_put_into_tmp_is_refused() {
    let home = Home::new();
    let Some(room) = Room::open(&home) else { return };
    let tmp = format!("/tmp/antidrift-{}", uid());
    let (place, elsewhere) = (room.at(&tmp), room.at("/tmp/elsewhere"));

    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
    chown(&place, Some(65_534), None).unwrap();
    refused(&room, &home, &bare, &[&tmp, "belongs to user 65534"]);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    room.clear(&[&tmp]);

    fs::create_dir(&elsewhere).unwrap();
    symlink("/tmp/elsewhere", &place).unwrap();
    refused(&room, &home, &bare, &[&tmp, "not a directory"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    room.clear(&[&tmp]);

    fs::write(&place, "").unwrap();
    refused(&room, &home, &bare, &[&tmp, "not a directory"]);
    room.clear(&[&tmp]);

    // ours, but left open
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
    meet(&room, &home, &bare, &tmp);
    room.clear(&[&tmp]);

    let read_only = ["-o", "remount,ro", "/tmp"];
    let outcome = room.command(&home, "mount").args(read_only).status().unwrap();
    assert!(outcome.success());
    let (code, said) = Daemon::refuses(daemon(&room, &home, &bare), &home);
    assert_eq!((code, said.lines().count()), (1, 1), "{said}");
    assert!(said.contains(&tmp) && said.contains("Read-only"), "{said}");
    let said = client(&room, &home, &bare, &["status"]).fails(3);
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// The user database says where home is, also when the variable is empty.
#[test]
fn without_home_the_session_is_saved_where_the_user_database_says() {
    let home = Home::new();
    let Some(room) = Room::open(&home) else { return };
    let socket = room.at(&format!("/tmp/antidrift-{}/antidriftd.sock", uid()));
    let empty = |command: &mut Command| {
        bare(command);
        command.env("HOME", "");
    };
    let sets: [Set<'_>; 2] = [&bare, &empty];
    let saved = room.at("/root/.local/state/antidrift/session.json");
    for set in sets {
        let daemon_runs = Daemon::start_at(daemon(&room, &home, set), &home, &socket);
        client(&room, &home, set, &["start", "the report"]).ok();
        assert_eq!((mode(saved.parent().unwrap()), mode(&saved)), (0o700, 0o600));
        let checked = room.command(&home, antidriftd());
        let mut checked = checked;
        checked.args(["config", "check"]);
        set(&mut checked);
        let said = cli::run(checked, home.path()).ok();
        assert!(said.contains("/root/.config/antidrift/config.toml"), "{said}");
        daemon_runs.stop();
        room.clear(&["/root/.local"]);
    }
    // a home that cannot be written to: the session goes on, and it is said that it is not saved
    let read_only = ["-o", "remount,ro", "/root"];
    assert!(room.command(&home, "mount").args(read_only).status().unwrap().success());
    let daemon_runs = Daemon::start_at(daemon(&room, &home, &bare), &home, &socket);
    let said = client(&room, &home, &bare, &["start", "the report"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("could not be saved"), "{said:?}");
    assert!(said.stderr.contains("Read-only"), "{said:?}");
    assert_eq!(daemon_runs.log_lines("Read-only"), 1, "{}", daemon_runs.log());
    daemon_runs.stop();
}

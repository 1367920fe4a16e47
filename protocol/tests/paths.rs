//! Where things lie, and whose places are refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use antidrift_protocol::paths::{
    Environment, MAX_SOCKET_PATH, PathError, SocketPath, config_file, prepare_private_dir,
    state_dir,
};

fn environment(root: &Path) -> Environment {
    Environment {
        run_user: root.join("run-user"),
        tmp: root.join("tmp"),
        uid: rustix::process::geteuid().as_raw(),
        ..Environment::default()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn open_dir(path: PathBuf) -> PathBuf {
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn the_first_place_that_is_ours_wins() {
    let root = tempfile::tempdir().unwrap();
    let mut env = environment(root.path());
    let uid = env.uid.to_string();
    let tmp = root.path().join("tmp").join(format!("antidrift-{uid}"));
    assert_eq!(env.runtime_dir(), tmp);
    assert_eq!(env.socket_path().unwrap().path, tmp.join("antidriftd.sock"));

    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    for useless in ["", "relative", "/nonexistent/runtime", file.to_str().unwrap()] {
        env.runtime_dir = Some(useless.into());
        assert_eq!(env.runtime_dir(), tmp, "{useless:?}");
    }
    let run = root.path().join("run-user").join(uid);
    fs::create_dir_all(&run).unwrap();
    assert_eq!(env.runtime_dir(), run.join("antidrift"));

    let xdg = root.path().join("xdg");
    fs::create_dir(&xdg).unwrap();
    env.runtime_dir = Some(xdg.clone());
    let place = env.socket_path().unwrap();
    assert_eq!(place.path, xdg.join("antidrift/antidriftd.sock"));
    assert_eq!(place.lock(), xdg.join("antidrift/antidriftd.lock"));
    assert_eq!(place.notify_lock(), xdg.join("antidrift/notify.lock"));

    env.socket = Some("".into());
    assert_eq!(env.socket_path().unwrap(), place);
    env.socket = Some(root.path().join("own.sock"));
    let chosen = env.socket_path().unwrap();
    assert!(chosen.made_by_user);
    assert_eq!(chosen.path, root.path().join("own.sock"));
    // What must be closed to others stays where it is.
    assert_eq!(env.runtime_dir(), xdg.join("antidrift"));
}

#[test]
fn a_place_of_somebody_else_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let mut env = environment(root.path());
    env.runtime_dir = Some(root.path().into());
    assert_eq!(env.runtime_dir(), root.path().join("antidrift"));
    // As if we were another: sudo -u keeps the variable of the one who calls.
    env.uid += 1;
    let tmp = root.path().join("tmp").join(format!("antidrift-{}", env.uid));
    assert_eq!(env.runtime_dir(), tmp);
}

#[test]
fn a_socket_has_its_own_locks() {
    for (name, lock, notify) in [
        ("own.sock", "own.lock", "own.notify.lock"),
        ("own", "own.lock", "own.notify.lock"),
        ("own.lock", "own.lock.lock", "own.lock.notify.lock"),
        ("own.socket", "own.socket.lock", "own.socket.notify.lock"),
        (".sock", ".sock.lock", ".sock.notify.lock"),
    ] {
        let place = SocketPath::chosen(&Path::new("/run").join(name)).unwrap();
        assert_eq!(place.lock(), Path::new("/run").join(lock));
        assert_eq!(place.notify_lock(), Path::new("/run").join(notify));
    }
}

#[test]
fn a_path_over_the_limit_is_refused_with_the_limit() {
    let mut env = environment(Path::new("/"));
    env.socket = Some(format!("/{}", "x".repeat(MAX_SOCKET_PATH - 1)).into());
    assert!(env.socket_path().is_ok());
    env.socket = Some(format!("/{}", "x".repeat(MAX_SOCKET_PATH)).into());
    let message = env.socket_path().unwrap_err().to_string();
    assert!(message.contains("108 bytes") && message.contains("at most 107"), "{message}");

    // Also one that nobody chose.
    let root = tempfile::tempdir().unwrap();
    let long = root.path().join("x".repeat(120));
    fs::create_dir(&long).unwrap();
    let env = Environment { runtime_dir: Some(long), ..environment(root.path()) };
    assert!(matches!(env.socket_path(), Err(PathError::TooLong { .. })));
}

#[test]
fn a_chosen_path_is_absolute() {
    let place = SocketPath::chosen(Path::new("x.sock")).unwrap();
    assert_eq!(place.path, std::env::current_dir().unwrap().join("x.sock"));
    assert!(matches!(SocketPath::chosen(Path::new("")), Err(PathError::Unusable { .. })));
}

#[test]
fn our_own_directory_is_closed_and_a_chosen_one_left_alone() {
    let root = tempfile::tempdir().unwrap();
    for (name, made_by_user, expected) in [("ours", false, 0o700), ("chosen", true, 0o755)] {
        let dir = open_dir(root.path().join(name));
        let place = SocketPath { path: dir.join("s.sock"), made_by_user };
        place.check_dir().unwrap();
        assert_eq!(mode(&dir), 0o755, "{name}");
        place.prepare_dir().unwrap();
        assert_eq!(mode(&dir), expected, "{name}");
    }
    let anybodys = open_dir(root.path().join("anybodys"));
    fs::set_permissions(&anybodys, fs::Permissions::from_mode(0o777)).unwrap();
    let error = SocketPath::chosen(&anybodys.join("s.sock")).unwrap().check_dir().unwrap_err();
    assert!(error.to_string().contains("chmod o-w"), "{error}");
    fs::set_permissions(&anybodys, fs::Permissions::from_mode(0o1777)).unwrap();
    SocketPath::chosen(&anybodys.join("s.sock")).unwrap().check_dir().unwrap();

    let fresh = root.path().join("fresh");
    let place = SocketPath::chosen(&fresh.join("s.sock")).unwrap();
    assert!(place.check_dir().is_err());
    place.prepare_dir().unwrap();
    assert_eq!(mode(&fresh), 0o700);

    let judges = root.path().join("judges");
    prepare_private_dir(&judges).unwrap();
    prepare_private_dir(&judges).unwrap();
    assert_eq!(mode(&judges), 0o700);
}

#[test]
fn what_is_no_directory_of_ours_is_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let ours = open_dir(root.path().join("ours"));
    let link = root.path().join("link");
    symlink(&ours, &link).unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    for dir in [&link, &file, &root.path().join("no/dir")] {
        let place = SocketPath { path: dir.join("s.sock"), made_by_user: false };
        let error = place.prepare_dir().unwrap_err();
        assert!(matches!(error, PathError::Unusable { .. }), "{error}");
        assert!(error.to_string().starts_with(dir.to_str().unwrap()), "{error}");
    }
    assert_eq!(mode(&ours), 0o755, "a link must not be followed");
    // A link that a person chose is theirs.
    SocketPath::chosen(&link.join("s.sock")).unwrap().prepare_dir().unwrap();

    // Root's directories: with the sticky bit only, and only if chosen.
    SocketPath::chosen(Path::new("/tmp/s.sock")).unwrap().check_dir().unwrap();
    if !rustix::process::geteuid().is_root() {
        for (path, made_by_user) in [("/usr/s.sock", true), ("/tmp/s.sock", false)] {
            let error = SocketPath { path: path.into(), made_by_user }.check_dir().unwrap_err();
            assert!(matches!(error, PathError::Foreign { uid: 0, .. }), "{path}: {error}");
        }
    }
}

/// Run by the test below in a process with an environment of its own.
#[test]
#[ignore = "prints for another test"]
fn print_the_places() {
    let env = Environment::of_process();
    let place = env.socket_path().unwrap();
    println!("places={:?}", (place.path, place.made_by_user, state_dir(), config_file()));
}

#[test]
fn the_process_is_asked() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().to_str().unwrap();
    let uid = rustix::process::geteuid().as_raw();
    let check = |variables: &[(&str, &str)], parts: &[&str]| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", "print_the_places"])
            .env_clear()
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let line = output.lines().find_map(|line| Some(line.split_once("places=")?.1));
        let line = line.unwrap_or_else(|| panic!("{output}"));
        for part in parts {
            assert!(line.contains(part), "{variables:?}: {line} lacks {part}");
        }
    };
    check(
        &[("HOME", root), ("XDG_RUNTIME_DIR", root), ("TMPDIR", "/elsewhere")],
        &[
            &format!("{root}/antidrift/antidriftd.sock\", false"),
            &format!("{root}/.local/state/antidrift"),
            &format!("{root}/.config/antidrift/config.toml"),
        ],
    );
    check(
        &[("HOME", root), ("XDG_STATE_HOME", "/s"), ("XDG_CONFIG_HOME", "relative")],
        &["\"/s/antidrift\"", &format!("{root}/.config/antidrift/config.toml")],
    );
    // Set but empty is as if not set; so is a runtime directory that is not there.
    let elsewhere = if Path::new("/run/user").join(uid.to_string()).exists() {
        format!("/run/user/{uid}/antidrift/antidriftd.sock")
    } else {
        format!("/tmp/antidrift-{uid}/antidriftd.sock")
    };
    for runtime in ["", "/nonexistent/runtime"] {
        check(
            &[("HOME", root), ("XDG_RUNTIME_DIR", runtime), ("ANTIDRIFT_SOCKET", "")],
            &[&elsewhere],
        );
    }
    check(&[("ANTIDRIFT_SOCKET", "/x/y.sock")], &["\"/x/y.sock\", true"]);
    // A relative home would be another place in each directory.
    check(&[("HOME", "relative")], &["None, None"]);
}

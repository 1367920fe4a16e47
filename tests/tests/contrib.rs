//! The examples in `contrib`, in the programs that they are for.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    os::unix::fs::{chown, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use antidrift_protocol::{DriftStatus, Phase};
use antidrift_tests::{Home, Manager, Process, Scene, antidrift, antidriftd, until};

/// A file of `contrib`.
fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib").join(name).canonicalize().unwrap()
}

fn text(name: &str) -> String {
    fs::read_to_string(contrib(name)).unwrap()
}

/// Presses keys, as `xdotool key` names them, once somebody listens for them.
#[track_caller]
fn press(scene: &Scene, keys: &str) {
    let desktop = scene.desktop();
    desktop.until_grabbed(keys);
    desktop.press(keys);
}

/// Every key does what the file says. Whoever listens for them may have started only now.
fn check_keys(scene: &mut Scene) {
    for title in ["Football", "Video", "Game"] {
        scene.judge.drifts(title, &format!("{title} is not the report"));
    }
    scene.begin("the report");
    let _watch = scene.watch(&["--notify-only"]);
    let desktop = scene.desktop();

    desktop.open("Fun", "Football live");
    scene.subscriber.until_titled("Football live", DriftStatus::Drifting);
    press(scene, "super+F5");
    let state = scene.subscriber.until_status(DriftStatus::Ontask);
    assert_eq!(state.allowed.unwrap().window_classes, ["Fun"]);

    desktop.open("Player", "Video");
    scene.subscriber.until_titled("Video", DriftStatus::Drifting);
    press(scene, "super+F6");
    // back in the window that was on task before
    scene.subscriber.until_titled("Football live", DriftStatus::Ontask);

    scene.dunst().until_displayed(0);
    desktop.open("Game", "Game");
    scene.subscriber.until_titled("Game", DriftStatus::Drifting);
    scene.dunst().until_displayed(1);
    scene.dunst().will_pick("This is on task");
    press(scene, "super+F9");
    let state = scene.subscriber.until_status(DriftStatus::Ontask);
    assert_eq!(state.allowed.unwrap().window_classes, ["Fun", "Game"]);

    press(scene, "super+shift+F8");
    scene.subscriber.until("the review", |state| state.phase == Phase::Review);
}

fn scene() -> Scene {
    Scene::on(Manager::Bare).dunst().start()
}

#[test]
fn keys_of_i3() {
    let mut scene = scene();
    scene.manage(Manager::I3, &format!("include {}\n", contrib("keybindings/i3").display()));
    check_keys(&mut scene);
}

#[test]
fn keys_of_sxhkd_with_bspwm() {
    let mut scene = scene();
    scene.manage(Manager::Bspwm, "");
    let own = scene.home.path().join("config/sxhkd");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("sxhkdrc"), "super + F1\n\ttrue\n").unwrap();
    let mut command = scene.program("sxhkd");
    command.arg(contrib("keybindings/sxhkdrc")).env("SHELL", "/bin/sh");
    let log = fs::File::create(scene.home.path().join("sxhkd")).unwrap();
    command.stderr(log);
    let _sxhkd = Process::spawn(&mut command, "sxhkd");
    check_keys(&mut scene);
}

/// Pasted where its first lines say, into the configuration that openbox comes with.
#[test]
fn keys_of_openbox() {
    let mut scene = scene();
    let config = fs::read_to_string("/etc/xdg/openbox/rc.xml").expect("install openbox");
    let keys = text("keybindings/openbox.xml");
    for key in keys.lines().filter(|line| line.starts_with("<keybind")) {
        assert!(!config.contains(key), "{key} is taken");
    }
    assert_eq!(config.matches("</keyboard>").count(), 1);
    scene.manage(Manager::Openbox, &config.replace("</keyboard>", &format!("{keys}\n</keyboard>")));
    check_keys(&mut scene);
}

/// The lines of i3 and sway differ in nothing but how a program is started.
#[test]
fn keys_of_sway_are_those_of_i3() {
    let lines = |name| -> Vec<String> {
        let text = text(name).replace(" --no-startup-id", "");
        text.lines().filter(|line| line.starts_with("bindsym ")).map(str::to_owned).collect()
    };
    assert_eq!(lines("keybindings/sway"), lines("keybindings/i3"));
    assert_eq!(lines("keybindings/sway").len(), 6);
}

/// sway, without a screen, runs what the keys of a virtual keyboard say. It will not run as root.
#[test]
fn keys_of_sway() {
    let home = Home::new();
    home.install("antidrift", "#!/bin/sh\necho \"antidrift $*\" >>\"$HOME/calls\"\n");
    home.install("dunstctl", "#!/bin/sh\necho \"dunstctl $*\" >>\"$HOME/calls\"\n");
    let config = home.path().join("config/sway");
    fs::create_dir(&config).unwrap();
    // a copy, since the user may not be able to read the source
    fs::write(config.join("keys"), text("keybindings/sway")).unwrap();
    fs::write(config.join("config"), format!("include {}/keys\n", config.display())).unwrap();
    let program = as_user(&home);
    let sway = |args: &[&str]| {
        let mut command = program("sway");
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("WLR_BACKENDS", "headless").env("WLR_RENDERER", "pixman");
        command
    };
    assert!(sway(&["--validate"]).status().expect("install sway").success());
    let _sway = Process::spawn(&mut sway(&[]), "sway");
    let display = until("sway is there", || {
        let files = fs::read_dir(home.path().join("run")).unwrap();
        let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names = names.filter(|it| it.starts_with("wayland-") && !it.ends_with(".lock"));
        names.next()
    });
    let calls = || fs::read_to_string(home.path().join("home/calls")).unwrap_or_default();
    for (keys, call) in [
        ("-k F5", "antidrift ontask"),
        ("-k F6", "antidrift refocus --activate"),
        ("-k F7", "antidrift resume"),
        ("-k F8", "antidrift extend 10m"),
        ("-M shift -k F8", "antidrift complete"),
        ("-k F9", "dunstctl context"),
    ] {
        let mut wtype = program("wtype");
        wtype.env("WAYLAND_DISPLAY", &display).args(["-M", "logo"]).args(keys.split(' '));
        until(keys, || wtype.status().expect("install wtype").success().then_some(()));
        until(call, || calls().lines().any(|line| line == call).then_some(()));
    }
    assert_eq!(calls().lines().count(), 6, "{}", calls());
}

/// Makes the commands of an ordinary user, whose the directories are from now on.
fn as_user(home: &Home) -> impl Fn(&str) -> Command {
    /// `nobody`.
    const USER: u32 = 65534;
    let root = rustix::process::geteuid().is_root();
    if root {
        let mut dirs = vec![home.path().to_owned()];
        while let Some(path) = dirs.pop() {
            chown(&path, Some(USER), Some(USER)).unwrap();
            if path.is_dir() {
                dirs.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
    }
    move |name| {
        let mut command = home.command(if root { "setpriv" } else { name });
        if root {
            command.args([format!("--reuid={USER}"), format!("--regid={USER}")]);
            command.args(["--clear-groups", name]);
        }
        command
    }
}

#[test]
fn rules_of_dunst() {
    let mut scene = Scene::on(Manager::Openbox).dunst_with(&text("dunst/antidrift.conf")).start();
    scene.judge.drifts("Football", "Football is not the report");
    scene.begin("the report");
    let _watch = scene.watch(&["--notify-only"]);
    scene.desktop().open("Fun", "Football live");
    scene.dunst().until_displayed(1);
    let shown = until("its text", || scene.dunst().shown().pop());
    assert_eq!((shown.summary.as_str(), shown.frame.as_str()), ("Possible drift", "#d08000"));
    scene.dunst().press("This is on task");
    scene.subscriber.until_status(DriftStatus::Ontask);
    scene.dunst().until_displayed(0);
    assert_eq!(scene.dunst().remembered(), 0);
    // other programs' popups are as they were
    let notify = |arguments: &[&str]| {
        assert!(scene.program("notify-send").args(arguments).status().unwrap().success());
    };
    notify(&["--app-name=antidrift", "Still drifting?"]);
    notify(&["--app-name=other", "Possible drift"]);
    scene.dunst().until_displayed(2);
    let frames = until("both texts", || {
        let all = scene.dunst().shown();
        (all.len() == 3).then(|| all.iter().map(|it| it.frame.clone()).collect::<Vec<_>>())
    });
    assert_eq!(frames[1..], ["#c03000", "#aaaaaa"]);
    scene.dunst().close();
    scene.dunst().close();
    scene.dunst().until_displayed(0);
    assert_eq!(scene.dunst().remembered(), 1);
    assert_eq!(scene.dunst().errors(), "");
}

/// Processes that nobody but their number knows, ended when they are no longer needed.
struct Strays(Vec<PathBuf>);

impl Drop for Strays {
    fn drop(&mut self) {
        for file in &self.0 {
            let pid = fs::read_to_string(file).ok().and_then(|pid| pid.trim().parse().ok());
            if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
    }
}

/// dex, which starts what a desktop would from `~/.config/autostart`: one program where cargo puts
/// it, the other on PATH.
#[test]
fn autostart_entries() {
    let home = Home::new();
    let autostart = home.path().join("config/autostart");
    fs::create_dir(&autostart).unwrap();
    for name in ["antidriftd.desktop", "antidrift-watch.desktop"] {
        let entry = contrib("autostart").join(name);
        let valid = home.command("desktop-file-validate").arg(&entry).output();
        let valid = valid.expect("install desktop-file-utils");
        assert!(valid.status.success() && valid.stdout.is_empty(), "{valid:?}");
        symlink(entry, autostart.join(name)).unwrap();
    }
    let pids = ["daemon.pid", "watch.pid"].map(|name| home.path().join(name));
    let script = |pid: &Path, program: &Path| {
        format!("#!/bin/sh\necho $$ >{}\nexec {} \"$@\"\n", pid.display(), program.display())
    };
    let cargo = home.path().join("home/.cargo/bin");
    fs::create_dir_all(&cargo).unwrap();
    let daemon = home.install("antidriftd", &script(&pids[0], &antidriftd()));
    fs::rename(daemon, cargo.join("antidriftd")).unwrap();
    home.install("antidrift", &script(&pids[1], &antidrift()));
    let _strays = Strays(pids.to_vec());
    let mut dex = home.command("dex");
    dex.args(["--autostart", "--environment", "i3"]).env("XDG_CONFIG_DIRS", home.path());
    dex.stdout(Stdio::null()).stderr(Stdio::null());
    assert_eq!(Process::spawn(&mut dex, "dex").wait(), 0);
    until("the daemon listens", || std::os::unix::net::UnixStream::connect(home.socket()).ok());
    let lock = home.socket().with_file_name("notify.lock");
    until("the watch holds the popups' lock", || {
        let file = fs::File::open(&lock).ok()?;
        matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)).then_some(())
    });
}

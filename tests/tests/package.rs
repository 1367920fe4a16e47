//! The Debian package: what is in it, and that it installs, works and goes away in a clean Debian.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use antidrift_tests::{Desktop, Home, Manager, Process, antidriftd, until};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const EXAMPLES: &str = "usr/share/doc/antidrift/examples";

fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib").join(name)
}

/// Runs a command to its end, and gives what it printed; panics if it fails.
#[track_caller]
fn said(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Packs these binaries.
fn package(home: &Home, binaries: &Path, out: &Path) -> Command {
    let mut command = home.command(contrib("package"));
    command.arg("--binaries").arg(binaries).arg("--out").arg(out);
    command
}

/// The package with what was built for the tests.
#[track_caller]
fn built(home: &Home, out: &str) -> PathBuf {
    let out = home.path().join(out);
    let path = said(&mut package(home, antidriftd().parent().unwrap(), &out));
    let path = PathBuf::from(path.trim_end());
    let arch = said(home.command("dpkg").arg("--print-architecture"));
    assert_eq!(path, out.join(format!("antidrift_{VERSION}_{}.deb", arch.trim_end())));
    path
}

/// The files below a directory, relative to it.
fn files(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
            found.insert(entry.path().strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

/// What has to be in the package, and whether it is a program.
fn expected() -> BTreeSet<(String, bool)> {
    let mut all: BTreeSet<(String, bool)> = [
        ("usr/bin/antidrift", true),
        ("usr/bin/antidriftd", true),
        ("usr/lib/antidrift/start-units", true),
        ("usr/lib/systemd/user/antidriftd.service", false),
        ("usr/lib/systemd/user/antidriftd.socket", false),
        ("usr/lib/systemd/user/antidrift-watch.service", false),
        ("usr/share/doc/antidrift/README.md", false),
        ("usr/share/doc/antidrift/changelog.gz", false),
        ("usr/share/doc/antidrift/copyright", false),
    ]
    .map(|(path, program)| (path.to_owned(), program))
    .into();
    all.insert((format!("{EXAMPLES}/sample-judge"), true));
    for part in ["autostart", "bars", "dunst", "keybindings"] {
        let dir = contrib(part);
        for name in files(&dir).into_iter().filter(|name| dir.join(name).is_file()) {
            all.insert((format!("{EXAMPLES}/{part}/{name}"), false));
        }
    }
    if let Ok(pages) = fs::read_dir(contrib("man")) {
        for page in pages.map(|page| page.unwrap().file_name().into_string().unwrap()) {
            let section = page.rsplit('.').next().unwrap();
            if !["1", "5", "7"].contains(&section) {
                continue;
            }
            all.insert((format!("usr/share/man/man{section}/{page}.gz"), false));
        }
    }
    for path in [
        "bash-completion/completions/antidrift",
        "zsh/vendor-completions/_antidrift",
        "fish/vendor_completions.d/antidrift.fish",
    ] {
        all.insert((format!("usr/share/{path}"), false));
    }
    all
}

#[test]
fn it_has_what_belongs_in_it_and_is_the_same_each_time() {
    let home = Home::new();
    let package = built(&home, "one");
    assert_eq!(fs::read(&package).unwrap(), fs::read(built(&home, "two")).unwrap());
    assert_eq!(fs::read_dir(home.path().join("one")).unwrap().count(), 1);

    let deb = |option: &str, rest: &[&str]| {
        said(home.command("dpkg-deb").arg(option).arg(&package).args(rest))
    };
    let field = |name: &str| deb("-f", &[name]).trim_end().to_owned();
    assert_eq!((field("Package"), field("Version")), ("antidrift".into(), VERSION.into()));
    assert!(field("Depends").contains("libc6 (>= "), "{}", field("Depends"));
    assert!(field("Recommends").contains("libnotify-bin"));
    assert!(field("Installed-Size").parse::<u32>().unwrap() > 1000);
    assert!(field("Description").lines().all(|line| line.len() <= 80));

    let mut found = BTreeSet::new();
    for line in deb("-c", &[]).lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let [mode, owner, .., path] = words[..] else { panic!("{line}") };
        assert_eq!(owner, "root/root", "{line}");
        match mode {
            "drwxr-xr-x" => continue,
            "-rwxr-xr-x" | "-rw-r--r--" => {}
            _ => panic!("{line}"),
        }
        found.insert((path.trim_start_matches("./").to_owned(), mode.contains('x')));
    }
    assert_eq!(found, expected());

    let tree = home.path().join("tree");
    deb("-R", &[tree.to_str().unwrap()]);
    said(home.command("md5sum").args(["-c", "--strict", "DEBIAN/md5sums"]).current_dir(&tree));
    let sums = fs::read_to_string(tree.join("DEBIAN/md5sums")).unwrap();
    assert_eq!(sums.lines().count(), found.len());
    for (path, _) in &found {
        check(&home, &tree, path);
    }
    let changelog = tree.join("usr/share/doc/antidrift/changelog.gz");
    let changelog = said(home.command("zcat").arg(changelog));
    fs::write(tree.join("changelog"), changelog).unwrap();
    let mut parse = home.command("dpkg-parsechangelog");
    parse.arg("-l").arg(tree.join("changelog"));
    let parsed = said(&mut parse);
    assert!(parsed.lines().any(|line| line == format!("Version: {VERSION}")), "{parsed}");
    assert!(run(&mut parse).stderr.is_empty(), "{:?}", run(&mut parse));
}

/// One file of the package, by its kind.
fn check(home: &Home, tree: &Path, path: &str) {
    let file = tree.join(path);
    if path.starts_with("usr/bin/") {
        let sections = said(home.command("readelf").args(["-SW"]).arg(&file));
        assert!(sections.contains(".text") && !sections.contains(".symtab"), "{path}");
    } else if path.ends_with(".gz") {
        let head = fs::read(&file).unwrap();
        assert_eq!(head[3..8], [0; 5], "{path}: a name or a time in the head of gzip");
    } else if !path.ends_with("README.md") {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("contrib/"), "{path} speaks of the sources");
        let mentions = text.split(|it: char| !it.is_alphanumeric() && !"/.-_".contains(it));
        for word in mentions.filter(|word| word.starts_with("/usr/") && word.contains("antidrift"))
        {
            let known = tree.join(&word[1..]);
            assert!(known.exists() || word.ends_with('/'), "{path} speaks of {word}");
        }
        if path.ends_with(".service") {
            let start = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
            assert!(start.contains(" /usr/bin/antidrift"), "{path}: {start}");
            assert!(!text.contains("mkdir"), "{path} says how to install what is installed");
        }
    }
}

#[test]
fn what_does_not_fit_is_not_packed() {
    let home = Home::new();
    let out = home.path().join("out");
    let fails = |mut command: Command, with: &str| {
        let output = run(&mut command);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(with), "{complaint}");
        assert!(!out.exists());
    };
    fails(package(&home, Path::new("/nowhere"), &out), "/nowhere/antidriftd does not run");
    home.install("antidriftd", "#!/bin/sh\necho antidriftd 9.9.9\n");
    fails(package(&home, &home.bin(), &out), "«antidriftd 9.9.9», Cargo.toml says");
    let mut unknown = package(&home, &home.bin(), &out);
    unknown.arg("--nonsense");
    fails(unknown, "«--nonsense» is unknown");
    let help = said(home.command(contrib("package")).arg("--help"));
    assert!(help.contains("--binaries DIR") && !help.contains('#'), "{help}");
}

/// A minimal Debian, made once and kept, or why there is none.
fn clean_debian() -> Result<PathBuf, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root can make one".into());
    }
    let debootstrap = "/usr/sbin/debootstrap";
    if !Path::new(debootstrap).exists() {
        return Err("debootstrap is not installed".into());
    }
    let release = fs::read_to_string("/etc/os-release").map_err(|error| error.to_string())?;
    let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let suite = suite.ok_or("this Debian has no code name")?;
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("debian-{suite}"));
    if kept.exists() {
        return Ok(kept);
    }
    let mut sources = Command::new("apt-get");
    sources.args(["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]);
    let sources = said(sources.arg("Created-By: Packages"));
    let wanted = format!(" {suite} main");
    let mirror = sources.lines().find_map(|line| line.strip_suffix(&wanted));
    let mirror = mirror.ok_or_else(|| format!("apt has no source of {suite}"))?;
    let draft = kept.with_extension("draft");
    // of a run that was cut off
    let _ = fs::remove_dir_all(&draft);
    let mut command = Command::new("timeout");
    // what it mounts goes with it, however it ends
    command.args(["--kill-after=10", "400", "unshare", "--mount", debootstrap]);
    command.args(["--variant=minbase", suite]).arg(&draft).arg(mirror);
    let output = run(&mut command);
    if !output.status.success() {
        let _ = fs::remove_dir_all(&draft);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        return Err(format!("debootstrap ({}): {last}", output.status));
    }
    let archives = draft.join("var/cache/apt/archives");
    for entry in fs::read_dir(archives).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|it| it == "deb") {
            fs::remove_file(entry).unwrap();
        }
    }
    fs::rename(draft, &kept).unwrap();
    Ok(kept)
}

/// A Debian of our own.
struct Root(tempfile::TempDir);

/// Runs a command inside. The mounts are seen by nobody else, and go with it.
const ENTER: &str = r#"
    mount --bind /tmp/.X11-unix "$0/tmp/.X11-unix"
    mount -t proc proc "$0/proc"
    exec chroot "$0" "$@"
"#;

impl Root {
    fn copy(of: &Path) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        said(Command::new("cp").args(["-a", "--reflink=auto"]).arg(of.join(".")).arg(dir.path()));
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A command inside, with nothing of the surroundings but a display.
    fn command(&self, display: &str, args: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-ec", ENTER]).arg(self.path()).args(args).env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LC_ALL", "C.UTF-8");
        command.env("DEBIAN_FRONTEND", "noninteractive").env("DISPLAY", display);
        command.env("HOME", "/home/me").env("XDG_RUNTIME_DIR", "/home/me/run");
        command
    }

    /// All that is there, but for a home and the books that dpkg and apt keep.
    fn contents(&self) -> BTreeSet<String> {
        let books = ["var/lib/dpkg/", "var/lib/apt/", "var/cache/apt/", "var/log/", "home/me/"];
        let mut all = files(self.path());
        all.retain(|path| !books.iter().any(|book| path.starts_with(book)));
        all
    }
}

#[test]
fn it_installs_works_and_goes_away_in_a_clean_debian() {
    let base = match clean_debian() {
        Ok(base) => base,
        Err(why) => {
            // straight: what is printed is shown for tests that fail only
            let _ = writeln!(std::io::stderr(), "skipped, there is no clean Debian: {why}");
            return;
        }
    };
    let home = Home::new();
    let package = built(&home, "out");
    let root = Root::copy(&base);
    let me = root.path().join("home/me");
    fs::create_dir_all(me.join("run")).unwrap();
    fs::set_permissions(me.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
    let notify_send = root.path().join("usr/local/bin/notify-send");
    fs::write(&notify_send, "#!/bin/sh\necho \"$*\" >>/home/me/popups\n").unwrap();
    fs::set_permissions(&notify_send, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(package, me.join("antidrift.deb")).unwrap();
    fs::create_dir(root.path().join("tmp/.X11-unix")).unwrap();
    let before = root.contents();

    let desktop = Desktop::start(Manager::Openbox);
    let inside = |args: &[&str]| root.command(desktop.display(), args);
    let install = ["apt-get", "install", "-y", "--no-install-recommends", "/home/me/antidrift.deb"];
    said(&mut inside(&install));
    assert_eq!(said(&mut inside(&["dpkg", "--verify", "antidrift"])), "");
    let new: BTreeSet<_> = root.contents().difference(&before).cloned().collect();
    assert!(new.contains("usr/bin/antidriftd"), "{new:?}");
    // nobody is given a daemon who did not ask for it
    assert!(!new.iter().any(|path| path.starts_with("etc/")), "{new:?}");

    let quiet = |args: &[&str]| {
        let mut command = inside(args);
        command.stdout(Stdio::null()).stderr(fs::File::create(me.join(args[0])).unwrap());
        Process::spawn(&mut command, "coreutils")
    };
    let mut daemon = quiet(&["antidriftd"]);
    let client = |args: &[&str]| run(&mut inside(&[&["antidrift"], args].concat()));
    until("the daemon listens", || client(&["status"]).status.success().then_some(()));
    let mut watch = quiet(&["antidrift", "watch", "--notify-only"]);
    assert!(client(&["start", "draft the report", "--allow", "Editor"]).status.success());
    let status = |wanted: &str| {
        let wanted = format!("\"status\":\"{wanted}\"");
        until(&wanted, || {
            let said = String::from_utf8(client(&["status", "--json"]).stdout).unwrap();
            said.contains(&wanted).then_some(())
        });
    };
    desktop.open("Editor", "report.md - Editor");
    status("ontask");
    desktop.open("firefox", "Football live, 73rd minute - YouTube");
    status("drifting");
    until("the popup", || {
        let popups = fs::read_to_string(me.join("popups")).ok()?;
        popups.contains("Possible drift").then_some(())
    });
    assert!(client(&["refocus"]).status.success());
    assert_eq!((watch.terminate(), daemon.terminate()), (0, 0));

    for unit in ["antidriftd.service", "antidriftd.socket", "antidrift-watch.service"] {
        let mut verify = home.command("systemd-analyze");
        verify.args(["--user", "verify", "--man=no", unit]);
        // not --root=, which it refuses for units of users
        let units = root.path().join("usr/lib/systemd/user");
        verify.env("SYSTEMD_UNIT_PATH", format!("{}:", units.display()));
        let output = run(&mut verify);
        assert!(output.status.success() && output.stderr.is_empty(), "{unit}: {output:?}");
    }

    said(&mut inside(&["dpkg", "-P", "antidrift"]));
    assert_eq!(root.contents(), before);
    assert!(!run(&mut inside(&["dpkg", "-s", "antidrift"])).status.success());
}

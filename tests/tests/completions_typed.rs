//! Completion as it is typed: real shells at a terminal, the Tab key, and what the line then does to
//! a real daemon.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use antidrift_tests::{Manager, Scene, Terminal, WindowSpec, ask, until};
use serde_json::{Value, json};

/// Classes as a hostile page might choose them, where a program names its windows after a page.
const HOSTILE: [&str; 21] = [
    "$(touch PWNED)",
    "`touch PWNED`",
    "a b;touch PWNED",
    "a\"b",
    "a'b",
    "*",
    "a|touch PWNED",
    "a&touch PWNED",
    "a>PWNED",
    "$HOME",
    "${HOME}",
    "~root",
    "=ls",
    "#x",
    "a!b",
    "a\\b",
    "{a..c}",
    "[a-z]?",
    "x@y:z=w",
    "%self",
    "^x",
];

/// A shell at a terminal that knows the completions.
struct Shell {
    terminal: Terminal,
    socket: std::path::PathBuf,
}

impl Shell {
    fn start(scene: &Scene, name: &str) -> Self {
        Self::start_with(scene, name, &[])
    }

    fn start_with(scene: &Scene, name: &str, env: &[(&str, &Path)]) -> Self {
        let home = scene.home.path();
        // Where each shell looks for them by itself.
        let script = scene.cli(&["completions", name]).ok();
        let (file, args, setup): (_, &[&str], _) = match name {
            "bash" => ("antidrift", &["--norc", "--noprofile", "-i"], "source site/antidrift"),
            "zsh" => (
                "_antidrift",
                &["-f", "-i"],
                "fpath=($PWD/site $fpath); autoload -Uz compinit; compinit -u -D",
            ),
            "fish" => ("antidrift.fish", &["--no-config", "-i"], "source site/antidrift.fish"),
            other => panic!("{other}"),
        };
        fs::create_dir_all(home.join("site")).unwrap();
        fs::write(home.join("site").join(file), script).unwrap();
        fs::write(home.join("setup"), format!("{setup}\necho > ready\n")).unwrap();
        let mut command = scene.program(name);
        command.args(args).envs(env.iter().copied());
        let terminal = Terminal::start(&command, name);
        let mut shell = Self { terminal, socket: scene.home.socket() };
        shell.types("source ./setup\r");
        until("the completions to be known", || home.join("ready").exists().then_some(()));
        fs::remove_file(home.join("ready")).unwrap();
        shell
    }

    /// Types at the prompt; shells take one key after the other.
    fn types(&mut self, keys: &str) {
        self.terminal.until_keys();
        self.terminal.press(keys);
    }

    /// Types a line, with Tab and Enter, that makes these the classes that are allowed.
    #[track_caller]
    fn allows(&mut self, line: &str, classes: &[&str]) {
        self.types(line);
        let what = format!("{classes:?} allowed by {line:?}");
        until(&what, || (allowed(&self.socket) == classes).then_some(()));
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("on the terminal: {:?}", self.terminal.written());
        }
    }
}

fn allowed(socket: &Path) -> Vec<String> {
    let answer = ask(socket, "status", &json!({}));
    let classes = answer["ok"]["state"]["allowed"]["window_classes"].as_array();
    classes.into_iter().flatten().map(|class| class.as_str().unwrap().to_owned()).collect()
}

fn allow(scene: &Scene, classes: &[&str]) {
    let answer = scene.ask("allow", &json!({"add": {"window_classes": classes}}));
    assert!(answer["ok"].is_object(), "{answer}");
}

/// Waits until the windows that are open have this class and no other.
fn only_window(scene: &Scene, class: &str) {
    until(class, || {
        let answer = scene.ask("windows", &json!({}));
        let windows = answer["ok"]["windows"].as_array().unwrap();
        let classes: Vec<&Value> = windows.iter().map(|window| &window["class"]).collect();
        (classes == [class]).then_some(())
    });
}

/// No file of this name came into being.
#[track_caller]
fn nothing_ran(shell: &Shell, scene: &Scene) {
    shell.terminal.until_keys();
    let mut dirs = vec![scene.home.path().to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            assert_ne!(entry.file_name(), "PWNED", "{}", shell.terminal.written());
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
        }
    }
}

/// A word of the daemon's that a Tab puts on the line is that word when the line runs.
fn hostile_classes(name: &str) {
    let mut scene = Scene::on(Manager::Openbox).no_judge().start();
    scene.begin("the report");
    let desktop = scene.desktop();
    let mut shell = Shell::start(&scene, name);
    // Fish would not quote a tilde, so such a word is not offered there.
    for class in HOSTILE.into_iter().filter(|class| name != "fish" || !class.starts_with('~')) {
        let window = WindowSpec::new("x").class(class).open(&desktop);
        only_window(&scene, class);
        shell.allows("antidrift allow add \t\r", &[class]);
        shell.allows("antidrift allow rm \t\r", &[]);
        shell.allows("antidrift ontask --class=\t\r", &[class]);
        shell.allows("antidrift allow rm \t\r", &[]);
        window.destroy();
    }
    nothing_ran(&shell, &scene);

    // Begun by hand: with a backslash, within quotes, behind a comma, behind what readline breaks at.
    for (typed, class) in [
        ("\\$\\(to", "$(touch PWNED)"),
        ("\\`", "`touch PWNED`"),
        ("a\\ b", "a b;touch PWNED"),
        ("'$", "$(touch PWNED)"),
        ("'`", "`touch PWNED`"),
        ("'a", "a\"b"),
        ("'*", "*"),
        ("\"a", "a'b"),
        ("\"a b", "a b;touch PWNED"),
        ("x@", "x@y:z=w"),
        ("x@y:z=", "x@y:z=w"),
        ("na", "naïve Ω"),
        ("-- \\$", "$HOME"),
    ] {
        allow(&scene, &[class]);
        shell.allows(&format!("antidrift allow rm {typed}\t\r"), &[]);
        allow(&scene, &["code", class]);
        if !typed.starts_with("--") {
            let (quote, rest) = typed.split_at(usize::from(typed.starts_with(['\'', '"'])));
            shell.allows(&format!("antidrift allow rm {quote}code,{rest}\t\r"), &[]);
        } else {
            shell.allows(&format!("antidrift allow rm code {typed}\t\r"), &[]);
        }
    }

    // Where these mean something within quotes, bash offers nothing: the line is begun anew.
    for class in ["$(touch PWNED)", "`touch PWNED`", "a\"b", "a!b", "a\\b"] {
        allow(&scene, &[class]);
        let rest = if name == "bash" { "\u{15}antidrift allow rm \t\r" } else { "\r" };
        shell.allows(&format!("antidrift allow rm \"\t{rest}"), &[]);
    }
    nothing_ran(&shell, &scene);
}

#[test]
fn bash_runs_nothing_of_a_class() {
    hostile_classes("bash");
}

#[test]
fn zsh_runs_nothing_of_a_class() {
    hostile_classes("zsh");
}

#[test]
fn fish_runs_nothing_of_a_class() {
    hostile_classes("fish");
}

#[test]
fn presets_and_what_to_allow_at_the_start_are_completed() {
    for name in ["bash", "zsh", "fish"] {
        let scene = Scene::on(Manager::Openbox).no_judge().start();
        scene.home.configure("[presets.writing]\ntext = \"x\"\n[presets.mail]\ntext = \"y\"\n");
        scene.cli(&["reload"]).ok();
        let desktop = scene.desktop();
        let _window = WindowSpec::new("x").class("Google Chrome").open(&desktop);
        only_window(&scene, "Google Chrome");
        let mut shell = Shell::start(&scene, name);
        for option in ["--allow ", "--allow="] {
            let line = format!("antidrift start @wr\t {option}Goo\t\r");
            shell.allows(&line, &["Google Chrome"]);
            assert_eq!(scene.status().commitment.unwrap().text, "x", "{name}");
            scene.cli(&["complete"]).ok();
            scene.cli(&["end"]).ok();
        }
    }
}

/// The words are those of the daemon that the line names.
#[test]
fn the_socket_on_the_line_is_the_one_that_is_asked() {
    for name in ["bash", "zsh", "fish"] {
        let mut scene = Scene::without_display().start();
        scene.begin("the report");
        let elsewhere = tempfile::tempdir().unwrap();
        let env = [("XDG_RUNTIME_DIR", elsewhere.path())];
        let mut shell = Shell::start_with(&scene, name, &env);
        let socket = scene.home.socket().display().to_string();
        for at in ["--socket ", "--socket=", "--socket '"] {
            let quote = if at.ends_with('\'') { "'" } else { "" };
            allow(&scene, &["code"]);
            shell.allows(&format!("antidrift {at}{socket}{quote} allow rm co\t\r"), &[]);
            allow(&scene, &["code"]);
            shell.allows(&format!("antidrift allow rm {at}{socket}{quote} \t\r"), &[]);
        }
    }
}

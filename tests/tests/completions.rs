//! Completion in a real shell against a real daemon.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;

use antidrift_tests::{Manager, Scene, WindowSpec, cli};

/// Runs lines in a shell that knows the completions, and gives what they print.
#[track_caller]
fn shell(scene: &Scene, shell: &str, args: &[&str], lines: &str) -> String {
    let script = scene.cli(&["completions", shell]).ok();
    fs::write(scene.home.path().join(format!("antidrift.{shell}")), script).unwrap();
    let mut command = scene.program(shell);
    command.args(args).args(["-c", lines]).env("HOME", scene.home.path());
    cli::run(command, scene.home.path()).ok()
}

/// What bash offers behind a line, each as it would stand there.
fn bash(scene: &Scene, line: &str) -> Vec<String> {
    // Bash splits the line itself only at a terminal; words are divided at blanks and = here.
    let lines = format!(
        "source antidrift.bash; compopt() {{ :; }}
        COMP_LINE={quoted} COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({words}) 
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _antidrift_with_words antidrift \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"
        ((${{#COMPREPLY[@]}})) && printf '%s\\n' \"${{COMPREPLY[@]}}\" || true",
        quoted = quote(line),
        words = line.replace('=', " = ").split(' ').map(quote).collect::<Vec<_>>().join(" "),
    );
    let out = shell(scene, "bash", &["--norc", "--noprofile"], &lines);
    out.lines().map(str::to_owned).collect()
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn scene() -> Scene {
    let mut scene = Scene::on(Manager::Openbox).no_judge().start();
    scene.home.configure("[presets.writing]\ntext = \"x\"\n[presets.mail]\ntext = \"y\"\n");
    scene.cli(&["reload"]).ok();
    scene.begin("the report");
    for class in ["code", "emacs", "Google Chrome"] {
        scene.cli(&["allow", "add", class]);
    }
    scene
}

#[test]
fn bash_knows_commands_and_the_daemons_words() {
    let scene = scene();
    assert_eq!(bash(&scene, "antidrift dot"), Vec::<String>::new());
    assert_eq!(bash(&scene, "antidrift doc"), ["doctor"]);
    assert_eq!(
        bash(&scene, "antidrift completions "),
        ["-h", "--socket", "--help", "bash", "zsh", "fish"]
    );
    assert_eq!(bash(&scene, "antidrift allow rm co"), ["code"]);
    assert_eq!(bash(&scene, "antidrift allow rm code,em"), ["code,emacs"]);
    let socket = scene.home.socket().display().to_string();
    for named in [format!("--socket {socket}"), format!("--socket={socket}")] {
        let line = format!("antidrift {named} allow rm Goo");
        assert_eq!(bash(&scene, &line), ["Google\\ Chrome"]);
    }
    for other in ["nowhere", "$HOME/x", "`id`"] {
        let line = format!("antidrift --socket {other} allow rm Goo");
        assert_eq!(bash(&scene, &line), Vec::<String>::new());
    }
    assert_eq!(bash(&scene, "antidrift start @w"), ["@writing"]);
    assert_eq!(bash(&scene, "antidrift start @"), ["@mail", "@writing"]);
    let desktop = scene.desktop();
    let _window = WindowSpec::new("x").class("Gimp").open(&desktop);
    assert_eq!(bash(&scene, "antidrift start --allow Gi"), ["Gimp"]);
    assert_eq!(bash(&scene, "antidrift start --allow=Gi"), ["Gimp"]);
    assert_eq!(bash(&scene, "antidrift allow add code,Gi"), ["code,Gimp"]);
}

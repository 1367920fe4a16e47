//! The examples for status bars, as they are, in the real bars: polybar and i3blocks in i3, waybar in
//! sway. For i3status-rust, which Debian does not have, only the form is held.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use antidrift_protocol::{DriftStatus, Phase, State, Status};
use antidrift_tests::{
    Daemon, Desktop, Home, Manager, Process, Scene, Settings, StandInJudge, StateExt as _,
    antidrift, antidriftd, until,
};
use serde_json::Value;

const PLANNING: &str = "#808080";
const ACTIVE: &str = "#8fa1b3";
const ONTASK: &str = "#3fa266";
const DRIFTING: &str = "#e5484d";

fn contrib(file: &str) -> PathBuf {
    let bars = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/bars");
    bars.join(file).canonicalize().unwrap()
}

/// Asks the daemon, and gives what the client prints.
type Client<'a> = &'a dyn Fn(&[&str]) -> String;

/// A bar with our text on it.
struct Bar<'a> {
    desktop: &'a Desktop,
    /// Where the text is, as x, y, width, height.
    area: (i16, i16, u16, u16),
    /// A point on the text.
    point: (i16, i16),
    /// Whether the bar asks only now and then, and at a click.
    polls: bool,
}

impl Bar<'_> {
    /// Whether something has this colour, rounded as it may be on the way through fonts.
    fn has(&self, colour: &str) -> bool {
        let wanted = u32::from_str_radix(&colour[1..], 16).unwrap().to_le_bytes();
        let near = |(is, wanted): (&u8, &u8)| is.abs_diff(*wanted) <= 3;
        let pixels = self.desktop.pixels(self.area);
        pixels.chunks_exact(4).any(|pixel| pixel.iter().zip(&wanted[..3]).all(near))
    }

    #[track_caller]
    fn until_colour(&self, what: &str, colour: &str) {
        let mut looks = 0_u32;
        until(&format!("{what} in {colour}"), || {
            // The wheel means nothing to us, but the bar asks anew. A click that comes while it asks
            // is lost.
            if self.polls && looks.is_multiple_of(20) {
                self.desktop.click(self.point, 4);
            }
            looks += 1;
            self.has(colour).then_some(())
        });
    }

    /// Clicks until the click has had its effect.
    #[track_caller]
    fn click_until(
        &self,
        client: Client<'_>,
        button: u32,
        what: &str,
        so: impl Fn(&State) -> bool,
    ) {
        let mut looks = 0_u32;
        until(what, || {
            if looks.is_multiple_of(50) {
                self.desktop.click(self.point, button);
            }
            looks += 1;
            so(&state(client)).then_some(())
        });
    }

    /// Leads a session through its states.
    #[track_caller]
    fn lead_to_drift(&self, client: Client<'_>) {
        self.until_colour("no session", PLANNING);
        client(&["start", "the report"]);
        self.until_colour("a session", ACTIVE);
        self.desktop.open("Writer", "Report");
        self.until_colour("on task", ONTASK);
        self.desktop.open("Fun", "Football live");
        self.until_colour("drifting", DRIFTING);
        assert!(!self.has(ONTASK), "one state at a time");
    }

    /// Answers by clicks, each button once.
    #[track_caller]
    fn answer(&self, client: Client<'_>) {
        let drifting = |state: &State| state.status() == Some(DriftStatus::Drifting);
        let allowed = |state: &State| state.allowed.clone().unwrap_or_default().window_classes;
        self.click_until(client, 1, "left: back to task", |state| !drifting(state));
        assert_eq!((state(client).phase, allowed(&state(client))), (Phase::Active, vec![]));
        self.desktop.open("Fun", "Football tonight");
        self.until_colour("drifting again", DRIFTING);
        self.click_until(client, 2, "middle: this is on task", |state| allowed(state) == ["Fun"]);
        self.until_colour("on task", ONTASK);
        self.click_until(client, 3, "right: end session", |state| state.phase == Phase::Review);
        self.until_colour("the review", ACTIVE);
    }
}

fn state(client: Client<'_>) -> State {
    let status: Status = serde_json::from_str(&client(&["status", "--json"])).unwrap();
    status.state
}

fn rules(judge: &StandInJudge) {
    // Markup for each of them, were it taken for that.
    judge.drifts("Football", "R&D <b>football</b> %{F#ffffff} is not the report");
    judge.ontask("Report", "the report itself");
}

fn quickly(settings: &mut Settings) {
    settings.debounce = 0.1;
}

fn scene() -> Scene {
    let scene = Scene::on(Manager::I3).settings(quickly).start();
    fs::create_dir_all(scene.home.bin()).unwrap();
    symlink(antidrift(), scene.home.bin().join("antidrift")).unwrap();
    rules(&scene.judge);
    scene
}

fn quiet(mut command: Command, display: &str) -> Command {
    command.env("DISPLAY", display).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn polybar_shows_the_state_and_its_clicks_answer() {
    let mut scene = scene();
    let desktop = scene.desktop();
    let config = scene.home.path().join("polybar.ini");
    let bar = "[bar/test]\nwidth = 100%\nheight = 24\nbackground = #000000\nforeground = #ffffff\n\
               font-0 = \"DejaVu Sans:bold:size=14\"\nmodules-left = antidrift\n";
    let include = contrib("polybar/antidrift.ini");
    fs::write(&config, format!("include-file = {}\n{bar}", include.display())).unwrap();
    let mut command = quiet(scene.home.command("polybar"), desktop.display());
    command.arg(format!("--config={}", config.display())).arg("test");
    let _polybar = Process::spawn(&mut command, "polybar");
    let (area, point) = ((0, 0, 700, 24), (12, 12));
    let client = |args: &[&str]| scene.cli(args).ok();
    let bar = Bar { desktop: &desktop, area, point, polls: false };
    bar.lead_to_drift(&client);
    assert!(!bar.has("#ffffff"), "a tag in the reason has an effect");
    bar.answer(&client);
    client(&["start", "another report"]);
    bar.until_colour("another drift", DRIFTING);

    // Without its daemon it says so, and no complaint in the bar's own colour beside it.
    scene.kill_daemon();
    bar.until_colour("no daemon", PLANNING);
    assert!(!bar.has("#ffffff"), "something is said beside the line");
    scene.start_daemon();
    bar.until_colour("what was before", DRIFTING);
}

/// i3bar with i3blocks and one of our examples.
fn i3blocks(scene: &Scene, example: &str) {
    // i3 starts the bar in surroundings of its own.
    let path = format!("{}:{}", scene.home.bin().display(), std::env::var("PATH").unwrap());
    let socket = scene.home.socket();
    scene.desktop().configure_i3(&format!(
        "bar {{\n  position top\n  workspace_buttons no\n  tray_output none\n  \
         font pango:DejaVu Sans Bold 14\n  \
         status_command env PATH={path} ANTIDRIFT_SOCKET={} i3blocks -c {}\n}}",
        socket.display(),
        contrib(example).display()
    ));
}

const RIGHT: (i16, i16, u16, u16) = (424, 0, 600, 20);
const ON_RIGHT: (i16, i16) = (1004, 10);

#[test]
fn i3blocks_shows_the_state_and_its_clicks_answer() {
    let scene = scene();
    let desktop = scene.desktop();
    i3blocks(&scene, "i3blocks/antidrift.conf");
    let client = |args: &[&str]| scene.cli(args).ok();
    let bar = Bar { desktop: &desktop, area: RIGHT, point: ON_RIGHT, polls: true };
    bar.lead_to_drift(&client);
    bar.answer(&client);
}

#[test]
fn i3blocks_follows_a_stream() {
    let scene = scene();
    let desktop = scene.desktop();
    i3blocks(&scene, "i3blocks/antidrift-stream.conf");
    let client = |args: &[&str]| scene.cli(args).ok();
    let bar = Bar { desktop: &desktop, area: RIGHT, point: ON_RIGHT, polls: false };
    bar.lead_to_drift(&client);
    // Older ones keep their clicks to themselves.
    let version = Command::new("i3blocks").arg("-V").output().unwrap().stdout;
    if !String::from_utf8(version).unwrap().starts_with("i3blocks 1.4 ") {
        bar.answer(&client);
    }
}

/// sway takes no root. Who runs the tests as root lends this one to nobody.
mod ordinary {
    use super::*;

    const NOBODY: &str = "65534";

    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Gives the directories away.
    pub(super) fn own(home: &Home) {
        if is_root() {
            let owner = format!("{NOBODY}:{NOBODY}");
            let done = Command::new("chown").args(["-R", &owner]).arg(home.path()).status();
            assert!(done.unwrap().success());
        }
    }

    /// The command as an ordinary user runs it, with nothing but its own variables.
    pub(super) fn command(command: &Command) -> Command {
        let mut ordinary = if is_root() {
            let mut ordinary = Command::new("setpriv");
            ordinary.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
            ordinary.arg(command.get_program());
            ordinary
        } else {
            Command::new(command.get_program())
        };
        ordinary.args(command.get_args()).env_clear();
        ordinary.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        ordinary.current_dir(command.get_current_dir().unwrap());
        ordinary
    }
}

#[test]
fn waybar_shows_the_state_and_its_clicks_answer() {
    let desktop = Desktop::start(Manager::Bare);
    let home = Home::new();
    let judge = StandInJudge::new(&home);
    rules(&judge);
    let mut settings = Settings::default();
    quickly(&mut settings);
    home.configure(&settings.to_toml(Some(&judge.argv())));
    // Where the build is, an ordinary user may not look.
    fs::create_dir_all(home.bin()).unwrap();
    for program in [antidrift(), antidriftd()] {
        fs::copy(&program, home.bin().join(program.file_name().unwrap())).unwrap();
    }
    let file = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    for part in ["antidrift.jsonc", "antidrift.css"] {
        fs::copy(contrib("waybar").join(part), home.path().join(part)).unwrap();
    }
    let config = file(
        "bar.jsonc",
        &format!(
            r#"{{"position": "bottom", "height": 30, "include": ["{}/antidrift.jsonc"],
                "modules-left": ["custom/antidrift"]}}"#,
            home.path().display()
        ),
    );
    let style = "* { font: bold 20px DejaVu Sans; } #waybar { background: #000000; }\n";
    let style = file("style.css", &format!("@import \"antidrift.css\";\n{style}"));
    let sway_config = file("sway.conf", "");
    ordinary::own(&home);

    let start = |name: &str, args: &[&Path], variables: &[(&str, &str)]| {
        let mut command = home.command(name);
        command.args(args).envs(variables.iter().copied()).env("DISPLAY", desktop.display());
        let mut command = ordinary::command(&command);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Process::spawn(&mut command, name)
    };
    let daemon = home.bin().join("antidriftd");
    let mut command = home.command(daemon);
    command.env("DISPLAY", desktop.display());
    let _daemon = Daemon::start(ordinary::command(&command), &home);
    // On a display of ours, so that it can be looked at and clicked on; drawn without any device.
    let nested =
        [("WLR_BACKENDS", "x11"), ("WLR_RENDERER", "pixman"), ("WLR_LIBINPUT_NO_DEVICES", "1")];
    let _sway = start("sway", &[Path::new("-c"), &sway_config], &nested);
    until("sway listens", || home.path().join("run/wayland-1").exists().then_some(()));
    let _waybar = start(
        "waybar",
        &[Path::new("-c"), &config, Path::new("-s"), &style],
        &[("WAYLAND_DISPLAY", "wayland-1"), ("GDK_BACKEND", "wayland")],
    );

    let client = |args: &[&str]| {
        let mut command = home.command(home.bin().join("antidrift"));
        let output = ordinary::command(command.args(args)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let area = (0, 738, 700, 30);
    let bar = Bar { desktop: &desktop, area, point: (20, 753), polls: false };
    bar.lead_to_drift(&client);
    bar.answer(&client);
}

/// Its documentation: <https://docs.rs/i3status-rs/latest/i3status_rs/blocks/custom/>
#[test]
fn the_example_for_i3status_rust_has_the_form_that_it_reads() {
    let scene = Scene::without_display().start();
    let example = fs::read_to_string(contrib("i3status-rust/antidrift.toml")).unwrap();
    let example: toml::Table = example.parse().unwrap();
    let block = &example["block"][0];
    assert_eq!(
        (block["block"].as_str(), block["persistent"].as_bool(), block["json"].as_bool()),
        (Some("custom"), Some(true), Some(true))
    );
    let words = |line: &toml::Value| -> Vec<String> {
        line.as_str().unwrap().split(' ').map(str::to_owned).collect()
    };
    let command = words(&block["command"]);
    assert_eq!(command[..2], ["antidrift", "watch"]);
    let args: Vec<&str> = command[2..].iter().map(String::as_str).collect();
    let line = scene.watch(&args).until_text("no session");
    let line: Value = serde_json::from_str(&line).unwrap();
    let object = line.as_object().unwrap();
    assert!(object.values().all(Value::is_string), "{line}");
    assert_eq!(object.keys().collect::<Vec<_>>(), ["icon", "short_text", "state", "text"]);
    let states = ["Idle", "Info", "Good", "Warning", "Critical"];
    assert!(states.contains(&line["state"].as_str().unwrap()), "{line}");
    for (click, button) in
        block["click"].as_array().unwrap().iter().zip(["left", "middle", "right"])
    {
        assert_eq!(click["button"].as_str(), Some(button));
        assert_eq!(words(&click["cmd"]), ["antidrift", "click", button]);
    }
}

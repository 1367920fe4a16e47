use std::{
    fs,
    process::{Command, Stdio},
};

use crate::{Desktop, Home, Process, until};

/// A bus of its own, which starts no services by itself.
#[derive(Debug)]
pub struct Bus {
    daemon: Process,
    address: String,
}

const BUS_CONFIG: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=SOCKET</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"#;

impl Bus {
    /// Starts it.
    pub fn start(home: &Home) -> Self {
        let socket = home.path().join("bus");
        let config = home.path().join("bus.conf");
        // one that was killed leaves its socket
        let _ = fs::remove_file(&socket);
        fs::write(&config, BUS_CONFIG.replace("SOCKET", &socket.display().to_string())).unwrap();
        let mut command = home.command("dbus-daemon");
        command.arg("--nofork").arg(format!("--config-file={}", config.display()));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = Process::spawn(&mut command, "dbus");
        until("the bus listens", || std::os::unix::net::UnixStream::connect(&socket).ok());
        Self { daemon, address: format!("unix:path={}", socket.display()) }
    }

    /// As in `DBUS_SESSION_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        self.daemon.kill();
    }
}

/// The real notification service with its default configuration, on a bus of its own.
#[derive(Debug)]
pub struct Dunst {
    process: Process,
    bus: Bus,
    home: Home,
}

/// A notification as dunst tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The fixed words.
    pub summary: String,
    /// The text, as it reached the service.
    pub body: String,
    /// Names and labels of its buttons.
    pub actions: Vec<(String, String)>,
    /// `LOW`, `NORMAL` or `CRITICAL`.
    pub urgency: String,
    /// The colour of its frame, as `#rrggbb`.
    pub frame: String,
}

impl Dunst {
    /// Starts bus and service on this desktop.
    pub fn start(desktop: &Desktop) -> Self {
        Self::start_with(desktop, "")
    }

    /// The same with a file of further rules beside the default configuration.
    pub fn start_with(desktop: &Desktop, rules: &str) -> Self {
        let home = Home::new();
        let bus = Bus::start(&home);
        // The default configuration, but for the program that shows the context menu: it picks the
        // line that a test asks for.
        let menu = home.install("pick", "#!/bin/sh\nexec grep -F -m1 -f \"$HOME/choice\"\n");
        let config = home.path().join("config/dunst/dunstrc");
        let drop_ins = home.path().join("config/dunst/dunstrc.d");
        fs::create_dir_all(&drop_ins).unwrap();
        fs::write(drop_ins.join("50-rules.conf"), rules).unwrap();
        let dmenu = format!("    dmenu = {}", menu.display());
        let default = fs::read_to_string("/etc/xdg/dunst/dunstrc").expect("install dunst");
        let lines = default.lines().map(|line| {
            if line.trim_start().starts_with("dmenu =") { dmenu.as_str() } else { line }
        });
        fs::write(config, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let log = |name: &str| fs::File::create(home.path().join(name)).unwrap();
        let mut command = home.command("dunst");
        command
            .arg("-print")
            .env("DISPLAY", desktop.display())
            .env("DBUS_SESSION_BUS_ADDRESS", bus.address())
            .stdout(log("dunst.out"))
            .stderr(log("dunst.err"));
        let process = Process::spawn(&mut command, "dunst");
        let dunst = Self { process, bus, home };
        until("dunst answers", || dunst.property("displayedLength"));
        dunst
    }

    /// The bus that it serves.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Its process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// How many popups are on the screen.
    pub fn displayed(&self) -> u32 {
        self.property("displayedLength").expect("dunst answers")
    }

    /// Waits until so many popups are on the screen.
    #[track_caller]
    pub fn until_displayed(&self, count: u32) {
        until(&format!("{count} popups on the screen"), || {
            (self.displayed() == count).then_some(())
        });
    }

    /// Every notification that ever came, oldest first.
    pub fn shown(&self) -> Vec<Shown> {
        parse(&fs::read_to_string(self.home.path().join("dunst.out")).unwrap())
    }

    /// What dunst complained about in the text of popups.
    pub fn complaints(&self) -> String {
        self.errors().lines().filter(|line| line.contains("markup")).collect()
    }

    /// All that dunst wrote to standard error.
    pub fn errors(&self) -> String {
        fs::read_to_string(self.home.path().join("dunst.err")).unwrap()
    }

    /// How many popups can be called back.
    pub fn remembered(&self) -> u32 {
        self.property("historyLength").expect("dunst answers")
    }

    /// Presses the default action of the newest popup: what `dunstctl action` does.
    pub fn press_default(&self) {
        self.call("NotificationAction", &["uint32:0"]);
    }

    /// Opens the context menu and picks the line with this text: what `dunstctl context` does.
    pub fn press(&self, label: &str) {
        self.will_pick(label);
        self.call("ContextMenuCall", &[]);
    }

    /// Whoever opens the context menu will pick the line with this text.
    pub fn will_pick(&self, label: &str) {
        fs::write(self.home.path().join("home/choice"), label).unwrap();
    }

    /// Closes the newest popup without an answer: what `dunstctl close` does.
    pub fn close(&self) {
        self.call("NotificationCloseLast", &[]);
    }

    /// Clicks on the middle of the popup with a mouse button (1 left, 2 middle).
    pub fn click(&self, desktop: &Desktop, button: u32) {
        let (x, y, width, height) = until("a popup window", || desktop.shown("Dunst").pop());
        let (x, y) = (x + (width / 2).cast_signed(), y + (height / 2).cast_signed());
        desktop.click((x, y), button);
    }

    fn property(&self, name: &str) -> Option<u32> {
        let interface = "string:org.dunstproject.cmd0";
        let get = "org.freedesktop.DBus.Properties.Get";
        let output = self.send(get).args([interface, &format!("string:{name}")]).output().ok()?;
        // «variant       uint32 1»
        String::from_utf8_lossy(&output.stdout).split_whitespace().last()?.parse().ok()
    }

    fn call(&self, method: &str, arguments: &[&str]) {
        let status = self.send(&format!("org.dunstproject.cmd0.{method}")).args(arguments).output();
        assert!(status.unwrap().status.success(), "dunst takes {method}");
    }

    fn send(&self, member: &str) -> Command {
        let mut command = self.home.command("dbus-send");
        command
            .env("DBUS_SESSION_BUS_ADDRESS", self.bus.address())
            .args(["--session", "--print-reply=literal", "--dest=org.freedesktop.Notifications"])
            .args(["/org/freedesktop/Notifications", member]);
        command
    }
}

/// Reads what `dunst -print` writes.
fn parse(text: &str) -> Vec<Shown> {
    let mut all = Vec::new();
    let mut now = Shown::default();
    let mut in_actions = false;
    let mut body: Option<String> = None;
    let quoted = |line: &str, name: &str| {
        Some(line.strip_prefix(&format!("\t{name}: '"))?.trim_end_matches('\'').to_owned())
    };
    for line in text.lines() {
        if let Some(lines) = &mut body {
            // a body may have line breaks; the icon comes after it
            if line.starts_with("\ticon: ") {
                now.body = std::mem::take(lines).trim_end_matches('\'').to_owned();
                body = None;
            } else {
                lines.push('\n');
                lines.push_str(line);
            }
        } else if let Some(summary) = quoted(line, "summary") {
            now.summary = summary;
        } else if let Some(first) = line.strip_prefix("\tbody: '") {
            body = Some(first.to_owned());
        } else if let Some(urgency) = line.strip_prefix("\turgency: ") {
            now.urgency = urgency.into();
        } else if let Some(frame) = line.strip_prefix("\tframe: ") {
            now.frame = frame.into();
        } else if line == "\tactions: {" {
            in_actions = true;
        } else if in_actions && line == "\t}" {
            in_actions = false;
        } else if in_actions {
            let mut parts = line.split('"');
            if let (Some(name), Some(label)) = (parts.nth(1), parts.nth(1)) {
                now.actions.push((name.into(), label.into()));
            }
        } else if line == "}" {
            all.push(std::mem::take(&mut now));
        }
    }
    all
}

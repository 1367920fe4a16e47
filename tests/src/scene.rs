use std::{fs, process::Command, rc::Rc};

use antidrift_protocol::State;
use serde_json::{Value, json};

use crate::{
    Daemon, Desktop, Dunst, Home, Manager, Outcome, Process, Settings, StandInJudge, Subscriber,
    Watch, antidrift, ask, cli, until,
};

/// What a scene is to have.
#[derive(Debug)]
pub struct SceneBuilder {
    manager: Option<Manager>,
    /// Rules beside dunst's default configuration.
    dunst: Option<String>,
    judge: bool,
    settings: Settings,
    env: Vec<(String, String)>,
}

impl SceneBuilder {
    /// Changes the daemon's settings.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Without a judge.
    #[must_use]
    pub fn no_judge(mut self) -> Self {
        self.judge = false;
        self
    }

    /// With dunst on a bus of its own.
    #[must_use]
    pub fn dunst(self) -> Self {
        self.dunst_with("")
    }

    /// With dunst and these rules beside its default configuration.
    #[must_use]
    pub fn dunst_with(mut self, rules: &str) -> Self {
        self.dunst = Some(rules.to_owned());
        self
    }

    /// With this in the daemon's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts it all.
    #[track_caller]
    pub fn start(self) -> Scene {
        let home = Home::new();
        let desktop = self.manager.map(Desktop::start).map(Rc::new);
        let dunst = desktop.as_ref().zip(self.dunst);
        let dunst = dunst.map(|(desktop, rules)| Dunst::start_with(desktop, &rules));
        let judge = StandInJudge::new(&home);
        let argv = judge.argv();
        home.configure(&self.settings.to_toml(self.judge.then_some(argv.as_slice())));
        let mut env = self.env;
        if let Some(desktop) = &desktop {
            env.push(("DISPLAY".into(), desktop.display().into()));
        }
        if let Some(dunst) = &dunst {
            env.push(("DBUS_SESSION_BUS_ADDRESS".into(), dunst.bus().address().into()));
        }
        let mut command = Daemon::command(&home);
        command.envs(env.clone());
        let daemon = Daemon::start(command, &home);
        let subscriber = Subscriber::connect(&home.socket());
        Scene { subscriber, daemon: Some(daemon), dunst, desktop, judge, env, home }
    }
}

/// A desktop with the daemon at work, a judge and a subscriber.
#[derive(Debug)]
pub struct Scene {
    /// Follows the daemon's stream.
    pub subscriber: Subscriber,
    daemon: Option<Daemon>,
    /// The notification service, if asked for.
    pub dunst: Option<Dunst>,
    desktop: Option<Rc<Desktop>>,
    /// The judge.
    pub judge: StandInJudge,
    env: Vec<(String, String)>,
    /// The directories of the daemon and its clients.
    pub home: Home,
}

impl Scene {
    /// A scene on a desktop with this manager.
    pub fn on(manager: Manager) -> SceneBuilder {
        SceneBuilder {
            manager: Some(manager),
            dunst: None,
            judge: true,
            settings: Settings::default(),
            env: Vec::new(),
        }
    }

    /// A scene without a display.
    pub fn without_display() -> SceneBuilder {
        SceneBuilder { manager: None, ..Self::on(Manager::Bare) }
    }

    /// The desktop.
    pub fn desktop(&self) -> Rc<Desktop> {
        Rc::clone(self.desktop.as_ref().expect("this scene has a desktop"))
    }

    /// Starts a server and a manager again on the display of those that were killed.
    pub fn restart_desktop(&mut self) -> Rc<Desktop> {
        self.desktop = Some(Rc::new(self.desktop().again()));
        self.desktop()
    }

    /// The running daemon.
    pub fn daemon(&mut self) -> &mut Daemon {
        self.daemon.as_mut().expect("the daemon runs")
    }

    /// The notification service.
    pub fn dunst(&self) -> &Dunst {
        self.dunst.as_ref().expect("this scene has dunst")
    }

    /// Runs the client to its end.
    #[track_caller]
    pub fn cli(&self, args: &[&str]) -> Outcome {
        cli::run(self.client(args), self.home.path())
    }

    /// Runs a prepared client command to its end.
    #[track_caller]
    pub fn run(&self, command: Command) -> Outcome {
        cli::run(command, self.home.path())
    }

    /// The client in this scene's surroundings.
    pub fn client(&self, args: &[&str]) -> Command {
        let mut command = cli::command(&self.home, args);
        command.envs(self.env.clone());
        command
    }

    /// Any program in this scene's surroundings, with the client on its PATH.
    pub fn program(&self, name: &str) -> Command {
        let mut command = self.home.command(name);
        command.envs(self.env.clone());
        let built = antidrift();
        let path = std::env::var("PATH").unwrap_or_default();
        let (own, built) = (self.home.bin(), built.parent().unwrap().display().to_string());
        command.env("PATH", format!("{}:{built}:{path}", own.display()));
        command
    }

    /// Puts a window manager with this configuration at work on a bare desktop. Its key bindings
    /// find the client and the daemon.
    pub fn manage(&self, manager: Manager, config: &str) {
        self.desktop().manage(manager, config, &|name| self.program(name));
    }

    /// Starts `antidrift watch` with more arguments, in a pipe.
    pub fn watch(&self, args: &[&str]) -> Watch {
        self.start_client(&[&["watch"], args].concat())
    }

    /// Starts the client with these arguments, in a pipe.
    pub fn start_client(&self, args: &[&str]) -> Watch {
        Watch::start(self.client(args), &self.home)
    }

    /// Starts a session with a commitment and nothing else.
    #[track_caller]
    pub fn begin(&mut self, text: &str) -> State {
        self.cli(&["start", text]).ok();
        self.subscriber.until("a session", |state| state.commitment.is_some())
    }

    /// Asks over the socket.
    #[track_caller]
    pub fn ask(&self, cmd: &str, args: &Value) -> Value {
        ask(&self.home.socket(), cmd, args)
    }

    /// The state as `status` answers it.
    #[track_caller]
    pub fn status(&self) -> State {
        let answer = self.ask("status", &json!({}));
        serde_json::from_value(answer["ok"]["state"].clone()).expect("a state")
    }

    /// Has strace with these arguments follow the running daemon, from when this returns until what
    /// it gives is ended.
    #[track_caller]
    pub fn strace(&mut self, args: &[&str]) -> Process {
        let pid = self.daemon().process().id().to_string();
        let log = tempfile::NamedTempFile::new_in(self.home.path()).unwrap();
        let mut command = self.home.command("strace");
        command.args(["-f", "-o", "/dev/null", "-p", &pid]).args(args);
        command.stderr(log.reopen().unwrap());
        let strace = Process::spawn(&mut command, "strace");
        until("strace is attached", || {
            fs::read_to_string(log.path()).unwrap().contains("attached").then_some(())
        });
        strace
    }

    /// Kills the daemon as a crash would.
    pub fn kill_daemon(&mut self) {
        self.daemon().process().kill();
        self.daemon = None;
    }

    /// Stops the daemon as a logout would.
    #[track_caller]
    pub fn stop_daemon(&mut self) {
        self.daemon.take().expect("the daemon runs").stop();
    }

    /// Starts the daemon again and follows it.
    #[track_caller]
    pub fn start_daemon(&mut self) {
        let mut command = Daemon::command(&self.home);
        command.envs(self.env.clone());
        self.daemon = Some(Daemon::start(command, &self.home));
        self.subscriber = Subscriber::connect(&self.home.socket());
    }
}

//! A daemon made of a thread, and the client as a process.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code")]

pub(crate) mod terminal;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::{
        fs::DirBuilderExt,
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, mpsc},
    thread,
};

use antidrift_protocol::{Answer, ErrorCode, ErrorObject, Greeting, PROTOCOL, Reply, Subscribed};
use antidrift_tests::{PATIENCE, until};
use serde_json::{Value, json};

/// What the fake answers to a request: whole lines. `None` closes the connection.
pub(crate) type Script = dyn FnMut(&Value) -> Option<String> + Send;

pub(crate) struct FakeDaemon {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) socket: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Value>>,
    streams: Mutex<Vec<UnixStream>>,
    /// What a subscriber gets right behind the answer.
    first: Mutex<String>,
    instance: Mutex<String>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

pub(crate) fn socket_in(dir: &Path) -> PathBuf {
    let ours = dir.join("antidrift");
    if !ours.exists() {
        fs::DirBuilder::new().mode(0o700).create(&ours).unwrap();
    }
    ours.join("antidriftd.sock")
}

impl FakeDaemon {
    /// Answers with what `script` gives; without anything in it, an empty `status` and `subscribe`.
    pub(crate) fn start(script: impl FnMut(&Value) -> Option<String> + Send + 'static) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), script)
    }

    /// As [`start`](Self::start), in a directory that may hold things already.
    pub(crate) fn start_in(
        dir: tempfile::TempDir,
        script: impl FnMut(&Value) -> Option<String> + Send + 'static,
    ) -> Self {
        let socket = socket_in(dir.path());
        let listener = UnixListener::bind(&socket).unwrap();
        let shared = Arc::new(Shared::default());
        *lock(&shared.instance) = "one".to_owned();
        let script: Arc<Mutex<Box<Script>>> = Arc::new(Mutex::new(Box::new(script)));
        let for_thread = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), shared) = (stream, Arc::clone(&for_thread)) else { return };
                let script = Arc::clone(&script);
                thread::spawn(move || serve(stream, &shared, &script));
            }
        });
        Self { dir, socket, shared }
    }

    pub(crate) fn requests(&self) -> Vec<Value> {
        lock(&self.shared.requests).clone()
    }

    /// The requests with this command.
    pub(crate) fn asked(&self, cmd: &str) -> Vec<Value> {
        self.requests().into_iter().filter(|request| request["cmd"] == cmd).collect()
    }

    /// What every new subscriber is told first.
    pub(crate) fn first(&self, lines: &str) {
        *lock(&self.shared.first) = lines.to_owned();
    }

    pub(crate) fn instance(&self, instance: &str) {
        *lock(&self.shared.instance) = instance.to_owned();
    }

    pub(crate) fn subscribers(&self) -> usize {
        lock(&self.shared.streams).len()
    }

    pub(crate) fn wait_for_subscribers(&self, count: usize) {
        until("a subscriber", || (self.subscribers() >= count).then_some(()));
    }

    /// Tells every subscriber, in one write.
    pub(crate) fn tell(&self, lines: &str) {
        for mut stream in lock(&self.shared.streams).iter() {
            let _ = stream.write_all(lines.as_bytes());
        }
    }

    /// Ends every subscription.
    pub(crate) fn hang_up(&self) {
        for stream in lock(&self.shared.streams).drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

fn serve(stream: UnixStream, shared: &Shared, script: &Mutex<Box<Script>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        let request: Value = serde_json::from_str(&line).unwrap();
        line.clear();
        lock(&shared.requests).push(request.clone());
        let scripted = (lock(script))(&request);
        let subscribe = request["cmd"] == "subscribe";
        let Some(mut answer) = scripted else { return };
        if answer.is_empty() {
            let instance = lock(&shared.instance).clone();
            let id = request["id"].as_u64();
            answer = match request["cmd"].as_str() {
                Some("hello") => reply(id, Answer::Hello(greeting(&instance))),
                Some("subscribe") => reply(id, Answer::Subscribe(Subscribed { instance })),
                _ => refusal(&request, ErrorCode::Internal, "the test has no answer"),
            };
        }
        if subscribe {
            answer.push_str(&lock(&shared.first));
            // Held over the writing: a test that has seen the first line may tell at once.
            let mut streams = lock(&shared.streams);
            if (&stream).write_all(answer.as_bytes()).is_ok() {
                streams.push(stream);
            }
            return;
        }
        if (&stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

pub(crate) fn greeting(instance: &str) -> Greeting {
    Greeting {
        server: "fake/1".into(),
        protocol: PROTOCOL,
        instance: instance.into(),
        max_line: 131_072,
    }
}

pub(crate) fn reply(id: Option<u64>, answer: Answer) -> String {
    Reply { id, result: Ok(answer) }.to_line()
}

/// An `ok` line with any body.
pub(crate) fn ok(request: &Value, body: &Value) -> String {
    format!("{}\n", json!({"id": request["id"], "ok": body}))
}

pub(crate) fn refusal(request: &Value, code: ErrorCode, message: &str) -> String {
    let result: Result<Answer, _> = Err(ErrorObject::new(code, message));
    Reply { id: request["id"].as_u64(), result }.to_line()
}

/// A script that answers one command and leaves the greeting to the fake.
pub(crate) fn answering(
    cmd: &'static str,
    body: Value,
) -> impl FnMut(&Value) -> Option<String> + Send + 'static {
    move |request| Some(if request["cmd"] == cmd { ok(request, &body) } else { String::new() })
}

pub(crate) const WINDOW: &str = r#"{"class":"firefox","instance":"Navigator","title":"reddit: the front page","domain":null,"command":null}"#;

pub(crate) fn window() -> Value {
    serde_json::from_str(WINDOW).unwrap()
}

/// A state in the active phase.
pub(crate) fn active(status: &str) -> Value {
    let drifting = status == "drifting";
    json!({
        "phase": "active",
        "commitment": {"text": "draft the report", "next_action": null, "success_condition": null,
            "timebox_secs": 1500, "started_at": "2026-11-30T09:00:00.000Z", "elapsed_secs": 764,
            "remaining_secs": 736},
        "allowed": {"window_classes": ["code"], "window_titles": [], "window_title_substrings": [],
            "domains": [], "commands": []},
        "window": window(),
        "drift": {"status": status, "reason": drifting.then_some("Reddit is unrelated"),
            "source": drifting.then_some("judge"), "alert": drifting.then_some(7),
            "since_at": "2026-11-30T09:12:44.000Z"},
        "away": null, "paused": null, "detour": null, "review": null,
        "judge": {"backend": "claude", "destination": "cloud", "status": "ready", "calls": 3,
            "limit": null, "last_ok_at": null, "last_error": null, "last_error_at": null,
            "verdicts": {"rule": 0, "cache": 0, "embedded": 0, "judge": 3}},
        "sensor": {"kind": "x11", "status": "ok", "detail": null}
    })
}

pub(crate) fn planning() -> Value {
    json!({
        "phase": "planning", "commitment": null, "allowed": null, "window": null, "drift": null,
        "away": null, "paused": null, "detour": null, "review": null,
        "judge": {"backend": "none", "destination": null, "status": "off", "calls": 0,
            "limit": null, "last_ok_at": null, "last_error": null, "last_error_at": null,
            "verdicts": {"rule": 0, "cache": 0, "embedded": 0, "judge": 0}},
        "sensor": {"kind": "x11", "status": "ok", "detail": null}
    })
}

/// An event line. A state is as old as the session in it, anything else happens now.
#[allow(clippy::disallowed_methods, reason = "a stand-in for the daemon has its clock")]
pub(crate) fn event(name: &str, seq: u64, data: &Value) -> String {
    let at = match name {
        "state" => "2026-11-30T09:12:44.120Z".to_owned(),
        _ => jiff::Timestamp::now().to_string(),
    };
    format!("{}\n", json!({"event": name, "seq": seq, "at": at, "data": data}))
}

/// The client, not started yet.
pub(crate) fn client(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antidrift"));
    command
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("XDG_RUNTIME_DIR", dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the client to its end.
pub(crate) fn run(dir: &Path, args: &[&str]) -> Ran {
    finish(client(dir).args(args).spawn().unwrap())
}

pub(crate) fn finish(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Waits for a process to end by itself.
pub(crate) fn wait_for_end(child: &mut Child) -> ExitStatus {
    until("the end of a process", || child.try_wait().unwrap())
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

/// A client that runs on, with its lines as they come.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: mpsc::Receiver<String>,
    errors: Arc<Mutex<String>>,
}

impl Running {
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let errors = Arc::new(Mutex::new(String::new()));
        if let Some(mut stderr) = child.stderr.take() {
            let errors = Arc::clone(&errors);
            thread::spawn(move || {
                let mut chunk = [0; 1024];
                while let Ok(read @ 1..) = stderr.read(&mut chunk) {
                    lock(&errors).push_str(&String::from_utf8_lossy(&chunk[..read]));
                }
            });
        }
        Self { child, lines, errors }
    }

    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    /// The lines up to one that holds `text`.
    pub(crate) fn line_with(&self, text: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Lines that are there already.
    pub(crate) fn more(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    pub(crate) fn errors(&self) -> String {
        lock(&self.errors).clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

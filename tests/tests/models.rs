//! Command-line models, with stand-ins that behave as the real ones do.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

use antidrift_protocol::{Destination, DriftSource, DriftStatus, JudgeStatus};
use antidrift_tests::{Manager, Scene, until};

const PAGE: &str = "Strange page — Mozilla Firefox";
const VERDICT: &str = r#"{\"on_task\": false, \"reason\": \"a strange page\"}"#;

/// A directory with a program of this name, to be put first on PATH.
fn tool(dir: &Path, name: &str, body: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let rest = std::env::var("PATH").unwrap();
    format!("{}:{rest}", dir.display())
}

fn scene(path: &str, config: &str) -> Scene {
    let whole = format!("{config}\n[drift]\nsettle_secs = 0.1\ndebounce_secs = 0.2\n");
    let scene = Scene::on(Manager::Openbox).settings(|it| it.whole = Some(whole));
    scene.env("PATH", path).start()
}

fn asked(dir: &Path) -> (PathBuf, PathBuf) {
    (dir.join("prompt"), dir.join("args"))
}

#[test]
fn claude_is_asked_without_tools_and_its_envelope_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let (prompt, args) = asked(dir.path());
    let body = format!(
        "printf '%s\\n' \"$@\" > {}; cat > {}; echo 'Warning: update available' >&2\n\
         echo '{{\"type\":\"result\",\"is_error\":false,\"result\":\"Sure: {VERDICT}\"}}'",
        args.display(),
        prompt.display()
    );
    let path = tool(dir.path(), "claude", &body);
    let mut scene = scene(&path, "[judge]\nbackend = \"claude\"");
    let said = scene.cli(&["start", "the report"]).ok();
    assert!(said.contains("(cloud)") && said.contains("antidrift preview"), "{said}");
    scene.desktop().open("firefox", PAGE);
    let state = scene.subscriber.until_titled(PAGE, DriftStatus::Drifting);
    let drift = state.drift.unwrap();
    assert_eq!(
        (drift.source, drift.reason.as_deref()),
        (Some(DriftSource::Judge), Some("a strange page"))
    );
    assert_eq!(
        (state.judge.backend.as_str(), state.judge.destination),
        ("claude", Some(Destination::Cloud))
    );
    let args = fs::read_to_string(args).unwrap();
    let words: Vec<&str> = args.lines().collect();
    let tools = words.iter().position(|word| *word == "--tools").expect("no --tools");
    assert_eq!(words[tools + 1], "", "tools are off");
    assert!(!args.contains("Strange page"), "the title is on the command line: {args}");
    assert!(fs::read_to_string(prompt).unwrap().contains("Strange page"));
}

#[test]
fn an_older_claude_is_asked_as_it_can_be() {
    let dir = tempfile::tempdir().unwrap();
    let body = format!(
        "case \"$*\" in *--safe-mode*) echo \"error: unknown option '--safe-mode'\" >&2; exit 1;; esac\n\
         cat > /dev/null; echo '{{\"is_error\":false,\"result\":\"{VERDICT}\"}}'"
    );
    let path = tool(dir.path(), "claude", &body);
    let mut scene = scene(&path, "[judge]\nbackend = \"claude\"");
    scene.begin("the report");
    scene.desktop().open("firefox", PAGE);
    let state = scene.subscriber.until_titled(PAGE, DriftStatus::Drifting);
    assert_eq!(state.judge.last_error, None);
}

#[test]
fn who_is_not_logged_in_is_told_what_to_do_and_the_tool_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let body = format!(
        "cat > /dev/null; echo x >> {}; echo '{{\"is_error\":true,\"result\":\"Not logged in\"}}'; exit 1",
        count.display()
    );
    let path = tool(dir.path(), "claude", &body);
    let mut scene = scene(&path, "[judge]\nbackend = \"claude\"");
    scene.begin("the report");
    scene.desktop().open("firefox", PAGE);
    let state = scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    let error = state.judge.last_error.unwrap();
    assert!(error.contains("Not logged in") && error.contains("run claude once"), "{error}");
    assert!(scene.cli(&["status"]).ok().contains("run claude once"));
    assert_eq!(fs::read_to_string(count).unwrap().lines().count(), 1);
}

#[test]
fn a_tool_that_echoes_the_prompt_publishes_no_title() {
    let dir = tempfile::tempdir().unwrap();
    let path = tool(dir.path(), "codex", "cat >&2; echo 'quota used up' >&2; exit 1");
    let mut scene = scene(&path, "[judge]\nbackend = \"codex\"");
    scene.begin("the report");
    scene.desktop().open("firefox", PAGE);
    let state = scene.subscriber.until("a pause", |it| it.judge.status == JudgeStatus::BackingOff);
    let error = state.judge.last_error.unwrap();
    assert!(error.contains("quota used up") && !error.contains("Strange page"), "{error}");
    assert!(!scene.daemon().log().contains("Strange page"));
}

#[test]
fn a_tool_that_is_not_there_is_named() {
    let scene = scene("/nowhere", "[judge]\nbackend = \"gemini\"");
    let judge = scene.status().judge;
    assert_eq!((judge.backend.as_str(), judge.status), ("gemini", JudgeStatus::Off));
    assert!(judge.last_error.is_some_and(|error| error.contains("gemini")));
}

#[test]
fn what_was_sent_is_written_down_where_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("sent.jsonl");
    let path = tool(dir.path(), "llm", "cat > /dev/null; echo '{\"on_task\": true}'");
    let config = format!(
        "[judge]\nbackend = \"auto\"\n[privacy]\naudit_file = {:?}\nredact = [\"Strange\"]",
        audit
    );
    // Only this tool is there, so that `auto` finds it and no other.
    let tools = path.split(':').next().unwrap().to_owned() + ":/usr/bin:/bin";
    let mut scene = scene(&tools, &config);
    if scene.status().judge.backend != "llm" {
        eprintln!("skipped: another model is installed here");
        return;
    }
    scene.begin("the report");
    scene.desktop().open("firefox", PAGE);
    scene.subscriber.until_titled(PAGE, DriftStatus::Ontask);
    let sent = until("the audit", || fs::read_to_string(&audit).ok().filter(|it| !it.is_empty()));
    assert!(sent.contains("\"backend\":\"llm\"") && sent.contains("page"), "{sent}");
    assert!(!sent.contains("Strange"), "redacted before it is sent: {sent}");
    assert!(sent.contains("\"for\":\"judge\""), "{sent}");
    // The coach is the same model, and what it is sent stands in the same file.
    scene.cli(&["coach", "a", "Strange", "plan"]).fails(1);
    let sent = fs::read_to_string(&audit).unwrap();
    assert!(sent.contains("\"for\":\"coach\"") && sent.contains("a […] plan"), "{sent}");
    assert!(!sent.contains("Strange"), "{sent}");
    // So does a check; nothing is sent beside it.
    scene.cli(&["doctor"]);
    assert_eq!(fs::read_to_string(&audit).unwrap().lines().count(), 3);
}

#[test]
fn at_the_cap_the_model_is_left_alone_and_the_embedded_judge_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let body =
        format!("cat > /dev/null; echo x >> {}; echo '{{\"on_task\": true}}'", count.display());
    let path = tool(dir.path(), "llm", &body);
    let mut scene = scene(&path, "[judge]\nbackend = \"llm\"\nmax_per_session = 2");
    scene.begin("the report");
    let desktop = scene.desktop();
    for title in ["Ganymede — Mozilla Firefox", "Callisto — Mozilla Firefox"] {
        desktop.open("firefox", title);
        let state = scene.subscriber.until_titled(title, DriftStatus::Ontask);
        assert_eq!(state.drift.unwrap().source, Some(DriftSource::Judge));
    }
    let cats = "Funny cats - YouTube — Mozilla Firefox";
    desktop.open("firefox", cats);
    let state = scene.subscriber.until_titled(cats, DriftStatus::Drifting);
    assert_eq!(state.drift.unwrap().source, Some(DriftSource::Embedded));
    let said = scene.cli(&["status"]).ok();
    assert!(said.contains("all 2 calls of this session used; the embedded judge"), "{said}");
    let previewed = scene.cli(&["preview"]).ok();
    assert!(previewed.contains("nothing would be sent"), "{previewed}");
    let calls = || fs::read_to_string(&count).unwrap().lines().count();
    assert_eq!(calls(), 2);
    // The next session has its own.
    scene.cli(&["complete"]).ok();
    scene.begin("another report");
    scene.subscriber.until_titled(cats, DriftStatus::Ontask);
    assert_eq!(calls(), 3);
}

/// A server that answers every request with this, in small pieces, and keeps what it was asked.
fn server(status: &str, body: &str) -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(String::new()));
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let keeps = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut chunk = [0; 4096];
            // The body is the last thing that comes, and it ends with a brace.
            while !request.ends_with(b"}") {
                match stream.read(&mut chunk) {
                    Ok(read @ 1..) => request.extend_from_slice(&chunk[..read]),
                    _ => break,
                }
            }
            keeps.lock().unwrap().push_str(&String::from_utf8_lossy(&request));
            for piece in answer.as_bytes().chunks(7) {
                if stream.write_all(piece).is_err() {
                    break;
                }
            }
        }
    });
    (base, asked)
}

fn chat(verdict: &str) -> String {
    format!(r#"{{"choices":[{{"message":{{"content":{verdict:?}}},"finish_reason":"stop"}}]}}"#)
}

/// A proxy of the environment would carry titles that are for this machine elsewhere.
#[test]
fn a_local_server_is_asked_directly_whatever_proxies_there_are() {
    let (base, _) = server("200 OK", &chat(r#"{"on_task": false, "reason": "not the report"}"#));
    let config =
        format!("[judge]\nbackend = \"http\"\n[judge.http]\nbase_url = {base:?}\nmodel = \"tiny\"");
    let whole = format!("{config}\n[drift]\nsettle_secs = 0.1\ndebounce_secs = 0.2\n");
    let mut scene = Scene::on(Manager::Openbox).settings(|it| it.whole = Some(whole));
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        scene = scene.env(variable, "http://127.0.0.1:9");
    }
    let mut scene = scene.start();
    scene.begin("the report");
    scene.desktop().open("firefox", PAGE);
    let state = scene.subscriber.until_titled(PAGE, DriftStatus::Drifting);
    assert_eq!(state.drift.unwrap().reason.as_deref(), Some("not the report"));
    assert_eq!(state.judge.destination, Some(Destination::Local));
    assert!(scene.cli(&["doctor"]).stdout.contains("ok judge"));
}

#[test]
fn a_key_goes_to_its_server_and_nowhere_else() {
    const KEY: &str = "sk-4f1d7e0c9b";
    let good = chat(r#"{"on_task": false, "reason": "not the report"}"#);
    let refused = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    for (status, body) in [("200 OK", good), ("401 Unauthorized", refused)] {
        let (base, asked) = server(status, &body);
        let dir = tempfile::tempdir().unwrap();
        let audit = dir.path().join("sent.jsonl");
        let config = format!(
            "[judge]\nbackend = \"http\"\n[judge.http]\nbase_url = {base:?}\nmodel = \"tiny\"\n\
             api_key_env = \"MY_KEY\"\n[privacy]\naudit_file = {audit:?}\n\
             [drift]\nsettle_secs = 0.1\n"
        );
        let scene = Scene::on(Manager::Openbox).settings(|it| it.whole = Some(config));
        let mut scene = scene.env("MY_KEY", KEY).env("ANTIDRIFT_LOG", "trace").start();
        scene.begin("the report");
        scene.desktop().open("firefox", PAGE);
        scene.subscriber.until("an answer", |state| {
            state.judge.last_ok_at.is_some() || state.judge.last_error.is_some()
        });
        let asked = asked.lock().unwrap().clone();
        assert!(asked.to_lowercase().contains(&format!("authorization: bearer {KEY}")), "{asked}");
        let mut told = scene.daemon().log() + &fs::read_to_string(&audit).unwrap();
        told += &fs::read_to_string(format!("/proc/{}/cmdline", scene.daemon().process().id()))
            .unwrap();
        for args in [&["status", "--json"][..], &["why"], &["preview"], &["doctor"]] {
            let ran = scene.cli(args);
            told += &(ran.stdout + &ran.stderr);
        }
        assert!(told.contains("tiny") && !told.contains(KEY), "{told}");
    }
}

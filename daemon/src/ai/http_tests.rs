#![allow(clippy::unwrap_used)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::ai::{
    fixtures::{ENVELOPES, rows},
    prompt::Task,
};

fn prompt() -> Prompt {
    Prompt { task: Task::Judge, text: "PROMPT".into(), private: vec!["secret title".into()] }
}

fn endpoint(base_url: &str) -> Endpoint {
    Endpoint {
        base_url: base_url.into(),
        model: "tiny".into(),
        key: Key::default(),
        allow_remote: false,
    }
}

/// A server that answers each request with the next of these, and what it was sent.
fn serve(answers: Vec<String>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            asked.push(take_request(&stream));
            let _ = stream.write_all(answer.as_bytes());
        }
        asked
    });
    (base, served)
}

fn take_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn chat(content: &str) -> String {
    let body = json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
    response("200 OK", &body.to_string())
}

fn ask(base: &str, timeout: Duration) -> Result<Answered, Failure> {
    HttpBackend::new(endpoint(base), timeout).ask_now(&prompt())
}

#[test]
fn it_asks_as_the_protocol_says_and_reads_the_answer() {
    let (base, served) = serve(vec![chat("{\"on_task\": true}")]);
    let answered = ask(&base, Duration::from_secs(20)).unwrap();
    assert_eq!(answered.text, b"{\"on_task\": true}");
    let asked = served.join().unwrap().remove(0);
    assert!(asked.starts_with("POST /v1/chat/completions HTTP/1.1"), "{asked}");
    assert!(asked.contains("\"stream\":false") && asked.contains("json_schema"));
    assert!(!asked.to_lowercase().contains("authorization"));
}

#[test]
fn a_server_without_schemas_is_asked_again_without() {
    let (base, served) = serve(vec![
        response("400 Bad Request", "{\"error\":{\"message\":\"schema\"}}"),
        chat("{}"),
    ]);
    assert!(ask(&base, Duration::from_secs(20)).is_ok());
    assert!(!served.join().unwrap()[1].contains("json_schema"));
}

#[test]
fn every_failure_has_its_kind_and_what_to_do() {
    let flood = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", "x".repeat(300_000));
    for (answer, kind, part) in [
        (response("401 Unauthorized", "{}"), FailureKind::NotLoggedIn, "api_key"),
        (response("429 Too Many Requests", "{}"), FailureKind::ToolFailed, "quota"),
        (
            response("500 Oh", "{\"error\":{\"message\":\"no memory\"}}"),
            FailureKind::ToolFailed,
            "no memory",
        ),
        (
            response("500 Oh", "{\"error\":{\"message\":\"bad: secret title\"}}"),
            FailureKind::ToolFailed,
            "500",
        ),
        (response("200 OK", "<html>"), FailureKind::NotUnderstood, "form"),
        (flood, FailureKind::NotUnderstood, "256 KiB"),
    ] {
        let (base, served) = serve(vec![answer]);
        let failure = ask(&base, Duration::from_secs(20)).unwrap_err();
        assert_eq!(failure.kind, kind, "{failure:?}");
        assert!(failure.message.contains(part), "{failure:?}");
        assert!(!failure.message.contains("secret title"), "{failure:?}");
        served.join().unwrap();
    }
}

#[test]
fn a_server_that_is_silent_or_not_there_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", silent.local_addr().unwrap());
    let failure = ask(&base, Duration::from_millis(300)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut, "{failure:?}");
    drop(silent);
    let failure = ask(&base, Duration::from_secs(20)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotInstalled, "{failure:?}");
    assert!(failure.message.contains("is a server running"), "{failure:?}");
}

#[test]
fn nothing_is_sent_to_another_machine_unasked() {
    for (base, expected) in [
        ("http://127.0.0.1:11434/v1", Ok(true)),
        ("http://[::1]:8080", Ok(true)),
        ("http://localhost:1234/v1", Ok(true)),
        ("ftp://localhost", Err("address")),
        ("localhost:1234", Err("address")),
        ("", Err("address")),
        ("http://api.example.com/v1", Err("allow_remote")),
        ("http://127.0.0.1.example.com/v1", Err("allow_remote")),
    ] {
        match (endpoint(base).check(), expected) {
            (Ok(local), Ok(expected)) => assert_eq!(local, expected, "{base}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{base}: {found:?}"),
        }
    }
    let remote = Endpoint { allow_remote: true, ..endpoint("http://api.example.com/v1") };
    assert_eq!(remote.check(), Ok(false));
    assert_eq!(remote.name(), "http tiny at api.example.com");
    for model in ["big-cloud", "big:120b-cloud", "big:cloud"] {
        let cloud = Endpoint { model: model.into(), ..endpoint("http://localhost") };
        assert_eq!(cloud.check(), Ok(false), "it runs at the vendor's");
        assert_eq!(cloud.name(), format!("http {model}"));
    }
    let long = Endpoint { model: "m\n".repeat(500), ..endpoint("http://localhost") };
    assert!(long.name().chars().count() <= 64);
}

#[test]
fn https_is_for_builds_that_speak_it_and_leaves_the_machine_unasked() {
    let checked = endpoint("https://api.example.com/v1").check();
    if cfg!(feature = "https") {
        assert_eq!(checked, Ok(false));
        return;
    }
    let said = checked.unwrap_err().to_string();
    assert!(said.contains("built without https"), "{said}");
    assert!(said.contains("cargo install --locked --path daemon --features https"), "{said}");
}

#[test]
fn a_server_that_trickles_is_given_up_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        take_request(&stream);
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
        let mut bytes = head.bytes().chain(std::iter::repeat(b' '));
        // Each byte comes long before any limit; only the whole is too slow.
        while stream.write_all(&[bytes.next().unwrap()]).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let failure = ask(&base, Duration::from_millis(700)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut, "{failure:?}");
    served.join().unwrap();
}

/// It could lead anywhere, and the key would go with it.
#[test]
fn a_redirection_is_not_followed() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let there = format!("http://{}/v1/chat/completions", other.local_addr().unwrap());
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let answer = format!(
            "HTTP/1.1 {status}\r\nLocation: {there}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let (base, served) = serve(vec![answer]);
        let failure = ask(&base, Duration::from_secs(20)).unwrap_err();
        assert!(failure.message.contains(&status[..3]), "{failure:?}");
        served.join().unwrap();
    }
    assert!(other.accept().is_err(), "nobody came");
}

#[test]
fn a_key_comes_from_a_file_and_goes_into_the_header_only() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    fs::write(&file, "s3cret\n").unwrap();
    let (base, served) = serve(vec![chat("{}")]);
    let with_key = |file: PathBuf| {
        let key = Key { file: Some(file), variable: None };
        HttpBackend::new(Endpoint { key, ..endpoint(&base) }, Duration::from_secs(20))
    };
    let backend = with_key(file);
    backend.ask_now(&prompt()).unwrap();
    assert!(served.join().unwrap()[0].contains("Bearer s3cret"));
    assert!(!format!("{backend:?}").contains("s3cret"));
    // A server that repeats the key it refuses must not bring it into a message.
    let body = r#"{"error":{"message":"Incorrect API key provided: s3cret"}}"#;
    let (base, served) = serve(vec![response("401 Unauthorized", body)]);
    let key = Key { file: Some(dir.path().join("key")), variable: None };
    let backend = HttpBackend::new(Endpoint { key, ..endpoint(&base) }, Duration::from_secs(20));
    let failure = backend.ask_now(&prompt()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotLoggedIn);
    assert!(!failure.message.contains("s3cret"), "{failure:?}");
    served.join().unwrap();
    let failure = with_key(dir.path().join("none")).ask_now(&prompt()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotLoggedIn);
}

#[test]
fn http_fixtures() {
    let mut count = 0;
    for row in rows(ENVELOPES) {
        if row["format"] != "openai-http" {
            continue;
        }
        count += 1;
        let status = u16::try_from(row["exit_code"].as_u64().unwrap()).unwrap();
        let found = read("m", status, row["stdout"].as_str().unwrap().as_bytes(), &prompt(), None);
        let verdict = found.map(|it| crate::ai::parse::verdict(&it.text, &[]));
        match (verdict, row["expect"]["on_task"].as_bool()) {
            (Ok(Ok(verdict)), Some(expected)) => assert_eq!(verdict.on_task, expected),
            (Err(failure), None) => {
                let part = row["message_contains"].as_str().unwrap_or_default();
                assert!(failure.message.contains(part), "{}: {failure:?}", row["name"]);
            }
            (found, _) => panic!("{}: {found:?}", row["name"]),
        }
    }
    assert_eq!(count, 5);
}

//! A backend that is an endpoint of the OpenAI-compatible kind: ollama, llama.cpp's server, LM
//! Studio, or any other.
//!
//! The client blocks, so each request has a thread of its own, which ends with its time limit.

use std::{fs, net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

use antidrift_protocol::text::clean;
use serde_json::json;
use tokio::sync::oneshot;
use ureq::{Agent, http::Uri};

use super::{
    Failure, FailureKind,
    backend::{Answered, Answering, Backend, Prompt},
    envelope::{Closed, Envelope},
    message::{self, Tail},
    parse::{OUTPUT_CAP, Unreadable},
    prompt::SYSTEM,
};

/// How long a connection may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// Most tokens of an answer.
const MAX_TOKENS: u32 = 300;
/// Most bytes of a file with a key.
const MAX_KEY: usize = 4096;

/// Where an endpoint's key is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// A variable of the environment.
    pub variable: Option<String>,
    /// A file.
    pub file: Option<PathBuf>,
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Up to and without `/chat/completions`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// Where its key is; none is sent if both are empty.
    pub key: Key,
    /// Whether plain http may leave the machine.
    pub allow_remote: bool,
}

/// Why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// No address.
    #[error("base_url {0:?} is no http or https address")]
    NoAddress(String),
    /// https without the feature.
    #[error("this build speaks no https; put a local server in between, or use another backend")]
    NoTls,
    /// Plain text to another machine.
    #[error(
        "{0} is another machine, and http would carry titles there in plain text; allow_remote = true says that this is meant"
    )]
    Remote(String),
    /// No model.
    #[error("no model is named")]
    NoModel,
}

impl Endpoint {
    /// Holds it against what may be sent where. True if it is on this machine.
    ///
    /// # Errors
    ///
    /// What cannot be used as it stands.
    pub fn check(&self) -> Result<bool, EndpointError> {
        let no_address = || EndpointError::NoAddress(clean(&self.base_url, 200));
        let uri: Uri = self.base_url.parse().map_err(|_| no_address())?;
        let host = uri.host().ok_or_else(no_address)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(EndpointError::NoTls),
            _ => return Err(no_address()),
        }
        if self.model.trim().is_empty() {
            return Err(EndpointError::NoModel);
        }
        let bare = host.trim_matches(['[', ']']);
        let local = bare == "localhost" || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        if !local && !self.allow_remote {
            return Err(EndpointError::Remote(clean(host, 200)));
        }
        // Such models run at the vendor's although the server is here.
        Ok(local && !self.model.ends_with("-cloud"))
    }

    fn key(&self) -> Result<Option<String>, String> {
        if let Some(name) = &self.key.variable {
            let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
            return key.map(Some).ok_or_else(|| format!("the variable {name} holds no key"));
        }
        let Some(path) = &self.key.file else { return Ok(None) };
        let text = fs::read_to_string(path)
            .map_err(|error| format!("the key file {} cannot be read: {error}", path.display()))?;
        match text.trim() {
            "" => Err(format!("the key file {} is empty", path.display())),
            key if key.len() > MAX_KEY => Err(format!("{} holds no key", path.display())),
            key => Ok(Some(key.to_owned())),
        }
    }
}

/// Asks an endpoint. Idle, it holds no connection and no thread.
#[derive(Debug)]
pub struct HttpBackend {
    endpoint: Endpoint,
    timeout: Duration,
}

impl HttpBackend {
    /// `timeout` is for the whole request.
    pub fn new(endpoint: Endpoint, timeout: Duration) -> Self {
        Self { endpoint, timeout }
    }

    fn ask_now(&self, prompt: &Prompt) -> Result<Answered, Failure> {
        let fail = |kind, message: String| Failure {
            kind,
            message: format!("{}: {message}", self.name()),
        };
        let key = self.endpoint.key().map_err(|why| fail(FailureKind::NotLoggedIn, why))?;
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(self.timeout))
            .timeout_connect(Some(CONNECT_LIMIT))
            .max_redirects(0)
            .http_status_as_error(false)
            // A proxy of the environment would carry titles that are for this machine elsewhere.
            .proxy(None)
            .build()
            .into();
        let mut schema = true;
        loop {
            let (status, body) = self
                .request(&agent, prompt, key.as_deref(), schema)
                .map_err(|error| self.broken(&error))?;
            // Servers that know no schemas say so once; the prompt asks for JSON all the same.
            if status == 400 && std::mem::take(&mut schema) {
                continue;
            }
            return read(&self.name(), status, &body, prompt);
        }
    }

    fn request(
        &self,
        agent: &Agent,
        prompt: &Prompt,
        key: Option<&str>,
        schema: bool,
    ) -> Result<(u16, Vec<u8>), ureq::Error> {
        let mut body = json!({
            "model": self.endpoint.model,
            "messages": [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": prompt.text},
            ],
            "stream": false,
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
        });
        if schema {
            let schema: serde_json::Value =
                serde_json::from_str(prompt.task.schema()).unwrap_or_default();
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": true, "schema": schema},
            });
        }
        let url = format!("{}/chat/completions", self.endpoint.base_url.trim_end_matches('/'));
        let mut request = agent.post(url).header("Content-Type", "application/json");
        if let Some(key) = key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body.to_string())?;
        let status = response.status().as_u16();
        let limit = OUTPUT_CAP as u64;
        let body = response.body_mut().with_config().limit(limit).read_to_vec()?;
        Ok((status, body))
    }

    fn broken(&self, error: &ureq::Error) -> Failure {
        let (kind, what) = match error {
            ureq::Error::Timeout(_) => {
                let limit = self.timeout.as_secs_f64();
                (FailureKind::TimedOut, format!("no answer within {limit} s"))
            }
            ureq::Error::BodyExceedsLimit(_) => {
                (FailureKind::NotUnderstood, Unreadable::TooLarge.to_string())
            }
            ureq::Error::ConnectionFailed | ureq::Error::HostNotFound | ureq::Error::Io(_) => {
                let what = format!("{error}; is a server running at {}?", self.endpoint.base_url);
                (FailureKind::NotInstalled, what)
            }
            _ => (FailureKind::ToolFailed, error.to_string()),
        };
        Failure { kind, message: format!("{}: {}", self.name(), clean(&what, 300)) }
    }
}

/// Reads a response.
fn read(name: &str, status: u16, body: &[u8], prompt: &Prompt) -> Result<Answered, Failure> {
    let fail = |kind, message: String| Err(Failure { kind, message: format!("{name}: {message}") });
    let opened = Envelope::OpenAi.open(body);
    if status != 200 {
        let private: Vec<&str> = prompt.private.iter().map(String::as_str).collect();
        let said = match opened {
            Err(Closed::Failed(said)) => {
                message::complaint(&Tail::of(said.as_bytes()), &[], &private)
            }
            Err(Closed::Foreign) => message::complaint(&Tail::of(body), &[], &private),
            _ => String::new(),
        };
        let kind = match status {
            401 | 403 => FailureKind::NotLoggedIn,
            _ => FailureKind::ToolFailed,
        };
        let todo = match status {
            401 | 403 => "; api_key_env or api_key_file under [judge.http] names its key",
            404 => "; the model may not be there",
            429 => "; its quota is used up for now",
            _ => "",
        };
        return fail(kind, format!("the server answered {status}: {said}{todo}"));
    }
    match opened {
        Ok(text) => Ok(Answered { text, complaint: String::new() }),
        Err(Closed::Empty) => fail(FailureKind::NotUnderstood, Unreadable::Empty.to_string()),
        Err(Closed::Truncated) => {
            fail(FailureKind::NotUnderstood, Unreadable::Truncated.to_string())
        }
        Err(Closed::Failed(_) | Closed::Foreign) => {
            fail(FailureKind::NotUnderstood, Unreadable::NoObject.to_string())
        }
    }
}

impl Backend for HttpBackend {
    fn name(&self) -> String {
        clean(&self.endpoint.model, 64)
    }

    fn ask(self: Arc<Self>, prompt: Prompt) -> Answering {
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let name = self.name();
            let started = std::thread::Builder::new().name("http".into()).spawn(move || {
                // Nobody listens any more when the window has changed; then the thread just ends.
                let _ = sender.send(self.ask_now(&prompt));
            });
            let failed = |message: String| Failure { kind: FailureKind::ToolFailed, message };
            started.map_err(|error| failed(format!("{name}: no thread: {error}")))?;
            receiver.await.unwrap_or_else(|_| Err(failed(format!("{name}: the request broke off"))))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{
        io::{BufRead as _, BufReader, Read as _, Write as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;
    use crate::ai::prompt::Task;

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
            ("https://api.example.com/v1", Err("https")),
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
        let cloud = Endpoint { model: "big-cloud".into(), ..endpoint("http://localhost") };
        assert_eq!(cloud.check(), Ok(false), "it runs at the vendor's");
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
        let failure = with_key(dir.path().join("none")).ask_now(&prompt()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotLoggedIn);
    }

    #[test]
    fn http_fixtures() {
        const OUTPUTS: &str = include_str!("../../../tests/fixtures/judge/envelope_outputs.jsonl");
        let mut count = 0;
        for line in OUTPUTS.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            if row["format"] != "openai-http" {
                continue;
            }
            count += 1;
            let status = u16::try_from(row["exit_code"].as_u64().unwrap()).unwrap();
            let found = read("m", status, row["stdout"].as_str().unwrap().as_bytes(), &prompt());
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
}

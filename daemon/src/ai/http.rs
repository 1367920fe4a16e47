//! A backend that is an endpoint of the OpenAI-compatible kind: ollama, llama.cpp's server, LM
//! Studio, or any other.
//!
//! The client blocks, so each request has a thread of its own, which ends with its time limit.

use std::{fs, io, net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

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
    #[error(
        "this antidriftd was built without https; build it with cargo install --locked --path daemon \
         --features https, or name another backend"
    )]
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
        let secret = match uri.scheme_str() {
            Some("http") => false,
            Some("https") if cfg!(feature = "https") => true,
            Some("https") => return Err(EndpointError::NoTls),
            _ => return Err(no_address()),
        };
        if self.model.trim().is_empty() {
            return Err(EndpointError::NoModel);
        }
        let local = is_loopback(host);
        if !local && !secret && !self.allow_remote {
            return Err(EndpointError::Remote(clean(host, 200)));
        }
        // Such models run at the vendor's although the server is here.
        let elsewhere = ["-cloud", ":cloud"].iter().any(|end| self.model.ends_with(end));
        Ok(local && !elsewhere)
    }

    /// What people and the state call it: the model, and where it is if that is another machine. At
    /// most 64 characters.
    pub fn name(&self) -> String {
        let uri: Option<Uri> = self.base_url.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).filter(|host| !is_loopback(host));
        let at = host.map_or_else(String::new, |host| format!(" at {host}"));
        clean(&format!("http {}{at}", clean(&self.model, 40)), 64)
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

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    bare == "localhost" || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
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
        let agent = self.agent().map_err(|why| fail(FailureKind::ToolFailed, why))?;
        let mut schema = true;
        loop {
            let (status, body) = self
                .request(&agent, prompt, key.as_deref(), schema)
                .map_err(|error| self.broken(&error))?;
            // Servers that know no schemas say so once; the prompt asks for JSON all the same.
            if status == 400 && std::mem::take(&mut schema) {
                continue;
            }
            return read(&self.name(), status, &body, prompt, key.as_deref());
        }
    }

    fn agent(&self) -> Result<Agent, String> {
        let config = Agent::config_builder()
            .timeout_global(Some(self.timeout))
            .timeout_connect(Some(CONNECT_LIMIT))
            .max_redirects(0)
            .http_status_as_error(false)
            // A proxy of the environment would carry titles that are for this machine elsewhere.
            .proxy(None);
        #[cfg(feature = "https")]
        let config = match self.endpoint.base_url.starts_with("https") {
            true => config.tls_config(super::tls::config()?),
            false => config,
        };
        Ok(config.build().into())
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
            // A certificate that nobody vouches for, or no https at all.
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                (FailureKind::ToolFailed, error.to_string())
            }
            ureq::Error::ConnectionFailed | ureq::Error::HostNotFound | ureq::Error::Io(_) => {
                let what = format!("{error}; is a server running at {}?", self.endpoint.base_url);
                return Failure::new(
                    &self.name(),
                    FailureKind::NotInstalled,
                    &clean(&what, 300),
                    "",
                );
            }
            _ => (FailureKind::ToolFailed, error.to_string()),
        };
        Failure::new(&self.name(), kind, &clean(&what, 300), kind.todo())
    }
}

/// Reads a response. Neither the prompt nor the key is ever repeated from it.
fn read(
    name: &str,
    status: u16,
    body: &[u8],
    prompt: &Prompt,
    key: Option<&str>,
) -> Result<Answered, Failure> {
    let fail = |kind: FailureKind, what: &str| Err(Failure::new(name, kind, what, kind.todo()));
    let opened = Envelope::OpenAi.open(body);
    if status != 200 {
        let private: Vec<&str> = prompt.private.iter().map(String::as_str).chain(key).collect();
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
            401 | 403 => "api_key_env or api_key_file in the configuration names its key",
            404 => "the model may not be there",
            429 => "its quota is used up for now",
            _ => "",
        };
        let colon = if said.is_empty() { "" } else { ": " };
        let what = format!("the server answered {status}{colon}{said}");
        return Err(Failure::new(name, kind, &what, todo));
    }
    match opened {
        Ok(text) => Ok(Answered { text, complaint: String::new() }),
        Err(Closed::Empty) => fail(FailureKind::NotUnderstood, &Unreadable::Empty.to_string()),
        Err(Closed::Truncated) => {
            fail(FailureKind::NotUnderstood, &Unreadable::Truncated.to_string())
        }
        Err(Closed::Failed(_) | Closed::Foreign) => {
            fail(FailureKind::NotUnderstood, &Unreadable::NoObject.to_string())
        }
    }
}

impl Backend for HttpBackend {
    fn name(&self) -> String {
        self.endpoint.name()
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
#[path = "http_tests.rs"]
mod tests;

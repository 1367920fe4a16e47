//! Which judge and which coach are asked.

use crate::ai::{
    http::{Endpoint, Key},
    tools,
};

use super::{HttpTable, nearest};

/// Most characters of a backend's name that are repeated in an error.
const MAX_NAME: usize = 64;
/// Where ollama listens unless it is told otherwise.
const OLLAMA: &str = "http://127.0.0.1:11434/v1";

/// Backends that are no tools of their own.
const OTHERS: &[&str] = &["embedded", "none", "command", "http", "ollama", "auto"];

/// Which backend is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one in the daemon: rules over a catalogue of sites, programs and words.
    Embedded,
    /// None; unmatched windows stay idle.
    None,
    /// This program with these arguments: the question on its standard input, the answer on its
    /// standard output. Never empty.
    Command(Vec<String>),
    /// A command-line tool that is known by name.
    Tool(&'static str),
    /// An endpoint.
    Http(Endpoint),
    /// The first that is there, the endpoint before all tools.
    Auto(Option<Endpoint>),
    /// One that cannot be had. The daemon runs without and says why.
    Off {
        /// As it was named.
        backend: String,
        /// Why it cannot be had, and what to do.
        error: String,
    },
}

impl Choice {
    /// Whether it is a model, which could be a coach too.
    pub fn is_model(&self) -> bool {
        !matches!(self, Self::Embedded | Self::None | Self::Off { .. })
    }
}

/// Chooses by name; `section` is the table of the configuration that is spoken of.
pub(super) fn choose(
    section: &str,
    backend: &str,
    command: Option<Vec<String>>,
    http: &HttpTable,
) -> Choice {
    let off =
        |error: String| Choice::Off { backend: backend.chars().take(MAX_NAME).collect(), error };
    let endpoint = |default: Option<&str>| {
        let base_url = http.base_url.clone().or(default.map(str::to_owned));
        base_url.map(|base_url| Endpoint {
            base_url,
            model: http.model.clone().unwrap_or_default(),
            key: Key { variable: http.api_key_env.clone(), file: http.api_key_file.clone() },
            allow_remote: http.allow_remote.unwrap_or(false),
        })
    };
    let checked = |endpoint: Option<Endpoint>| match endpoint {
        None => off(format!(
            "no server is set: add base_url = \"http://127.0.0.1:8080/v1\" under [{section}.http]"
        )),
        Some(endpoint) => match endpoint.check() {
            Ok(_) => Choice::Http(endpoint),
            Err(error) => off(format!("[{section}.http]: {error}")),
        },
    };
    match (backend, command) {
        ("embedded", _) => Choice::Embedded,
        ("none", _) => Choice::None,
        ("command", Some(command)) => Choice::Command(command),
        ("command", None) => off(format!(
            "the judge is «command», but no command is set: add command = [\"/path/to/judge\"] \
             under [{section}]"
        )),
        ("http", _) => checked(endpoint(None)),
        ("ollama", _) => checked(endpoint(Some(OLLAMA))),
        ("auto", _) => match endpoint(None).map(|endpoint| checked(Some(endpoint))) {
            Some(Choice::Http(endpoint)) => Choice::Auto(Some(endpoint)),
            Some(other) => other,
            None => Choice::Auto(None),
        },
        (name, _) => match tools::tool(name) {
            Some(tool) => Choice::Tool(tool.name),
            None => {
                let name: String = name.chars().take(MAX_NAME).collect();
                let known = || OTHERS.iter().copied().chain(tools::TOOLS.iter().map(|it| it.name));
                let meant = nearest(&name, known()).map(|near| format!(", did you mean «{near}»"));
                off(format!(
                    "there is no judge {name:?}{}; this version has: {}",
                    meant.unwrap_or_default(),
                    known().collect::<Vec<_>>().join(", ")
                ))
            }
        },
    }
}

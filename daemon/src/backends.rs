//! From the configuration's words to judges and coaches that can be asked.

use std::{path::Path, time::Duration};

use antidrift_protocol::{
    Destination,
    paths::{PathError, prepare_private_dir},
    text::clean,
};

use crate::{
    ai::{
        Failure, FailureKind,
        backend::{Backend, Model},
        command::ProgramBackend,
        http::HttpBackend,
        process,
        prompt::Task,
        tools::{TOOLS, tool},
    },
    audit::{Audit, Audited},
    config::Choice,
};

/// Most characters of a message that names a path.
const MESSAGE_CAP: usize = 500;

/// A backend as it was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Its name; the chosen one's for `auto`.
    pub name: String,
    /// Where it sends what it is asked. `None` when nobody can know: a program of the user's.
    pub destination: Option<Destination>,
    /// What can be asked, if it is a model that is there.
    pub model: Option<Model>,
    /// Why it is not there.
    pub error: Option<String>,
}

/// What a backend is to be used for, and how.
#[derive(Clone, Copy, Debug)]
pub struct Use<'a> {
    /// What it will be asked for.
    pub task: Task,
    /// The model that a tool is told to use.
    pub model: Option<&'a str>,
    /// How long one prompt may take.
    pub timeout: Duration,
    /// Where programs get their files and directories: a directory of ours, made if need be and
    /// closed to others.
    pub runtime_dir: &'a Path,
    /// Where it is written down what is sent.
    pub audit: Option<&'a Audit>,
}

/// Looks for what was chosen. Nothing is started and nothing sent.
pub fn find(choice: &Choice, to: Use<'_>) -> Found {
    let named = |name: &str| Found { name: name.to_owned(), ..Found::default() };
    let program = |name: &str, destination, found: Result<ProgramBackend, Failure>| match found {
        Ok(backend) => {
            let model = to.model_on(backend.with_timeout(to.timeout), name);
            Found { destination, model: Some(model), ..named(name) }
        }
        Err(failure) => Found { error: Some(failure.message), ..named(name) },
    };
    match choice {
        Choice::Embedded => Found { destination: Some(Destination::Local), ..named("embedded") },
        Choice::None => named("none"),
        Choice::Off { backend, error } => Found { error: Some(error.clone()), ..named(backend) },
        Choice::Command(argv) => {
            let made = |dir: &Path| ProgramBackend::command(argv, dir);
            program("command", None, to.private_dir().and_then(made))
        }
        Choice::Tool(name) => match tool(name) {
            Some(tool) => {
                let made = |dir: &Path| ProgramBackend::tool(tool, to.task, to.model, dir);
                program(name, Some(Destination::Cloud), to.private_dir().and_then(made))
            }
            None => named(name),
        },
        Choice::Http(endpoint) => {
            let local = endpoint.check().unwrap_or(false);
            let destination = if local { Destination::Local } else { Destination::Cloud };
            let name = endpoint.name();
            let model = to.model_on(HttpBackend::new(endpoint.clone(), to.timeout), &name);
            Found { destination: Some(destination), model: Some(model), ..named(&name) }
        }
        Choice::Auto(Some(endpoint)) => find(&Choice::Http(endpoint.clone()), to),
        // By presence only: asking a tool for its version can take seconds.
        Choice::Auto(None) => match TOOLS.iter().find(|tool| process::is_there(tool.name)) {
            Some(tool) => find(&Choice::Tool(tool.name), to),
            None => {
                let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
                let error = format!(
                    "no model was found: none of {} is on PATH, and [judge.http] names no server",
                    names.join(", ")
                );
                Found { error: Some(error), ..named("auto") }
            }
        },
    }
}

impl Use<'_> {
    fn private_dir(&self) -> Result<&Path, Failure> {
        let failed = |error: PathError| Failure {
            kind: FailureKind::ToolFailed,
            message: format!(
                "there is no place for its files: {}",
                clean(&error.to_string(), MESSAGE_CAP)
            ),
        };
        prepare_private_dir(self.runtime_dir).map(|()| self.runtime_dir).map_err(failed)
    }

    fn model_on(&self, backend: impl Backend + 'static, name: &str) -> Model {
        match self.audit {
            Some(audit) => Model::new(Audited::new(backend, name.to_owned(), audit.clone())),
            None => Model::new(backend),
        }
    }
}

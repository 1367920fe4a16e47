//! From the configuration's words to judges and coaches that can be asked.

use std::{path::Path, time::Duration};

use antidrift_protocol::Destination;

use crate::{
    ai::{
        Failure,
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
    /// Where programs get their files and directories.
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
            program("command", None, ProgramBackend::command(argv, to.runtime_dir))
        }
        Choice::Tool(name) => match tool(name) {
            Some(tool) => {
                let found = ProgramBackend::tool(tool, to.task, to.model, to.runtime_dir);
                program(name, Some(Destination::Cloud), found)
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
    fn model_on(&self, backend: impl Backend + 'static, name: &str) -> Model {
        match self.audit {
            Some(audit) => Model::new(Audited::new(backend, name.to_owned(), audit.clone())),
            None => Model::new(backend),
        }
    }
}

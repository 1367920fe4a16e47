//! From the configuration's words to judges and coaches that can be asked.

use std::{path::Path, time::Duration};

use antidrift_protocol::Destination;

use crate::{
    ai::{
        Failure,
        backend::Model,
        command::ProgramBackend,
        http::HttpBackend,
        process,
        prompt::Task,
        tools::{TOOLS, tool},
    },
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

/// Looks for what was chosen. Nothing is started and nothing sent.
pub fn find(
    choice: &Choice,
    task: Task,
    model: Option<&str>,
    timeout: Duration,
    runtime_dir: &Path,
) -> Found {
    let named = |name: &str| Found { name: name.to_owned(), ..Found::default() };
    let program = |name: &str, destination, found: Result<ProgramBackend, Failure>| match found {
        Ok(backend) => {
            let model = Model::new(backend.with_timeout(timeout));
            Found { destination, model: Some(model), ..named(name) }
        }
        Err(failure) => Found { error: Some(failure.message), ..named(name) },
    };
    match choice {
        Choice::Embedded => Found { destination: Some(Destination::Local), ..named("embedded") },
        Choice::None => named("none"),
        Choice::Off { backend, error } => Found { error: Some(error.clone()), ..named(backend) },
        Choice::Command(argv) => {
            program("command", None, ProgramBackend::command(argv, runtime_dir))
        }
        Choice::Tool(name) => match tool(name) {
            Some(tool) => {
                let found = ProgramBackend::tool(tool, task, model, runtime_dir);
                program(name, Some(Destination::Cloud), found)
            }
            None => named(name),
        },
        Choice::Http(endpoint) => {
            let local = endpoint.check().unwrap_or(false);
            let destination = if local { Destination::Local } else { Destination::Cloud };
            let backend = HttpBackend::new(endpoint.clone(), timeout);
            Found {
                destination: Some(destination),
                model: Some(Model::new(backend)),
                ..named(&format!("http {}", endpoint.model))
            }
        }
        Choice::Auto(Some(endpoint)) => {
            find(&Choice::Http(endpoint.clone()), task, model, timeout, runtime_dir)
        }
        // By presence only: asking a tool for its version can take seconds.
        Choice::Auto(None) => match TOOLS.iter().find(|tool| process::is_there(tool.name)) {
            Some(tool) => find(&Choice::Tool(tool.name), task, model, timeout, runtime_dir),
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

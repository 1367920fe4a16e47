//! Judges: whether one window serves one commitment. Knows nothing of sessions, sockets or files of
//! ours; primitives in, primitives out.

pub mod backend;
pub mod coach;
pub mod command;
pub mod embedded;
pub mod envelope;
#[cfg(test)]
mod fixtures;
pub mod guard;
pub mod http;
pub mod message;
pub mod parse;
pub mod process;
pub mod prompt;
#[cfg(feature = "https")]
mod tls;
pub mod tools;

use std::{fmt, future::Future, pin::Pin};

/// One question to a judge. Every string is untrusted text.
#[derive(Clone, PartialEq, Eq)]
pub struct Question {
    /// What the user set out to do.
    pub commitment: String,
    /// The commitment's next action, if it was given.
    pub next_action: Option<String>,
    /// The commitment's success condition, if it was given.
    pub success_condition: Option<String>,
    /// Window classes that serve the commitment for certain; they tell what it is about.
    pub allowed_classes: Vec<String>,
    /// The window class.
    pub class: String,
    /// The raw window title.
    pub title: String,
}

/// Titles and commitments are private: no debug output may carry one into a log.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("class", &self.class).finish_non_exhaustive()
    }
}

/// A judge's answer about one window.
#[derive(Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the window serves the commitment.
    pub on_task: bool,
    /// Why, cleaned and at most 300 characters; may be empty.
    pub reason: String,
}

/// A reason may quote the title.
impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verdict").field("on_task", &self.on_task).finish_non_exhaustive()
    }
}

/// Why there is no verdict. Never means drift (design rule 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure, which decides the back-off.
    pub kind: FailureKind,
    /// One cleaned line for people: what happened and what to do. Holds no title.
    pub message: String,
}

impl Failure {
    /// A failure of a backend: what happened, and what to do if that is known.
    pub(crate) fn new(name: &str, kind: FailureKind, what: &str, todo: &str) -> Self {
        let todo = if todo.is_empty() { String::new() } else { format!("; {todo}") };
        Self { kind, message: format!("{name}: {what}{todo}") }
    }
}

/// The kinds of failure that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The program is not there or cannot be started.
    NotInstalled,
    /// The tool asks for a login: the longest back-off at once.
    NotLoggedIn,
    /// No answer within the limit.
    TimedOut,
    /// It ended with an error of its own.
    ToolFailed,
    /// It answered, but not with a verdict.
    NotUnderstood,
}

impl FailureKind {
    /// What a person can do about it in general; empty where only the cause tells.
    pub fn todo(self) -> &'static str {
        match self {
            Self::NotInstalled => "install it, or name another backend in the configuration",
            Self::TimedOut => "timeout_secs in the configuration gives it longer",
            Self::NotUnderstood => "another model may answer better",
            Self::NotLoggedIn | Self::ToolFailed => "",
        }
    }
}

/// A judgement under way. Dropping it cancels it: the child process group is ended.
pub type Judgement = Pin<Box<dyn Future<Output = Result<Verdict, Failure>> + Send>>;

/// Anything that can answer a [`Question`]. Fakes implement it in tests.
pub trait Judge: fmt::Debug + Send + Sync {
    /// Starts one judgement. The caller holds the time limit and drops the future at its end.
    fn judge(&self, question: Question) -> Judgement;
}

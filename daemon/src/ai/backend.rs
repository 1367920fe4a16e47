//! A backend runs a prompt and gives back the model's own text: a program, or an endpoint. Judge and
//! coach are two readings of that text.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use super::{
    Failure, FailureKind, Judge, Judgement, Question,
    coach::{Coach, Intent, Proposal, Proposing},
    parse::{self, Unreadable, Wanted},
    prompt::{self, Task},
};

/// One prompt.
#[derive(Clone)]
pub struct Prompt {
    /// What it asks for.
    pub task: Task,
    /// The text, ready to be sent.
    pub text: String,
    /// The texts in it that nobody may repeat in a message: titles, commitments.
    pub private: Vec<String>,
}

/// Prompts hold titles: no debug output may carry one into a log.
impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("task", &self.task).finish_non_exhaustive()
    }
}

/// What a backend came back with.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// The model's own text, out of whatever its tool wraps it in.
    pub text: Vec<u8>,
    /// What the tool complained of meanwhile, for the case that the text is no answer; often empty.
    pub complaint: String,
}

/// What a model prints may quote its prompt.
impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered").field("complaint", &self.complaint).finish_non_exhaustive()
    }
}

/// A prompt under way. Dropping it cancels it.
pub type Answering = Pin<Box<dyn Future<Output = Result<Answered, Failure>> + Send>>;

/// Anything that runs prompts.
pub trait Backend: fmt::Debug + Send + Sync {
    /// Its name for messages, cleaned.
    fn name(&self) -> String;
    /// Runs one prompt. The answer outlives the call, so it shares the backend.
    fn ask(self: Arc<Self>, prompt: Prompt) -> Answering;
}

/// A judge or coach that is a model.
#[derive(Clone, Debug)]
pub struct Model {
    backend: Arc<dyn Backend>,
}

impl Model {
    /// On this backend.
    pub fn new(backend: impl Backend + 'static) -> Self {
        Self { backend: Arc::new(backend) }
    }

    async fn ask<W: Wanted>(self, prompt: Prompt, quoted: Vec<String>) -> Result<W, Failure> {
        let name = self.backend.name();
        let Answered { text, complaint } = Arc::clone(&self.backend).ask(prompt).await?;
        let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
        parse::find(&text, &quoted).map_err(|error| not_understood(&name, error, &complaint))
    }
}

fn not_understood(name: &str, error: Unreadable, complaint: &str) -> Failure {
    let kind = if super::message::asks_for_login(complaint) {
        FailureKind::NotLoggedIn
    } else {
        FailureKind::NotUnderstood
    };
    let said = error.to_string();
    let parts = [said.as_str(), complaint].into_iter().filter(|part| !part.is_empty());
    Failure::new(name, kind, &parts.collect::<Vec<_>>().join(": "), kind.todo())
}

impl Judge for Model {
    fn judge(&self, question: Question) -> Judgement {
        let Question { commitment, next_action, success_condition, class, title, .. } = &question;
        let texts =
            [Some(commitment), next_action.as_ref(), success_condition.as_ref(), Some(title)];
        let prompt = Prompt {
            task: Task::Judge,
            text: prompt::judge(&question),
            private: texts.into_iter().flatten().cloned().collect(),
        };
        // As they were sent: what a model repeats is that, and not the window's own bytes.
        let quoted = prompt::window(class, title).to_vec();
        Box::pin(self.clone().ask(prompt, quoted))
    }
}

impl Coach for Model {
    fn propose(&self, intent: Intent) -> Proposing {
        let prompt = Prompt {
            task: Task::Coach,
            text: prompt::coach(&intent),
            private: vec![intent.text.clone()],
        };
        let model = self.clone();
        let quoted = vec![intent.text];
        Box::pin(async move { model.ask::<Proposal>(prompt, quoted).await })
    }
}

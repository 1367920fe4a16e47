//! What one step asks the world to do.

use std::sync::Arc;

use antidrift_protocol::{Answer, ErrorObject, EventBody, Record, State, Timestamp};

use super::{RunId, Snapshot, Ticket};
use crate::{ai::Question, evidence::Window};

/// The effects of one step, to be handed over in this order before the next step begins: cancel,
/// save (the reply waits for it), reply, edges, state, start.
#[derive(Debug, Default)]
#[must_use]
pub struct Effects {
    /// Drop the judgement under way; its end must not be reported.
    pub cancel_judge: bool,
    /// Save this. If the reply of the same step says `saved`, it is sent only after the attempt, and
    /// [`Answer::set_unsaved`] is called on it if that failed.
    pub save: Option<Box<Snapshot>>,
    /// Answer a request.
    pub reply: Option<ReplyTo>,
    /// Number of the last change, this step's included; all its events carry it.
    pub seq: u64,
    /// When the step was.
    pub at: Timestamp,
    /// What a state cannot carry (topic `alert`, and `shutdown` for everybody). To be sent before
    /// the state.
    pub edges: Vec<EventBody>,
    /// The state, if what subscribers see has changed.
    pub state: Option<Box<State>>,
    /// Whether that state shows another window than the one before: each of these is told, however
    /// fast they come.
    pub switched: bool,
    /// What to log of the judge.
    pub judge_news: Option<JudgeNews>,
    /// Give this window the focus; the reply of the same step waits for it.
    pub activate: Option<Arc<Window>>,
    /// Keep this of a session that is over, in place of what was kept of it before; it is in the
    /// snapshot until [`Input::Kept`](super::Input::Kept).
    pub record: Option<Box<Record>>,
    /// Start a judgement.
    pub start_judge: Option<JudgeStart>,
}

/// What is worth a line in the log: the ends of a spell of failures, not each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeNews {
    /// It begins to fail; why, and what to do. Holds no title.
    Fails(String),
    /// It answers again.
    Recovered {
        /// How often it failed before.
        failures: u32,
    },
}

/// An answer on its way.
#[derive(Debug)]
pub struct ReplyTo {
    /// To whom.
    pub ticket: Ticket,
    /// What.
    pub result: Result<Answer, ErrorObject>,
}

/// A judgement to be started.
#[derive(Debug)]
pub struct JudgeStart {
    /// Its name, to be given back with its result.
    pub run: RunId,
    /// What to ask.
    pub question: Question,
}

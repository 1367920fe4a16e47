//! `check_judge`: a judgement of a sample window, asked by the connection itself. It counts for no
//! session, and nothing of the user's is in it.

use std::{sync::Arc, time::Duration};

use antidrift_protocol::{Answer, CheckedJudge};

use super::connection::{Connection, End};
use crate::{
    ai::{
        Judge, Question,
        embedded::{Aim, Answer as Said, Catalogue, judge},
    },
    clock,
};

const COMMITMENT: &str = "write the report on river floods";
const CLASS: &str = "firefox";
const TITLE: &str = "Funny cats compilation - YouTube";

/// The judge, as connections have it.
#[derive(Clone, Debug)]
pub enum Checkable {
    /// A model, and how long it may take.
    Model(Arc<dyn Judge>, Duration),
    /// The one in the daemon.
    Embedded(Arc<Catalogue>),
    /// None, and why.
    Nothing(String),
}

impl Connection {
    pub(super) async fn check_judge(&mut self, id: Option<u64>) -> Result<(), End> {
        let begin = clock::now().awake;
        let (verdict, detail) = match self.shared.services().judge {
            Checkable::Nothing(why) => (None, why),
            Checkable::Embedded(catalogue) => {
                let aim = Aim::new(&catalogue, &[COMMITMENT], &[]);
                let opinion = judge(&catalogue, &aim, CLASS, TITLE);
                let said = match opinion.answer {
                    Said::OnTask { .. } => "on_task",
                    Said::Drifting => "drifting",
                    Said::Unsure => "unsure",
                };
                (Some(said.to_owned()), opinion.reason)
            }
            Checkable::Model(judge, limit) => {
                let question = Question {
                    commitment: COMMITMENT.into(),
                    next_action: None,
                    success_condition: None,
                    allowed_classes: Vec::new(),
                    class: CLASS.into(),
                    title: TITLE.into(),
                };
                let stop = self.shared.stop.clone();
                let judged = tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    judged = tokio::time::timeout(limit, judge.judge(question)) => judged,
                };
                match judged {
                    Ok(Ok(verdict)) => {
                        let said = if verdict.on_task { "on_task" } else { "drifting" };
                        (Some(said.to_owned()), verdict.reason)
                    }
                    Ok(Err(failure)) => (None, failure.message),
                    Err(_) => (None, format!("no answer within {} s", limit.as_secs_f64())),
                }
            }
        };
        let took = clock::now().awake.saturating_sub(begin);
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let answer = Answer::CheckJudge(CheckedJudge { verdict, detail, millis });
        Ok(self.reply(id, Ok(answer)).await?)
    }
}

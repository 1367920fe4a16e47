//! `propose`: the coach is asked by the connection itself, so that nobody else waits for a model.

use std::sync::Arc;

use antidrift_protocol::{
    Allowed, Answer, ErrorCode, ErrorObject, Proposal as Wire, Propose, Proposed,
};
use tokio::{
    io::AsyncReadExt,
    sync::{Semaphore, oneshot},
};

use super::connection::{Connection, End};
use crate::{
    ai::{
        Failure,
        coach::{Coach, Intent, Proposal},
    },
    controller::Message,
    evidence::Privacy,
};

/// The coach, as connections have it.
#[derive(Clone, Debug)]
pub struct Coaching {
    coach: Result<Arc<dyn Coach>, String>,
    /// What it is never told.
    privacy: Arc<Privacy>,
    /// One proposal at a time: a model is a heavy thing.
    free: Arc<Semaphore>,
}

impl Coaching {
    /// With this coach, or with the reason why there is none.
    pub fn new(coach: Result<Arc<dyn Coach>, String>, privacy: Privacy) -> Self {
        Self { coach, privacy: Arc::new(privacy), free: Arc::new(Semaphore::new(1)) }
    }
}

impl Connection {
    /// Asks the coach and answers. A client that hangs up meanwhile cancels it.
    pub(super) async fn propose(&mut self, id: Option<u64>, propose: Propose) -> Result<(), End> {
        let coaching = self.shared.services().coaching;
        let coach = match coaching.coach {
            Ok(coach) => coach,
            Err(why) => {
                let error = ErrorObject::new(ErrorCode::CoachUnavailable, why);
                return Ok(self.reply(id, Err(error)).await?);
            }
        };
        let Ok(_only) = coaching.free.try_acquire() else {
            let busy = "another proposal is under way";
            return Ok(self.reply(id, Err(failed(busy.into()))).await?);
        };
        let classes = self.known_classes().await;
        let mut proposing = coach.propose(Intent {
            text: coaching.privacy.redacted(&propose.intent),
            classes: coaching.privacy.redacted_classes(&classes),
        });
        let stop = self.shared.stop.clone();
        let result = loop {
            tokio::select! {
                result = &mut proposing => break result,
                () = stop.cancelled() => return Ok(()),
                read = self.stream.read_buf(&mut self.buffer) => match read {
                    // A client that shuts down its side of writing still reads; one that is gone
                    // is noticed by the same. A proposal that nobody waits for is cheap to lose.
                    Ok(0) | Err(_) => return Err(End::Over),
                    Ok(_) if self.buffer.len() > antidrift_protocol::MAX_LINE => {
                        return Err(End::Over);
                    }
                    Ok(_) => {}
                },
            }
        };
        let answer = match result {
            Ok(proposal) => {
                let proposed = &proposal.allowed_window_classes;
                let unseen = proposed.iter().filter(|class| !is_among(class, &classes));
                let unseen = unseen.cloned().collect();
                let proposal = on_the_wire(proposal);
                Ok(Answer::Propose(Proposed { proposal, unseen }))
            }
            Err(Failure { message, .. }) => Err(failed(message)),
        };
        Ok(self.reply(id, answer).await?)
    }

    /// The classes of windows that had the focus lately, the newest first, then of those that are
    /// open.
    async fn known_classes(&self) -> Vec<String> {
        let (reply, recent) = oneshot::channel();
        let mut classes =
            match self.shared.asked.controller.send(Message::RecentClasses { reply }).await {
                Ok(()) => recent.await.unwrap_or_default(),
                Err(_) => Vec::new(),
            };
        // Without a display there are none.
        for window in self.shared.services().desk.windows().await.unwrap_or_default() {
            if !window.class.trim().is_empty() && !is_among(&window.class, &classes) {
                classes.push(window.class);
            }
        }
        classes
    }
}

fn is_among(class: &str, classes: &[String]) -> bool {
    classes.iter().any(|known| known.to_lowercase() == class.to_lowercase())
}

fn on_the_wire(proposal: Proposal) -> Wire {
    let Proposal { next_action, success_condition, timebox_minutes, allowed_window_classes } =
        proposal;
    let allowed = Allowed { window_classes: allowed_window_classes, ..Allowed::default() };
    Wire { next_action, success_condition, timebox_secs: timebox_minutes * 60, allowed }
}

fn failed(detail: String) -> ErrorObject {
    let mut error = ErrorObject::new(ErrorCode::CoachFailed, format!("the coach failed: {detail}"));
    error.data.insert("detail".into(), detail.into());
    error
}

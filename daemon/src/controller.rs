//! The actor: the only owner of the session. It tells the session what happened and carries out
//! what the session asks for; every rule is in there, none in here.
//!
//! It waits only for its inputs and the next deadline, never for a client, a child, a disk or X:
//! answers, events and saves are handed over, and the judge is a future among its inputs.
//!
//! A panic would leave a daemon that is there but does nothing. Release builds abort on one, so
//! that a service manager starts a new daemon with the saved session.

use std::{io, sync::Arc, time::Duration};

use antidrift_protocol::{Answer, Command, ErrorCode, ErrorObject, Record, Topic};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    ai::{Failure, Judge, Judgement, Verdict},
    clock::{self, Timer},
    desk::Desk,
    evidence::Window,
    history::{History, Kept},
    hub::{Hub, Subscription},
    sensor::{Absence, Observation},
    session::{Effects, Input, JudgeNews, JudgeStart, Now, RunId, Session, Settings, Ticket},
    store::Store,
};

/// Most requests that wait for the controller; a connection that comes after waits itself.
pub const REQUEST_QUEUE: usize = 64;

/// How long the end waits for the disk.
const LAST_SAVE: Duration = Duration::from_secs(5);

/// Where an answer goes.
type Reply = oneshot::Sender<Result<Answer, ErrorObject>>;

/// What connections ask of the controller.
#[derive(Debug)]
pub enum Message {
    /// Something for the session.
    Request {
        /// What.
        command: Box<Command>,
        /// The processes it comes from: see [`Input::Request`].
        lineage: Vec<u32>,
        /// Where the answer goes, once the change is made and its save was attempted.
        reply: Reply,
    },
    /// Which window classes were seen lately, the newest first.
    RecentClasses {
        /// Where the answer goes.
        reply: oneshot::Sender<Vec<String>>,
    },
    /// Another configuration.
    Reconfigure(Box<Reconfiguration>),
    /// A new subscriber.
    Subscribe {
        /// What it wants to hear.
        topics: Vec<Topic>,
        /// Where its end of the queue goes.
        reply: oneshot::Sender<Subscription>,
    },
}

/// What another configuration comes to.
#[derive(Debug)]
pub struct Reconfiguration {
    /// The session's part.
    pub settings: Settings,
    /// The judge.
    pub judge: Option<Arc<dyn Judge>>,
    /// Where sessions are kept, if that is another place.
    pub history: Option<History>,
    /// Whether what was judged before may be judged otherwise now.
    pub anew: bool,
}

/// A judgement under way.
struct Run {
    id: RunId,
    judgement: Judgement,
}

/// Where sessions that are over go to.
struct Keeping {
    history: History,
    keeping: Kept,
    /// Those that are there.
    kept: mpsc::UnboundedReceiver<Box<Record>>,
}

impl Keeping {
    fn keep_all(&self, records: &[Record]) {
        records.iter().for_each(|it| self.history.keep(Box::new(it.clone()), &self.keeping));
    }
}

/// The actor's state.
pub struct Controller {
    session: Session,
    judge: Option<Arc<dyn Judge>>,
    run: Option<Run>,
    store: Store,
    desk: Desk,
    keeping: Keeping,
    hub: Hub,
    timer: Timer,
    tickets: u64,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("judge", &self.judge).finish_non_exhaustive()
    }
}

impl Controller {
    /// Needs a runtime.
    ///
    /// # Errors
    ///
    /// The process is out of descriptors.
    pub fn new(
        session: Session,
        judge: Option<Arc<dyn Judge>>,
        store: Store,
        desk: Desk,
        history: History,
    ) -> io::Result<Self> {
        let timer = Timer::new()?;
        let hub = Hub::default();
        let (keeping, kept) = mpsc::unbounded_channel();
        let tickets = 0;
        let (run, keeping) = (None, Keeping { history, keeping, kept });
        let controller = Self { session, judge, run, store, desk, keeping, hub, timer, tickets };
        // The last daemon could not.
        controller.keeping.keep_all(controller.session.unkept());
        Ok(controller)
    }

    /// Runs until `stop` is cancelled, then tells everybody, saves, and returns. `reason` is what
    /// subscribers are told.
    pub async fn run(
        mut self,
        mut messages: mpsc::Receiver<Message>,
        mut observations: watch::Receiver<Option<Observation>>,
        mut logins: watch::Receiver<Absence>,
        stop: CancellationToken,
        reason: impl FnOnce() -> String,
    ) {
        loop {
            self.set_timer();
            tokio::select! {
                () = stop.cancelled() => break,
                Some(message) = messages.recv() => self.receive(message),
                Ok(()) = observations.changed() => {
                    let seen = observations.borrow_and_update().clone();
                    if let Some(observation) = seen {
                        self.step(Input::Observed(observation), None);
                    }
                }
                Ok(()) = logins.changed() => {
                    let absence = *logins.borrow_and_update();
                    self.step(Input::Absence(absence), None);
                }
                Some(record) = self.keeping.kept.recv() => {
                    self.step(Input::Kept(record), None);
                }
                (run, result) = finished(&mut self.run) => {
                    self.run = None;
                    if let Ok(verdict) = &result {
                        tracing::debug!(on_task = verdict.on_task, "the judge has answered");
                    }
                    self.step(Input::JudgeDone { run, result }, None);
                }
                fired = self.timer.fired() => {
                    if let Err(error) = fired {
                        tracing::error!("the timer failed: {error}");
                    }
                    self.hub.flush(clock::now());
                    self.step(Input::Tick, None);
                }
            }
        }
        self.step(Input::Shutdown { reason: reason() }, None);
        self.hub.close();
        refuse_all(&mut messages);
        let (done, saved) = oneshot::channel();
        self.store.flush(Box::new(|result| {
            // Whatever is still unsaved was said to whoever asked for it.
            let _ = done.send(result.is_ok());
        }));
        if tokio::time::timeout(LAST_SAVE, saved).await.is_err() {
            tracing::warn!("the disk does not answer; the last sums may be lost");
        }
    }

    fn set_timer(&mut self) {
        let now = clock::now();
        let deadlines = [self.session.next_deadline(now), self.hub.next_deadline(now)];
        if let Err(error) = self.timer.set(deadlines.into_iter().flatten().min(), now) {
            tracing::error!("the timer cannot be set: {error}");
        }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Request { command, lineage, reply } => {
                self.tickets += 1;
                let ticket = Ticket(self.tickets);
                let input = Input::Request { ticket, command: *command, lineage };
                self.step(input, Some(reply));
            }
            Message::RecentClasses { reply } => {
                let _ = reply.send(self.session.recent_classes());
            }
            Message::Reconfigure(reconfiguration) => {
                let Reconfiguration { settings, judge, history, anew } = *reconfiguration;
                if anew {
                    self.judge = judge;
                }
                if let Some(history) = history {
                    self.keeping.history = history;
                    self.keeping.keep_all(self.session.unkept());
                }
                self.step(Input::Reconfigured { settings: Box::new(settings), anew }, None);
            }
            Message::Subscribe { topics, reply } => {
                let now = clock::now();
                let (seq, state) = (self.session.seq(), self.session.state(now));
                // One that has hung up meanwhile drops its subscription at once.
                let _ = reply.send(self.hub.subscribe(&topics, seq, state, now));
            }
        }
    }

    fn step(&mut self, input: Input, reply: Option<Reply>) {
        let now = clock::now();
        let effects = self.session.handle(input, now);
        self.carry_out(effects, reply, now);
    }

    /// Hands over every effect of one step, in the order that [`Effects`] gives.
    fn carry_out(&mut self, mut effects: Effects, reply: Option<Reply>, now: Now) {
        if effects.cancel_judge {
            self.run = None;
        }
        let reply = match effects.activate.take() {
            Some(window) => reply.map(|reply| self.activate(window, reply)),
            None => reply,
        };
        let mut answer = reply.zip(effects.reply.take()).map(|(reply, to)| (reply, to.result));
        let says_saved = match &mut answer {
            Some((_, Ok(answer))) => answer.says_saved(),
            _ => false,
        };
        let saved = |reply: Reply, mut answer: Answer| {
            Box::new(move |result: Result<(), &str>| {
                if let Err(why) = result {
                    answer.set_unsaved(why);
                }
                let _ = reply.send(Ok(answer));
            })
        };
        match (effects.save.take(), answer) {
            (Some(snapshot), Some((reply, Ok(answer)))) => {
                self.store.save(snapshot, Some(saved(reply, answer)));
            }
            // Nothing has changed, but what it would have changed may not be on disk yet.
            (None, Some((reply, Ok(answer)))) if says_saved => {
                self.store.flush(saved(reply, answer));
            }
            (save, answer) => {
                if let Some(snapshot) = save {
                    self.store.save(snapshot, None);
                }
                if let Some((reply, result)) = answer {
                    // A client that hung up does not want it any more.
                    let _ = reply.send(result);
                }
            }
        }
        if let Some(record) = effects.record.take() {
            self.keeping.history.keep(record, &self.keeping.keeping);
        }
        match effects.judge_news.take() {
            Some(JudgeNews::Fails(why)) => tracing::warn!("the judge fails: {why}"),
            Some(JudgeNews::Recovered { failures }) => {
                tracing::info!("the judge answers again, after {failures} failures in a row");
            }
            None => {}
        }
        self.hub.publish(&mut effects, now);
        if let Some(JudgeStart { run, question }) = effects.start_judge
            && let Some(judge) = &self.judge
        {
            tracing::debug!(class = question.class, "the judge is asked");
            self.run = Some(Run { id: run, judgement: judge.judge(question) });
        }
    }
}

impl Controller {
    /// Has a window given the focus, and lets the reply wait until that is done.
    fn activate(&self, window: Arc<Window>, reply: Reply) -> Reply {
        let (ready, answered) = oneshot::channel::<Result<Answer, ErrorObject>>();
        let desk = self.desk.clone();
        tokio::spawn(async move {
            let (done, answer) = tokio::join!(desk.activate(window), answered);
            // A request that was given up has no answer.
            let Ok(mut answer) = answer else { return };
            if let Ok(Answer::Refocus(refocused)) = &mut answer {
                refocused.activated = Some(done);
            }
            let _ = reply.send(answer);
        });
        ready
    }
}

/// Waits for the end of the judgement under way; for ever if there is none.
async fn finished(run: &mut Option<Run>) -> (RunId, Result<Verdict, Failure>) {
    match run {
        Some(run) => (run.id, (&mut run.judgement).await),
        None => std::future::pending().await,
    }
}

/// Answers those who asked too late.
fn refuse_all(messages: &mut mpsc::Receiver<Message>) {
    messages.close();
    while let Ok(message) = messages.try_recv() {
        if let Message::Request { reply, .. } = message {
            let _ = reply.send(Err(shutting_down()));
        }
    }
}

/// The answer to whoever asks while the daemon ends.
pub fn shutting_down() -> ErrorObject {
    ErrorObject::new(ErrorCode::ShuttingDown, "the daemon is about to end; try again")
}

//! Everything that can happen to a session.

use antidrift_protocol::{Command, Record};

use super::Settings;
use crate::{
    ai::{Failure, Verdict},
    sensor::{Absence, Observation},
};

/// Names a request that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Names one judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub u64);

/// Something that happened.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "each lives for one step")]
pub enum Input {
    /// The sensor saw something.
    Observed(Observation),
    /// What the login manager tells of the person; the display's word is in its observations.
    Absence(Absence),
    /// A client asks. `hello` and `subscribe` never come here: they are the connection's own.
    Request {
        /// Whom to answer.
        ticket: Ticket,
        /// What is asked, within the bounds of the protocol.
        command: Command,
        /// The process that asks, its parent, and so on; empty where that is not known. A window
        /// that one of them has put up is the terminal that the request was typed in.
        lineage: Vec<u32>,
    },
    /// A judgement has ended by itself. One that was cancelled must not report.
    JudgeDone {
        /// Which.
        run: RunId,
        /// How.
        result: Result<Verdict, Failure>,
    },
    /// Another configuration is in force.
    Reconfigured {
        /// What it comes to.
        settings: Box<Settings>,
        /// Whether what was judged before may be judged otherwise now.
        anew: bool,
    },
    /// A session that is over is kept, or need not be.
    Kept(Box<Record>),
    /// A deadline may have passed. An early or repeated tick does nothing.
    Tick,
    /// The daemon ends; the last input.
    Shutdown {
        /// Why, for the subscribers.
        reason: String,
    },
}

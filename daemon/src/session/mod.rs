//! The session: a pure state machine. It is told what happened and when, and answers with what is
//! to be done; it reads no clock, no file and no environment, and starts nothing.

mod effect;
mod input;
mod snapshot;
mod time;

pub use effect::{Effects, JudgeStart, ReplyTo};
pub use input::{Input, RunId, Ticket};
pub use snapshot::Snapshot;
pub use time::Now;

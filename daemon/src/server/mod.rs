//! The socket: who may connect, how many, and what each connection says.

mod check;
mod connection;
mod lineage;
mod listen;
mod past;
mod places;
mod propose;
mod subscribe;
mod windows;

pub use listen::{Asked, Listening, Server, ServerError, Services};

pub use check::Checkable;
pub use propose::Coaching;

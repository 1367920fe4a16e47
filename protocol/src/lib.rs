//! The antidrift wire protocol.

pub mod text;

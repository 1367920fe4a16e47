//! The antidrift wire protocol.

pub mod json_safe;
pub mod text;

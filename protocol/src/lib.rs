//! antidrift on the wire: draft of the front page.

mod bounds;
pub mod client;
mod event;
pub mod frame;
pub mod json_safe;
pub mod paths;
mod reply;
mod request;
mod state;
mod strict;
pub mod text;
mod time;

pub use bounds::*;
pub use event::*;
pub use frame::MAX_LINE;
pub use reply::*;
pub use request::*;
pub use state::*;
pub use time::Timestamp;

/// The protocol of this version. Raised only when an existing meaning changes.
pub const PROTOCOL: u64 = 1;

//! The antidrift daemon as a library: what `main` starts and what tests drive.

pub mod ai;
pub mod clock;
pub mod config;
pub mod controller;
pub mod evidence;
mod fd;
pub mod hub;
pub mod instance;
pub mod logging;
pub mod sensor;
pub mod server;
pub mod session;
pub mod store;

//! What the end-to-end tests stand on: a headless desktop with a real window manager and a real
//! notification service, windows made to order, the built daemon and client with directories of
//! their own, a subscriber and a stand-in judge.
//!
//! Nothing here touches the desktop or the daemon of the person who runs the tests. Every process
//! is ended by its own id when its owner is dropped, by a panic too. Nothing sleeps and hopes:
//! [`until`] waits for a condition and panics, naming it, when it does not come in time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking, and so does what it stands on"
)]

mod binaries;
mod bus;
pub mod cli;
mod daemon;
mod desktop;
pub mod examples;
mod home;
mod judge;
mod logind;
pub mod man;
mod process;
mod room;
mod scene;
mod subscriber;
mod terminal;
mod wait;
mod window;

pub use binaries::{antidrift, antidriftd};
pub use bus::{Bus, Dunst, Shown};
pub use cli::{Outcome, Watch};
pub use daemon::{Daemon, Settings};
pub use desktop::{Desktop, Manager};
pub use home::Home;
pub use judge::StandInJudge;
pub use logind::Logind;
pub use process::{Process, is_gone, until_gone, until_number};
pub use room::Room;
pub use scene::{Scene, SceneBuilder};
pub use subscriber::{StateExt, Subscriber, ask};
pub use terminal::Terminal;
pub use wait::{PATIENCE, Timer, holds_for, until, until_still};
pub use window::{TestWindow, WindowSpec};

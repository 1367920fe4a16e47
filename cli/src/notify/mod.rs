//! Desktop notifications through notify-send.

mod capabilities;
mod child;
mod lock;
mod popup;
mod worker;

pub(crate) use lock::hold;
pub(crate) use popup::{Choice, Kind, Popup};
pub(crate) use worker::{Notifier, Told};

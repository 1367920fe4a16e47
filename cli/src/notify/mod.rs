//! Desktop notifications through notify-send.

mod capabilities;
mod child;
mod lock;
mod popup;
mod worker;

pub(crate) use lock::hold;
pub(crate) use popup::{Choice, Kind, MORE_SECS, Popup, Subject};
pub(crate) use worker::{Notifier, Told};

use rustix::event::{PollFd, PollFlags};

use crate::clock;

/// Whether a notification service answers within a second or so. `None`: no tool is there to ask
/// it with.
pub(crate) fn service_answers() -> Option<bool> {
    let mut asking = capabilities::ask(|command| child::Running::spawn(command, false))?;
    let limit = clock::now() + 2 * capabilities::LIMIT;
    loop {
        asking.take_in();
        if let Some(status) = asking.ended() {
            let answered = status.success() && capabilities::reads_markup(&asking.said()).is_some();
            return Some(answered);
        }
        let left = limit.saturating_sub(clock::now());
        if left.is_zero() {
            asking.end();
            return Some(false);
        }
        let mut fds: Vec<PollFd<'_>> =
            asking.descriptors().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        child::wait(&mut fds, Some(left));
    }
}

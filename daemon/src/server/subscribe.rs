//! A connection that listens.

use std::os::fd::AsFd;

use interprocess::os::unix::uds_local_socket::tokio::Stream;
use tokio::io::{AsyncReadExt, Interest};

use super::connection::write;
use crate::{fd, hub::Subscription};

/// Writes events until the client hangs up, takes nothing for too long, or the daemon ends.
pub(super) async fn follow(stream: &mut Stream, subscription: &Subscription) {
    // A client that has only ended its own direction still listens, so the end of reading says
    // nothing. A hang-up is told to whoever waits for anything at all; «priority» is what a socket
    // of this kind never has, so that nothing else ends this wait. It needs a descriptor of its
    // own: the stream's is taken.
    let Ok(watched) = stream.as_fd().try_clone_to_owned() else { return };
    let Ok(watched) = fd::watch(watched, Interest::PRIORITY) else { return };
    let mut waste = [0; 512];
    let mut reading = true;
    loop {
        tokio::select! {
            biased;
            lines = subscription.next() => {
                let Some(lines) = lines else { return };
                for line in lines {
                    if write(stream, line.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
            _ = watched.ready(Interest::PRIORITY) => return,
            // What it still sends is ignored.
            read = stream.read(&mut waste), if reading => {
                reading = matches!(read, Ok(1..));
            }
        }
    }
}

//! Descriptors that the runtime waits on.

use std::{io, os::fd::OwnedFd};

use tokio::io::{Interest, unix::AsyncFd};

/// Has the runtime watch a descriptor, edge-triggered. Needs a runtime.
///
/// # Errors
///
/// The kernel cannot watch it (a regular file), or is out of memory.
#[expect(
    deprecated,
    reason = "its successor is unsafe because a type may change its descriptor while watched; \
              `OwnedFd` cannot"
)]
pub(crate) fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}

//! What can go wrong between a client and its daemon.

use std::{io, path::PathBuf, time::Duration};

use crate::{ErrorObject, paths::PathError};

/// Why the daemon could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens there.
    #[error("the daemon is not running (nothing listens on {})", .0.display())]
    NotRunning(PathBuf),
    /// The path or its directory is not to be trusted, or cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Somebody else's program listens there.
    #[error("{} is served by user {uid}, not by you; it is not used", path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// Whose it is.
        uid: u32,
    },
    /// It does not accept the connection or does not answer.
    #[error("the daemon does not answer (waited {} s)", .0.as_secs_f32())]
    NoAnswer(Duration),
    /// The connection broke.
    #[error("the connection to the daemon broke: {0}")]
    Broken(io::Error),
    /// It ended the connection without an answer.
    #[error("the daemon closed the connection without an answer")]
    Closed,
    /// It speaks another protocol: one sentence with both versions and which side is to be
    /// renewed.
    #[error("{0}")]
    Incompatible(String),
    /// It answered with something that is no answer.
    #[error("the daemon's answer was not understood: {0}")]
    NotUnderstood(String),
    /// It refused the request.
    #[error("{0}")]
    Refused(ErrorObject),
}

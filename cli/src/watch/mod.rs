//! `antidrift watch`

use antidrift_protocol::paths::SocketPath;

use crate::{args, exit::Failure};

pub(crate) fn run(_socket: SocketPath, _args: &args::Watch) -> Result<(), Failure> {
    Ok(())
}

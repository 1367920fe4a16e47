//! The word to a service manager that started us with `Type=notify` (sd_notify(3)).

use std::{
    env,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
};

/// Sends a line such as `READY=1` to `$NOTIFY_SOCKET`. Nothing happens without one.
pub fn notify(line: &str) {
    let Some(path) = env::var_os("NOTIFY_SOCKET") else { return };
    let address = match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    let sent = address
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(line.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::debug!("the service manager could not be told {line}: {error}");
    }
}

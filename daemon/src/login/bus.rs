//! A connection to a message bus: its address, the handshake, whole messages in and out.
//!
//! Own code, for what it takes is little: the `zbus` crate took 400 KiB of memory where the daemon has
//! 4 MiB in all, and it and `rustbus` take in messages of any size that the bus lets through.

use std::{
    ffi::OsString,
    fmt::Write as _,
    io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

use super::message::{Call, MAX_MESSAGE, START, message_length};

/// Bytes asked for in one read.
const CHUNK: usize = 1024;
/// Longest line of the handshake.
const MAX_LINE: usize = 512;

/// A connection that has shaken hands.
#[derive(Debug)]
pub(super) struct Bus {
    stream: UnixStream,
    frames: Frames,
    serial: u32,
}

impl Bus {
    /// Connects to the first address of the list that answers, as the user of this process.
    ///
    /// # Errors
    ///
    /// There is no bus, or it does not let the user in.
    pub(super) async fn connect(addresses: &str) -> io::Result<Self> {
        let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "no address of a socket");
        for path in socket_paths(addresses) {
            match shake_hands(&path).await {
                Ok(stream) => return Ok(Self { stream, frames: Frames::default(), serial: 0 }),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Sends a call and gives the number that its answer will name.
    pub(super) async fn send(&mut self, call: Call<'_>) -> io::Result<u32> {
        // 0 is no serial
        self.serial = self.serial.checked_add(1).unwrap_or(1);
        self.stream.write_all(&call.to_bytes(self.serial)).await?;
        Ok(self.serial)
    }

    /// Waits for the next message. May be dropped and called again.
    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(message) = self.frames.next()? {
                return Ok(message);
            }
            self.frames.bytes.reserve(CHUNK);
            if self.stream.read_buf(&mut self.frames.bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Connects and identifies as this process's user: the kernel tells the bus who that is.
async fn shake_hands(path: &Path) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(path).await?;
    let user = rustix::process::geteuid().as_raw().to_string();
    let name = user.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    stream.write_all(format!("\0AUTH EXTERNAL {name}\r\n").as_bytes()).await?;
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        // by the byte, for what comes after the line is no line; it is a short one, and the only one
        let byte = stream.read_u8().await?;
        line.push(byte);
        if line.len() > MAX_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a message bus"));
        }
    }
    if !line.starts_with(b"OK ") {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the bus lets nobody in"));
    }
    stream.write_all(b"BEGIN\r\n").await?;
    Ok(stream)
}

/// The sockets of a list of addresses (D-Bus specification, «Server Addresses»); others are left
/// out. An abstract one begins with a NUL.
fn socket_paths(addresses: &str) -> impl Iterator<Item = PathBuf> {
    addresses.split(';').filter_map(|address| {
        address.trim().strip_prefix("unix:")?.split(',').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let mut path = match key {
                "path" => Vec::new(),
                "abstract" => vec![0],
                _ => return None,
            };
            path.append(&mut unescape(value)?);
            Some(PathBuf::from(OsString::from_vec(path)))
        })
    })
}

fn unescape(value: &str) -> Option<Vec<u8>> {
    let mut bytes = value.bytes();
    let mut plain = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        plain.push(if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()?
        } else {
            byte
        });
    }
    Some(plain)
}

/// Makes whole messages of what comes in. A message that is too large is passed over.
#[derive(Debug, Default)]
struct Frames {
    bytes: Vec<u8>,
    /// So many bytes to come belong to a message that is passed over.
    skip: usize,
}

impl Frames {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let skipped = self.skip.min(self.bytes.len());
            self.bytes.drain(..skipped);
            self.skip -= skipped;
            let Some(start) = self.bytes.first_chunk::<START>() else {
                // a connection at rest costs no buffer
                if self.bytes.is_empty() {
                    self.bytes = Vec::new();
                }
                return Ok(None);
            };
            // after that nobody knows where the next one begins
            let length = message_length(start)
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no D-Bus message"))?;
            if length > MAX_MESSAGE {
                self.skip = length;
            } else if self.bytes.len() < length {
                return Ok(None);
            } else {
                return Ok(Some(self.bytes.drain(..length).collect()));
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Bytes to lines and values to lines; nothing else.

use serde::Serialize;

/// Longest line either way, in bytes without the line break.
pub const MAX_LINE: usize = 131_072;

/// A piece of the incoming stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its line break; never empty.
    Line(Vec<u8>),
    /// A line longer than [`MAX_LINE`]. Nothing can be read after it.
    TooLong,
}

/// Takes lines out of a growing buffer, looking at each byte once.
///
/// A line that breaks the rules comes out as a frame and not as an error, so that the lines behind
/// it are not lost with the reader's state.
#[derive(Debug, Default)]
pub struct LineDecoder {
    /// Bytes at the front that are known to hold no line break.
    seen: usize,
    broken: bool,
}

impl LineDecoder {
    /// Where the next line ends in `buffer`: the position of its line break. `None` asks for more
    /// bytes. The caller takes the line out of the buffer, line break included.
    pub fn find(&mut self, buffer: &[u8]) -> Option<Result<usize, Oversize>> {
        if self.broken {
            return None;
        }
        let from = self.seen.min(buffer.len());
        match buffer[from..].iter().position(|&byte| byte == b'\n').map(|at| at + from) {
            Some(end) if end <= MAX_LINE => {
                self.seen = 0;
                Some(Ok(end))
            }
            None if buffer.len() <= MAX_LINE => {
                self.seen = buffer.len();
                None
            }
            _ => {
                self.broken = true;
                Some(Err(Oversize))
            }
        }
    }

    /// Takes the next frame out of `buffer`, passing over empty lines.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Frame> {
        loop {
            match self.find(buffer)? {
                Err(Oversize) => return Some(Frame::TooLong),
                Ok(end) => {
                    let mut line: Vec<u8> = buffer.drain(..=end).collect();
                    line.pop();
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Some(Frame::Line(line));
                    }
                }
            }
        }
    }
}

/// A line is longer than [`MAX_LINE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversize;

/// A value as one line of JSON, line break included, without a byte that could act on a terminal.
pub(crate) fn to_line<T: Serialize>(value: &T) -> String {
    let mut line = crate::json_safe::to_string(value);
    line.push('\n');
    line
}

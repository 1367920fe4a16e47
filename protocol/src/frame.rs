//! Bytes to lines and values to lines; nothing else.

use std::fmt;

use serde::Serialize;

/// Longest line either way, in bytes without the line break. What the daemon writes fits because
/// every text in it has a bound; the tests add them up.
pub const MAX_LINE: usize = 131_072;

/// A piece of the incoming stream.
#[derive(Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line without its line break; never blank, at most [`MAX_LINE`] bytes.
    Line(Vec<u8>),
    /// A line longer than [`MAX_LINE`]. Nothing can be read after it.
    TooLong,
}

/// A line may hold a title.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "Line({} bytes)", line.len()),
            Self::TooLong => f.write_str("TooLong"),
        }
    }
}

/// Takes lines out of a growing buffer, looking at each byte once and moving it at most twice,
/// however small the lines and the pieces in which they come.
///
/// A line that breaks the rules comes out as a frame and not as an error, so that the lines behind
/// it are not lost with the reader's state.
///
/// One decoder serves one buffer in one of two ways: [`find`](Self::find) for a buffer that gives
/// away its front for nothing (`BytesMut`), [`next`](Self::next) for a `Vec`.
///
/// ```
/// use antidrift_protocol::frame::{Frame, LineDecoder};
///
/// let mut lines = LineDecoder::default();
/// let mut buffer = b"{\"cmd\":\"status\"}\n\n{\"cm".to_vec();
/// assert_eq!(lines.next(&mut buffer), Some(Frame::Line(b"{\"cmd\":\"status\"}".to_vec())));
/// assert_eq!(lines.next(&mut buffer), None);
/// buffer.extend_from_slice(b"d\":\"end\"}\n");
/// assert_eq!(lines.next(&mut buffer), Some(Frame::Line(b"{\"cmd\":\"end\"}".to_vec())));
/// ```
#[derive(Debug, Default)]
pub struct LineDecoder {
    /// Bytes at the front that [`next`](Self::next) has given out already. They go when the buffer
    /// holds no further line: taking each line out of a `Vec` would move all that follows it.
    taken: usize,
    /// Bytes after those that are known to hold no line break.
    seen: usize,
    broken: bool,
}

impl LineDecoder {
    /// Where the next line ends in `buffer`: the position of its line break. `None` asks for more
    /// bytes. The caller takes the line out of the buffer, line break included, before it asks
    /// again. Blank lines are found too and are to be ignored.
    ///
    /// # Errors
    ///
    /// A line longer than [`MAX_LINE`], once; after it nothing is found any more.
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

    /// Takes the next frame out of `buffer`, passing over blank lines. `None` asks for more bytes,
    /// appended to the same buffer; only then does the buffer shrink to what no line was made of.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Frame> {
        loop {
            let taken = self.taken.min(buffer.len());
            match self.find(&buffer[taken..]) {
                Some(Ok(end)) => {
                    self.taken = taken + end + 1;
                    let line = &buffer[taken..taken + end];
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Some(Frame::Line(line.to_vec()));
                    }
                }
                Some(Err(Oversize)) => {
                    buffer.clear();
                    return Some(Frame::TooLong);
                }
                None => {
                    // Whatever comes after an over-long line is thrown away.
                    buffer.drain(..if self.broken { buffer.len() } else { taken });
                    self.taken = 0;
                    return None;
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

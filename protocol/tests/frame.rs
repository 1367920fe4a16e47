//! The line decoder against the obvious way to cut lines.

use antidrift_protocol::{
    MAX_LINE,
    frame::{Frame, LineDecoder, Oversize},
};
use proptest::prelude::*;

/// All frames of a stream that comes in these pieces, and what is left in the buffer.
fn frames<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Frame>, Vec<u8>) {
    let (mut lines, mut buffer, mut frames) = (LineDecoder::default(), Vec::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        while let Some(frame) = lines.next(&mut buffer) {
            frames.push(frame);
        }
    }
    (frames, buffer)
}

/// The same by splitting the whole stream.
fn split(stream: &[u8]) -> (Vec<Frame>, Vec<u8>) {
    let mut frames = Vec::new();
    let mut lines: Vec<&[u8]> = stream.split(|&byte| byte == b'\n').collect();
    let rest = lines.pop().unwrap_or_default();
    for line in lines {
        if line.len() > MAX_LINE {
            frames.push(Frame::TooLong);
            return (frames, Vec::new());
        }
        if !line.trim_ascii().is_empty() {
            frames.push(Frame::Line(line.to_vec()));
        }
    }
    if rest.len() > MAX_LINE {
        frames.push(Frame::TooLong);
        return (frames, Vec::new());
    }
    (frames, rest.to_vec())
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => prop::collection::vec(prop_oneof![Just(b' '), Just(b'\r'), any::<u8>()], 0..20),
        1 => (MAX_LINE - 2..MAX_LINE + 1).prop_map(|len| vec![b'x'; len]),
        1 => Just(vec![b'x'; MAX_LINE + 1]),
    ];
    prop::collection::vec((line, any::<bool>()), 0..12).prop_map(|lines| {
        let mut stream = Vec::new();
        for (line, ended) in lines {
            stream.extend(line);
            if ended {
                stream.push(b'\n');
            }
        }
        stream
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunks_make_no_difference(
        stream in stream(),
        sizes in prop::collection::vec(prop_oneof![1_usize..8, 1_usize..70_000], 1..40),
    ) {
        let mut pieces = Vec::new();
        let (mut rest, mut sizes) = (stream.as_slice(), sizes.iter().cycle());
        while !rest.is_empty() && pieces.len() < 5000 {
            let size = sizes.next().map_or(1, |&size| size.min(rest.len()));
            let (piece, after) = rest.split_at(size);
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(frames(pieces), split(&stream));
    }
}

#[test]
fn the_limit_is_exact() {
    for (extra, fits) in [(0, true), (1, false)] {
        let mut stream = vec![b'x'; MAX_LINE + extra];
        let line = Frame::Line(stream.clone());
        stream.extend_from_slice(b"\nnext\n");
        let expected =
            if fits { vec![line, Frame::Line(b"next".to_vec())] } else { vec![Frame::TooLong] };
        assert_eq!(frames([stream.as_slice()]).0, expected);
    }
}

#[test]
fn an_over_long_line_is_told_once_and_before_it_ends() {
    let mut lines = LineDecoder::default();
    let mut buffer = vec![b'x'; MAX_LINE + 1];
    assert_eq!(lines.next(&mut buffer), Some(Frame::TooLong));
    for _ in 0..3 {
        buffer.extend_from_slice(b"more\nand more\n");
        assert_eq!(lines.next(&mut buffer), None);
        assert_eq!(buffer, b"", "a peer that goes on must not grow the buffer");
    }
    assert_eq!(lines.find(b"x\n"), None);

    let mut lines = LineDecoder::default();
    assert_eq!(lines.find(&[b'x'; MAX_LINE + 1]), Some(Err(Oversize)));
}

/// 32 full buffers of lines of one byte, as an attacker would send them. Moving what follows for
/// each line would copy some 270 GB.
#[test]
fn many_small_lines_take_time_in_proportion() {
    let piece: Vec<u8> = b"x\n\n\n".repeat(MAX_LINE / 4);
    let (frames, rest) = frames(std::iter::repeat_n(piece.as_slice(), 32));
    assert_eq!(frames.len(), 32 * MAX_LINE / 4);
    assert_eq!(rest, b"");
}

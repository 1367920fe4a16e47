//! Inputs made of known ones: a small mutation engine that needs no special compiler.
//!
//! There is no coverage to be had on a stable toolchain, so a target tells what its input came to
//! (which error, which shape), and an input that came to something new is kept and built upon.

/// Longest input that is made, but for what a mutation adds at once.
const MAX_INPUT: usize = 1 << 16;

/// Pieces that parsers care about.
const PIECES: [&[u8]; 40] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b":",
    b",",
    b"null",
    b"true",
    b"-0",
    b"1e999",
    b"18446744073709551616",
    b"0.1",
    b"\n",
    b"\r\n",
    b"\0",
    b"\t",
    b"\x1b[31m",
    b"\x1b]0;x\x07",
    b"\x1b%G",
    b"\x1b%@",
    b"\x1b$)A",
    b"\x9b",
    b"\xff",
    b"\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8d",
    b" - ",
    b"```json\n",
    b"```",
    b"on_task",
    b"\"on_task\":true",
    b"http://",
    b"[x]\n",
    b"= \"",
    b"#",
];

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`, which is not zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let (a, b) = (self.below(length + 1), self.below(length + 1));
        a.min(b)..a.max(b)
    }
}

/// An input like one of the pool, changed in one to eight places.
pub(crate) fn mutated(pool: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = pool[random.below(pool.len())].clone();
    for _ in 0..=random.below(8) {
        change(&mut input, pool, random);
        if input.len() > MAX_INPUT {
            input.truncate(MAX_INPUT);
        }
    }
    input
}

fn change(input: &mut Vec<u8>, pool: &[Vec<u8>], random: &mut Random) {
    let place = random.below(input.len() + 1);
    match random.below(10) {
        0 if place < input.len() => input[place] ^= 1 << random.below(8),
        1 if place < input.len() => input[place] = random.next().to_le_bytes()[0],
        2 => drop(input.drain(random.range(input.len()))),
        3 => {
            let piece = PIECES[random.below(PIECES.len())];
            input.splice(place..place, piece.iter().copied());
        }
        4 => {
            let piece = PIECES[random.below(PIECES.len())];
            let end = (place + piece.len()).min(input.len());
            input.splice(place..end, piece.iter().copied());
        }
        5 => {
            // A part once more, or many times.
            let range = random.range(input.len());
            let part = input[range].to_vec();
            let times = if random.below(20) == 0 { 200 } else { 1 + random.below(3) };
            input.splice(place..place, part.repeat(times));
        }
        6 => {
            let other = &pool[random.below(pool.len())];
            let part = other[random.range(other.len())].to_vec();
            input.splice(place..place, part);
        }
        7 => input.truncate(place),
        8 => {
            // A number becomes another one.
            let numbers = ["0", "-1", "255", "65536", "4294967296", "9223372036854775807"];
            let digits = |byte: &u8| byte.is_ascii_digit();
            if let Some(at) = input.iter().position(digits) {
                let end = at + input[at..].iter().take_while(|byte| digits(byte)).count();
                let number = numbers[random.below(numbers.len())];
                input.splice(at..end, number.bytes());
            }
        }
        _ => {
            let range = random.range(input.len());
            input[range].reverse();
        }
    }
}

//! Hostile text made fit to show: cleaning, and one function per place that text goes to.
//!
//! Window titles and model output are written by strangers. [`clean`] makes them one harmless line;
//! the functions after it clean and then escape for one place each, so that a caller cannot forget
//! the first half. The order is always cap first, escape after: a cut inside an entity would leave
//! a broken one.

/// The cap in characters for window titles that people or models see.
pub const TITLE_CAP: usize = 200;

/// The cap in characters for a judge's reasons.
pub const REASON_CAP: usize = 300;

/// One line of plain text with at most `cap` characters, whatever `text` holds.
///
/// Terminal escape sequences go, control characters and line separators become spaces, invisible
/// and direction-changing characters go (the joiners of emoji and of some scripts stay), runs of
/// white space become one space and both ends are trimmed. What is longer than `cap` is cut and
/// ends in an ellipsis, which counts. Cleaning twice is cleaning once.
#[must_use]
pub fn clean(text: &str, cap: usize) -> String {
    let mut cleaner = Cleaner { out: String::new(), chars: 0, blank: false, cap, last_start: 0 };
    for piece in pieces(text) {
        for c in piece.chars() {
            if !cleaner.push(c) {
                return cleaner.cut();
            }
        }
    }
    cleaner.out
}

/// `text` without terminal escape sequences and without any character that could begin one.
///
/// A string sequence (such as a window title or a clipboard write) that is never closed loses its
/// introducer only: it must not swallow what follows. A lone escape becomes a space. Other control
/// characters stay. Takes time in proportion to the text, also for text made of openings that never
/// close.
#[must_use]
pub fn strip_escapes(text: &str) -> String {
    pieces(text).collect()
}

/// For a terminal: the cleaned text.
#[must_use]
pub fn terminal(text: &str, cap: usize) -> String {
    clean(text, cap)
}

/// For a terminal: several lines, each of at most `cap` characters. A line of plain text is left as it
/// is, with its indentation; any other is cleaned.
#[must_use]
pub fn terminal_lines(text: &str, cap: usize) -> String {
    let shown = |line: &str| {
        let cleaned = clean(line, cap);
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let is_plain = cleaned == words.join(" ") && line.chars().nth(cap).is_none();
        if is_plain { line.to_owned() } else { cleaned }
    };
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// For the body of a notification on a server that lists `body-markup`: cleaned, `&`, `<` and `>`
/// as entities. A server without markup gets [`terminal`] text, since it would show the entities.
#[must_use]
pub fn notify_body(text: &str, cap: usize) -> String {
    entities(&clean(text, cap))
}

/// For an argument of notify-send, which must follow `--`.
///
/// `markup` says whether the notification server lists `body-markup`. Backslashes are doubled
/// because notify-send decodes C escapes and aborts when that yields bytes that are not UTF-8 (seen
/// in 0.8.1).
#[must_use]
pub fn notify_send_arg(text: &str, cap: usize, markup: bool) -> String {
    let clean = clean(text, cap);
    let text = if markup { entities(&clean) } else { clean };
    text.replace('\\', "\\\\")
}

/// For polybar: cleaned, with a space between `%` and `{`.
///
/// polybar has no escape sign, and a doubled `%` still opens a tag. Whoever joins fields must print
/// no `{` right after one that ends in `%`.
#[must_use]
pub fn polybar(text: &str, cap: usize) -> String {
    clean(text, cap).replace("%{", "% {")
}

/// For bars that read Pango markup (i3blocks, the text of waybar): cleaned, `&`, `<` and `>` as
/// entities.
#[must_use]
pub fn pango(text: &str, cap: usize) -> String {
    entities(&clean(text, cap))
}

/// For a prompt: cleaned, as a JSON string literal that holds none of the characters of
/// [`prompt_escape`].
#[must_use]
pub fn prompt_json(text: &str, cap: usize) -> String {
    prompt_escape(&serde_json::Value::String(clean(text, cap)).to_string())
}

/// JSON text with `@ $ < > & # !` and the back-tick as `\u00XX`; it decodes to the same value.
///
/// Command-line models act on these in a prompt: `@/path` attaches a file, `$name` a skill
/// document, `#` and `!` have meanings elsewhere, and tags and code fences could seem to end the
/// data. `json` must be JSON as a serializer writes it: there these characters only occur inside
/// strings and never behind an escaping backslash.
#[must_use]
pub fn prompt_escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '@' => out.push_str("\\u0040"),
            '$' => out.push_str("\\u0024"),
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '#' => out.push_str("\\u0023"),
            '!' => out.push_str("\\u0021"),
            '`' => out.push_str("\\u0060"),
            c => out.push(c),
        }
    }
    out
}

/// Ampersands of text that already looks escaped are escaped again: it has no second meaning.
fn entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Characters that nobody sees but that reorder text or hide letters in it. Not the joiners U+200C
/// and U+200D.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}' | '\u{feff}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Collects cleaned characters and stops at the cap, so that a huge title costs no more than a long
/// one.
struct Cleaner {
    out: String,
    chars: usize,
    /// White space was seen and is not written yet: at the end it must not be.
    blank: bool,
    cap: usize,
    /// Where the last character of `out` begins.
    last_start: usize,
}

impl Cleaner {
    /// False when the text is over the cap.
    fn push(&mut self, c: char) -> bool {
        if c.is_control() || c.is_whitespace() {
            self.blank = !self.out.is_empty();
            return true;
        }
        if is_invisible(c) {
            return true;
        }
        if std::mem::take(&mut self.blank) && !self.write(' ') {
            return false;
        }
        self.write(c)
    }

    fn write(&mut self, c: char) -> bool {
        if self.chars == self.cap {
            return false;
        }
        self.last_start = self.out.len();
        self.out.push(c);
        self.chars += 1;
        true
    }

    /// The text so far, which fills the cap, with an ellipsis in place of its last character.
    fn cut(mut self) -> String {
        if self.cap > 0 {
            self.out.truncate(self.last_start);
            self.out.push('…');
        }
        self.out
    }
}

/// The parts of `text` between its escape sequences; a space for each lone escape.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    // Once the search for a terminator has failed, every later one must fail too: searching again
    // for each opening would take quadratic time.
    let mut terminated = true;
    let mut gap = "";
    std::iter::from_fn(move || {
        if !gap.is_empty() {
            return Some(std::mem::take(&mut gap));
        }
        if rest.is_empty() {
            return None;
        }
        let Some(start) = rest.find(is_introducer) else {
            return Some(std::mem::take(&mut rest));
        };
        let (before, sequence) = rest.split_at(start);
        let len = sequence_len(sequence, &mut terminated);
        if len == 0 {
            gap = " ";
        }
        // Only an escape, which is one byte, can be no sequence at all.
        rest = sequence.get(len.max(1)..).unwrap_or_default();
        Some(before)
    })
}

/// ESC and the one-character C1 forms of DCS, SOS, CSI, OSC, PM and APC.
fn is_introducer(c: char) -> bool {
    matches!(c, '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}')
}

/// How many bytes of `text`, which begins with an introducer, belong to the sequence. 0: a lone
/// escape.
fn sequence_len(text: &str, terminated: &mut bool) -> usize {
    let mut chars = text.chars();
    match chars.next() {
        Some('\u{1b}') => match chars.next() {
            Some(']' | 'P' | '^' | '_' | 'X') => 2 + string_len(chars.as_str(), terminated),
            Some('[') => 2 + csi_len(chars.as_str()),
            Some('0'..='z') => 2,
            Some('(' | ')' | '*' | '+' | '#' | '%') if matches!(chars.next(), Some('0'..='z')) => 3,
            _ => 0,
        },
        Some('\u{9b}') => 2 + csi_len(chars.as_str()),
        _ => 2 + string_len(chars.as_str(), terminated),
    }
}

/// The bytes of a string sequence behind its introducer, terminator included; 0 if nothing ends it.
fn string_len(text: &str, terminated: &mut bool) -> usize {
    if !*terminated {
        return 0;
    }
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|tail| tail.find(['\u{7}', '\u{1b}', '\u{9c}']))
    {
        let end = from + at;
        let tail = text.get(end..).unwrap_or_default();
        if tail.starts_with('\u{7}') {
            return end + 1;
        }
        if tail.starts_with('\u{9c}') || tail.starts_with("\u{1b}\\") {
            return end + 2;
        }
        from = end + 1;
    }
    *terminated = false;
    0
}

/// The bytes of a control sequence behind its introducer; 0 if it has no proper end.
fn csi_len(text: &str) -> usize {
    let end = text.find(|c: char| !matches!(c, ' '..='?')).unwrap_or(text.len());
    let parameters = text.get(..end).unwrap_or_default();
    let ordered = parameters.trim_start_matches(|c: char| matches!(c, '0'..='?'));
    let proper = ordered.chars().all(|c| matches!(c, ' '..='/'));
    let last = text.get(end..).and_then(|t| t.chars().next());
    if proper && matches!(last, Some('@'..='~')) { end + 1 } else { 0 }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

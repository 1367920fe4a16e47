//! The context title: what is left of a window title when everything that changes while a person
//! stays in one place is taken away.

use antidrift_protocol::{cut, text::clean};

use super::browsers::{Segment, strip_browser};

/// The most bytes a context title has.
pub const CONTEXT_TITLE_MAX: usize = 256;

/// The most characters of a title that are read. Sensors send no more; it bounds the work on what
/// comes from elsewhere.
const READ_CHARS: usize = 1024;

/// Names the place that a window shows, the same while counters run and spinners turn.
///
/// The title is cleaned for display and parted at dashes, bars and middle dots that stand free.
/// From both ends of each part go counters in brackets, bullets, spinner glyphs and signs of state.
/// A browser's name goes, with what it says about profile, private windows and other tabs. Times
/// become `#:#` and percentages `#%`. The rest is cut to [`CONTEXT_TITLE_MAX`] bytes.
///
/// Of a title that is nothing but decoration nothing is left. The context title of a context title
/// is itself.
pub fn context_title(raw: &str) -> String {
    let title = strip_all(clean(raw, READ_CHARS));
    let short = cut(&title, CONTEXT_TITLE_MAX);
    if short.len() == title.len() {
        return title;
    }
    // The cut may have laid open a blank or the opening of a counter.
    strip_all(short.to_owned())
}

/// Strips until nothing more goes: what one step takes may lay open what another takes. Each step
/// that changes a title makes it shorter, so this ends.
fn strip_all(mut title: String) -> String {
    loop {
        let stripped = strip_once(&title);
        if stripped == title {
            return title;
        }
        title = stripped;
    }
}

fn strip_once(title: &str) -> String {
    let mut segments = segments(title);
    for segment in &mut segments {
        segment.text = strip_ends(segment.text);
    }
    segments.retain(|segment| !segment.text.is_empty());
    strip_browser(&mut segments);

    let mut stripped = String::with_capacity(title.len());
    for segment in segments {
        if let (false, Some(separator)) = (stripped.is_empty(), segment.separator) {
            stripped.extend([' ', separator, ' ']);
        }
        stripped.push_str(segment.text);
    }
    fold_numbers(&stripped)
}

/// Parts a cleaned title at separators that stand free.
pub(super) fn segments(title: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut separator = None;
    let mut start = 0;
    for (at, c) in title.char_indices() {
        let end = at + c.len_utf8();
        let free = title[..at].ends_with(' ') && title[end..].starts_with(' ');
        if matches!(c, '-' | '–' | '—' | '|' | '·') && free && at > start {
            segments.push(Segment { separator, text: title[start..at].trim() });
            separator = Some(c);
            start = end + 1;
        }
    }
    segments.push(Segment { separator, text: title[start..].trim() });
    segments
}

/// Takes decoration off both ends of a segment.
fn strip_ends(mut text: &str) -> &str {
    loop {
        let rest = strip_start(strip_end(text));
        if rest.len() == text.len() {
            return text;
        }
        text = rest;
    }
}

fn strip_start(text: &str) -> &str {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return text };
    let rest = chars.as_str();
    if is_bullet(first) {
        return rest.trim_start_matches(VARIATION_SELECTORS).trim_start();
    }
    if let Some(close) = closing(first)
        && let Some((inside, after)) = rest.split_once(close)
        && is_counter(inside)
        && (after.is_empty() || after.starts_with(' ') || !first.is_ascii())
    {
        return after.trim_start();
    }
    // One frame of an ASCII spinner, or a separator that lost what was before it. Only when a word
    // follows: `/ — Files` is a directory.
    let word = rest.strip_prefix(' ').filter(|rest| rest.starts_with(char::is_alphanumeric));
    match first {
        '|' | '/' | '\\' | '-' | '–' | '—' => word.unwrap_or(text),
        _ => text,
    }
}

fn strip_end(text: &str) -> &str {
    let plain = text.trim_end_matches(VARIATION_SELECTORS);
    let mut chars = plain.chars();
    let Some(last) = chars.next_back() else { return text };
    let rest = chars.as_str();
    if is_bullet(last) {
        return rest.trim_end();
    }
    if let Some(open) = opening(last)
        && let Some((before, inside)) = rest.rsplit_once(open)
        && is_counter(inside)
        && (before.is_empty() || before.ends_with(' ') || !last.is_ascii())
    {
        return before.trim_end();
    }
    // A separator that lost what was behind it. No slashes: `ls /` is a command.
    match last {
        '|' | '-' | '–' | '—' if rest.is_empty() || rest.ends_with(' ') => rest.trim_end(),
        _ => text,
    }
}

/// Say whether the character before is to be shown as text or as a picture.
const VARIATION_SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// Bullets, spinner glyphs, and signs of state that programs put beside a title: unsaved, unread,
/// playing, recording, done, failed.
fn is_bullet(c: char) -> bool {
    match c {
        '*' | '·' | '•' | '‣' | '∙' | '⋅' | '⋆' | '※' | '＊' | '・' => true,
        // Braille patterns, the most common spinner; blocks and bars; circles, squares, triangles.
        '\u{2800}'..='\u{28ff}' | '\u{2580}'..='\u{259f}' | '\u{25a0}'..='\u{25ff}' => true,
        // Stars and asterisks that pulse.
        '\u{2722}'..='\u{274b}' | '★' | '☆' | '⭐' => true,
        // Hourglasses, clocks, playing and paused, eject.
        '⌚' | '⌛' | '\u{23cf}' | '\u{23e9}'..='\u{23fa}' => true,
        '\u{1f550}'..='\u{1f567}' | '\u{1f311}'..='\u{1f318}' => true,
        // Ticks and crosses, warnings.
        '\u{2713}'..='\u{2718}' | '✅' | '❌' | '❎' | '❗' | '❕' | '⚠' => true,
        // Coloured circles and squares.
        '⚪' | '⚫' | '⬛' | '⬜' | '\u{1f534}' | '\u{1f535}' => true,
        '\u{1f7e0}'..='\u{1f7eb}' => true,
        // Loudspeakers, bells, microphone, letters.
        '\u{1f507}'..='\u{1f50a}' | '\u{1f514}' | '\u{1f515}' | '🎤' | '✉' => true,
        '\u{1f4e7}'..='\u{1f4e9}' | '\u{1f4ec}' | '\u{1f4ed}' => true,
        _ => false,
    }
}

fn closing(open: char) -> Option<char> {
    BRACKETS.iter().find(|pair| pair.0 == open).map(|pair| pair.1)
}

fn opening(close: char) -> Option<char> {
    BRACKETS.iter().find(|pair| pair.1 == close).map(|pair| pair.0)
}

const BRACKETS: [(char, char); 5] =
    [('(', ')'), ('[', ']'), ('{', '}'), ('（', '）'), ('【', '】')];

/// Whether what stands in brackets counts something or is a sign of state: `3`, `1,024`, `99+`,
/// `3/10`, `45%`, `12:34`, `+`. A year does not: it tells one film from another.
fn is_counter(inside: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || is_other_digit(c);
    let is_sign = |c: char| matches!(c, '+' | '!') || is_bullet(c);
    let fits = |c: char| {
        is_digit(c) || is_sign(c) || matches!(c, ' ' | ',' | '.' | '\'' | '’' | '/' | '%' | ':')
    };
    let year = inside.len() == 4 && matches!(inside.parse(), Ok(1900..=2099));
    inside.len() <= 32
        && !year
        && inside.chars().all(fits)
        && inside.chars().any(|c| is_digit(c) || is_sign(c))
}

/// Arabic, Persian, Devanagari and full-width digits.
fn is_other_digit(c: char) -> bool {
    matches!(c, '٠'..='٩' | '۰'..='۹' | '०'..='९' | '０'..='９')
}

/// Writes times as `#:#` and percentages as `#%`, which are never longer.
fn fold_numbers(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let free = !before.is_alphanumeric() && !matches!(before, ':' | '.' | ',' | '_');
        let number = match free && c.is_ascii_digit() {
            true => time(rest).map(|n| (n, "#:#")).or_else(|| percentage(rest).map(|n| (n, "#%"))),
            false => None,
        };
        let end = match number {
            Some((length, sign)) => {
                folded.push_str(sign);
                length
            }
            None => {
                folded.push(c);
                c.len_utf8()
            }
        };
        before = rest[..end].chars().next_back().unwrap_or(' ');
        rest = &rest[end..];
    }
    folded
}

/// The length of the time that `text` starts with: `1:23`, `12:34:56`, `0:12.5`, `9:30pm`.
fn time(text: &str) -> Option<usize> {
    let mut length = digits(text, 3)?;
    let mut groups = 0;
    while groups < 3
        && let Some(rest) = text[length..].strip_prefix(':')
        && matches!(digits(rest, 2), Some(2))
        && rest.starts_with(|c: char| c < '6')
    {
        length += 3;
        groups += 1;
    }
    length += fraction(&text[length..]);
    let rest = &text[length..];
    let half = rest
        .get(..2)
        .is_some_and(|half| half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm"));
    let rest = if half { &rest[2..] } else { rest };
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == ':');
    (groups > 0 && ends).then_some(length)
}

/// The length of the percentage that `text` starts with: `5%`, `12.5 %`.
fn percentage(text: &str) -> Option<usize> {
    let mut length = digits(text, 3)?;
    length += fraction(&text[length..]);
    let rest = &text[length..];
    let after = rest.strip_prefix(' ').unwrap_or(rest).strip_prefix('%')?;
    let ends = !after.starts_with(char::is_alphanumeric);
    ends.then_some(text.len() - after.len())
}

/// How many digits `text` starts with, if they are at least one and at most `most`.
fn digits(text: &str, most: usize) -> Option<usize> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=most).contains(&count).then_some(count)
}

/// The length of the decimal fraction that `text` starts with, 0 if none.
fn fraction(text: &str) -> usize {
    let rest = text.strip_prefix(['.', ',']).unwrap_or_default();
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 { 0 } else { count + 1 }
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;

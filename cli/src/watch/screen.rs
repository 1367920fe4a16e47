//! Lines to escape sequences: only what differs is written again.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Own screen, no cursor, own title; the shell's is kept by terminals that can (XTWINOPS 22). The
/// change of title is also what tells the daemon that from now on it is we who run in this terminal.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[22;0t\u{1b}]0;antidrift watch\u{7}";
/// Back to the shell's.
pub(super) const LEAVE: &str = "\u{1b}[0m\u{1b}[23;0t\u{1b}[?25h\u{1b}[?1049l";

/// All the lines that are to be seen, each fit for the terminal's width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) lines: Vec<String>,
    /// What the terminal shows is not to be relied on: all of it is drawn.
    pub(super) anew: bool,
}

/// What a terminal shows.
#[derive(Debug, Default)]
pub(super) struct Screen {
    entered: bool,
    lines: Vec<String>,
}

impl Screen {
    /// What turns the present screen into `frame`.
    pub(super) fn draw(&mut self, frame: Frame) -> String {
        let mut text = String::new();
        if !self.entered || frame.anew {
            text.push_str(if self.entered { "" } else { ENTER });
            text.push_str("\u{1b}[2J");
            self.entered = true;
            self.lines.clear();
        }
        let rows = frame.lines.len().max(self.lines.len());
        for row in 0..rows {
            let old = self.lines.get(row).map_or("", String::as_str);
            let new = frame.lines.get(row).map_or("", String::as_str);
            if old != new {
                // Written before it is cleared behind, so that it does not flicker.
                let _ = write!(text, "\u{1b}[{};1H{new}\u{1b}[0m\u{1b}[K", row + 1);
            }
        }
        self.lines = frame.lines;
        text
    }

    pub(super) fn leave(&mut self) -> String {
        self.lines.clear();
        if std::mem::take(&mut self.entered) { LEAVE.to_owned() } else { String::new() }
    }
}

/// Text as lines of at most a width, broken between words where that goes.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last().map_or(0, |line| line.width());
            let gap = usize::from(line > 0);
            if line + gap + word.width() <= width {
                if let Some(line) = lines.last_mut() {
                    line.push_str(if gap == 1 { " " } else { "" });
                    line.push_str(word);
                }
                break;
            }
            if line > 0 {
                lines.push(String::new());
                continue;
            }
            // Longer than a line: broken anywhere.
            let (head, tail) = word.split_at_checked(fitting(word, width)).unwrap_or((word, ""));
            if let Some(line) = lines.last_mut() {
                line.push_str(head);
            }
            word = tail;
            lines.push(String::new());
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    lines
}

/// How many bytes of `text` fit; at least one character, or it would never end.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(lines: &[&str], anew: bool) -> Frame {
        Frame { lines: lines.iter().map(|&line| line.to_owned()).collect(), anew }
    }

    #[test]
    fn only_what_differs_is_written() {
        let mut screen = Screen::default();
        let first = screen.draw(frame(&["task", "12:16", "on task"], false));
        assert!(first.starts_with(ENTER) && first.contains("task"));
        // The countdown alone.
        let tick = screen.draw(frame(&["task", "12:15", "on task"], false));
        assert_eq!(tick, "\u{1b}[2;1H12:15\u{1b}[0m\u{1b}[K");
        // A block that comes and goes leaves the countdown alone.
        let more = screen.draw(frame(&["task", "12:15", "drifting", "reason"], false));
        assert!(!more.contains("12:15") && more.contains("reason"), "{more:?}");
        let less = screen.draw(frame(&["task", "12:15", "on task"], false));
        assert!(less.contains("\u{1b}[4;1H\u{1b}[0m\u{1b}[K"), "{less:?}");
        assert_eq!(screen.draw(frame(&["task", "12:15", "on task"], false)), "");
        assert!(screen.draw(frame(&["task"], true)).contains("\u{1b}[2J"));
        assert_eq!(screen.leave(), LEAVE);
        assert_eq!(screen.leave(), "");
    }

    #[test]
    fn wraps_between_words_and_inside_long_ones() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("漢字漢字", 5), ["漢字", "漢字"]);
        assert!(wrap("", 5).is_empty());
        for width in 0..12 {
            for line in wrap("a 漢字 long-winded e\u{301} text 👩\u{200d}💻", width) {
                // One wide character is wider than the narrowest terminal.
                assert!(line.width() <= width.max(1) || line.chars().count() == 1, "{line:?}");
            }
        }
    }
}

//! Text by the columns that it takes on a terminal.

use rustix::{
    stdio,
    termios::{isatty, tcgetwinsize},
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of the terminal that standard output is. `None` if it is none: then nothing is cut.
pub(crate) fn of_terminal() -> Option<usize> {
    let size = isatty(stdio::stdout()).then(|| tcgetwinsize(stdio::stdout()).ok())??;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Columns that text takes.
pub(crate) fn of(text: &str) -> usize {
    text.width()
}

/// Text cut to a width, with an ellipsis where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// Text filled up with blanks to a width; what is wider stays as it is.
pub(crate) fn fill(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_terminal() {
        for (text, width, expected) in [
            ("short", 10, "short"),
            ("exactly", 7, "exactly"),
            ("too long", 5, "too …"),
            ("漢字漢字", 5, "漢字…"),
            ("漢字漢字", 4, "漢…"),
            ("x", 0, ""),
        ] {
            let cut = cut(text, width);
            assert_eq!(cut, expected);
            assert!(cut.width() <= width);
            assert_eq!(fill(text, 7).width(), text.width().max(7));
        }
    }
}

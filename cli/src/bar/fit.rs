//! A line that is no wider than it may be. Free text gives way, the widest first, so that how things
//! stand and the time stay; only then is the rest cut.

use unicode_width::UnicodeWidthStr as _;

use super::format::{Format, escaped};
use crate::width;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// What stands around the fields: passed on as it is, and never cut, since it may hold a bar's
    /// markup.
    Literal(&'a str),
    /// What people or programs wrote, of any length.
    Free(&'a str),
    /// A few words of ours.
    Rigid(&'a str),
}

/// The line, each field cut and then escaped.
pub(super) fn line(pieces: &[Piece<'_>], max: usize, format: Format) -> String {
    let literals: usize = pieces.iter().map(|piece| piece.literal_width(format)).sum();
    let mut room = max.saturating_sub(literals);
    let rigid: usize = pieces.iter().map(|piece| piece.rigid_width()).sum();
    let most = most_each(pieces, room.saturating_sub(rigid));
    let mut line = String::new();
    let mut after_field = false;
    for piece in pieces {
        let (text, is_field) = match piece {
            Piece::Literal(text) => ((*text).to_owned(), false),
            Piece::Free(text) => (width::cut(text, most), true),
            Piece::Rigid(text) => (width::cut(text, room), true),
        };
        if is_field {
            room = room.saturating_sub(text.width());
        }
        let text = if is_field { escaped(&text, format) } else { text };
        // For polybar a percent sign and a brace after it open a tag, which only a literal may.
        let tag = line.ends_with('%') && text.starts_with('{');
        if tag && format == Format::Polybar && (after_field || is_field) {
            line.push(' ');
        }
        // An empty piece keeps its neighbours apart no better.
        after_field = is_field || (after_field && text.is_empty());
        line.push_str(&text);
    }
    line
}

impl Piece<'_> {
    fn rigid_width(self) -> usize {
        if let Self::Rigid(text) = self { text.width() } else { 0 }
    }

    fn literal_width(self, format: Format) -> usize {
        if let Self::Literal(text) = self { without_markup(text, format).width() } else { 0 }
    }
}

/// The most columns that every free text can have so that all of them fit.
fn most_each(pieces: &[Piece<'_>], room: usize) -> usize {
    let widths = pieces.iter().filter_map(|piece| match piece {
        Piece::Free(text) => Some(text.width()),
        _ => None,
    });
    let fit = |most: usize| widths.clone().map(|width| width.min(most)).sum::<usize>() <= room;
    (0..=room).rev().find(|&most| fit(most)).unwrap_or(0)
}

/// What is seen of a literal; an entity is one character.
fn without_markup(text: &str, format: Format) -> String {
    match format {
        Format::Plain | Format::Json => text.to_owned(),
        Format::Polybar => replace_spans(text, "%{", '}', ""),
        Format::I3blocks | Format::Waybar | Format::I3statusRust => {
            replace_spans(&replace_spans(text, "<", '>', ""), "&", ';', "x")
        }
    }
}

fn replace_spans(text: &str, open: &str, close: char, by: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, span)) = rest.split_once(open) {
        let Some((_, after)) = span.split_once(close) else { break };
        out.push_str(before);
        out.push_str(by);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{
        Piece::{Free, Literal, Rigid},
        *,
    };

    #[test]
    fn free_text_gives_way_and_the_widest_first() {
        let pieces = [Rigid("on task"), Literal(": "), Free("draft the report"), Rigid(" 13 min")];
        for (max, expected) in [
            (40, "on task: draft the report 13 min"),
            (32, "on task: draft the report 13 min"),
            (31, "on task: draft the repo… 13 min"),
            (17, "on task: … 13 min"),
            (16, "on task:  13 min"),
            (12, "on task:  1…"),
            (4, "o…: "),
        ] {
            assert_eq!(line(&pieces, max, Format::Plain), expected, "{max}");
        }
        let pieces = [Free("short"), Literal("|"), Free("rather long"), Literal("|"), Free("漢字")];
        assert_eq!(line(&pieces, 17, Format::Plain), "short|rathe…|漢字");
        assert_eq!(line(&pieces, 11, Format::Plain), "sh…|ra…|漢…");
    }

    #[test]
    fn markup_around_the_fields_takes_no_room_and_is_never_cut() {
        let pieces = [Literal("%{T2}x%{T-} "), Free("draft"), Literal("%{")];
        assert_eq!(line(&pieces, 9, Format::Polybar), "%{T2}x%{T-} draft%{");
        assert_eq!(line(&pieces, 6, Format::Polybar), "%{T2}x%{T-} d…%{");
        let pieces = [Literal("<b>R&amp;D</b> "), Free("a & b")];
        assert_eq!(line(&pieces, 9, Format::Waybar), "<b>R&amp;D</b> a &amp; b");
        assert_eq!(line(&pieces, 8, Format::Waybar), "<b>R&amp;D</b> a &amp;…");
        assert_eq!(line(&pieces, 0, Format::Waybar), "<b>R&amp;D</b> ");
    }
}

//! Markdown, as far as the pages use it.

use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use roff::{Inline, bold, italic, roman};

use super::Page;

/// What a paragraph is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Bullet,
    Number(u64),
}

#[derive(Default)]
struct Converter {
    line: Vec<Inline>,
    strong: bool,
    emphasis: bool,
    code: Option<String>,
    lists: Vec<Option<u64>>,
    mark: Option<Mark>,
    heads: Vec<String>,
    cells: Vec<Vec<Inline>>,
}

/// Writes it behind what the page has.
pub(super) fn convert(page: &mut Page, text: &str) {
    // `[`Name`]` is a link in the documentation of Rust, and a name here.
    let unknown = |_: BrokenLink<'_>| Some((CowStr::from(""), CowStr::from("")));
    let events = Parser::new_with_broken_link_callback(text, Options::ENABLE_TABLES, Some(unknown));
    let mut converter = Converter::default();
    for event in events {
        converter.take(page, event);
    }
}

impl Converter {
    fn take(&mut self, page: &mut Page, event: Event<'_>) {
        match event {
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push(&text),
            },
            Event::Code(code) => self.line.push(bold(code.as_ref())),
            Event::SoftBreak | Event::HardBreak => self.line.push(roman(" ")),
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(page, tag),
            Event::Html(html) | Event::InlineHtml(html) => self.push(&html),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        self.line.push(match (self.strong, self.emphasis) {
            (true, _) => bold(text),
            (_, true) => italic(text),
            _ => roman(text),
        });
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.strong = true,
            Tag::Emphasis => self.emphasis = true,
            Tag::CodeBlock(_) => self.code = Some(String::new()),
            Tag::List(first) => self.lists.push(first),
            Tag::Item => {
                self.mark = self.lists.last_mut().map(|list| match list {
                    Some(number) => {
                        *number += 1;
                        Mark::Number(*number - 1)
                    }
                    None => Mark::Bullet,
                });
            }
            Tag::Table(_) => self.heads.clear(),
            Tag::TableRow | Tag::TableHead => self.cells.clear(),
            _ => {}
        }
    }

    fn end(&mut self, page: &mut Page, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.strong = false,
            TagEnd::Emphasis => self.emphasis = false,
            TagEnd::Heading(level) => {
                let name = plain(&std::mem::take(&mut self.line));
                match level {
                    HeadingLevel::H1 => page.section(&name.to_uppercase()),
                    _ => page.part(&name),
                }
            }
            TagEnd::Paragraph => self.flush(page),
            // Items that are not apart have no paragraphs.
            TagEnd::Item if !self.line.is_empty() => self.flush(page),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => {
                page.example(&self.code.take().unwrap_or_default());
            }
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.line)),
            TagEnd::TableHead => self.heads = self.cells.iter().map(|it| plain(it)).collect(),
            TagEnd::TableRow => self.row(page),
            _ => {}
        }
    }

    fn flush(&mut self, page: &mut Page) {
        let line = std::mem::take(&mut self.line);
        match self.mark.take() {
            Some(Mark::Bullet) => page.item("\u{2022}", line),
            Some(Mark::Number(number)) => page.item(&format!("{number}."), line),
            None => page.paragraph(line),
        }
    }

    /// A row is an entry: its first cell, and behind it the others with the names of their columns.
    fn row(&mut self, page: &mut Page) {
        let mut cells = std::mem::take(&mut self.cells).into_iter().zip(&self.heads);
        let Some((term, _)) = cells.next() else { return };
        let mut text = Vec::new();
        for (cell, head) in cells.filter(|(cell, _)| !matches!(plain(cell).as_str(), "" | "–")) {
            if !text.is_empty() {
                text.push(roman("; "));
            }
            // With two columns there is no doubt.
            if self.heads.len() > 2 {
                text.push(roman(format!("{head}: ")));
            }
            text.extend(cell);
        }
        page.entry(term, text);
    }
}

/// The text without its fonts.
fn plain(line: &[Inline]) -> String {
    line.iter()
        .map(|it| match it {
            Inline::Roman(text) | Inline::Italic(text) | Inline::Bold(text) => text.as_str(),
            Inline::LineBreak => " ",
        })
        .collect()
}

//! Manual pages, made of what defines the commands, the keys and the protocol, and held against
//! those in `contrib/man`.
//!
//! `ANTIDRIFT_BLESS=1 cargo test --workspace manual` writes them anew.

mod command;
mod markdown;

use std::{env, fs, path::PathBuf};

use roff::{Inline, Roff, roman};

pub use command::command;

/// A page that grows.
#[derive(Debug)]
pub struct Page(Roff);

impl Page {
    /// `name` with the section of the manual, such as `antidrift` and `1`; `what` is the line that
    /// `apropos` shows.
    pub fn new(name: &str, section: &str, what: &str) -> Self {
        let version = concat!("antidrift ", env!("CARGO_PKG_VERSION"));
        let mut page = Roff::new();
        // A blank date: it would be that of the last change of anything. An empty one is left out.
        page.control("TH", [&name.to_uppercase(), section, " ", version, "antidrift"]);
        page.control("SH", ["NAME"]).text([roman(format!("{name} - {what}"))]);
        Self(page)
    }

    /// A section.
    pub fn section(&mut self, name: &str) {
        self.0.control("SH", [name]);
    }

    /// A part of a section.
    pub fn part(&mut self, name: &str) {
        self.0.control("SS", [name]);
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: impl Into<Vec<Inline>>) {
        self.0.control("PP", []).text(text);
    }

    /// Lines as they are.
    pub fn example(&mut self, lines: &str) {
        self.0.control("PP", []).control("EX", []);
        for line in lines.lines() {
            self.0.text([roman(line)]);
        }
        self.0.control("EE", []);
    }

    /// Something with what is to be said about it.
    pub fn entry(&mut self, term: impl Into<Vec<Inline>>, text: impl Into<Vec<Inline>>) {
        self.0.control("TP", []).text(term).text(text);
    }

    /// An item of a list, behind its mark.
    fn item(&mut self, mark: &str, text: Vec<Inline>) {
        self.0.control("IP", [mark, "4"]).text(text);
    }

    /// What is written in Markdown. A heading of the first level begins a section.
    pub fn markdown(&mut self, text: &str) {
        markdown::convert(self, text);
    }

    /// The page in the language of troff.
    pub fn render(&self) -> String {
        self.0.render()
    }
}

/// Where the pages are.
pub fn dir() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../contrib/man"))
}

/// Holds a page against the file of that name, such as `antidrift.1`.
///
/// # Panics
///
/// If they differ; under `ANTIDRIFT_BLESS` the file is written instead.
pub fn check(file: &str, page: &Page) {
    let path = dir().join(file);
    let fresh = page.render();
    if env::var_os("ANTIDRIFT_BLESS").is_some() {
        fs::write(&path, fresh).unwrap();
        return;
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let line = stored.lines().zip(fresh.lines()).position(|(old, new)| old != new);
    assert!(
        stored == fresh,
        "contrib/man/{file} is stale (from line {:?}); ANTIDRIFT_BLESS=1 cargo test --workspace manual \
         writes it anew",
        line.map(|it| it + 1)
    );
}

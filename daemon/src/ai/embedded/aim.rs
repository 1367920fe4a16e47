//! What a commitment is about: its words, and the kinds of site and program that it concerns.

use antidrift_protocol::text::clean;

use super::{
    catalogue::{self, Catalogue, KindId},
    spelling::{MAX_TOKENS, fold, is_unspaced, stem, words},
};

/// What stands in the window classes of tools of any trade, so that it names none.
const GENERIC: &[&str] = &[
    "org",
    "com",
    "io",
    "net",
    "gnome",
    "kde",
    "code",
    "client",
    "desktop",
    "bin",
    "terminal",
    "libreoffice",
    "writer",
    "calc",
    "impress",
    "google",
    "chrome",
    "mozilla",
    "studio",
    "app",
];

/// A commitment made ready for comparing with many titles.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    /// What the user set out to do, cleaned for showing.
    pub(super) text: String,
    /// The commitment's words that tell something.
    pub(super) words: Vec<Word>,
    /// The kinds of site and program that are the task itself.
    concerned: Vec<KindId>,
}

/// A word that ties.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) weight: f32,
    /// Whether its sense is certain, as that of a tool's name: then a title's word tells as much,
    /// though it may have other senses.
    pub(super) certain: bool,
    /// Words that mean the same are in one of these groups.
    pub(super) groups: Vec<u16>,
}

impl Aim {
    /// Reads a commitment: its texts (what, next action, success condition) and the window classes
    /// that it allows, which name tools.
    pub fn new(catalogue: &Catalogue, texts: &[&str], allowed_classes: &[String]) -> Self {
        let text = texts.first().map(|text| clean(text, 200)).unwrap_or_default();
        let mut aim = Self { text, ..Self::default() };
        for text in texts {
            let folded = fold(text);
            aim.add_concerns(catalogue, &folded);
            aim.add_named_sites(catalogue, text);
            for word in words_of(&folded) {
                aim.add(word);
            }
            for file in folded.split_whitespace() {
                let extension =
                    file.rsplit_once('.').and_then(|(_, end)| catalogue::extension(end));
                for word in extension.map(words_of).into_iter().flatten() {
                    aim.add(Word { weight: 1.0, certain: true, ..word });
                }
            }
        }
        for class in allowed_classes {
            for word in words_of(&fold(class)) {
                if !GENERIC.contains(&word.text.as_str()) {
                    aim.add(Word { certain: true, ..word });
                }
            }
        }
        aim.words.truncate(2 * MAX_TOKENS);
        aim.concerned.sort_unstable();
        aim.concerned.dedup();
        aim
    }

    /// Whether windows of this kind are the task itself.
    pub(super) fn concerns(&self, kind: KindId) -> bool {
        self.concerned.binary_search(&kind).is_ok()
    }

    /// Whether windows of this kind may be, because one that is akin to it is.
    pub(super) fn touches(&self, kind: KindId) -> bool {
        self.concerns(kind) || catalogue::akin(kind).any(|other| self.concerns(other))
    }

    fn add(&mut self, word: Word) {
        if word.weight > 0.0 && !self.words.iter().any(|it| it.text == word.text) {
            self.words.push(word);
        }
    }

    /// Names of sites that are also ordinary words, where they are written as names are.
    fn add_named_sites(&mut self, catalogue: &Catalogue, text: &str) {
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| word.starts_with(char::is_uppercase)).take(MAX_TOKENS) {
            self.concerned.extend(catalogue.site(&fold(word)).map(|site| site.kind));
        }
    }

    fn add_concerns(&mut self, catalogue: &Catalogue, folded: &str) {
        self.concerned.extend(inner_concerns(folded));
        for at in starts(folded) {
            let rest = &folded[at..];
            self.concerned.extend(catalogue::concerned_at(rest));
            if let Some((site, length)) = catalogue.site_at_start(rest)
                && !site.is_word
                && length >= 4
            {
                self.concerned.push(site.kind);
            }
        }
    }
}

/// The kinds that a part of a long compound speaks of: the tax in `umsatzsteuervoranmeldung`.
fn inner_concerns(folded: &str) -> impl Iterator<Item = KindId> {
    let long = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 9);
    let parts = long.flat_map(|word| {
        word.char_indices()
            .map(|(at, _)| &word[at..])
            .skip(3)
            .filter(|part| part.len() >= 5)
            .take(40)
    });
    parts.flat_map(catalogue::concerned_by_part)
}

/// Where words start; in scripts without blanks every letter.
pub(super) fn starts(folded: &str) -> impl Iterator<Item = usize> {
    let mut before = ' ';
    folded.char_indices().take(512).filter_map(move |(at, c)| {
        let starts = c.is_alphanumeric() && (!before.is_alphanumeric() || is_unspaced(c));
        before = c;
        starts.then_some(at)
    })
}

/// The words of a folded text with what they tell.
pub(super) fn words_of(folded: &str) -> Vec<Word> {
    let mut found: Vec<Word> = words(folded)
        .into_iter()
        .map(|word| {
            let stem = stem(word);
            let pair = word.chars().next().is_some_and(is_unspaced) && word.chars().count() <= 2;
            let weight = catalogue::weight(word);
            Word {
                text: word.to_owned(),
                stem: stem.to_owned(),
                weight: if pair { weight * 0.7 } else { weight },
                certain: false,
                groups: if weight > 0.0 { catalogue::groups(stem).to_vec() } else { Vec::new() },
            }
        })
        .collect();
    for at in starts(folded) {
        if let Some((length, groups)) = catalogue::phrase_groups(&folded[at..])
            && found.len() < 2 * MAX_TOKENS
        {
            let text = &folded[at..at + length];
            found.push(Word {
                text: text.into(),
                stem: text.into(),
                weight: 1.0,
                certain: false,
                groups: groups.to_vec(),
            });
        }
    }
    found
}

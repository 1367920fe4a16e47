//! What is known of the world: sites, programs and words, built from the text files under
//! `daemon/catalogue`, and what the user adds or takes away.

use std::collections::HashMap;

use super::{
    spelling::{COMMON, STOP, TASK, TILDE, fold, is_unspaced},
    table::Table,
};

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// A kind of site or program.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// As the configuration names it.
    pub name: &'static str,
    /// As a person calls it, with its article.
    pub label: &'static str,
    /// What it is to somebody who works.
    pub sort: Sort,
    /// Whether people talk there: its titles name people and groups.
    pub talk: bool,
}

/// What a kind is to somebody who works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Made for pastime.
    Leisure,
    /// Serves private business.
    Private,
    /// Pastime or private business of its own words: a word in common with work is chance (the
    /// table of a furniture shop, the models of a fashion page).
    Apart,
    /// Made for work of some trade.
    Work,
    /// Serves anything.
    Neutral,
    /// Shows anything: browsers, terminals. Only the title tells.
    Carrier,
}

/// The number of a kind.
pub type KindId = u16;

/// The catalogue with the user's own entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Folded spellings; `None` takes the built-in entry away.
    pub(super) sites: HashMap<String, Option<KindId>>,
    /// Folded classes; `None` takes the built-in entry away.
    pub(super) classes: HashMap<String, Option<KindId>>,
    /// Beginnings of classes, from entries that end in `*`.
    beginnings: HashMap<String, Option<KindId>>,
}

/// What a user's entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A name that stands in titles, or a host name.
    Site,
    /// A window class; a `*` at its end stands for any rest.
    Program,
}

/// The word in a kind's place that takes a built-in entry away.
pub const FORGET: &str = "forget";

/// A fault in a user's entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// There is no such kind.
    #[error("there is no kind «{kind}» of site or program")]
    UnknownKind {
        /// As written.
        kind: String,
    },
    /// An entry without letters.
    #[error("a blank entry names nothing")]
    Blank,
    /// Two entries contradict each other.
    #[error("{entry:?} under «{kind}» clashes with the same entry under «{other}»")]
    Clash {
        /// As written.
        entry: String,
        /// Its kind.
        kind: String,
        /// The kind that it was given before.
        other: String,
    },
}

/// What a part of a title was found to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) kind: KindId,
    /// Whether it is also an ordinary word.
    pub(super) is_word: bool,
}

impl Catalogue {
    /// Adds a user's entry under a kind, or takes a built-in one away ([`FORGET`]).
    ///
    /// # Errors
    ///
    /// A kind that does not exist, a blank entry, and one that stands under another kind already.
    pub fn add(&mut self, what: Entry, kind: &str, entry: &str) -> Result<(), CatalogueError> {
        let id = match kind {
            FORGET => None,
            kind => {
                let unknown = || CatalogueError::UnknownKind { kind: kind.into() };
                Some(kind_named(kind).ok_or_else(unknown)?)
            }
        };
        let (table, key) = match (what, entry.strip_suffix('*')) {
            (Entry::Site, _) => (&mut self.sites, fold(entry)),
            (Entry::Program, None) => (&mut self.classes, fold(entry)),
            (Entry::Program, Some(beginning)) => (&mut self.beginnings, fold(beginning)),
        };
        if key.is_empty() {
            return Err(CatalogueError::Blank);
        }
        let given = *table.entry(key).or_insert(id);
        if given == id {
            return Ok(());
        }
        let other = given.map_or(FORGET, |id| self::kind(id).name).into();
        Err(CatalogueError::Clash { entry: entry.into(), kind: kind.into(), other })
    }

    /// The site that a folded text is the name of.
    pub(super) fn site(&self, folded: &str) -> Option<Site> {
        if let Some(own) = self.sites.get(folded) {
            return own.map(|kind| Site { kind, is_word: false });
        }
        SITES.get(folded).map(site)
    }

    /// The longest name of a site that a folded text begins with, as whole words, and how long it is.
    pub(super) fn site_at_start(&self, folded: &str) -> Option<(Site, usize)> {
        let own = self.sites.iter().filter(|(name, _)| begins_with(folded, name));
        let longest = own.max_by_key(|(name, _)| name.len());
        let built_in = SITES.longest_prefix(folded, |key| {
            begins_with(folded, key) && !self.sites.contains_key(key)
        });
        match (longest, built_in) {
            (Some((name, Some(kind))), found)
                if found.is_none_or(|(key, _)| key.len() < name.len()) =>
            {
                Some((Site { kind: *kind, is_word: false }, name.len()))
            }
            (_, found) => found.map(|(key, value)| (site(value), key.len())),
        }
    }

    /// The kind of program that has this folded window class.
    pub(super) fn program(&self, class: &str) -> Option<KindId> {
        if let Some(own) = self.classes.get(class) {
            return *own;
        }
        let own = self.beginnings.iter().filter(|(beginning, _)| class.starts_with(*beginning));
        if let Some((_, own)) = own.max_by_key(|(beginning, _)| beginning.len()) {
            return *own;
        }
        let beginning = || CLASS_BEGINNINGS.longest_prefix(class, |_| true).map(|(_, kind)| kind);
        CLASSES.get(class).or_else(beginning)
    }
}

fn site(value: u16) -> Site {
    let (kind, is_word) = kind_and_tilde(value);
    Site { kind, is_word }
}

/// A table's number taken apart.
fn kind_and_tilde(value: u16) -> (KindId, bool) {
    (value & !TILDE, value & TILDE != 0)
}

/// The kind with this number.
pub(super) fn kind(id: KindId) -> &'static Kind {
    &KINDS[usize::from(id)]
}

/// The kind with this name.
pub fn kind_named(name: &str) -> Option<KindId> {
    let at = KINDS.iter().position(|kind| kind.name == name)?;
    KindId::try_from(at).ok()
}

/// The names of all kinds.
pub fn kind_names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// How many spellings of sites and classes of programs are built in.
pub fn size() -> (usize, usize) {
    (SITES.count(), CLASSES.count() + CLASS_BEGINNINGS.count())
}

/// The kinds of which these words of a commitment say that they are the task itself. A commitment's
/// words may be anywhere in them, so this takes the text from the start of a word.
pub(super) fn concerned_at(folded: &str) -> impl Iterator<Item = KindId> {
    let whole = CONCERNS.longest_prefix(folded, |key| begins_with(folded, key));
    let beginning = CONCERN_BEGINNINGS.longest_prefix(folded, |_| true);
    whole.into_iter().chain(beginning).flat_map(|(_, at)| list(at).iter().copied())
}

/// The same for a part of a compound: only beginnings that are long enough to be meant.
pub(super) fn concerned_by_part(part: &str) -> impl Iterator<Item = KindId> {
    let beginning = CONCERN_BEGINNINGS.longest_prefix(part, |key| key.len() >= 5);
    beginning.into_iter().flat_map(|(_, at)| list(at).iter().copied())
}

/// Whether the word is of the kind's own vocabulary, which says nothing when it is shared.
pub(super) fn is_own_word(stem: &str, kind: KindId) -> bool {
    OWN.get(stem).is_some_and(|at| list(at).contains(&kind))
}

/// The groups of words that mean the same, in several languages.
pub(super) fn groups(stem: &str) -> &'static [u16] {
    GROUPS.get(stem).map_or(&[], list)
}

/// The groups of the longest phrase that the text begins with, and its length.
pub(super) fn phrase_groups(folded: &str) -> Option<(usize, &'static [u16])> {
    let fits = |key: &'static str| key.contains(' ') && begins_with(folded, key);
    GROUPS.longest_prefix(folded, fits).map(|(key, at)| (key.len(), list(at)))
}

/// How much a folded word tells when it is shared: 0 nothing, 1 all.
pub(super) fn weight(word: &str) -> f32 {
    let flags = WORDS.get(word).unwrap_or(0);
    if flags & (STOP | TASK) != 0 {
        return 0.0;
    }
    let letters = word.chars().count();
    if word.bytes().all(|b| b.is_ascii_digit()) {
        return if letters >= 5 { 0.6 } else { 0.0 };
    }
    match letters {
        1 if word.is_ascii() => 0.0,
        _ if flags & COMMON != 0 => 0.4,
        2 if word.is_ascii() => 0.4,
        _ => 1.0,
    }
}

/// Whether a folded title is that of an empty page or window.
pub(super) fn is_blank(folded: &str) -> bool {
    folded.is_empty() || BLANK.get(folded).is_some()
}

/// Whether the text begins with a phrase of teaching.
pub(super) fn teaching_at(folded: &str) -> bool {
    TEACHING.longest_prefix(folded, |key| begins_with(folded, key)).is_some()
}

/// A phrase that speaks of pastime or private business.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pastime {
    pub(super) phrase: &'static str,
    pub(super) kind: KindId,
    /// Whether it has other senses too, so that it says something only on a site of pastime.
    pub(super) is_word: bool,
}

/// The phrase of pastime that the text begins with.
pub(super) fn pastime_at(folded: &str) -> Option<Pastime> {
    let (phrase, value) = PASTIME.longest_prefix(folded, |key| begins_with(folded, key))?;
    let (kind, is_word) = kind_and_tilde(value);
    Some(Pastime { phrase, kind, is_word })
}

/// Kinds that are of the same matter: where the second is the task, the first may be.
pub(super) fn akin(kind: KindId) -> impl Iterator<Item = KindId> {
    AKIN.iter().filter(move |pair| pair.0 == kind).map(|pair| pair.1)
}

/// What a file extension stands for: `rs` for `rust`.
pub(super) fn extension(extension: &str) -> Option<&'static str> {
    EXTENSIONS.iter().find(|pair| pair.0 == extension).map(|pair| pair.1)
}

fn list(at: u16) -> &'static [u16] {
    let at = usize::from(at);
    let start = if at == 0 { 0 } else { LIST_ENDS[at - 1] };
    &LISTS[usize::from(start)..usize::from(LIST_ENDS[at])]
}

/// Whether `text` begins with `name` and the word ends there. In scripts without blanks every
/// letter may end a word.
fn begins_with(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| {
        let next = rest.chars().next();
        let last = name.chars().next_back();
        !next.is_some_and(char::is_alphanumeric)
            || next.is_some_and(is_unspaced)
            || last.is_some_and(is_unspaced)
    })
}

//! What ties a title to a commitment: shared words, and how much each tells.

use super::{
    aim::{Aim, Word, words_of},
    catalogue::{self, KindId},
    spelling::is_unspaced,
};

/// What a title and a commitment share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tie {
    /// How much the shared words tell together: 1 is one telling word.
    pub strength: f32,
    /// The shared words, as the title has them, the most telling first.
    pub words: Vec<String>,
}

/// Words that are not the same, but related: of one stem family, or of one meaning.
const RELATED: f32 = 0.7;
/// A word of the site's own vocabulary (a shop's prices, a video site's channels).
const OWN_WORD: f32 = 0.3;
/// A pair of ideographs that shares a letter with the pair before it.
const OVERLAP: f32 = 0.55;
/// The most words that count.
const MOST: usize = 6;

/// Compares a folded title with a commitment; `kind` is that of the window.
pub(super) fn tie(aim: &Aim, content: &str, kind: Option<KindId>) -> Tie {
    let mut shared: Vec<(f32, usize, String)> = Vec::new();
    let mut before = String::new();
    for word in words_of(content) {
        // Pairs of ideographs overlap: three letters are not two words.
        let overlaps = word
            .text
            .chars()
            .next()
            .is_some_and(|first| is_unspaced(first) && before.ends_with(first))
            && shared.last().is_some_and(|(_, _, last)| *last == before);
        before.clone_from(&word.text);
        if word.weight <= 0.0 {
            continue;
        }
        let best = aim.words.iter().enumerate().filter_map(|(at, other)| {
            let likeness = likeness(&word, other);
            let weight = if other.certain { other.weight } else { word.weight.min(other.weight) };
            (likeness > 0.0).then_some((likeness * weight, at))
        });
        let Some((mut weight, at)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        if overlaps {
            weight *= OVERLAP;
        }
        if kind.is_some_and(|kind| catalogue::is_own_word(&word.stem, kind)) {
            weight *= OWN_WORD;
        }
        // One word of the commitment counts once, however often the title says it.
        match shared.iter_mut().find(|(_, other, _)| *other == at) {
            Some(known) if known.0 < weight => *known = (weight, at, word.text),
            Some(_) => {}
            None => shared.push((weight, at, word.text)),
        }
    }
    shared.sort_by(|a, b| b.0.total_cmp(&a.0));
    shared.truncate(MOST);
    Tie {
        strength: shared.iter().map(|(weight, ..)| weight).sum(),
        words: shared.into_iter().map(|(_, _, word)| word).collect(),
    }
}

/// How alike two words are: 1 the same, 0 not.
fn likeness(a: &Word, b: &Word) -> f32 {
    if a.text == b.text || (a.stem == b.stem && a.stem.chars().count() >= 3) {
        return 1.0;
    }
    if a.groups.iter().any(|group| b.groups.contains(group)) {
        return RELATED;
    }
    let (short, long) = if a.stem.len() <= b.stem.len() { (a, b) } else { (b, a) };
    if !short.text.is_ascii() && short.stem.chars().count() < 4 {
        return 0.0;
    }
    let common = short.stem.bytes().zip(long.stem.bytes()).take_while(|(a, b)| a == b).count();
    // Compounds: `Steuer` in `Steuererklärung`, `sql` not in `mysqldump`.
    let compound = short.stem.len() >= 5 && long.text.contains(short.stem.as_str());
    let family = common >= 6 || (common >= 5 && common == short.stem.len());
    if compound || family { RELATED } else { 0.0 }
}

//! What a title says in phrases: of pastime, of teaching.

use super::{
    aim::{self, Aim},
    catalogue::{self, KindId},
    tie::tie,
};

/// From this strength on a phrase is the commitment's own: one telling word of it.
const SAID_ITSELF: f32 = 0.7;

/// The phrases of one title.
#[derive(Clone, Debug, Default)]
pub struct Phrases {
    /// What speaks of pastime that the commitment does not concern, and of which kind.
    pub pastime: Option<(String, KindId)>,
    /// Whether that has no other sense, so that it speaks wherever it stands.
    pub plain: bool,
    /// Whether it teaches something.
    pub teaching: bool,
    /// The title without the phrases of pastime: their words tie nothing.
    pub rest: String,
}

/// Looks for phrases in a folded title.
pub(super) fn find(aim: &Aim, content: &str) -> Phrases {
    let mut phrases = Phrases::default();
    let mut copied = 0;
    for at in aim::starts(content) {
        let text = &content[at..];
        phrases.teaching |= catalogue::teaching_at(text);
        if at < copied {
            continue;
        }
        let known = catalogue::pastime_at(text).map(|it| (it.phrase, it.kind, !it.is_word));
        let found = known.or_else(|| {
            // The mark first: the kind is found by a search through all of them.
            let length = episode(text)?;
            Some((&text[..length], catalogue::kind_named("stream")?, true))
        });
        let Some((phrase, kind, plain)) = found else { continue };
        // What the commitment is about, or says itself, is no pastime.
        if aim.touches(kind) || tie(aim, phrase, None).strength >= SAID_ITSELF {
            continue;
        }
        if phrases.pastime.is_none() || (plain && !phrases.plain) {
            phrases.pastime = Some((phrase.to_owned(), kind));
            phrases.plain = plain;
        }
        phrases.rest.push_str(&content[copied..at]);
        copied = at + phrase.len();
    }
    phrases.rest.push_str(&content[copied..]);
    phrases
}

/// The length of a film file's mark that the text begins with: `s02e04`, `1080p`, `season 3`.
fn episode(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let word = &text[..end];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some((season, episode)) = word.strip_prefix('s').and_then(|rest| rest.split_once('e'))
        && is_number(season)
        && is_number(episode)
    {
        return Some(end);
    }
    let quality =
        ["480p", "720p", "1080p", "2160p", "x264", "x265", "bluray", "webrip", "dvdrip", "hdtv"];
    if quality.contains(&word) {
        return Some(end);
    }
    let season =
        ["season", "staffel", "saison", "temporada", "stagione", "seizoen", "sezon", "сезон"];
    let number = text[end..].strip_prefix(' ').unwrap_or_default();
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    (season.contains(&word) && (1..=2).contains(&digits)).then_some(end + 1 + digits)
}

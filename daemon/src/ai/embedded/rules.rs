//! The rules, each with the family of windows that it is for. The first that applies decides.

use super::{
    aim::Aim,
    catalogue::{self, Sort},
    phrases::Phrases,
    reading::Reading,
    spelling,
    tie::Tie,
};

/// How much shared words must tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// From here on they tie: one telling word, or one related and one common.
    pub some: f32,
    /// From here on they tie for certain: one telling word and a half.
    pub firm: f32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { some: 0.7, firm: 1.4 }
    }
}

/// What the embedded judge answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The window serves the commitment.
    OnTask {
        /// Whether there is no doubt; otherwise a better judge should look too.
        firm: bool,
    },
    /// It does not.
    Drifting,
    /// It cannot be told from the title.
    Unsure,
}

/// Why it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Empty pages and bare programs tell nothing.
    Blank,
    /// A site of pastime or private business that is the task itself and whose title fits: the
    /// flight search when a trip is the commitment.
    TaskItself,
    /// The same without a fitting title.
    MaybeTaskItself,
    /// Pastime site, but the title speaks of the very thing: the lecture's video.
    TiedPastime,
    /// Pastime site with a word in common that may be chance.
    MaybeTied,
    /// A private messenger whose title names more than a person or a group: it may be about the work.
    NamedTalk,
    /// Pastime site that teaches something: it may be a help.
    Teaching,
    /// A site of pastime or private business that has nothing to do with it.
    Pastime,
    /// A title that speaks of pastime, whatever shows it.
    PastimeWords,
    /// The title speaks of the thing.
    Tied,
    /// Nothing known speaks for or against.
    Unknown,
}

impl Rule {
    /// As explanations call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::TaskItself => "the task itself",
            Self::MaybeTaskItself => "perhaps the task itself",
            Self::TiedPastime => "pastime that is tied",
            Self::MaybeTied => "pastime with a word in common",
            Self::NamedTalk => "talk about something",
            Self::Teaching => "pastime that teaches",
            Self::Pastime => "pastime",
            Self::PastimeWords => "words of pastime",
            Self::Tied => "tied",
            Self::Unknown => "nothing known",
        }
    }
}

/// How many words of a folded title tell something.
fn telling_words(content: &str) -> usize {
    spelling::words(content).into_iter().filter(|word| catalogue::weight(word) > 0.0).count()
}

/// What the rules found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    pub(super) answer: Answer,
    pub(super) rule: Rule,
}

pub(super) fn decide(
    thresholds: &Thresholds,
    aim: &Aim,
    reading: &Reading,
    phrases: &Phrases,
    tie: &Tie,
) -> Finding {
    let Thresholds { some, firm } = *thresholds;
    let find = |answer, rule| Finding { answer, rule };
    if reading.blank {
        return find(Answer::Unsure, Rule::Blank);
    }
    let kind = reading.kind.map(catalogue::kind);
    let sort = kind.map(|kind| kind.sort);
    let concerned = reading.kind.is_some_and(|id| aim.concerns(id));
    let touched = reading.kind.is_some_and(|id| aim.touches(id));
    let pastime = phrases.pastime.is_some();
    let talk = kind.is_some_and(|kind| kind.talk);
    if reading.is_pastime() {
        let tied = if sort == Some(Sort::Apart) { firm } else { some };
        return if concerned && tie.strength >= some {
            find(Answer::OnTask { firm: tie.strength >= firm }, Rule::TaskItself)
        } else if touched && !pastime {
            find(Answer::Unsure, Rule::MaybeTaskItself)
        } else if tie.strength >= firm && !pastime {
            find(Answer::OnTask { firm: false }, Rule::TiedPastime)
        } else if tie.strength >= tied && !phrases.plain {
            find(Answer::Unsure, Rule::MaybeTied)
        } else if talk && !pastime && telling_words(&reading.content) >= 3 {
            find(Answer::Unsure, Rule::NamedTalk)
        } else if phrases.teaching && !pastime && sort != Some(Sort::Apart) {
            find(Answer::Unsure, Rule::Teaching)
        } else {
            find(Answer::Drifting, Rule::Pastime)
        };
    }
    if phrases.plain && tie.strength < some && !phrases.teaching && sort != Some(Sort::Work) {
        return find(Answer::Drifting, Rule::PastimeWords);
    }
    // A page that is not known may be about anything, so one word in common may be chance. Programs
    // that show a person's own files and the tools of a trade are seldom opened by chance.
    let own_files = sort == Some(Sort::Neutral) && !reading.by_site;
    let tied = if sort == Some(Sort::Work) || own_files { some } else { firm };
    if tie.strength >= tied && !pastime {
        return find(Answer::OnTask { firm: tie.strength >= firm }, Rule::Tied);
    }
    find(Answer::Unsure, Rule::Unknown)
}

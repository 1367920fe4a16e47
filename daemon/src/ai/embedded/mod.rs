//! The embedded judge: rules over a catalogue of sites, programs and words. No process, no network,
//! no model; three answers, of which «unsure» is the honest one. Pure.
//!
//! - `spelling`, `table`, `catalogue`: how words are compared, and what is known;
//! - `reading`: what a window shows; `aim`: what a commitment is about; `tie`: what both share;
//! - `rules`: what follows from it.

use antidrift_protocol::text::clean;

mod aim;
pub mod catalogue;
mod phrases;
mod reading;
mod reason;
mod rules;
mod spelling;
mod table;
mod tie;

pub use aim::Aim;
pub use catalogue::{Catalogue, CatalogueError, Entry};
pub use phrases::Phrases;
pub use reading::Reading;
pub use reason::Step;
pub use rules::{Answer, Rule, Thresholds};
pub use tie::Tie;

/// Most characters of a reason, as for every judge.
const REASON_MAX: usize = 300;

/// Most characters of a title that are read; context titles have fewer.
const TITLE_MAX: usize = 1024;
/// Most characters of a window class that are read.
const CLASS_MAX: usize = 256;

/// What the embedded judge says about a window, and why.
#[derive(Clone, Debug)]
pub struct Opinion {
    /// What it says.
    pub answer: Answer,
    /// The rule that decided.
    pub rule: Rule,
    /// The reason, for people. Holds text from the title.
    pub reason: String,
    /// What was seen.
    pub reading: Reading,
    /// What its title says in phrases.
    pub phrases: Phrases,
    /// What the title shares with the commitment.
    pub tie: Tie,
}

/// Judges one window by its class and its context title (the title without counters, spinners and
/// the browser's own name).
pub fn judge(catalogue: &Catalogue, aim: &Aim, class: &str, title: &str) -> Opinion {
    judge_with(catalogue, &Thresholds::default(), aim, class, title)
}

/// The same with other thresholds, for finding out how much they matter.
pub fn judge_with(
    catalogue: &Catalogue,
    thresholds: &Thresholds,
    aim: &Aim,
    class: &str,
    title: &str,
) -> Opinion {
    // Its text is shown in reasons, so what could act on a terminal goes first.
    let (class, title) = (clean(class, CLASS_MAX), clean(title, TITLE_MAX));
    let reading = reading::read(catalogue, &class, &title);
    let phrases = phrases::find(aim, &reading.content);
    let mut tie = tie::tie(aim, &phrases.rest, reading.kind);
    if !reading.is_pastime() {
        let tools = tie::tie(aim, &reading.tools, None);
        tie.strength += tools.strength;
        tie.words.extend(tools.words);
    }
    let finding = rules::decide(thresholds, aim, &reading, &phrases, &tie);
    let (answer, rule) = (finding.answer, finding.rule);
    let mut opinion = Opinion { answer, rule, reason: String::new(), reading, phrases, tie };
    opinion.reason = clean(&reason::reason(&opinion, aim), REASON_MAX);
    opinion
}

#[cfg(test)]
mod tests;

//! Verdicts in words: the one-line reason, and the steps behind it.

use super::{Answer, Opinion, Rule, aim::Aim, catalogue};

/// Most characters of a commitment that a reason repeats.
const QUOTED: usize = 60;

/// One line that says why, for a person who sees the window and knows the commitment. It stays the
/// same while a title changes within its site, so that an alert is not raised anew.
pub(super) fn reason(opinion: &Opinion, aim: &Aim) -> String {
    let set_out = quote(&aim.text);
    let kind = opinion.reading.kind.map(catalogue::kind);
    let label = kind.map_or("unknown", |kind| kind.label);
    let name = &opinion.reading.name;
    let shared =
        opinion.tie.words.iter().take(3).map(|word| quote(word)).collect::<Vec<_>>().join(", ");
    match opinion.rule {
        Rule::Pastime if shared.is_empty() => {
            format!("{name} is {label}; nothing in the title fits {set_out}")
        }
        Rule::Pastime => {
            format!(
                "{name} is {label}; that the title says {shared}, as {set_out} does, looks like chance"
            )
        }
        Rule::PastimeWords => {
            let phrase = opinion.phrases.pastime.as_ref();
            let (phrase, kind) = phrase.map_or(("", label), |(phrase, kind)| {
                (phrase.as_str(), catalogue::kind(*kind).label)
            });
            format!("{} in the title goes with {kind}; nothing in it fits {set_out}", quote(phrase))
        }
        Rule::TaskItself => format!("{set_out} is a task for {label}, and the title says {shared}"),
        Rule::Tied | Rule::TiedPastime => format!("the title says {shared}, as {set_out} does"),
        Rule::Blank => "the window shows nothing yet that could be told from".into(),
        Rule::MaybeTaskItself => format!("{name} is {label}, which may serve {set_out}"),
        Rule::MaybeTied => {
            format!("{name} is {label}, but the title says {shared}, as {set_out} does")
        }
        Rule::NamedTalk => {
            format!("{name} is {label}, but its title names something that may be the work")
        }
        Rule::Teaching => {
            format!("{name} is {label}, but the title looks like something to learn from")
        }
        Rule::Unknown => "nothing in the title speaks for or against it".into(),
    }
}

/// A step of the explanation: what was looked at, what came out, and the detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was looked at.
    pub step: &'static str,
    /// What came out, in a word or two.
    pub outcome: String,
    /// How, and what would change it.
    pub detail: String,
}

impl Opinion {
    /// How the answer came about, step by step.
    pub fn steps(&self) -> Vec<Step> {
        let step = |step, outcome: &str, detail: String| Step {
            step,
            outcome: outcome.to_owned(),
            detail,
        };
        let kind = self.reading.kind.map(catalogue::kind);
        let mut steps = Vec::new();
        steps.push(match kind {
            Some(kind) => {
                let by = if self.reading.by_site { "its title" } else { "its window class" };
                let detail = format!("{} is {} (kind {}, by {by})", self.reading.name, kind.label, kind.name);
                step("site or program", kind.name, detail)
            }
            None => {
                let detail = "no site of the catalogue is in the title, and the window class is not in it; \
                              [catalogue] in the configuration adds both";
                step("site or program", "unknown", detail.into())
            }
        });
        let text = &self.reading.content;
        steps.push(match text.is_empty() {
            true => step(
                "title",
                "empty",
                "beside names of sites and programs the title says nothing".into(),
            ),
            false => step("title", "read", format!("looked at: {text}")),
        });
        if let Some((phrase, kind)) = &self.phrases.pastime {
            let detail = format!("{} goes with {}", quote(phrase), catalogue::kind(*kind).label);
            steps.push(step("phrases", "pastime", detail));
        }
        if self.phrases.teaching {
            steps.push(step(
                "phrases",
                "teaching",
                "the title looks like something to learn from".into(),
            ));
        }
        let shared = self.tie.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", ");
        steps.push(match self.tie.words.is_empty() {
            true => step(
                "words in common",
                "none",
                "with the commitment, its next action or success condition".into(),
            ),
            false => {
                let detail = format!(
                    "{shared}; weight {:.1}, of which 0.7 is a tie and 1.4 a firm one",
                    self.tie.strength
                );
                step("words in common", "some", detail)
            }
        });
        let outcome = match self.answer {
            Answer::OnTask { firm: true } => "on task",
            Answer::OnTask { firm: false } => "on task, weakly",
            Answer::Drifting => "drifting",
            Answer::Unsure => "unsure",
        };
        steps.push(step("rule", outcome, format!("{}: {}", self.rule.name(), self.reason)));
        steps
    }
}

fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.truncate(short.trim_end().len());
        short.push('…');
    }
    format!("“{short}”")
}

//! `antidrift why`

use antidrift_protocol::{Command, Explained, NoArgs, text};
use serde_json::value::RawValue;

use super::Daemon;
use crate::{args::Json, exit::Failure, out};

pub(super) fn run(daemon: &Daemon, how: &Json) -> Result<(), Failure> {
    let answer: Box<RawValue> = daemon.ask(Command::Explain(NoArgs {}))?;
    super::show(&answer, how, |explained: Explained| out::print(&lines(&explained)))
}

/// One line a step: what was looked at, what came out, and how.
fn lines(explained: &Explained) -> String {
    let shown = |text: &str| text::terminal(text, 1024);
    let width = explained.steps.iter().map(|it| shown(&it.step).chars().count()).max().unwrap_or(0);
    let line = |it: &antidrift_protocol::ExplainedStep| {
        let (step, outcome, detail) = (shown(&it.step), shown(&it.outcome), shown(&it.detail));
        match (outcome.is_empty(), detail.is_empty()) {
            (true, _) => format!("{step:width$}  {detail}"),
            (false, true) => format!("{step:width$}  {outcome}"),
            (false, false) => format!("{step:width$}  {outcome}: {detail}"),
        }
    };
    explained.steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::ExplainedStep;

    use super::*;

    #[test]
    fn a_step_is_a_line_and_hostile_text_stays_in_it() {
        let step = |step: &str, outcome: &str, detail: &str| ExplainedStep {
            step: step.into(),
            outcome: outcome.into(),
            detail: detail.into(),
        };
        let steps = vec![
            step("window", "firefox", "title: \u{1b}[31mred\nnext"),
            step("rule", "drifting", ""),
            step("to change it", "", "antidrift ontask"),
        ];
        let text = lines(&Explained { steps });
        assert_eq!(
            text,
            "window        firefox: title: red next\nrule          drifting\nto change it  antidrift ontask"
        );
    }
}

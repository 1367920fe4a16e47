//! How the status of a window came about, step by step, in the pipeline's own order.

use antidrift_protocol::{
    Answer, ErrorCode, ErrorObject, Explained, ExplainedStep, Previewed, cut, text::clean,
};

use super::{Session, Stage, active::Active, requests, target::Hint};
use crate::evidence::{Window, context_title, reason_of};

/// Most bytes of a detail.
const MAX_DETAIL: usize = 1024;
/// Most bytes of an outcome.
const MAX_OUTCOME: usize = 64;

impl Session {
    pub(super) fn explain(&mut self, lineage: &[u32]) -> Result<Answer, ErrorObject> {
        let active = requests::active_of(&self.stage)?;
        let aside = self.aside_step(active);
        let Some(target) = self.target(active, Hint { lineage, ..Hint::default() })? else {
            let alone = aside.map(|aside| Answer::Explain(Explained { steps: vec![aside] }));
            return alone.ok_or_else(|| no_window("to explain"));
        };
        let window = target.window;
        // The opinion may be younger than the status, but it is the same.
        if let Stage::Active(active) = &self.stage {
            self.embedded.consult(active, &window);
        }
        let active = requests::active_of(&self.stage)?;
        let mut steps: Vec<_> = aside.into_iter().collect();
        steps.push(step("window", clean(&window.class, MAX_OUTCOME / 4), looked_at(&window)));
        steps.push(self.allowed_step(active, &window));
        let key = self.settings.contexts.key(&window);
        steps.push(match self.cache.get(&key) {
            Some(verdict) => {
                let outcome = if verdict.on_task { "on task" } else { "drifting" };
                let detail = format!("{}; antidrift refocus forgets it", verdict.reason);
                step("cache", outcome, detail)
            }
            None => step("cache", "empty", "no judge has said anything about this window"),
        });
        match self.embedded.opinion(&window) {
            Some(opinion) => steps
                .extend(opinion.steps().into_iter().map(|it| step(it.step, it.outcome, it.detail))),
            None => steps.push(step("embedded judge", "off", self.embedded_is_off())),
        }
        steps.push(self.model_step());
        steps.push(step("to change it", "", self.advice(active, &window)));
        Ok(Answer::Explain(Explained { steps }))
    }

    /// What would be sent about the window meant, byte for byte, and to whom.
    pub(super) fn preview(&self, lineage: &[u32]) -> Result<Answer, ErrorObject> {
        let active = requests::active_of(&self.stage)?;
        let target = self.target(active, Hint { lineage, ..Hint::default() })?;
        let window = target.ok_or_else(|| no_window("that could be sent"))?.window;
        let judge = &self.settings.judge;
        let why_not = if !judge.model {
            Some(format!("the judge is «{}», and that is no model", judge.backend))
        } else if self.judge.is_spent() {
            Some(self.spent())
        } else {
            self.settings.privacy.withheld(&window).map(str::to_owned)
        };
        let text = match &why_not {
            Some(_) => String::new(),
            None => crate::ai::prompt::judge(&self.question(active, &window)),
        };
        Ok(Answer::Preview(Previewed {
            backend: judge.backend.clone(),
            destination: judge.destination,
            text,
            withheld: why_not,
        }))
    }

    /// Why the window is not judged now, whatever the steps behind this one come to.
    fn aside_step(&self, active: &Active) -> Option<ExplainedStep> {
        if active.is_paused() {
            let detail = "the session is paused; antidrift resume goes on";
            return Some(step("pause", "not judged", detail));
        }
        if let Some(away) = self.presence.away {
            let detail = "nobody is there; it goes on when somebody is";
            return Some(step("away", format!("not judged ({})", away.as_str()), detail));
        }
        let text = active.detour()?;
        let detail = format!("antidrift resume ends it; it is for «{text}»");
        Some(step("detour", "every window is on task", detail))
    }

    fn allowed_step(&self, active: &Active, window: &Window) -> ExplainedStep {
        let (outcome, detail) = match active.matcher.covers(window) {
            Some(by) => ("allowed", reason_of(by)),
            None => ("not allowed", "no class, title, domain or command that is allowed covers it"),
        };
        step("allowed", outcome, detail)
    }

    fn embedded_is_off(&self) -> String {
        format!(
            "the judge is «{}», and prefilter = true is not set under [judge]",
            self.settings.judge.backend
        )
    }

    fn model_step(&self) -> ExplainedStep {
        let judge = &self.settings.judge;
        if !judge.model {
            return step(
                "model",
                "none",
                judge.error.clone().unwrap_or_else(|| "no model is configured".into()),
            );
        }
        if self.judge.is_spent() {
            return step("model", "used up", self.spent());
        }
        if self.judge.backs_off_until(self.now).is_some() {
            let error = self.judge.last_error.clone().unwrap_or_default();
            return step("model", "waits after a failure", format!("{}: {error}", judge.backend));
        }
        let outcome = if self.judge.run.is_some() { "running" } else { "ready" };
        step(
            "model",
            outcome,
            format!("«{}» is asked about what nothing before it decides", judge.backend),
        )
    }

    fn spent(&self) -> String {
        let calls = self.judge.calls;
        format!("this session has had its {calls} judgements (max_per_session under [judge])")
    }

    fn advice(&self, active: &Active, window: &Window) -> String {
        if active.matcher.covers(window).is_some() {
            return "start a session that does not allow it".into();
        }
        let entry = if self.settings.contexts.is_many_context(&window.class) {
            format!(
                "allows its title, antidrift ontask --class {} all of its windows",
                window.class
            )
        } else {
            format!("allows the class {}", window.class)
        };
        format!(
            "antidrift ontask {entry}; [catalogue] in the configuration adds sites and programs"
        )
    }
}

fn no_window(nothing: &str) -> ErrorObject {
    let message = format!("no window has the focus, so there is nothing {nothing}");
    ErrorObject::new(ErrorCode::NoWindow, message)
}

fn looked_at(window: &Window) -> String {
    let title = context_title(&window.title);
    if title.is_empty() { "it has no title".into() } else { format!("title: {title}") }
}

fn step(step: &str, outcome: impl Into<String>, detail: impl Into<String>) -> ExplainedStep {
    let bounded = |text: String, most: usize| cut(&clean(&text, most), most).to_owned();
    ExplainedStep {
        step: step.into(),
        outcome: bounded(outcome.into(), MAX_OUTCOME),
        detail: bounded(detail.into(), MAX_DETAIL),
    }
}

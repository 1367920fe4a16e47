//! What a client may ask.

use antidrift_protocol::{
    Added, Allow, Allowance, Allowed, Allowing, Answer, Changed, ClearedWhy, Command, Complete,
    Completed, Destination, ErrorCode, ErrorObject, GiveReview, MAX_ALLOWED, MAX_ENTRIES,
    MAX_ENTRY, OfWindow, Ontask, Presets, Refocus, Refocused, Review, Reviewed, Selector,
    SensorStatus, Start, Started, State, Status as StatusAnswer, Timestamp, text::clean,
};

use super::{
    JudgeSettings, Session, Stage, Step,
    active::Active,
    present::left_alone,
    target::{Hint, Target},
    view,
};
use crate::evidence::{Window, context_title, normal_form};

impl Session {
    pub(super) fn request(
        &mut self,
        command: Command,
        lineage: &[u32],
        step: &mut Step,
    ) -> Result<Answer, ErrorObject> {
        match command {
            Command::Status(_) => Ok(Answer::Status(Box::new(StatusAnswer {
                seq: 0,
                at: Timestamp::default(),
                state: State::default(),
            }))),
            Command::Start(start) => self.start(start, step),
            Command::Refocus(refocus) => self.refocus(&refocus, lineage, step),
            Command::Allow(allow) => self.allow(&allow, step),
            Command::Ontask(ontask) => self.ontask(&ontask, lineage, step),
            Command::Complete(complete) => self.complete(complete, step),
            Command::End(_) => self.end(step),
            Command::Pause(pause) => self.pause(&pause, step),
            Command::Resume(_) => self.resume(step),
            Command::Extend(extend) => self.extend(extend.secs, step),
            Command::Detour(detour) => self.take_detour(detour, lineage, step),
            Command::Review(review) => self.review(review, step),
            Command::Forget(_) => Ok(self.forget(step)),
            Command::Explain(_) => self.explain(lineage),
            Command::Preview(_) => self.preview(lineage),
            Command::Presets(_) => Ok(Answer::Presets(Box::new(Presets {
                presets: self.settings.presets.clone(),
                last: self.last.clone(),
            }))),
            Command::Hello(_)
            | Command::Windows(_)
            | Command::History(_)
            | Command::Propose(_)
            | Command::CheckJudge(_)
            | Command::Reload(_)
            | Command::Subscribe(_) => Err(ErrorObject::new(
                ErrorCode::Internal,
                "the connection should have answered this itself",
            )),
        }
    }

    fn start(&mut self, start: Start, step: &mut Step) -> Result<Answer, ErrorObject> {
        if let Stage::Active(_) = self.stage {
            return Err(ErrorObject::new(
                ErrorCode::SessionExists,
                "a session is active already; end it with antidrift complete first",
            ));
        }
        let notes = self.notes(&start);
        self.stage = Stage::Active(Box::new(Active::begin(start, self.now)));
        self.forget_verdicts();
        self.judge.begin_session();
        step.save = true;
        Ok(Answer::Start(Box::new(Started {
            seq: 0,
            at: Timestamp::default(),
            saved: true,
            warning: None,
            state: State::default(),
            notes,
        })))
    }

    /// What a person who starts a session should know about what will not be seen.
    fn notes(&mut self, start: &Start) -> Vec<String> {
        let mut notes = Vec::new();
        if !start.allowed.domains.is_empty() {
            notes.push(
                "domains are seen only where an address stands in the window title".to_owned(),
            );
        }
        let sensor = &self.focused.sensor;
        match (sensor.status, &sensor.detail) {
            (SensorStatus::Ok, None) => {}
            (SensorStatus::Ok, Some(detail)) => notes.push(detail.clone()),
            (_, Some(detail)) => notes.push(format!("windows are not seen yet: {detail}")),
            (_, None) => notes.push("windows are not seen yet".to_owned()),
        }
        if self.settings.judge.destination == Some(Destination::Cloud)
            && self.settings.judge.model
            && !std::mem::replace(&mut self.judge.told_of_cloud, true)
        {
            notes.push(cloud_note(&self.settings.judge.backend));
        }
        notes.extend(self.note_of_missing_judge(start));
        notes
    }

    /// One note on a judge that is not there, whatever else is not.
    fn note_of_missing_judge(&self, start: &Start) -> Option<String> {
        let JudgeSettings { backend, error, .. } = &self.settings.judge;
        let what = match (error, self.judge.is_off()) {
            (None, false) => return None,
            (Some(error), false) => {
                return Some(format!(
                    "«{backend}» is off, and the embedded judge goes on alone: {error}"
                ));
            }
            (Some(error), true) => format!("the judge is off: {error}"),
            (None, true) => "no judge is configured".to_owned(),
        };
        Some(if start.allowed.size() == 0 {
            format!(
                "{what}; nothing is allowed either, so nothing can be told yet: allow windows with \
                 antidrift ontask"
            )
        } else {
            format!("{what}; only what you allow is recognised, and nothing else counts as drift")
        })
    }

    fn ontask(
        &mut self,
        ontask: &Ontask,
        lineage: &[u32],
        step: &mut Step,
    ) -> Result<Answer, ErrorObject> {
        let active = active_of(&self.stage)?;
        let (alert, or_left) = (ontask.alert, ontask.or_left.unwrap_or(false));
        let target = self.target(active, Hint { alert, or_left, lineage })?;
        let (selector, value) = match (ontask.selector(), &target) {
            (Some((selector, value)), _) => (selector, value.to_owned()),
            (None, Some(target)) => self.entry_for(&target.window, ontask.of_window)?,
            (None, None) => {
                return Err(ErrorObject::new(
                    ErrorCode::NoWindow,
                    "no window has the focus; say what is on task with --class, --title, \
                     --domain or --command",
                ));
            }
        };
        let covered = ontask.selector().is_none()
            && ontask.of_window.is_none()
            && target.as_ref().is_some_and(|it| active.matcher.covers(&it.window).is_some());
        let Stage::Active(active) = &mut self.stage else { return Err(not_active()) };
        let mut allowed = active.allowed.clone();
        let added = if covered { None } else { add(&mut allowed, selector, value)? };
        if added.is_some() {
            active.allow(allowed);
        }
        // What is allowed names tools, which tie titles to the commitment.
        self.embedded.forget();
        if let Some(target) = &target {
            self.answer_alert(target, ClearedWhy::Ontask, step);
        }
        step.save = true;
        let window = target.map(|target| view::window(&target.window));
        Ok(Answer::Ontask(Allowing { seq: 0, saved: true, warning: None, added, window }))
    }

    /// Takes entries out of the allowed context, adds others, or only tells it. All or nothing.
    fn allow(&mut self, allow: &Allow, step: &mut Step) -> Result<Answer, ErrorObject> {
        let mut allowed = active_of(&self.stage)?.allowed.clone();
        for (selector, entry) in entries(&allow.remove) {
            take_out(&mut allowed, selector, entry)?;
        }
        for (selector, entry) in entries(&allow.add) {
            add(&mut allowed, selector, entry.to_owned())?;
        }
        let Stage::Active(active) = &mut self.stage else { return Err(not_active()) };
        if allowed != active.allowed {
            active.allow(allowed.clone());
            self.embedded.forget();
            step.save = true;
        }
        Ok(Answer::Allow(Allowance { seq: 0, saved: true, warning: None, allowed }))
    }

    /// What is added for a window when nobody says what: a program by its class, anything that
    /// holds many contexts by its context title (design rule 14).
    fn entry_for(
        &self,
        window: &Window,
        of_window: Option<OfWindow>,
    ) -> Result<(Selector, String), ErrorObject> {
        let refuse = |problem: &str| {
            Err(ErrorObject::new(
                ErrorCode::NoWindow,
                format!(
                    "{problem}; say what is on task with --class, --title, --domain or --command"
                ),
            ))
        };
        let natural = if self.settings.contexts.is_many_context(&window.class) {
            OfWindow::WindowTitle
        } else {
            OfWindow::WindowClass
        };
        let (selector, value) = match of_window.unwrap_or(natural) {
            OfWindow::WindowTitle => (Selector::WindowTitle, context_title(&window.title)),
            OfWindow::WindowClass => (Selector::WindowClass, window.class.clone()),
        };
        if value.trim().is_empty() {
            return refuse(match of_window {
                None => "the window has neither a class of its own nor a title to go by",
                Some(OfWindow::WindowClass) => "the window has no class",
                Some(OfWindow::WindowTitle) => "the window has no title",
            });
        }
        if value.len() > MAX_ENTRY || value.chars().any(char::is_control) {
            return refuse("the window's class cannot be an entry");
        }
        Ok((selector, value))
    }

    fn refocus(
        &mut self,
        refocus: &Refocus,
        lineage: &[u32],
        step: &mut Step,
    ) -> Result<Answer, ErrorObject> {
        let active = active_of(&self.stage)?;
        let (alert, or_left) = (refocus.alert, refocus.or_left.unwrap_or(false));
        let target = self.target(active, Hint { alert, or_left, lineage })?;
        let by_default = refocus.alert.is_some() && self.settings.notify.activate;
        // Until the window has the focus, it has not.
        let activated = refocus.activate.unwrap_or(by_default).then_some(false);
        step.effects.activate = activated.and_then(|_| active.last_ontask.clone());
        if let Some(target) = &target {
            self.answer_alert(target, ClearedWhy::Refocus, step);
            if target.is_present
                && let Some(present) = &mut self.focused.present
            {
                let pause = left_alone(self.settings.debounce);
                present.left_alone_until = Some(self.now.awake + pause);
            }
        }
        // Whoever goes back to task wants no pause and no detour any more.
        self.end_interlude(step);
        step.save = true;
        Ok(Answer::Refocus(Refocused {
            seq: 0,
            saved: true,
            warning: None,
            window: target.map(|target| view::window(&target.window)),
            activated,
        }))
    }

    /// A person has spoken about this window: the judge's word about it is void, and so is a
    /// judgement of it that is under way.
    fn answer_alert(&mut self, target: &Target, why: ClearedWhy, step: &mut Step) {
        self.cache.forget(&target.key);
        if self.judge.run.as_ref().is_some_and(|run| run.key == target.key) {
            self.cancel_judge(step);
        }
        let Stage::Active(active) = &mut self.stage else { return };
        active.left.take_if(|left| left.key == target.key);
        if target.is_present {
            if active.status.is_about(&target.key) {
                active.clear_alert(why, self.now, step);
            }
            if let Some(present) = &mut self.focused.present {
                present.judged_by = None;
                present.counted = None;
            }
        }
    }

    fn complete(&mut self, complete: Complete, step: &mut Step) -> Result<Answer, ErrorObject> {
        active_of(&self.stage)?;
        self.cancel_judge(step);
        let Stage::Active(active) = &mut self.stage else { return Err(not_active()) };
        active.clear_alert(ClearedWhy::Completed, self.now, step);
        self.last = Some(active.as_started());
        let ended = active.end(complete.outcome, complete.note, self.now);
        let review: Review = ended.review.clone();
        let record = ended.record();
        self.stage = Stage::Review(Box::new(ended));
        self.keep(record, step);
        self.forget_verdicts();
        step.save = true;
        Ok(Answer::Complete(Completed { seq: 0, saved: true, warning: None, review }))
    }

    /// Notes how a session went that is over, where that is said, and tells the session.
    fn review(&mut self, review: GiveReview, step: &mut Step) -> Result<Answer, ErrorObject> {
        let Stage::Review(ended) = &mut self.stage else {
            let message = "there is no session to review; antidrift complete ends one";
            return Err(ErrorObject::new(ErrorCode::NotInReview, message));
        };
        let GiveReview { outcome, note } = review;
        let changes = outcome.is_some() || note.is_some();
        ended.review.outcome = outcome.or(ended.review.outcome);
        ended.review.note = note.or(ended.review.note.take());
        let (record, forgotten) = (ended.record(), ended.forgotten);
        step.save = changes;
        if changes && !forgotten {
            self.keep(record.clone(), step);
        }
        Ok(Answer::Review(Box::new(Reviewed { seq: 0, saved: true, warning: None, record })))
    }

    /// Forgets the sessions that are over; those in the history are the connection's own, and it
    /// answers. One under review is shown on until it is left, and not kept any more.
    fn forget(&mut self, step: &mut Step) -> Answer {
        self.unkept.clear();
        if let Stage::Review(ended) = &mut self.stage {
            ended.forgotten = true;
        }
        step.save = true;
        Answer::End(Changed { seq: 0, saved: true, warning: None })
    }

    fn end(&mut self, step: &mut Step) -> Result<Answer, ErrorObject> {
        let message = match self.stage {
            Stage::Review(_) => {
                self.stage = Stage::Planning;
                step.save = true;
                return Ok(Answer::End(Changed { seq: 0, saved: true, warning: None }));
            }
            Stage::Active(_) => "the session is still active; antidrift complete ends it",
            Stage::Planning => "there is no review to leave",
        };
        Err(ErrorObject::new(ErrorCode::NotInReview, message))
    }

    pub(super) fn forget_verdicts(&mut self) {
        self.cache.clear();
        self.embedded.forget();
        if let Some(present) = &mut self.focused.present {
            present.left_alone_until = None;
            present.judged_by = None;
            present.counted = None;
        }
    }
}

/// What is said once about a judge that is somewhere else.
pub fn cloud_note(backend: &str) -> String {
    format!(
        "the class and title of windows that nothing else decides, and your commitment, go to \
         {backend} (cloud); antidrift preview shows what, [privacy] keeps windows back"
    )
}

pub(super) fn not_active() -> ErrorObject {
    ErrorObject::new(ErrorCode::NotActive, "no session is active; begin one with antidrift start")
}

pub(super) fn active_of(stage: &Stage) -> Result<&Active, ErrorObject> {
    match stage {
        Stage::Active(active) => Ok(active),
        Stage::Planning | Stage::Review(_) => Err(not_active()),
    }
}

/// Every entry with its list.
fn entries(allowed: &Allowed) -> impl Iterator<Item = (Selector, &str)> {
    let of = |selector| allowed.list(selector).iter().map(move |entry| (selector, entry.as_str()));
    Selector::ALL.into_iter().flat_map(of)
}

/// Takes out what matches the same windows as `entry`.
fn take_out(allowed: &mut Allowed, selector: Selector, entry: &str) -> Result<(), ErrorObject> {
    let form = normal_form(selector, entry);
    let list = allowed.list_mut(selector);
    let before = list.len();
    list.retain(|known| normal_form(selector, known) != form);
    if list.len() < before {
        return Ok(());
    }
    let message = format!("«{}» is not among the allowed {}", clean(entry, 64), plural(selector));
    Err(ErrorObject::new(ErrorCode::NoEntry, message))
}

fn plural(selector: Selector) -> &'static str {
    match selector {
        Selector::WindowClass => "window classes",
        Selector::WindowTitle => "window titles",
        Selector::WindowTitleSubstring => "title texts",
        Selector::Domain => "domains",
        Selector::Command => "commands",
    }
}

/// Adds one entry. `None` if the list has it already.
fn add(
    allowed: &mut Allowed,
    selector: Selector,
    value: String,
) -> Result<Option<Added>, ErrorObject> {
    let form = normal_form(selector, &value);
    let list = allowed.list_mut(selector);
    if list.iter().any(|entry| normal_form(selector, entry) == form) {
        return Ok(None);
    }
    let full = list.len() >= MAX_ENTRIES;
    list.push(value.clone());
    let too_large = allowed.size() > MAX_ALLOWED;
    if full || too_large {
        let class_fits = !too_large && allowed.window_classes.len() < MAX_ENTRIES;
        return Err(ErrorObject::new(
            ErrorCode::ListFull,
            format!(
                "the list of allowed {} is full ({MAX_ENTRIES} entries, {} KiB in all); {}",
                plural(selector),
                MAX_ALLOWED / 1024,
                if class_fits {
                    "allow the whole program with --class"
                } else {
                    "end the session and begin one that allows less with antidrift start"
                }
            ),
        ));
    }
    Ok(Some(Added { kind: selector.as_str().into(), value }))
}

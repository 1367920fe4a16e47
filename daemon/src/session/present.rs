//! The window that has the focus: how long it has had it, which context it shows, and its title as
//! it is shown.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use antidrift_protocol::{DriftSource, Sensor, SensorStatus};

use super::{RunId, Settings, active::Alert};
use crate::{
    evidence::{ContextKey, Contexts, Window, context_title, domain_in_title},
    sensor::{Focus, Health},
};

/// How long nothing must have the focus before that is shown: window managers pass through it on
/// every switch. A tenth of a second in all (design rule 16), of which the sensor takes its 25 ms.
const NO_WINDOW_DELAY: Duration = Duration::from_millis(75);
/// A title that changes within its context is shown when it has not changed for this long …
const TITLE_REST: Duration = Duration::from_millis(90);
/// … or when this long has passed since the last time.
const TITLE_PACE: Duration = Duration::from_secs(1);
/// Most classes that are remembered for the coach.
const MAX_RECENT: usize = 32;
/// Keys in a row that may be short before a title counts as never resting.
const RESTLESS_KEYS: u8 = 3;

/// What the sensor sees.
#[derive(Debug)]
pub(super) struct Focused {
    pub(super) sensor: Sensor,
    pub(super) present: Option<Present>,
    /// When «nothing has the focus» becomes true, if nothing comes.
    leaving_at: Option<Duration>,
    /// Counts the changes of window.
    pub(super) switches: u64,
    /// Classes that had the focus lately, the newest first.
    pub(super) recent: VecDeque<String>,
}

impl Default for Focused {
    /// Before the sensor has said anything.
    fn default() -> Self {
        let status = SensorStatus::Connecting;
        let sensor = Sensor { kind: "x11".into(), status, detail: None };
        Self { sensor, present: None, leaving_at: None, switches: 0, recent: VecDeque::new() }
    }
}

/// The window that has the focus.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) window: Arc<Window>,
    /// The same window with the title that is shown; see [`TITLE_PACE`].
    pub(super) shown: Arc<Window>,
    shown_at: Duration,
    show_at: Option<Duration>,
    pub(super) key: ContextKey,
    /// Since when this window and key have the focus.
    pub(super) since: Duration,
    title: TitleRest,
    /// Not looked at until then, after `refocus`.
    pub(super) left_alone_until: Option<Duration>,
    /// The judgement that was made for this very stay; without it a verdict is a cached one.
    pub(super) judged_by: Option<RunId>,
    /// The stage that was counted as deciding this stay.
    pub(super) counted: Option<DriftSource>,
}

/// Whether a many-context window's title ever rests (design rule 13).
#[derive(Debug)]
struct TitleRest {
    /// The key that the title makes, whether it is used or not.
    key: ContextKey,
    since: Duration,
    short: u8,
}

impl TitleRest {
    fn is_restless(&self) -> bool {
        self.short >= RESTLESS_KEYS
    }

    fn rests_at(&self, settle: Duration) -> Option<Duration> {
        self.is_restless().then(|| self.since + settle)
    }
}

impl Focused {
    pub(super) fn observe(
        &mut self,
        health: Health,
        focus: Focus,
        settings: &Settings,
        now: Duration,
    ) {
        let (status, detail) = match health {
            Health::Ok(detail) => (SensorStatus::Ok, detail),
            Health::Connecting(detail) => (SensorStatus::Connecting, Some(detail)),
            Health::Unavailable(detail) => (SensorStatus::Unavailable, Some(detail)),
        };
        self.sensor = Sensor { kind: "x11".into(), status, detail };
        match focus {
            Focus::Nothing => {
                if self.present.is_some() && self.leaving_at.is_none() {
                    self.leaving_at = Some(now + NO_WINDOW_DELAY);
                }
            }
            Focus::Window(window) if self.is_passed_over(&window, settings) => {
                self.leaving_at = None;
            }
            Focus::Window(window) => {
                self.leaving_at = None;
                let window = with_domain(window);
                self.remember(&window.class);
                match &mut self.present {
                    Some(present) if present.window.id == window.id => {
                        present.update(window, settings, now);
                    }
                    present => {
                        *present = Some(Present::new(window, &settings.contexts, now));
                        self.switches += 1;
                    }
                }
            }
        }
    }

    /// Dialogs of other programs, and our own view: the window before them holds. A terminal that
    /// had the focus before the view began in it is looked at by the pipeline.
    fn is_passed_over(&self, window: &Window, settings: &Settings) -> bool {
        let elsewhere = || self.present.as_ref().is_some_and(|it| it.window.id != window.id);
        settings.contexts.is_ignored(&window.class) || (window.is_our_view() && elsewhere())
    }

    fn remember(&mut self, class: &str) {
        if self.recent.front().is_some_and(|newest| newest == class) || class.trim().is_empty() {
            return;
        }
        self.recent.retain(|known| known != class);
        self.recent.push_front(class.to_owned());
        self.recent.truncate(MAX_RECENT);
    }

    pub(super) fn run_timers(&mut self, settings: &Settings, now: Duration) {
        if self.leaving_at.is_some_and(|at| at <= now) {
            self.leaving_at = None;
            self.present = None;
            self.switches += 1;
        }
        if let Some(present) = &mut self.present {
            present.run_timers(settings, now);
        }
    }

    pub(super) fn deadlines(&self, settings: &Settings) -> [Option<Duration>; 3] {
        let present = self.present.as_ref();
        [
            self.leaving_at,
            present.and_then(|present| present.show_at),
            present.and_then(|present| present.title.rests_at(settings.settle)),
        ]
    }
}

/// An address in the title is the only source of a domain that X11 has; a dialog's parent has one
/// of its own.
fn with_domain(window: Arc<Window>) -> Arc<Window> {
    let of = |window: &Window| match window.domain {
        None => domain_in_title(&window.title),
        Some(_) => None,
    };
    let (own, parents) = (of(&window), window.parent.as_deref().and_then(of));
    if own.is_none() && parents.is_none() {
        return window;
    }
    let mut window = Arc::unwrap_or_clone(window);
    window.domain = own.or(window.domain);
    if let (Some(parent), Some(domain)) = (&mut window.parent, parents) {
        parent.domain = Some(domain);
    }
    Arc::new(window)
}

impl Present {
    pub(super) fn new(window: Arc<Window>, contexts: &Contexts, now: Duration) -> Self {
        let key = contexts.key(&window);
        Self {
            shown: Arc::clone(&window),
            window,
            shown_at: now,
            show_at: None,
            title: TitleRest { key: key.clone(), since: now, short: 0 },
            key,
            since: now,
            left_alone_until: None,
            judged_by: None,
            counted: None,
        }
    }

    /// Takes a newer look at the same window.
    fn update(&mut self, window: Arc<Window>, settings: &Settings, now: Duration) {
        let natural = settings.contexts.key(&window);
        if natural != self.title.key {
            let short = now.saturating_sub(self.title.since) < settings.settle;
            self.title = TitleRest {
                key: natural,
                since: now,
                short: if short { self.title.short.saturating_add(1) } else { 0 },
            };
        }
        let key = if self.title.is_restless() {
            settings.contexts.key_by_id(&window)
        } else {
            self.title.key.clone()
        };
        let same_place = key == self.key;
        let before = std::mem::replace(&mut self.window, window);
        if !same_place {
            self.enter(key, now);
        }
        self.calm_title(&before, same_place, now);
    }

    /// The window now shows another context.
    fn enter(&mut self, key: ContextKey, since: Duration) {
        self.key = key;
        self.since = since;
        self.left_alone_until = None;
        self.judged_by = None;
        self.counted = None;
    }

    /// Looks at it as if it had just come: it has to settle before anybody is alarmed.
    pub(super) fn begin_afresh(&mut self, now: Duration) {
        self.since = now;
        self.counted = None;
    }

    /// Decides when a changed title is shown: at once where the context changed, else calmly.
    fn calm_title(&mut self, before: &Window, same_place: bool, now: Duration) {
        let only_title = {
            let (old, new) = (&self.shown, &self.window);
            (&old.class, &old.instance, &old.command) == (&new.class, &new.instance, &new.command)
        };
        if !same_place || !only_title {
            return self.show(now);
        }
        if self.window.title == self.shown.title {
            self.show_at = None;
            // A parent or domain may differ; neither is worth a line of its own later.
            return self.show_quietly();
        }
        if self.window.title == before.title {
            return;
        }
        let paced = self.shown_at + TITLE_PACE;
        // A counter or a spinner may take its second; a new text is waited for only while it moves.
        let decoration = context_title(&self.window.title) == context_title(&self.shown.title);
        let due = if decoration { paced } else { paced.min(now + TITLE_REST) };
        if paced <= now {
            self.show(now);
        } else {
            self.show_at = Some(due);
        }
    }

    fn show(&mut self, now: Duration) {
        self.show_quietly();
        self.show_at = None;
        self.shown_at = now;
    }

    fn show_quietly(&mut self) {
        self.shown = Arc::clone(&self.window);
    }

    fn run_timers(&mut self, settings: &Settings, now: Duration) {
        if self.show_at.is_some_and(|at| at <= now) {
            self.show(now);
        }
        if self.title.rests_at(settings.settle).is_some_and(|at| at <= now) {
            self.title.short = 0;
            // It has rested as long as a settled window has: nothing more to wait for.
            let (key, since) = (self.title.key.clone(), self.title.since);
            if key != self.key {
                self.enter(key, since);
            }
        }
        if self.left_alone_until.is_some_and(|at| at <= now) {
            self.left_alone_until = None;
        }
    }

    /// When the window has settled.
    pub(super) fn settled_at(&self, settle: Duration) -> Duration {
        self.since + settle
    }

    /// Where a verdict about this stay comes from.
    pub(super) fn verdict_source(&self) -> DriftSource {
        if self.judged_by.is_some() { DriftSource::Judge } else { DriftSource::Cache }
    }

    /// Whether this is still the window and context that an alert is about.
    pub(super) fn shows(&self, alert: &Alert) -> bool {
        self.window.id == alert.window.id && self.key == alert.key
    }
}

/// How long the window that `refocus` meant is left alone if it keeps the focus: three debounces
/// (design rule 15), and never so short that nobody sees it.
pub(super) fn left_alone(debounce: Duration) -> Duration {
    (debounce * 3).max(Duration::from_secs(1))
}

//! When a popup is raised: at most once a minute for one context, one about drift at a time, and
//! none on a locked screen.

use std::{collections::VecDeque, time::Duration};

use antidrift_protocol::Window;

use super::model::{Alert, Effect};
use crate::notify::{Kind, Popup, Subject};

/// A popup of one context comes at most this often.
const REST: Duration = Duration::from_secs(60);
/// Contexts that are remembered; each for [`REST`] only, so more do not come in practice.
const MEMORY: usize = 64;
/// Popups that wait for the screen to be unlocked.
const WAITING: usize = 4;

#[derive(Debug)]
pub(crate) struct Popups {
    wanted: bool,
    /// Whether another watch raises them.
    holder: bool,
    /// Whether the screen is locked: then nobody sees one.
    locked: bool,
    recent: VecDeque<(String, Duration)>,
    /// The alert whose popup is up.
    up: Option<u64>,
    /// Whether the popup that says that the time is up is up.
    time_up: bool,
    /// The alert whose popup waits, how often it was reminded of, and until when it waits.
    later: Option<(u64, u64, Duration)>,
    waiting: VecDeque<Popup>,
}

impl Popups {
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            holder: false,
            locked: false,
            recent: VecDeque::new(),
            up: None,
            time_up: false,
            later: None,
            waiting: VecDeque::new(),
        }
    }

    /// From now on they are ours to raise. An alert that stands is shown by [`due`](Self::due).
    pub(crate) fn hold(&mut self) {
        self.holder = true;
    }

    /// The screen was locked or unlocked.
    pub(crate) fn lock(&mut self, locked: bool) {
        self.locked = locked;
    }

    /// The daemon that it was all about is no more.
    pub(crate) fn forget(&mut self) {
        self.recent.clear();
        self.waiting.clear();
        self.later = None;
    }

    /// An alert was raised, or is reminded of. While another watch raises the popups it only waits,
    /// in case that one goes.
    pub(crate) fn alert(&mut self, alert: &Alert, reminder: u64, now: Duration) -> Option<Effect> {
        if !self.wanted {
            return None;
        }
        self.recent.retain(|(_, shown)| now.saturating_sub(*shown) < REST);
        let context = context(alert.window.as_ref());
        let shown = self.recent.iter().find(|(known, _)| *known == context).map(|(_, at)| *at);
        if !self.holder || self.locked || shown.is_some() {
            let due = shown.map_or(now, |shown| shown + REST);
            self.later = Some((alert.number, reminder, due));
            return None;
        }
        if self.recent.len() == MEMORY {
            self.recent.pop_front();
        }
        self.recent.push_back((context, now));
        self.later = None;
        self.up = Some(alert.number);
        Some(Effect::Raise(drift_popup(alert, reminder, now)))
    }

    /// The alert is over.
    pub(crate) fn withdraw(&mut self) -> Option<Effect> {
        self.later = None;
        self.up.take().map(|_| Effect::Withdraw(Subject::Drift))
    }

    /// The time is not up any more: there is more of it, or the session is over.
    pub(crate) fn time_goes_on(&mut self) -> Option<Effect> {
        self.waiting.retain(|popup| popup.kind != Kind::TimeUp);
        std::mem::take(&mut self.time_up).then_some(Effect::Withdraw(Subject::Time))
    }

    /// Whether the popup that says that the time is up still asks something.
    pub(crate) fn asks_about_time(&self) -> bool {
        self.time_up
    }

    /// A popup that is about no alert.
    pub(crate) fn queue(&mut self, popup: Popup) {
        if !self.wanted || !self.holder {
            return;
        }
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(popup);
    }

    /// What can be shown by now.
    pub(crate) fn due(&mut self, standing: Option<&Alert>, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.holder && !self.locked {
            self.time_up |= self.waiting.iter().any(|popup| popup.kind == Kind::TimeUp);
            effects.extend(self.waiting.drain(..).map(Effect::Raise));
            if let Some((number, reminder, _)) = self.later.take_if(|(_, _, due)| *due <= now)
                && let Some(alert) = standing.filter(|alert| alert.number == number)
            {
                effects.extend(self.alert(alert, reminder, now));
            }
        }
        effects
    }

    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.later.filter(|_| self.holder && !self.locked).map(|(_, _, due)| due)
    }
}

/// What was set out to do, why this looks like drift, and where: for how long, too, once that is a
/// minute.
fn drift_popup(alert: &Alert, reminder: u64, now: Duration) -> Popup {
    let task = alert.task.as_ref().map(|task| format!("You set out to: {task}"));
    let lasts = now.saturating_sub(alert.since).as_secs();
    let lasts = (lasts >= 60).then(|| format!("for {}", crate::duration::words(lasts)));
    let place = match (alert.window.as_ref().map(crate::render::window), lasts) {
        (Some(window), Some(lasts)) => Some(format!("{window} ({lasts})")),
        (window, lasts) => window.or(lasts),
    };
    Popup {
        kind: Kind::Drift { alert: alert.number, reminder },
        body: [task, alert.reason.clone(), place].into_iter().flatten().collect(),
    }
}

/// What makes two windows the same context for the eye: the class and the letters of the title.
/// Counters and clocks in titles must not multiply popups.
fn context(window: Option<&Window>) -> String {
    let Some(window) = window else { return String::new() };
    let title = crate::render::title(&window.title);
    let letters = title.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    window.class.chars().chain(['\n']).chain(letters).collect()
}

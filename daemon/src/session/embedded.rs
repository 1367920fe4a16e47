//! The embedded judge's part of a session: the commitment made ready, and what was said about which
//! window. Its judgements cost microseconds, so they are no judge starts: they wait for the window
//! to settle and for nothing else.

use std::{collections::HashMap, sync::Arc};

use super::active::Active;
use crate::{
    ai::embedded::{Aim, Catalogue, Opinion, judge},
    evidence::{Window, context_title},
};

/// Most opinions remembered; when it is full, all are forgotten, since each is soon made again.
pub(super) const MAX_OPINIONS: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Embedded {
    catalogue: Option<Arc<Catalogue>>,
    aim: Option<Aim>,
    /// By window class and raw title.
    opinions: HashMap<(String, String), Opinion>,
}

impl Embedded {
    pub(super) fn new(catalogue: Option<Arc<Catalogue>>) -> Self {
        Self { catalogue, ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.opinions.len()
    }

    pub(super) fn is_on(&self) -> bool {
        self.catalogue.is_some()
    }

    /// What was said about a window that looks like this one.
    pub(super) fn opinion(&self, window: &Window) -> Option<&Opinion> {
        self.opinions.get(&key(window))
    }

    /// Judges the window, unless that was done before.
    pub(super) fn consult(&mut self, active: &Active, window: &Window) {
        let Some(catalogue) = &self.catalogue else { return };
        let commitment = &active.commitment;
        let aim = self.aim.get_or_insert_with(|| {
            let texts = [
                Some(commitment.text.as_str()),
                commitment.next_action.as_deref(),
                commitment.success_condition.as_deref(),
            ];
            let texts: Vec<&str> = texts.into_iter().flatten().collect();
            Aim::new(catalogue, &texts, &active.allowed.window_classes)
        });
        if self.opinions.len() >= MAX_OPINIONS {
            self.opinions.clear();
        }
        let judged = || judge(catalogue, aim, &window.class, &context_title(&window.title));
        self.opinions.entry(key(window)).or_insert_with(judged);
    }

    /// The commitment or what it allows has changed.
    pub(super) fn forget(&mut self) {
        self.aim = None;
        self.opinions.clear();
    }
}

fn key(window: &Window) -> (String, String) {
    (window.class.clone(), window.title.clone())
}

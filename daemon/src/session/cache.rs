//! What a judge said about a context, for the session under way.

use std::collections::{HashMap, VecDeque};

use crate::{ai::Verdict, evidence::ContextKey};

/// Most contexts remembered. A day in a browser has some hundreds; each costs about its title.
pub(super) const MAX_ENTRIES: usize = 512;

/// Verdicts by context. The oldest goes first when it is full.
#[derive(Debug, Default)]
pub(super) struct VerdictCache {
    verdicts: HashMap<ContextKey, Verdict>,
    /// Every key of `verdicts` once, oldest first.
    order: VecDeque<ContextKey>,
}

impl VerdictCache {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.verdicts.len()
    }

    pub(super) fn get(&self, key: &ContextKey) -> Option<&Verdict> {
        self.verdicts.get(key)
    }

    pub(super) fn insert(&mut self, key: ContextKey, verdict: Verdict) {
        if self.verdicts.insert(key.clone(), verdict).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MAX_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.verdicts.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, key: &ContextKey) {
        if self.verdicts.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }

    pub(super) fn clear(&mut self) {
        self.verdicts.clear();
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Contexts, Window};

    fn key(class: String) -> ContextKey {
        Contexts::default().key(&Window { class, ..Window::default() })
    }

    #[test]
    fn the_oldest_of_513_goes() {
        let mut cache = VerdictCache::default();
        let verdict = Verdict { on_task: true, reason: String::new() };
        for n in 0..=MAX_ENTRIES {
            cache.insert(key(format!("class{n}")), verdict.clone());
        }
        assert_eq!(cache.get(&key("class0".into())), None);
        assert_eq!(cache.get(&key("class1".into())), Some(&verdict));
        assert_eq!(cache.verdicts.len(), MAX_ENTRIES);
        assert_eq!(cache.order.len(), MAX_ENTRIES);

        cache.forget(&key("class1".into()));
        assert_eq!(cache.order.len(), MAX_ENTRIES - 1);
    }
}

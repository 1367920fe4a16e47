//! The books of a session: what its time was spent on, stretch by stretch and class by class, and
//! how its alerts ended.

use std::time::Duration;

use antidrift_protocol::{
    AlertAnswer, ClearedWhy, MAX_ALERTS, MAX_NAME, MAX_NAMES, MAX_STRETCHES, Share, Spent, Stretch,
    Timestamp, text::clean,
};
use serde::{Deserialize, Serialize};

use crate::evidence::{Window, context_title};

/// What is kept as the session goes; survives a restart.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    timeline: Vec<Booked>,
    classes: Vec<Account>,
    titles: Vec<Account>,
    answers: Vec<AlertAnswer>,
}

/// Microseconds, so that many short stretches add up.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Booked {
    spent: Spent,
    us: u64,
}

#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Account {
    name: String,
    ontask_us: u64,
    drifting_us: u64,
    other_us: u64,
}

/// Titles are private.
impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("stretches", &self.timeline.len()).finish_non_exhaustive()
    }
}

impl Ledger {
    /// Books time under what it was spent on, and under the window that had the focus meanwhile.
    pub(super) fn book(
        &mut self,
        spent: Spent,
        time: Duration,
        window: Option<&Window>,
        keep_titles: bool,
    ) {
        let us = micros(time);
        if us == 0 {
            return;
        }
        self.append(spent, us);
        let Some(window) = window else { return };
        if matches!(spent, Spent::Ontask | Spent::Drifting | Spent::Other) {
            credit(&mut self.classes, &clean(&window.class, MAX_NAME), spent, us);
            if keep_titles {
                credit(
                    &mut self.titles,
                    &clean(&context_title(&window.title), MAX_NAME),
                    spent,
                    us,
                );
            }
        }
    }

    fn append(&mut self, spent: Spent, us: u64) {
        match self.timeline.last_mut() {
            Some(last) if last.spent == spent => last.us = last.us.saturating_add(us),
            _ => self.timeline.push(Booked { spent, us }),
        }
        if self.timeline.len() > MAX_STRETCHES {
            self.absorb_shortest();
        }
    }

    /// Gives the shortest stretch to the one before it, and joins what is alike then. The first and
    /// the last, which still grows, are left.
    fn absorb_shortest(&mut self) {
        let inner = 1..self.timeline.len() - 1;
        let Some(shortest) = inner.min_by_key(|&at| self.timeline[at].us) else { return };
        let absorbed = self.timeline.remove(shortest);
        let before = &mut self.timeline[shortest - 1];
        before.us = before.us.saturating_add(absorbed.us);
        if self.timeline[shortest - 1].spent == self.timeline[shortest].spent {
            let after = self.timeline.remove(shortest);
            let before = &mut self.timeline[shortest - 1];
            before.us = before.us.saturating_add(after.us);
        }
    }

    /// Time without a daemon: what the clock says has passed beyond what was booked.
    pub(super) fn book_downtime(&mut self, elapsed: Duration) {
        let booked = self.timeline.iter().fold(0, |sum: u64, it| sum.saturating_add(it.us));
        let down = micros(elapsed).saturating_sub(booked);
        // Saves are some moments apart from what they save.
        if down >= 1_000_000 {
            self.append(Spent::Down, down);
        }
    }

    pub(super) fn answered(
        &mut self,
        at: Timestamp,
        class: &str,
        why: ClearedWhy,
        stood: Duration,
    ) {
        if self.answers.len() == MAX_ALERTS {
            self.answers.remove(0);
        }
        let class = clean(class, MAX_NAME);
        self.answers.push(AlertAnswer { at, class, why, secs: stood.as_secs() });
    }

    pub(super) fn timeline(&self) -> Vec<Stretch> {
        let stretch = |it: &Booked| Stretch { spent: it.spent, secs: it.us / 1_000_000 };
        self.timeline.iter().map(stretch).collect()
    }

    pub(super) fn classes(&self) -> Vec<Share> {
        shares(&self.classes)
    }

    pub(super) fn titles(&self) -> Vec<Share> {
        shares(&self.titles)
    }

    pub(super) fn answers(&self) -> Vec<AlertAnswer> {
        self.answers.clone()
    }

    /// Whether it is within its bounds.
    pub(super) fn fits(&self) -> bool {
        // As they were cleaned: so they take as much room on the wire as they look.
        let name_fits = |name: &str| clean(name, MAX_NAME) == name;
        self.timeline.len() <= MAX_STRETCHES
            && self.classes.len() <= MAX_NAMES
            && self.titles.len() <= MAX_NAMES
            && self.answers.len() <= MAX_ALERTS
            && self.classes.iter().chain(&self.titles).all(|it| name_fits(&it.name))
            && self.answers.iter().all(|it| name_fits(&it.class))
    }
}

/// Adds to the account of that name; what finds no room goes to the one without a name.
fn credit(accounts: &mut Vec<Account>, name: &str, spent: Spent, us: u64) {
    let known = accounts.iter().position(|it| it.name == name);
    let at = known.unwrap_or_else(|| {
        // The last place is kept for the account without a name.
        let name = if accounts.len() + 1 < MAX_NAMES { name } else { "" };
        accounts.iter().position(|it| it.name == name).unwrap_or_else(|| {
            accounts.push(Account { name: name.to_owned(), ..Account::default() });
            accounts.len() - 1
        })
    });
    let account = &mut accounts[at];
    let sum = match spent {
        Spent::Ontask => &mut account.ontask_us,
        Spent::Drifting => &mut account.drifting_us,
        _ => &mut account.other_us,
    };
    *sum = sum.saturating_add(us);
}

fn shares(accounts: &[Account]) -> Vec<Share> {
    let mut shares: Vec<Share> = accounts
        .iter()
        .map(|it| Share {
            name: it.name.clone(),
            ontask_secs: it.ontask_us / 1_000_000,
            drifting_secs: it.drifting_us / 1_000_000,
            other_secs: it.other_us / 1_000_000,
        })
        .collect();
    let all =
        |it: &Share| it.ontask_secs.saturating_add(it.drifting_secs).saturating_add(it.other_secs);
    shares.sort_by_key(|share| std::cmp::Reverse(all(share)));
    shares
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

//! What time was spent on: its word, its sign, its sum.

use antidrift_protocol::{Record, Spent};

/// In the order in which they are told.
pub(crate) const KINDS: [Spent; 7] = [
    Spent::Ontask,
    Spent::Drifting,
    Spent::Other,
    Spent::Detour,
    Spent::Paused,
    Spent::Away,
    Spent::Down,
];

pub(crate) fn word(spent: Spent) -> &'static str {
    match spent {
        Spent::Ontask => "on task",
        Spent::Drifting => "drifting",
        Spent::Other | Spent::Unknown => "other",
        Spent::Detour => "detour",
        Spent::Paused => "paused",
        Spent::Away => "away",
        Spent::Down => "no daemon",
    }
}

/// Told apart without colours, too.
pub(crate) fn sign(spent: Spent) -> char {
    match spent {
        Spent::Ontask => '█',
        Spent::Drifting => '▒',
        Spent::Other | Spent::Unknown => '─',
        Spent::Detour => '~',
        Spent::Paused => '=',
        Spent::Away => '·',
        Spent::Down => '×',
    }
}

/// What the time of a session was spent on, in order. Where nothing was booked, nothing is known.
pub(crate) fn timeline(record: &Record) -> Vec<(Spent, u64)> {
    if record.timeline.is_empty() {
        let secs = record.ended_at.since(record.started_at).as_secs();
        return vec![(Spent::Other, secs)];
    }
    record.timeline.iter().map(|it| (it.spent, it.secs)).collect()
}

/// Seconds by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums([u64; KINDS.len()]);

impl Sums {
    pub(crate) fn of(record: &Record) -> Self {
        let mut sums = Self::default();
        for (spent, secs) in timeline(record) {
            sums.add(spent, secs);
        }
        sums
    }

    pub(crate) fn add(&mut self, spent: Spent, secs: u64) {
        // What a newer daemon tells apart is other to this version.
        let at = KINDS.iter().position(|&kind| kind == spent).unwrap_or(2);
        self.0[at] = self.0[at].saturating_add(secs);
    }

    pub(crate) fn add_all(&mut self, sums: &Self) {
        KINDS.iter().for_each(|&kind| self.add(kind, sums.get(kind)));
    }

    pub(crate) fn get(&self, spent: Spent) -> u64 {
        KINDS.iter().position(|&kind| kind == spent).map_or(0, |at| self.0[at])
    }

    /// Each kind that has any, with its seconds.
    pub(crate) fn some(&self) -> impl Iterator<Item = (Spent, u64)> {
        KINDS.into_iter().zip(self.0).filter(|&(_, secs)| secs > 0)
    }

    pub(crate) fn all(&self) -> u64 {
        self.0.iter().copied().fold(0, u64::saturating_add)
    }

    /// What share of the time at the desk was on task, in percent. `None`: there was none.
    pub(crate) fn focus(&self) -> Option<u64> {
        let [ontask, drifting, other, ..] = self.0.map(u128::from);
        let all = ontask + drifting + other;
        (all > 0).then(|| u64::try_from((ontask * 200 + all) / (all * 2)).unwrap_or(100))
    }
}

/// The kind that has most of each of `cells` equal parts of a timeline.
pub(crate) fn cells(timeline: &[(Spent, u64)], cells: usize) -> Vec<Spent> {
    let whole: u128 = timeline.iter().map(|&(_, secs)| u128::from(secs)).sum();
    if whole == 0 || cells == 0 {
        return Vec::new();
    }
    // All in parts of a second that every cell has a whole number of.
    let parts = cells as u128;
    let mut shares = vec![Sums128::default(); cells];
    let mut begin = 0u128;
    for &(spent, secs) in timeline {
        let end = begin + u128::from(secs) * parts;
        let mut at = begin;
        while at < end {
            let cell = at / whole;
            let next = ((cell + 1) * whole).min(end);
            if let Some(share) = usize::try_from(cell).ok().and_then(|it| shares.get_mut(it)) {
                share.add(spent, next - at);
            }
            at = next;
        }
        begin = end;
    }
    shares.iter().map(Sums128::most).collect()
}

/// As [`Sums`], for what overflows that.
#[derive(Clone, Default)]
struct Sums128([u128; KINDS.len()]);

impl Sums128 {
    fn add(&mut self, spent: Spent, parts: u128) {
        let at = KINDS.iter().position(|&kind| kind == spent).unwrap_or(2);
        self.0[at] += parts;
    }

    fn most(&self) -> Spent {
        let mut most = (Spent::Other, 0);
        for (kind, parts) in KINDS.into_iter().zip(self.0) {
            if parts > most.1 {
                most = (kind, parts);
            }
        }
        most.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(timeline: &[(Spent, u64)], width: usize) -> String {
        cells(timeline, width).into_iter().map(sign).collect()
    }

    #[test]
    fn each_sign_is_of_its_own() {
        let mut signs = KINDS.map(sign).to_vec();
        signs.sort_unstable();
        signs.dedup();
        assert_eq!(signs.len(), KINDS.len());
    }

    #[test]
    fn a_cell_shows_what_most_of_it_was() {
        use Spent::{Away, Detour, Drifting, Ontask, Paused};
        assert_eq!(line(&[(Ontask, 50), (Drifting, 50)], 10), "█████▒▒▒▒▒");
        assert_eq!(line(&[(Ontask, 1), (Drifting, 2)], 1), "▒");
        assert_eq!(line(&[(Ontask, 5), (Paused, 1), (Away, 1), (Detour, 1)], 8), "█████=·~");
        // Fewer seconds than cells.
        assert_eq!(line(&[(Ontask, 1), (Drifting, 1)], 6), "███▒▒▒");
        assert_eq!(line(&[(Ontask, u64::MAX), (Drifting, u64::MAX)], 4), "██▒▒");
        assert_eq!(line(&[(Ontask, 0)], 4), "");
        assert_eq!(line(&[], 4), "");
    }

    #[test]
    fn sums_and_their_shares() {
        let mut sums = Sums::default();
        assert_eq!(sums.focus(), None);
        sums.add(Spent::Ontask, 2);
        sums.add(Spent::Drifting, 1);
        sums.add(Spent::Away, 100);
        assert_eq!((sums.focus(), sums.all()), (Some(67), 103));
        sums.add(Spent::Unknown, u64::MAX);
        sums.add(Spent::Other, u64::MAX);
        assert_eq!((sums.focus(), sums.get(Spent::Other)), (Some(0), u64::MAX));
        sums.add_all(&sums.clone());
        assert_eq!((sums.get(Spent::Ontask), sums.all()), (4, u64::MAX));
    }
}

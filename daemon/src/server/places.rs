//! How many connections there are, and which one goes when there are too many.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// Most connections at once.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// Most of them that may be subscriptions, so that requests always find a place.
pub(super) const MAX_SUBSCRIPTIONS: usize = 48;

/// Every connection that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Occupant>,
    /// Counts every sign of life; the lowest belongs to who has been idle longest.
    clock: u64,
}

#[derive(Debug)]
struct Occupant {
    doing: Doing,
    last_active: u64,
    evict: CancellationToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It waits for a request, or for its client to take the reply.
    Idle,
    /// A request is under way.
    Asking,
    /// It listens.
    Subscribed,
}

/// One connection's place; dropping it frees the place.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    places: Places,
    /// Cancelled when the place is given to somebody else.
    pub(super) evicted: CancellationToken,
}

impl Places {
    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic leaves no half-made change in it.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection: a free one, else that of the connection that has been idle
    /// longest. `None` if every one is busy.
    pub(super) fn enter(&self) -> Option<Place> {
        let mut table = self.table();
        if table.open.len() >= MAX_CONNECTIONS {
            let idle = table.open.iter().filter(|(_, it)| it.doing == Doing::Idle);
            let (&longest, _) = idle.min_by_key(|(_, it)| it.last_active)?;
            if let Some(occupant) = table.open.remove(&longest) {
                occupant.evict.cancel();
            }
        }
        table.clock += 1;
        let (id, evict) = (table.clock, CancellationToken::new());
        let evicted = evict.clone();
        table.open.insert(id, Occupant { doing: Doing::Idle, last_active: id, evict });
        Some(Place { id, places: self.clone(), evicted })
    }
}

impl Place {
    /// Notes what the connection does now. `false` if it may not: there are too many subscriptions,
    /// or the place is lost.
    pub(super) fn set(&self, doing: Doing) -> bool {
        let mut table = self.places.table();
        let subscribed = |it: &&Occupant| it.doing == Doing::Subscribed;
        if doing == Doing::Subscribed
            && table.open.values().filter(subscribed).count() >= MAX_SUBSCRIPTIONS
        {
            return false;
        }
        table.clock += 1;
        let clock = table.clock;
        match table.open.get_mut(&self.id) {
            Some(occupant) => {
                (occupant.doing, occupant.last_active) = (doing, clock);
                true
            }
            None => false,
        }
    }

    /// Notes that there is an answer, which the client is yet to take.
    pub(super) fn answered(&self) {
        if let Some(occupant) = self.places.table().open.get_mut(&self.id)
            && occupant.doing == Doing::Asking
        {
            occupant.doing = Doing::Idle;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.table().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_goes_and_nobody_who_is_busy() {
        let places = Places::default();
        let mut open: Vec<Place> = (0..MAX_CONNECTIONS).map(|_| places.enter().unwrap()).collect();
        assert!(open[0].set(Doing::Asking));
        assert!(open[1].set(Doing::Idle), "a sign of life");
        let newest = places.enter().unwrap();
        let evicted: Vec<usize> =
            (0..open.len()).filter(|&n| open[n].evicted.is_cancelled()).collect();
        assert_eq!(evicted, [2]);
        assert!(!open[2].set(Doing::Asking), "the place is lost");
        drop(open.remove(2));

        for place in open.iter().chain([&newest]) {
            assert!(place.set(Doing::Asking));
        }
        assert!(places.enter().is_none());
        drop(newest);
        let newest = places.enter().unwrap();
        assert!(newest.set(Doing::Subscribed));
        newest.answered();
        assert!(places.enter().is_none(), "who listens stays");
        open[0].answered();
        assert!(places.enter().is_some());
        assert!(open[0].evicted.is_cancelled(), "whose reply waits to be taken goes");
    }

    #[test]
    fn subscriptions_leave_room_for_requests() {
        let places = Places::default();
        let open: Vec<Place> = (0..MAX_CONNECTIONS).map(|_| places.enter().unwrap()).collect();
        let subscribed = open.iter().filter(|place| place.set(Doing::Subscribed)).count();
        assert_eq!(subscribed, MAX_SUBSCRIPTIONS);
    }
}

//! When entries expire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_units::Nanos;

use crate::{Slot, grow};

/// Entries that one call sends away, at most, because their time is over: so that none takes long.
const MOST_AT_ONCE: usize = 16;

/// The times of every slot, and which comes first. Only caches whose entries expire have them.
#[derive(Debug, Default)]
pub(super) struct Expiry {
    /// Time without a request after which an entry is idle, if that matters.
    idle: Option<Nanos>,
    ends: Vec<Ends>,
    /// No entry ends before its place in here. Of a slot that was used again, there may be more than one.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
}

/// The end of an entry: the earlier of the two. Never, in an empty slot.
#[derive(Clone, Copy, Debug)]
struct Ends {
    by_age: Nanos,
    by_idleness: Nanos,
    /// The earliest time at which it stands in the heap.
    queued: Nanos,
}

impl Ends {
    const NEVER: Self = Self { by_age: Nanos::MAX, by_idleness: Nanos::MAX, queued: Nanos::MAX };

    fn at(self) -> Nanos {
        self.by_age.min(self.by_idleness)
    }
}

impl Expiry {
    pub(super) fn new(idle: Option<Nanos>) -> Self {
        Self { idle, ..Self::default() }
    }

    /// An entry has been stored in `slot` and lives so long.
    pub(super) fn stored(&mut self, slot: Slot, life: Option<Nanos>, now: Nanos) {
        grow(&mut self.ends, slot, Ends::NEVER);
        let ends = &mut self.ends[slot.index()];
        ends.by_age = life.map_or(Nanos::MAX, |life| now.after(life));
        ends.by_idleness = self.idle.map_or(Nanos::MAX, |idle| now.after(idle));
        // What waits in the heap comes up in time, and is put back then if it is too early.
        if ends.at() < ends.queued {
            ends.queued = ends.at();
            self.due.push(Reverse((ends.queued, slot.0)));
        }
    }

    /// A request has met the entry in `slot`.
    #[inline]
    pub(super) fn used(&mut self, slot: Slot, now: Nanos) {
        if let (Some(idle), Some(ends)) = (self.idle, self.ends.get_mut(slot.index())) {
            ends.by_idleness = now.after(idle);
        }
    }

    /// The slot is empty.
    pub(super) fn left(&mut self, slot: Slot) {
        if let Some(ends) = self.ends.get_mut(slot.index()) {
            *ends = Ends { queued: ends.queued, ..Ends::NEVER };
        }
    }

    /// Whether the time of the entry in `slot` is over.
    #[inline]
    pub(super) fn is_over(&self, slot: Slot, now: Nanos) -> bool {
        self.ends.get(slot.index()).is_some_and(|ends| ends.at() <= now)
    }

    /// Whether there may be entries whose time is over.
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        self.due.peek().is_some_and(|Reverse((at, _))| *at <= now)
    }

    /// Entries whose time is over, some of them if they are many.
    pub(super) fn over(&mut self, now: Nanos) -> Vec<Slot> {
        let mut over = Vec::new();
        for _ in 0..MOST_AT_ONCE {
            let Some(&Reverse((at, slot))) = self.due.peek().filter(|Reverse((at, _))| *at <= now) else {
                break;
            };
            self.due.pop();
            let ends = &mut self.ends[slot as usize];
            if ends.queued != at {
                continue;
            }
            ends.queued = Nanos::MAX;
            if ends.at() <= now {
                over.push(Slot(slot));
            } else if ends.at() < Nanos::MAX {
                ends.queued = ends.at();
                self.due.push(Reverse((ends.queued, slot)));
            }
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_by_age_or_idleness_whichever_comes_first() {
        let mut expiry = Expiry::new(Some(Nanos(10)));
        expiry.stored(Slot(0), Some(Nanos(25)), Nanos(0));
        expiry.stored(Slot(1), None, Nanos(0));
        assert!(!expiry.is_over(Slot(0), Nanos(9)) && expiry.is_over(Slot(0), Nanos(10)));
        expiry.used(Slot(0), Nanos(9));
        expiry.used(Slot(0), Nanos(18));
        assert!(!expiry.is_over(Slot(0), Nanos(24)) && expiry.is_over(Slot(0), Nanos(25)));
        assert_eq!(expiry.over(Nanos(9)), []);
        assert_eq!(expiry.over(Nanos(24)), [Slot(1)]);
        expiry.left(Slot(1));
        assert_eq!(expiry.over(Nanos(25)), [Slot(0)]);
        assert!(!expiry.is_over(Slot(1), Nanos(100)) && !expiry.is_over(Slot(7), Nanos(100)));
    }

    #[test]
    fn a_slot_that_is_used_again_has_its_own_end() {
        let mut expiry = Expiry::new(None);
        expiry.stored(Slot(0), Some(Nanos(5)), Nanos(0));
        expiry.left(Slot(0));
        expiry.stored(Slot(0), Some(Nanos(100)), Nanos(1));
        assert_eq!(expiry.over(Nanos(50)), []);
        assert_eq!(expiry.over(Nanos(101)), [Slot(0)]);
        // One that comes sooner than what waits in the heap.
        expiry.stored(Slot(0), Some(Nanos(100)), Nanos(101));
        expiry.left(Slot(0));
        expiry.stored(Slot(0), Some(Nanos(2)), Nanos(101));
        assert_eq!(expiry.over(Nanos(103)), [Slot(0)]);
        expiry.left(Slot(0));
        assert_eq!(expiry.over(Nanos(1000)), []);
    }

    #[test]
    fn few_go_at_once() {
        let mut expiry = Expiry::new(None);
        (0..100).for_each(|slot| expiry.stored(Slot(slot), Some(Nanos(1)), Nanos(0)));
        let mut all = 0;
        for _ in 0..100usize.div_ceil(MOST_AT_ONCE) {
            let over = expiry.over(Nanos(1));
            assert!(over.len() <= MOST_AT_ONCE);
            over.iter().for_each(|slot| expiry.left(*slot));
            all += over.len();
        }
        assert_eq!(all, 100);
    }
}

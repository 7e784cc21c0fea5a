//! When entries expire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_units::Nanos;

use crate::{Slot, grow};

/// Entries that one call sends away, at most, because their time is over: so that none takes long.
const MOST_AT_ONCE: usize = 16;

/// How long entries may be used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// Time without a request after which an entry is idle, if that matters.
    pub(super) idle: Option<Nanos>,
    /// Share of its life, in thousandths, after which an entry is fetched again before it is stale, if that is wanted.
    pub(super) refresh: Option<u64>,
    /// Time for which a stale entry is served while it is fetched again.
    pub(super) while_revalidated: Nanos,
    /// Time for which a stale entry is served if fetching it again fails.
    pub(super) if_error: Nanos,
}

impl Terms {
    /// When an entry is good for nothing any more.
    fn end(&self, ends: &Ends) -> Nanos {
        ends.life.after(self.while_revalidated.max(self.if_error)).min(ends.by_idleness)
    }
}

/// What an entry is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    Fresh,
    /// Serve it, and fetch it again meanwhile.
    Ageing,
    /// Fetch it again, and serve it if that fails.
    Stale,
    Over,
}

/// How old an entry may be.
#[derive(Clone, Copy)]
pub(super) enum Age {
    /// Its life is not over.
    Alive,
    /// It is not yet to be fetched again.
    Fresh,
}

/// The times of every slot, and which comes first. Only caches whose entries expire have them.
#[derive(Debug, Default)]
pub(super) struct Expiry {
    terms: Terms,
    ends: Vec<Ends>,
    /// No entry ends before its place in here. Of a slot that was used again, there may be more than one.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
}

/// The end of an entry: that of its life and a time of grace, or of idleness. Never, in an empty slot.
#[derive(Clone, Copy, Debug)]
struct Ends {
    life: Nanos,
    by_idleness: Nanos,
    /// When it is to be fetched again.
    ageing: Nanos,
    /// The earliest time at which it stands in the heap.
    queued: Nanos,
}

impl Ends {
    const NEVER: Self =
        Self { life: Nanos::MAX, by_idleness: Nanos::MAX, ageing: Nanos::MAX, queued: Nanos::MAX };
}

impl Expiry {
    pub(super) fn new(terms: Terms) -> Self {
        Self { terms, ..Self::default() }
    }

    /// An entry has been stored in `slot` and lives so long.
    pub(super) fn stored(&mut self, slot: Slot, life: Option<Nanos>, now: Nanos) {
        grow(&mut self.ends, slot, Ends::NEVER);
        let ends = &mut self.ends[slot.index()];
        ends.life = life.map_or(Nanos::MAX, |life| now.after(life));
        let young = |life: Nanos| match self.terms.refresh {
            Some(thousandths) => Nanos((u128::from(life.0) * u128::from(thousandths) / 1000) as u64),
            None => life,
        };
        ends.ageing = life.map_or(Nanos::MAX, |life| now.after(young(life)));
        ends.by_idleness = self.terms.idle.map_or(Nanos::MAX, |idle| now.after(idle));
        // What waits in the heap comes up in time, and is put back then if it is too early.
        let at = self.terms.end(ends);
        if at < ends.queued {
            ends.queued = at;
            self.due.push(Reverse((ends.queued, slot.0)));
        }
    }

    /// A request has met the entry in `slot`.
    #[inline]
    pub(super) fn used(&mut self, slot: Slot, now: Nanos) {
        if let (Some(idle), Some(ends)) = (self.terms.idle, self.ends.get_mut(slot.index())) {
            ends.by_idleness = now.after(idle);
        }
    }

    /// The slot is empty.
    pub(super) fn left(&mut self, slot: Slot) {
        if let Some(ends) = self.ends.get_mut(slot.index()) {
            *ends = Ends { queued: ends.queued, ..Ends::NEVER };
        }
    }

    /// Whether the life of the entry in `slot` is over. It may still be served to those who fetch it again.
    #[inline]
    pub(super) fn is_over(&self, slot: Slot, now: Nanos) -> bool {
        self.ends.get(slot.index()).is_some_and(|ends| ends.life.min(ends.by_idleness) <= now)
    }

    /// Whether the entry in `slot` may be served, if it may be of this age.
    #[inline]
    pub(super) fn allows(&self, slot: Slot, age: Age, now: Nanos) -> bool {
        match age {
            Age::Alive => !self.is_over(slot, now),
            Age::Fresh => self.freshness(slot, now) == Freshness::Fresh,
        }
    }

    /// Whether the end of an entry depends on its use.
    pub(super) fn follows_use(&self) -> bool {
        self.terms.idle.is_some()
    }

    /// Whether there may be entries whose time is over.
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        self.due.peek().is_some_and(|Reverse((at, _))| *at <= now)
    }

    /// What the entry in `slot` is good for.
    pub(super) fn freshness(&self, slot: Slot, now: Nanos) -> Freshness {
        let Some(&ends) = self.ends.get(slot.index()) else { return Freshness::Fresh };
        match now {
            now if self.terms.end(&ends) <= now => Freshness::Over,
            now if now < ends.ageing => Freshness::Fresh,
            now if now < ends.life.after(self.terms.while_revalidated) => Freshness::Ageing,
            _ => Freshness::Stale,
        }
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
            let at = self.terms.end(ends);
            if at <= now {
                over.push(Slot(slot));
            } else if at < Nanos::MAX {
                ends.queued = at;
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
        let mut expiry = Expiry::new(Terms { idle: Some(Nanos(10)), ..Terms::default() });
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
        let mut expiry = Expiry::new(Terms::default());
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
    fn entries_age_before_they_end() {
        let terms = Terms {
            refresh: Some(800),
            while_revalidated: Nanos(20),
            if_error: Nanos(50),
            ..Terms::default()
        };
        let mut expiry = Expiry::new(terms);
        expiry.stored(Slot(0), Some(Nanos(100)), Nanos(1000));
        for (now, freshness) in [
            (1079, Freshness::Fresh),
            (1080, Freshness::Ageing),
            (1119, Freshness::Ageing),
            (1120, Freshness::Stale),
            (1149, Freshness::Stale),
            (1150, Freshness::Over),
        ] {
            assert_eq!(expiry.freshness(Slot(0), Nanos(now)), freshness, "{now}");
        }
        expiry.stored(Slot(1), None, Nanos(0));
        assert_eq!(expiry.freshness(Slot(1), Nanos(u64::MAX - 1)), Freshness::Fresh);
    }

    #[test]
    fn few_go_at_once() {
        let mut expiry = Expiry::new(Terms::default());
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

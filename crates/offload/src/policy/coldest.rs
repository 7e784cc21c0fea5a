//! Which entries have the least rank.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::table::Entry;

/// The part of the entries that is brought into order at a time.
const PART: usize = 8;

/// Finds the entries of least rank, without an order of all that would have to be kept up at every lookup.
///
/// Ranks live with the policy and only grow, but for [`forget`](Self::forget). One pass over all entries finds the
/// limit below which an eighth of them lie; only these are ordered, by the ranks that they had. Whoever comes up is
/// asked for its rank again, and goes back if it has grown, so that a lookup costs nothing here. A new pass is needed
/// once the eighth has been used up. O(log n) an entry found, and O(n) for every n / 8 of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Coldest {
    /// By rank, as it was once; every present entry whose rank is below the limit.
    order: BinaryHeap<Reverse<(u128, u32)>>,
    limit: u128,
    present: Vec<bool>,
    /// Kept for its memory.
    ranks: Vec<u128>,
}

impl Coldest {
    /// `entry` may be found from now on.
    pub(super) fn insert(&mut self, entry: Entry, rank: u128) {
        if entry.index() >= self.present.len() {
            self.present.resize(entry.index() + 1, false);
        }
        self.present[entry.index()] = true;
        if rank < self.limit {
            self.order.push(Reverse((rank, entry.0)));
        }
    }

    /// Takes out the entry of least rank, and of the least number if several have it.
    pub(super) fn take(&mut self, rank: impl Fn(Entry) -> u128) -> Option<(Entry, u128)> {
        if let Some(found) = self.next(&rank) {
            return Some(found);
        }
        self.arrange(&rank);
        self.next(&rank)
    }

    /// Ranks may have fallen.
    pub(super) fn forget(&mut self) {
        self.order.clear();
        self.limit = 0;
    }

    fn next(&mut self, rank: &impl Fn(Entry) -> u128) -> Option<(Entry, u128)> {
        while let Some(Reverse((old, entry))) = self.order.pop() {
            let current = rank(Entry(entry));
            if current == old {
                self.present[entry as usize] = false;
                return Some((Entry(entry), old));
            }
            if current < self.limit {
                self.order.push(Reverse((current, entry)));
            }
        }
        None
    }

    fn arrange(&mut self, rank: &impl Fn(Entry) -> u128) {
        let present = |at: &usize| self.present[*at];
        self.ranks.clear();
        self.ranks.extend((0..self.present.len()).filter(present).map(|at| rank(Entry(at as u32))));
        let part = self.ranks.len() / PART;
        self.limit = if part == 0 { u128::MAX } else { *self.ranks.select_nth_unstable(part).1 };
        let ranked = (0..self.present.len()).filter(present).map(|at| (rank(Entry(at as u32)), at as u32));
        let below = ranked.filter(|(rank, _)| *rank < self.limit).map(Reverse);
        self.order.extend(below);
        if self.order.is_empty() {
            // As many equal ranks as that: take them all.
            self.limit = u128::MAX;
            let all = (0..self.present.len()).filter(|&at| self.present[at]);
            self.order.extend(all.map(|at| Reverse((rank(Entry(at as u32)), at as u32))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Ranks grow, entries come and go, and now and then all ranks fall: always the least is found.
        #[test]
        fn the_least_is_found(steps in prop::collection::vec((0..40u32, 0..6u8, 0..50u128), 1..300)) {
            let mut coldest = Coldest::default();
            let ranks: RefCell<Vec<Option<u128>>> = RefCell::new(vec![None; 40]);
            for (entry, what, by) in steps {
                let current = ranks.borrow()[entry as usize];
                match (what, current) {
                    (0 | 1, None) => {
                        coldest.insert(Entry(entry), by);
                        ranks.borrow_mut()[entry as usize] = Some(by);
                    }
                    (2 | 3, Some(rank)) => ranks.borrow_mut()[entry as usize] = Some(rank + by),
                    (4, _) => {
                        let found = coldest.take(|entry| ranks.borrow()[entry.index()].unwrap());
                        let all = ranks.borrow().clone();
                        let least = (0..40).filter_map(|at| all[at as usize].map(|rank| (rank, at))).min();
                        prop_assert_eq!(found.map(|(entry, rank)| (rank, entry.0)), least);
                        found.into_iter().for_each(|(entry, _)| ranks.borrow_mut()[entry.index()] = None);
                    }
                    (5, _) if by < 5 => {
                        coldest.forget();
                        ranks.borrow_mut().iter_mut().flatten().for_each(|rank| *rank /= 2);
                    }
                    _ => {}
                }
            }
        }
    }
}

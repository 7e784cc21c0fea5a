//! The ranks of the packets that wait, so that a smaller one than that of a leaving packet is found at once.

use std::collections::BTreeMap;

use trueplane_pqueue::OccupancyTree;

use crate::distribution::MOST_SPAN;

/// A multiset of ranks.
pub trait Waiting {
    /// One more packet of `rank` waits.
    fn add(&mut self, rank: u64);

    /// One packet of `rank`, which was added, no longer waits.
    fn remove(&mut self, rank: u64);

    /// The smallest rank that waits.
    fn min(&self) -> Option<u64>;
}

/// Waiting ranks below a span: O(1).
#[derive(Clone, Debug)]
pub struct Tree(OccupancyTree<3>);

impl Tree {
    /// Makes one for ranks below `span`, which is at most [`MOST_SPAN`].
    pub fn new(span: u64) -> Self {
        Self(OccupancyTree::new(span.clamp(1, MOST_SPAN)).expect("three levels are wide enough"))
    }
}

impl Waiting for Tree {
    #[inline]
    fn add(&mut self, rank: u64) {
        self.0.add(rank);
    }

    #[inline]
    fn remove(&mut self, rank: u64) {
        self.0.remove(rank);
    }

    #[inline]
    fn min(&self) -> Option<u64> {
        self.0.min()
    }
}

/// Waiting ranks that grow without end: O(log n).
#[derive(Clone, Debug, Default)]
pub struct Map(BTreeMap<u64, u64>);

impl Waiting for Map {
    fn add(&mut self, rank: u64) {
        *self.0.entry(rank).or_default() += 1;
    }

    fn remove(&mut self, rank: u64) {
        if let Some(count) = self.0.get_mut(&rank) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&rank);
            }
        }
    }

    fn min(&self) -> Option<u64> {
        self.0.first_key_value().map(|(&rank, _)| rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_know_the_smallest() {
        let (mut tree, mut map) = (Tree::new(100), Map::default());
        for rank in [7, 3, 3, 99, 0] {
            tree.add(rank);
            map.add(rank);
        }
        let mut smallest = Vec::new();
        for rank in [0, 3, 3, 7, 99] {
            assert_eq!(tree.min(), map.min());
            smallest.extend(map.min());
            tree.remove(rank);
            map.remove(rank);
        }
        assert_eq!((smallest, tree.min(), map.min()), (vec![0, 3, 3, 7, 99], None, None));
    }
}

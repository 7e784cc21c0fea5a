//! Early ranges in a search tree.

use std::collections::BTreeMap;

use super::chains::{Chain, Piece};
use super::memory::Memory;
use crate::reassembly::chains::Range;
use crate::reassembly::ranges::{Data, Merging, Ranges, Steps};

/// Early ranges in a balanced tree: the "patched" design that has no bad case, and costs hardware more memory and a pipeline.
///
/// A search among n ranges takes ⌈log₂(n + 1)⌉ steps, the comparisons of a balanced binary tree at worst; every range that the segment
/// touches takes a step to merge. Cost: O(log n) and O(log n) for every range merged, each of which came with a segment of its own.
/// Source: the red-black tree of Linux, which Atre 2025 §3.2.1 names; an interval tree needs no more than this where intervals are
/// disjoint.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Ranges by their start: their end, and the pieces of which they are made.
    ranges: BTreeMap<u64, (u64, Chain)>,
}

impl Ranges for Tree {
    const NAME: &'static str = "tree";

    fn search_bound(len: u64) -> u64 {
        // ⌈log₂(n + 1)⌉ is the number of bits that n takes.
        u64::from(u64::BITS - len.leading_zeros())
    }

    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn first(&self, _memory: &Memory) -> Option<u64> {
        self.ranges.first_key_value().map(|(from, _)| *from)
    }

    fn insert(&mut self, memory: &mut Memory, data: Data) -> Steps {
        let mut steps = Steps { search: Self::search_bound(self.ranges.len() as u64), merge: 0 };
        let mut merging = Merging::new(data);
        // The last range that begins before the data is the only one of those that can touch it.
        let before = self.ranges.range(..data.from).next_back().map(|(from, (to, _))| (*from, *to));
        let first = before.filter(|(_, to)| *to >= data.from).map_or(data.from, |(from, _)| from);
        while let Some((&from, &(to, chain))) = self.ranges.range(first..=data.to).next() {
            self.ranges.remove(&from);
            merging.absorb(&mut memory.chains, Range { from, to, chain });
            steps.merge += 1;
        }
        let range = merging.finish(&mut memory.chains);
        self.ranges.insert(range.from, (range.to, range.chain));
        steps
    }

    fn release(&mut self, memory: &mut Memory, next: u64, visit: &mut dyn FnMut(Piece)) -> u64 {
        match self.ranges.first_entry() {
            Some(entry) if *entry.key() == next => {
                let (to, chain) = entry.remove();
                memory.chains.drain(chain, visit);
                to
            }
            _ => next,
        }
    }

    fn clear(&mut self, memory: &mut Memory) {
        for (_, chain) in std::mem::take(&mut self.ranges).into_values() {
            memory.chains.drain(chain, |_| {});
        }
    }
}

//! Early ranges in a linked list.

use super::chains::Piece;
use super::memory::Memory;
use super::ranges::{Data, Merging, Ranges, Steps};
use super::slab::{NONE, Slot};

/// Early ranges in a list that is walked from its head, as in Pigasus.
///
/// A search takes a step for every node that it passes, those that end at or before the segment; every further node that the segment
/// touches takes a step to merge. Both together are never more than the nodes there are. Cost: O(n).
/// Source: Atre 2025 §3.2 and figure 3.10.
#[derive(Clone, Debug)]
pub struct List {
    /// The place of the first node.
    head: u32,
    len: usize,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, len: 0 }
    }
}

impl Ranges for List {
    const NAME: &'static str = "list";

    fn search_bound(len: u64) -> u64 {
        len
    }

    fn len(&self) -> usize {
        self.len
    }

    fn first(&self, memory: &Memory) -> Option<u64> {
        memory.nodes.get(self.head).map(|node| node.value.from)
    }

    fn insert(&mut self, memory: &mut Memory, data: Data) -> Steps {
        let Memory { chains, nodes } = memory;
        let mut steps = Steps::default();
        let (mut before, mut place) = (NONE, self.head);
        while let Some(node) = nodes.get(place).filter(|node| node.value.to <= data.from) {
            (before, place) = (place, node.next);
            steps.search += 1;
        }
        let mut merging = Merging::new(data);
        let left = nodes.get(before).filter(|node| node.value.to == data.from);
        if let Some(left) = left {
            merging.absorb(chains, left.value);
        }
        while let Some(node) = nodes.get(place).filter(|node| node.value.from <= data.to) {
            merging.absorb(chains, node.value);
            nodes.remove(place);
            self.len -= 1;
            place = node.next;
            steps.merge += 1;
        }
        let node = Slot { value: merging.finish(chains), next: place };
        match nodes.get_mut(before) {
            Some(before) if left.is_some() => *before = node,
            _ => {
                let place = nodes.add(node);
                self.len += 1;
                match nodes.get_mut(before) {
                    Some(before) => before.next = place,
                    None => self.head = place,
                }
            }
        }
        steps
    }

    fn release(&mut self, memory: &mut Memory, next: u64, visit: &mut dyn FnMut(Piece)) -> u64 {
        match memory.nodes.get(self.head) {
            Some(node) if node.value.from == next => {
                memory.nodes.remove(self.head);
                (self.head, self.len) = (node.next, self.len - 1);
                memory.chains.drain(node.value.chain, visit);
                node.value.to
            }
            _ => next,
        }
    }

    fn clear(&mut self, memory: &mut Memory) {
        while let Some(node) = memory.nodes.remove(self.head) {
            memory.chains.drain(node.value.chain, |_| {});
            self.head = node.next;
        }
        self.len = 0;
    }
}

//! Early ranges in a linked list.

use super::chains::{Chains, NONE, Piece};
use super::ranges::{Data, Merging, Range, Ranges, Steps};

/// Early ranges in a list that is walked from its head, as in Pigasus.
///
/// A search takes a step for every node that it passes, those that end at or before the segment; every further node that the segment
/// touches takes a step to merge. Both together are never more than the nodes there are. Cost: O(n).
/// Source: Atre 2025 §3.2 and figure 3.10.
#[derive(Clone, Debug)]
pub struct List {
    chains: Chains,
    nodes: Vec<Node>,
    head: u32,
    free: u32,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    range: Range,
    next: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { chains: Chains::default(), nodes: Vec::new(), head: NONE, free: NONE, len: 0 }
    }
}

impl List {
    /// Puts a node between `before` (at the head: none) and `next`.
    fn link(&mut self, before: u32, range: Range, next: u32) {
        let node = Node { range, next };
        let place = if self.free == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            let place = self.free;
            self.free = self.nodes[place as usize].next;
            self.nodes[place as usize] = node;
            place
        };
        self.len += 1;
        match before {
            NONE => self.head = place,
            before => self.nodes[before as usize].next = place,
        }
    }

    /// Gives back a node that no other leads to any more; the next one.
    fn unlink(&mut self, place: u32) -> u32 {
        let next = self.nodes[place as usize].next;
        self.nodes[place as usize].next = self.free;
        self.free = place;
        self.len -= 1;
        next
    }

    fn range(&self, place: u32) -> Option<Range> {
        self.nodes.get(place as usize).map(|node| node.range)
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

    fn pieces(&self) -> usize {
        self.chains.len()
    }

    fn first(&self) -> Option<u64> {
        self.range(self.head).map(|range| range.from)
    }

    fn insert(&mut self, data: Data) -> Steps {
        let mut steps = Steps::default();
        let (mut before, mut place) = (NONE, self.head);
        while self.range(place).is_some_and(|range| range.to <= data.from) {
            before = place;
            place = self.nodes[place as usize].next;
            steps.search += 1;
        }
        let mut merging = Merging::new(data);
        let left = self.range(before).filter(|range| range.to == data.from);
        if let Some(left) = left {
            merging.absorb(&mut self.chains, left);
        }
        while let Some(range) = self.range(place).filter(|range| range.from <= data.to) {
            merging.absorb(&mut self.chains, range);
            place = self.unlink(place);
            steps.merge += 1;
        }
        let range = merging.finish(&mut self.chains);
        if left.is_some() {
            self.nodes[before as usize] = Node { range, next: place };
        } else {
            self.link(before, range, place);
        }
        steps
    }

    fn release(&mut self, next: u64, visit: &mut dyn FnMut(Piece)) -> u64 {
        match self.range(self.head) {
            Some(range) if range.from == next => {
                self.head = self.unlink(self.head);
                self.chains.drain(range.chain, visit);
                range.to
            }
            _ => next,
        }
    }
}

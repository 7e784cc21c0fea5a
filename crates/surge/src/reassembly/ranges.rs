//! What of a stream came early, and what finding a place in it takes.

use super::chains::{Chain, Chains, Piece, Range};
use super::memory::Memory;

/// Steps that it took to insert a segment; all take about the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Steps to find the place: nodes passed in a list, comparisons in a tree.
    pub search: u64,
    /// Steps to merge the segment with what it touches: ranges visited that the search has not passed.
    pub merge: u64,
}

impl Steps {
    /// All of them.
    pub fn total(self) -> u64 {
        self.search + self.merge
    }
}

/// Bytes that came, as they stand in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Place in the stream at which they begin: byte 0 is the first after the SYN.
    pub from: u64,
    /// Place in the stream at which they end; after `from`.
    pub to: u64,
    /// Tag that the caller knows the segment by.
    pub tag: u32,
    /// Bytes of the segment's payload that come before them.
    pub skip: u32,
}

impl Data {
    /// The part of it in `from..to`, which lies within.
    fn piece(&self, from: u64, to: u64) -> Piece {
        let skip = self.skip + (from - self.from) as u32;
        Piece { tag: self.tag, skip, length: (to - from) as u32 }
    }
}

/// Ranges of a stream that came early: disjoint, and with a gap before each.
///
/// Ranges that touch are one range. Where segments overlap, the first that came wins, as in Pigasus; hosts differ in that, and whoever
/// knows which data a host takes can hide from any one choice (Dharmapurikar and Paxson, USENIX Security 2005).
///
/// They lie in the memory of all flows, which has to be the same one every time.
pub trait Ranges: Default {
    /// Name of the data structure, in a word.
    const NAME: &'static str;

    /// The most steps that a search takes among so many ranges.
    fn search_bound(len: u64) -> u64;

    /// Number of ranges.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Start of the first range.
    fn first(&self, memory: &Memory) -> Option<u64>;

    /// Adds what of `data` is new.
    fn insert(&mut self, memory: &mut Memory, data: Data) -> Steps;

    /// Takes out the first range if it begins at `next`, and hands over its pieces: where it ends, else `next`.
    fn release(&mut self, memory: &mut Memory, next: u64, visit: &mut dyn FnMut(Piece)) -> u64;

    /// Takes out all of them: what is dropped otherwise stays in the memory for ever. O(pieces), each of which was added once.
    fn clear(&mut self, memory: &mut Memory);
}

/// Data on its way to a range, together with the ranges that it touches.
pub(super) struct Merging {
    data: Data,
    range: Range,
    /// The data up to here is in the range, or was there before.
    at: u64,
}

impl Merging {
    pub(super) fn new(data: Data) -> Self {
        Self { data, range: Range { from: data.from, to: data.to, chain: Chain::EMPTY }, at: data.from }
    }

    /// Takes in a range that touches the data; they come in the order of the stream.
    pub(super) fn absorb(&mut self, chains: &mut Chains, range: Range) {
        self.range.from = self.range.from.min(range.from);
        self.fill(chains, range.from);
        chains.append(&mut self.range.chain, range.chain);
        self.at = self.at.max(range.to);
    }

    /// The range that all of it makes.
    pub(super) fn finish(mut self, chains: &mut Chains) -> Range {
        self.fill(chains, self.data.to);
        self.range.to = self.at;
        self.range
    }

    /// Fills the gap up to `end`, if there is one.
    fn fill(&mut self, chains: &mut Chains, end: u64) {
        if self.at < end {
            chains.push(&mut self.range.chain, self.data.piece(self.at, end));
            self.at = end;
        }
    }
}

//! Pieces of segments in the order of the stream.

use super::slab::{NONE, Slab, Slot};

/// A piece of the payload of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Tag that the caller knows the segment by.
    pub tag: u32,
    /// Bytes of its payload before the piece.
    pub skip: u32,
    /// Bytes of the piece; above zero.
    pub length: u32,
}

/// The pieces of all flows, in chains that are put together in constant time.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    links: Slab<Piece>,
}

/// Pieces that follow each other without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    first: u32,
    last: u32,
}

impl Chain {
    /// No pieces.
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };
}

impl Chains {
    /// The pieces of all chains.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// Bytes that are allocated for them.
    pub(super) fn bytes(&self) -> usize {
        self.links.bytes()
    }

    /// Adds a piece to the end of a chain.
    pub(super) fn push(&mut self, chain: &mut Chain, piece: Piece) {
        let place = self.links.add(Slot { value: piece, next: NONE });
        self.append(chain, Chain { first: place, last: place });
    }

    /// Adds a chain to the end of another.
    pub(super) fn append(&mut self, chain: &mut Chain, other: Chain) {
        match self.links.get_mut(chain.last) {
            None => *chain = other,
            Some(last) if other.first != NONE => {
                last.next = other.first;
                chain.last = other.last;
            }
            Some(_) => {}
        }
    }

    /// Hands over the pieces of a chain, which is no more.
    pub(super) fn drain(&mut self, chain: Chain, mut visit: impl FnMut(Piece)) {
        let mut place = chain.first;
        while let Some(link) = self.links.remove(place) {
            visit(link.value);
            place = link.next;
        }
    }
}

/// A range without a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) chain: Chain,
}

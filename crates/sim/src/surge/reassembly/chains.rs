//! Pieces of segments in the order of the stream.

/// Stands for no piece, and no node.
pub(super) const NONE: u32 = u32::MAX;

/// A piece of the payload of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What the caller knows the segment by.
    pub tag: u32,
    /// Bytes of its payload before the piece.
    pub skip: u32,
    /// Bytes of the piece; above zero.
    pub length: u32,
}

/// The pieces of a flow, in chains that are put together in constant time.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    links: Vec<(Piece, u32)>,
    free: u32,
    len: usize,
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

impl Default for Chains {
    fn default() -> Self {
        Self { links: Vec::new(), free: NONE, len: 0 }
    }
}

impl Chains {
    /// The pieces of all chains.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a piece to the end of a chain.
    pub(super) fn push(&mut self, chain: &mut Chain, piece: Piece) {
        let place = if self.free == NONE {
            self.links.push((piece, NONE));
            (self.links.len() - 1) as u32
        } else {
            let place = self.free;
            let link = &mut self.links[place as usize];
            self.free = link.1;
            *link = (piece, NONE);
            place
        };
        self.len += 1;
        self.append(chain, Chain { first: place, last: place });
    }

    /// Adds a chain to the end of another.
    pub(super) fn append(&mut self, chain: &mut Chain, other: Chain) {
        if chain.first == NONE {
            *chain = other;
        } else if other.first != NONE {
            self.links[chain.last as usize].1 = other.first;
            chain.last = other.last;
        }
    }

    /// Hands over the pieces of a chain, which is no more.
    pub(super) fn drain(&mut self, chain: Chain, mut visit: impl FnMut(Piece)) {
        let mut place = chain.first;
        while place != NONE {
            let (piece, next) = self.links[place as usize];
            visit(piece);
            self.links[place as usize].1 = self.free;
            self.free = place;
            self.len -= 1;
            place = next;
        }
    }
}

//! What all flows share.

use super::chains::Chains;
use super::slab::Slab;
use crate::reassembly::chains::Range;

/// The memory of all early ranges of a reassembler, and of the pieces that they are made of.
///
/// A flow with memory of its own would keep as much as it ever needed. An attacker would let one flow after the other grow to its window
/// and shrink to one byte: what is held stays small, and what is allocated is the whole window for each. Here the next flow gets the
/// places that the last one gave back.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub(super) chains: Chains,
    /// The nodes of lists. Trees have nodes of their own, which they free when ranges go.
    pub(super) nodes: Slab<Range>,
}

impl Memory {
    /// Number of pieces of segments that are held.
    pub fn pieces(&self) -> usize {
        self.chains.len()
    }

    /// Bytes that are allocated for pieces and for nodes of lists, those that are free at the moment among them. It never falls.
    pub fn bytes(&self) -> usize {
        self.chains.bytes() + self.nodes.bytes()
    }
}

//! Rules for packets that can go on by several ways.

use std::fmt;

use trueplane_units::Nanos;

use crate::transport::segment::Flags;

/// A packet at a node with several ways to its host, all equally short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Number of its flow, in the order in which flows start.
    pub flow: u64,
    /// Whether it goes from the sender of the flow to the receiver.
    pub is_data: bool,
    /// Host that sent it.
    pub from: u32,
    /// Host that it goes to.
    pub to: u32,
    /// Node that it is at.
    pub node: u32,
    /// Length on the wire, in bytes.
    pub bytes: u32,
    /// Control bits of its segment.
    pub flags: Flags,
    /// Number of ways.
    pub ways: usize,
}

/// A rule that takes one of the ways of a fork.
pub trait Chooser: fmt::Debug {
    /// The way, by its number from 0 on in the order in which the topology has the links; a number beyond the last counts as the last. `None`: the
    /// way that the hash of the flow says.
    fn choose(&mut self, fork: &Fork, now: Nanos) -> Option<usize>;
}

/// One of `count` ports for a flow at a node: equal-cost multipath by a hash.
#[inline]
pub(super) fn by_hash(flow: u64, node: u32, count: usize) -> usize {
    // The finaliser of SplitMix64, which spreads neighbouring numbers.
    let mut hash = flow.wrapping_add(u64::from(node).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    ((u128::from(hash) * count as u128) >> 64) as usize
}

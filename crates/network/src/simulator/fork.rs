//! Where a packet can go on by several ways.

/// A packet at a node with several ways to its host, all equally short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Number of its flow, in the order in which flows start.
    pub flow: u64,
    /// Host that sent it.
    pub from: u32,
    /// Host that it goes to.
    pub to: u32,
    /// Node that it is at.
    pub node: u32,
    /// Number of ways.
    pub ways: usize,
}

/// A rule that takes one of the ways of a fork, by its number from 0 on, in the order in which the topology has the links.
pub type Chooser = fn(&Fork) -> usize;

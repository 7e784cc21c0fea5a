//! What the rank of a packet is: one policy, one file.
//!
//! Of the packet alone: [`Fifo`], [`FifoPlus`] (what it waited elsewhere counts), [`StrictClass`], [`PFabric`] (what is left of its
//! flow, as its sender says), [`Lstf`] and [`Edf`] (when it is due). Of what came before it: [`Srpt`] (what is left of its flow, as
//! seen here) and [`Stfq`] (fair shares by virtual time), whose state per flow is in a [`FlowTable`] of fixed size.

mod edf;
mod fifo;
mod fifo_plus;
mod flows;
mod lstf;
mod name;
mod pfabric;
mod srpt;
mod stfq;
mod strict_class;

pub use edf::Edf;
pub use fifo::Fifo;
pub use fifo_plus::FifoPlus;
pub use flows::FlowTable;
pub use lstf::Lstf;
pub use name::{RankName, RankProperties};
pub use pfabric::PFabric;
pub use srpt::Srpt;
pub use stfq::Stfq;
pub use strict_class::StrictClass;

use trueplane_units::{Nanos, Rank};

/// Facts of a packet that a rank can depend on. Those that a packet does not have are at their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// The flow that it belongs to.
    pub flow: u64,
    /// Its length on the wire.
    pub bytes: u32,
    /// Its class of service; 0 is the most urgent.
    pub class: u8,
    /// The share that its flow is entitled to, relative to those of others; 0 counts as 1.
    pub weight: u32,
    /// The length of the whole flow in bytes.
    pub flow_bytes: u64,
    /// Bytes of the flow that were left when its sender sent the packet, the packet included.
    pub remaining_bytes: u64,
    /// Time that the packet may still wait, here and further on, and be in time.
    pub slack: Nanos,
    /// Time by which the packet must have left.
    pub deadline: Nanos,
    /// Time that the packet has waited so far less the average of its class, in nanoseconds; negative if it is less.
    pub excess_wait_ns: i64,
}

impl Default for PacketMeta {
    fn default() -> Self {
        Self {
            flow: 0,
            bytes: 0,
            class: 0,
            weight: 1,
            flow_bytes: 0,
            remaining_bytes: 0,
            slack: Nanos(0),
            deadline: Nanos(0),
            excess_wait_ns: 0,
        }
    }
}

/// Gives every packet its rank.
pub trait RankPolicy {
    /// The rank of a packet that arrives now.
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank;

    /// A packet with this rank begins to be sent. Virtual clocks run by it.
    fn departs(&mut self, rank: Rank) {
        let _ = rank;
    }
}

//! What became of a run.

use thiserror::Error;
use trueplane_units::Nanos;

use super::flow::{Completed, Counts};
use super::lengths::Waited;

/// Books that do not balance: a defect of the simulator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}: expected {expected} packets, found {found}")]
pub struct Unbalanced {
    /// Name of the account.
    pub what: String,
    /// Packets that there must be.
    pub expected: u64,
    /// Packets that there are.
    pub found: u64,
}

/// What went through a port: offered = sent + dropped + down + lost + waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortOutcome {
    /// Packets that came to the port.
    pub offered: u64,
    /// Packets that it sent over its link.
    pub sent: u64,
    /// Packets that its queue dropped.
    pub dropped: u64,
    /// Packets that were dropped because its link was down.
    pub down: u64,
    /// Packets that its link lost by chance.
    pub lost: u64,
    /// Packets that wait at the end.
    pub waiting: u64,
    /// Packets that waited over time, if the network [measures](super::Network::measuring) that.
    pub waited: Option<Waited>,
}

impl PortOutcome {
    /// Packets of which it is known what became of them.
    pub(super) fn accounted(&self) -> u64 {
        self.sent + self.dropped + self.down + self.lost + self.waiting
    }

    /// Adds the packets of another port.
    pub(super) fn add(&mut self, other: &PortOutcome) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.down += other.down;
        self.lost += other.lost;
        self.waiting += other.waiting;
    }
}

/// Flows, packets and events of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Flows that have ended, in that order.
    pub completed: Vec<Completed>,
    /// Flows that have not.
    pub unfinished: usize,
    /// Packets of all flows.
    pub counts: Counts,
    /// What went through each port, by the number of its link.
    pub ports: Vec<PortOutcome>,
    /// Packets that were sent over a link, link by link.
    pub hops: u64,
    /// Events that were taken from the calendar.
    pub events: u64,
    /// Most packets that were in the network at once.
    pub most_packets: usize,
    /// Most flows that were there at once.
    pub most_flows: usize,
    /// Time of the last event.
    pub end: Nanos,
}

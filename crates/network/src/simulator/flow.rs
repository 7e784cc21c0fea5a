//! Flows: what they are to send, what they do, and what became of them.

use trueplane_units::Nanos;

use crate::transport::Transport;

/// A flow to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Time at which it starts.
    pub start: Nanos,
    /// Host that sends.
    pub from: u32,
    /// Host that receives.
    pub to: u32,
    /// Size in bytes.
    pub bytes: u64,
}

/// A flow that has ended: all its bytes are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Flow that it was.
    pub spec: FlowSpec,
    /// Time at which its sender heard that all bytes had arrived.
    pub end: Nanos,
}

impl Completed {
    /// Flow completion time.
    pub fn time(&self) -> Nanos {
        self.end.since(self.spec.start)
    }
}

/// A flow that is being sent.
#[derive(Debug)]
pub(super) struct Flow<T: Transport> {
    pub(super) spec: FlowSpec,
    /// Number among all flows.
    pub(super) number: u64,
    pub(super) sender: T::Sender,
    pub(super) receiver: T::Receiver,
    /// Time of the event that wakes it, if it is in the calendar.
    pub(super) wake: Nanos,
    /// Stamp of the events that count.
    pub(super) stamp: u32,
    /// Packets that it has in the network.
    pub(super) in_network: u32,
    pub(super) is_done: bool,
    pub(super) counts: Counts,
}

/// A cause for which the network drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue of a port had no room, or dropped the packet for another one.
    Queue,
    /// The link was down.
    Down,
    /// The link lost it by chance.
    Loss,
}

/// Packets of a flow, or of all flows: sent = delivered + dropped + down + lost + in the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that hosts have sent.
    pub sent: u64,
    /// Packets that have reached their host.
    pub delivered: u64,
    /// Packets that queues have dropped.
    pub dropped: u64,
    /// Packets that were dropped because a link was down.
    pub down: u64,
    /// Packets that links have lost by chance.
    pub lost: u64,
}

impl Counts {
    /// Packets that were dropped, for all causes.
    pub fn drops(&self) -> u64 {
        self.dropped + self.down + self.lost
    }

    /// Packets in the network, if nothing got lost in the books.
    pub fn in_network(&self) -> u64 {
        self.sent - self.delivered - self.drops()
    }

    /// Counts a packet that is dropped.
    pub(super) fn drop(&mut self, cause: DropCause) {
        match cause {
            DropCause::Queue => self.dropped += 1,
            DropCause::Down => self.down += 1,
            DropCause::Loss => self.lost += 1,
        }
    }
}

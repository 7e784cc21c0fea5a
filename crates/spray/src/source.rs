//! Where packets come from.

use trueplane_link::Counts;

use crate::Packet;
use crate::dispatch::Arrival;

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// When, in picoseconds.
    pub at: u64,
    /// The number of its flow, from 0 in the order of their first packets.
    pub flow: u32,
    /// Its number within the flow, from 0.
    pub sequence: u32,
    /// The packet as the card sees it.
    pub arrival: Arrival,
    /// Whether a link made it out of another packet, whose number it has.
    pub is_copy: bool,
}

/// Next event of a source.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// A packet.
    Packet(Offer),
    /// Nobody has anything to send at this time, in picoseconds, unless answers come.
    Nothing(u64),
    /// No more.
    End,
}

/// Packets in the order of their times.
pub trait Source {
    /// The next one.
    fn next(&mut self) -> Next;

    /// The one that `next` told of last; it may be written over a spent one.
    fn packet(&mut self, spent: Option<Packet>) -> Packet;

    /// Time from which on packets come at the rate that was asked for: before, connections are opened one by one.
    fn begins(&self) -> u64;

    /// Time when all packets have come.
    fn ends(&self) -> u64;

    /// Counts of the link over which packets come; all zero without one.
    fn link(&self) -> Counts {
        Counts::default()
    }

    /// A flow's packet was handled, or was lost.
    fn answer(&mut self, flow: u32, sequence: u32, delivered: bool) {
        let _ = (flow, sequence, delivered);
    }
}

//! Which core a packet goes to: what a card decides, or a program in the kernel.

mod hashed;
mod sprayed;

pub use self::hashed::Rss;
pub use self::sprayed::{RoundRobin, Spray};

use super::packet::headers::{Fragment, Transport};
use super::steering::{BUCKETS, Toeplitz, folded, symmetric};
use super::{FlowId, Packet};
use crate::units::Nanos;

/// What a card sees of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Addresses, and ports if the card hashes them: those of whole datagrams of TCP and UDP.
    pub flow: Option<FlowId>,
    /// TCP's checksum; of a whole datagram, as it is on the wire.
    pub checksum: Option<u16>,
    /// Bytes of the frame.
    pub bytes: u32,
}

impl Arrival {
    /// What a card sees of `packet`.
    pub fn of(packet: &Packet) -> Self {
        let headers = packet.headers();
        let whole = headers.ip.is_some_and(|ip| ip.fragment == Fragment::Whole);
        let ports = whole && matches!(headers.transport, Transport::Tcp { .. } | Transport::Udp);
        let addresses = |ip| headers.addresses(packet.bytes(), ip);
        Self {
            flow: if ports { packet.flow().copied() } else { headers.ip.map(addresses) },
            checksum: packet.tcp_checksum().filter(|_| ports),
            bytes: packet.bytes().len() as u32,
        }
    }

    /// The symmetric hash of receive-side scaling, 0 without addresses.
    pub fn symmetric(&self) -> u16 {
        self.flow.map_or(0, |flow| symmetric(folded(&flow)))
    }

    /// The row of the indirection table by that hash.
    pub fn bucket(&self) -> usize {
        usize::from(self.symmetric()) % BUCKETS
    }

    /// The hash under another key.
    pub fn hash(&self, toeplitz: &Toeplitz) -> u32 {
        self.flow.map_or(0, |flow| toeplitz.hash(&flow, true))
    }
}

/// How much a core has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Packets that wait for it.
    pub queued: u32,
    /// The share of the last period in which it worked, 0 to 1.
    pub busy: f64,
}

/// Chooses the core of every packet.
pub trait Dispatch: Send {
    /// The core of a packet that comes at `now`, 0 to below the number of cores.
    fn core(&mut self, packet: &Arrival, now: Nanos) -> usize;

    /// Tells how much every core had to do in the period that ends at `now`; called every [`PERIOD`].
    fn observe(&mut self, loads: &[Load], now: Nanos) {
        let _ = (loads, now);
    }

    /// Whether all packets of a flow go to one core as long as [`observe`](Self::observe) moves none: what functions need that write a flow's
    /// state with every packet.
    fn keeps_flows_whole(&self) -> bool {
        false
    }
}

impl<D: Dispatch + ?Sized> Dispatch for Box<D> {
    fn core(&mut self, packet: &Arrival, now: Nanos) -> usize {
        (**self).core(packet, now)
    }

    fn observe(&mut self, loads: &[Load], now: Nanos) {
        (**self).observe(loads, now);
    }

    fn keeps_flows_whole(&self) -> bool {
        (**self).keeps_flows_whole()
    }
}

/// How often loads are told.
pub const PERIOD: Nanos = Nanos(1_000_000);

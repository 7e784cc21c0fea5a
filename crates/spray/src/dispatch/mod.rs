//! Which core a packet goes to: what a card decides, or a program in the kernel.
//!
//! | | a flow's packets | source |
//! |---|---|---|
//! | [`Rss`] | on the core of its hash | receive-side scaling |
//! | [`RssPlusPlus`] | on one core, which changes with the loads | RSS++, CoNEXT 2019 |
//! | [`Flowlet`] | on one core for as long as they come in a burst | §3.5; CONGA, SIGCOMM 2014 |
//! | [`Subset`] | on a few cores that its hash chooses | §3.5 |
//! | [`Adaptive`] | on the core of its hash, until that drowns while others idle | ours |
//! | [`Spray`] | on all cores | §3.3 |
//! | [`RoundRobin`] | on all cores in turns | |

mod adaptive;
mod flowlet;
mod hashed;
mod name;
mod place;
mod rss_plus_plus;
mod sprayed;
mod subset;

pub use self::adaptive::{Adaptive, WAYS};
pub use self::flowlet::{Flowlet, GAP};
pub use self::hashed::Rss;
pub use self::name::{DispatchName, DispatchOptions, PolicyName, Properties, dispatcher};
pub use self::place::{Card, Kernel, On, Place};
pub use self::rss_plus_plus::RssPlusPlus;
pub use self::sprayed::{RoundRobin, Spray};
pub use self::subset::Subset;

use trueplane_units::Nanos;

use crate::packet::headers::{Fragment, Transport};
use crate::steering::{BUCKETS, Toeplitz, folded, symmetric};
use crate::{FlowId, Packet};

/// Facts of a packet that a card sees.
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
    /// Facts of `packet` that a card sees.
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

/// Load of a core.
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
}

impl<D: Dispatch + ?Sized> Dispatch for Box<D> {
    fn core(&mut self, packet: &Arrival, now: Nanos) -> usize {
        (**self).core(packet, now)
    }

    fn observe(&mut self, loads: &[Load], now: Nanos) {
        (**self).observe(loads, now);
    }
}

/// Time between two reports of loads to a dispatch policy, in ns.
pub const PERIOD: Nanos = Nanos(1_000_000);

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of a flow of TCP, which its number names.
    pub(super) fn tcp(flow: u32, checksum: u16) -> Arrival {
        let source = std::net::Ipv4Addr::from(0x0a00_0000 + flow);
        let destination = std::net::Ipv4Addr::new(192, 0, 2, 1);
        let flow = FlowId::new(6, (source.into(), 1024), (destination.into(), 80));
        Arrival { flow: Some(flow), checksum: Some(checksum), bytes: 64 }
    }
}

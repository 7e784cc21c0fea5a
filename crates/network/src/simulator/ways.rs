//! Where a packet goes on.

use trueplane_units::Nanos;

use super::flow::{DropCause, FlowSpec};
use super::fork::{Fork, by_hash};
use super::packets::Travelling;
use super::port::PortQueue;
use super::run::{NONE_AHEAD, Network};
use crate::transport::Transport;

impl<Q: PortQueue, T: Transport> Network<'_, Q, T> {
    /// The port by which a packet goes on, by the rule for forks or else by the hash of its flow.
    #[inline]
    pub(super) fn way(&mut self, handle: u32, packet: &Travelling, ports: &[u32], now: Nanos) -> u32 {
        match ports {
            [only] => *only,
            several => {
                self.chosen(handle, packet, several, now).unwrap_or_else(|| self.hashed(packet, several))
            }
        }
    }

    /// The port that the rule for forks takes, if there is one and it takes any.
    fn chosen(&mut self, handle: u32, packet: &Travelling, ports: &[u32], now: Nanos) -> Option<u32> {
        let chooser = self.chooser.as_mut()?;
        let FlowSpec { from, to, .. } = self.flows[packet.flow as usize].spec;
        let from = if packet.is_data() { from } else { to };
        let Travelling { node, to, bytes, .. } = *packet;
        let (flow, is_data, flags) = (packet.key / 2, packet.is_data(), self.packets.flags(handle));
        let fork = Fork { flow, is_data, from, to, node, bytes, flags, ways: ports.len() };
        chooser.choose(&fork, now).map(|way| ports[way.min(ports.len() - 1)])
    }

    /// The port that the hash of a packet's flow takes.
    #[inline]
    fn hashed(&self, packet: &Travelling, ports: &[u32]) -> u32 {
        ports[by_hash(packet.key ^ self.seed, packet.node, ports.len())]
    }

    /// The same on a network with faults. A packet that no way leads on for is dropped, at the first port that it could have taken.
    #[inline(never)]
    pub(super) fn way_up(
        &mut self,
        handle: u32,
        packet: &Travelling,
        ports: &[u32],
        now: Nanos,
    ) -> Option<u32> {
        let topology = self.topology;
        let up = self.attached.as_mut().and_then(|attached| attached.ways(topology, ports, packet.to, now));
        match up {
            None => Some(self.way(handle, packet, ports, now)),
            Some(up) if !up.is_empty() => Some(self.way(handle, packet, &up, now)),
            Some(_) => {
                self.ports[ports[0] as usize].offered += 1;
                self.drop_packet(handle, DropCause::Down);
                None
            }
        }
    }

    /// The port by which a packet goes on from the node that it arrives at next, where nothing that happens until then can change it.
    ///
    /// It is found while the packet is at hand. When the packet arrives, packet and port are read side by side, and not one
    /// after the other, which counts where the processor's cache holds neither.
    #[inline]
    pub(super) fn way_ahead(&self, packet: &Travelling) -> u32 {
        if packet.node == packet.to || self.chooser.is_some() || self.attached.is_some() {
            return NONE_AHEAD;
        }
        match self.topology.ports(packet.node, packet.to) {
            [only] => *only,
            several => self.hashed(packet, several),
        }
    }
}

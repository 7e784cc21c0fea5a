//! The least that is left first, as the sender says.

use trueplane_units::{Nanos, Rank};

use super::{PacketMeta, RankPolicy};

/// pFabric: the rank is what was left of the flow when the packet was sent.
///
/// Rank unit: bytes, the packet included. Serving what is left least first minimises the mean completion time on one link. The sender
/// knows the flow and writes the number into the packet, so that the switch needs no state ([`Srpt`](super::Srpt) is for senders that
/// only say how long the flow is).
///
/// Cost: O(1), no state. Source: Alizadeh et al., *pFabric: Minimal Near-Optimal Datacenter Transport*, SIGCOMM 2013.
/// Departure: pFabric serves the *earliest* packet of the flow whose best packet has the smallest rank. A PIFO on this rank serves the
/// best packet itself, so that packets of one flow that wait together leave in reverse, as in SP-PIFO §6.1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PFabric;

impl RankPolicy for PFabric {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        Rank(packet.remaining_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_flow_goes_before_the_start_of_a_short_one() {
        let rank = |flow_bytes, remaining_bytes| {
            let packet = PacketMeta { flow_bytes, remaining_bytes, ..PacketMeta::default() };
            PFabric.rank(&packet, Nanos(0))
        };
        assert!(rank(1_000_000, 1_500) < rank(10_000, 10_000));
        assert_eq!(rank(1_000_000, 1_500), Rank(1_500));
    }
}

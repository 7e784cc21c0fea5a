//! The network function of the evaluation (§3.4): an entry for every connection; for every packet a lookup and an edit. Its work is
//! [`Laden`](super::Laden)'s.

use trueplane_units::Nanos;

use crate::{FlowId, Flows, LocalFlows, NetworkFunction, Packet, Phase, Reason, Verdict};

/// Looks up the flow of a packet, and takes one from the hops that it has left.
///
/// A packet whose hops are used up, and one of a flow that no SYN began, is dropped. What is not TCP has no connection packets and begins its flow
/// with its first one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Synthetic;

fn edit(packet: &mut Packet) {
    let verdict = match packet.decrement_hops() {
        Some(_) => Verdict::Forward,
        None => Verdict::Drop(Reason::Refused),
    };
    packet.set_verdict(verdict);
}

impl NetworkFunction for Synthetic {
    /// Time when the flow began. Packets are not counted: the entry is there to be found.
    type State = u64;
    type Core = ();

    fn init(&self, _core: usize, _cores: usize) {}

    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, u64>,
        (): &mut (),
        now: Nanos,
    ) {
        for packet in packets {
            let Some(id) = packet.flow().copied() else { continue };
            let Some(flow) = flows.claim(&id.canonical()) else { continue };
            let flags = packet.tcp_flags();
            match flows.get_local_flow(flow) {
                Some((phase, state)) => {
                    flows.set_local_flow(flow, phase.after(flags, id.is_canonical()), state);
                }
                None => {
                    let phase = if flags == 0 { Phase::Datagram } else { Phase::HalfOpen };
                    if flows.insert_local_flow(flow, phase, now.0).is_err() {
                        packet.set_verdict(Verdict::Drop(Reason::TableFull));
                        continue;
                    }
                }
            }
            edit(packet);
        }
    }

    fn regular_packets(&self, packets: &mut [Packet], flows: &Flows<'_, u64>, (): &mut (), _now: Nanos) {
        let found = flows.get_flows_by(packets, |packet| packet.flow().map(FlowId::canonical));
        for (packet, found) in packets.iter_mut().zip(found) {
            match (found, packet.flow()) {
                (Some(_), _) => edit(packet),
                (None, Some(flow)) if flow.protocol() != 6 => packet.set_verdict(Verdict::HandOver),
                (None, Some(_)) => packet.set_verdict(Verdict::Drop(Reason::NoFlow)),
                (None, None) => packet.set_verdict(Verdict::Drop(Reason::Unfit)),
            }
        }
    }
}

//! A stateful firewall: rules say which flows may begin, and in which direction; what belongs to one passes in both.
//!
//! A SYN, the first datagram of UDP, a query of ICMP that asks, and the first packet of another protocol begin a flow, if the
//! [`Rules`] allow it. What belongs to a flow that is there passes, and so do errors of ICMP about it, which keep no flow alive; all else is
//! dropped: by the rules as [`Refused`](Reason::Refused), as a stray one as [`NoFlow`](Reason::NoFlow). Fragments are dropped, for later ones
//! have no ports, and so is IPv6 whose extension headers do not lead to a protocol that rules could speak of. ARP and the neighbour discovery of
//! IPv6 pass (RFC 4890 §4.4.1).
//!
//! **New rules** ([`Worker::reconfigure`](crate::Worker::reconfigure)) hold for flows that begin from then on; those that are there go on,
//! until they are silent, whatever the new rules say. Sequence numbers are not followed.

use std::sync::Arc;

use trueplane_units::Nanos;

use super::rules::{Action, Rules};
use super::sort::{Sort, alive, begins, hands_over, is_neighbour_discovery, sort};
use crate::packet::headers::protocol::{ICMP, ICMPV6, TCP, UDP};
use crate::{FlowId, Flows, Kind, LocalFlow, LocalFlows, NetworkFunction, Packet, Phase, Reason, Verdict};

/// The function. See the module. Each connection has one entry, under its [canonical](FlowId::canonical) direction; its state is when it began, in
/// nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Firewall {
    rules: Arc<Rules>,
}

impl Firewall {
    /// With these rules.
    pub fn new(rules: Rules) -> Self {
        Self { rules: Arc::new(rules) }
    }

    fn allows(&self, flow: &FlowId) -> bool {
        self.rules.decide(flow) == Action::Allow
    }

    /// A regular packet of no flow that is there.
    fn unknown(&self, packet: &Packet, flows: &Flows<'_, u64>) -> Verdict {
        match sort(packet) {
            Sort::Decided(verdict) => verdict,
            Sort::Error(flow) if flows.peek_flow(&flow.canonical()).is_some() => Verdict::Forward,
            Sort::Other(_) if is_neighbour_discovery(packet) => Verdict::Forward,
            Sort::Other(flow) if !is_other(&flow) => Verdict::Drop(Reason::Unfit),
            Sort::Other(flow) if flows.get_flow(&flow.canonical()).is_some() => Verdict::Forward,
            Sort::Flow(flow) | Sort::Other(flow) if hands_over(packet) || packet.kind() == Kind::Other => {
                // Asked here first, so that what is refused does not keep another core from its work.
                if self.allows(&flow) { Verdict::HandOver } else { Verdict::Drop(Reason::Refused) }
            }
            Sort::Flow(_) | Sort::Other(_) | Sort::Error(_) => Verdict::Drop(Reason::NoFlow),
        }
    }

    fn connection(&self, packet: &Packet, flows: &mut LocalFlows<'_, u64>, now: Nanos) -> Verdict {
        let id = match sort(packet) {
            Sort::Flow(id) | Sort::Other(id) => id,
            Sort::Decided(verdict) => return verdict,
            Sort::Error(_) => return Verdict::Drop(Reason::Unfit),
        };
        let Some(flow) = flows.claim(&id.canonical()) else { return Verdict::Drop(Reason::Undecided) };
        let begins = begins(packet) || packet.kind() == Kind::Other;
        match flows.get_local_flow(flow) {
            Some((Phase::Closing, _)) if begins => {
                if !self.allows(&id) {
                    return Verdict::Drop(Reason::Refused);
                }
                flows.remove_local_flow(flow);
                begin(flow, packet, flows, now)
            }
            Some((phase, state)) => {
                let next = phase.after(packet.tcp_flags(), id.is_canonical());
                if next != phase {
                    flows.set_local_flow(flow, next, state);
                }
                Verdict::Forward
            }
            None if !begins => Verdict::Drop(Reason::NoFlow),
            None if self.allows(&id) => begin(flow, packet, flows, now),
            None => Verdict::Drop(Reason::Refused),
        }
    }
}

fn begin(flow: LocalFlow<'_>, packet: &Packet, flows: &mut LocalFlows<'_, u64>, now: Nanos) -> Verdict {
    let phase = match packet.kind() {
        Kind::Tcp(_) => Phase::HalfOpen,
        Kind::Query => Phase::Query,
        _ => Phase::Datagram,
    };
    match flows.insert_local_flow(flow, phase, now.0) {
        Ok(_) => Verdict::Forward,
        Err(_) => Verdict::Drop(Reason::TableFull),
    }
}

/// Whether a flow without ports is one of a protocol that has none, and not one whose transport header is broken.
fn is_other(flow: &FlowId) -> bool {
    !matches!(flow.protocol(), TCP | UDP | ICMP | ICMPV6)
}

impl NetworkFunction for Firewall {
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
            let verdict = self.connection(packet, flows, now);
            packet.set_verdict(verdict);
        }
    }

    fn regular_packets(&self, packets: &mut [Packet], flows: &Flows<'_, u64>, (): &mut (), _now: Nanos) {
        let found = flows.get_flows_by(packets, |packet| alive(packet).map(|flow| flow.canonical()));
        for (packet, found) in packets.iter_mut().zip(found) {
            let verdict = match found {
                Some(_) => Verdict::Forward,
                None => self.unknown(packet, flows),
            };
            packet.set_verdict(verdict);
        }
    }
}

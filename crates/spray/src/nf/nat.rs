//! Network address and port translation of IPv4 (RFC 3022): many private addresses behind a few public ones.
//!
//! A connection that begins inside takes a public address and port, and has two entries: for what leaves (source rewritten) and for what answers
//! (destination rewritten). The port is chosen so that both belong to one core ([`ports`](super::ports)), which writes both; all cores
//! read them. What comes from outside passes only to a connection that is there.
//!
//! Mappings are *address and port-dependent* (RFC 4787 §4.1): each connection has one of its own, as in figure 3.5, and not each port inside
//! (REQ-1), because connections from one port to several servers belong to several cores; connections to several servers may share a
//! public port (REQ-3). Filtering is address and port-dependent as well (§5). Not there: hairpinning (REQ-9), preservation, parity and contiguity
//! of ports (§4.2), gateways for protocols that carry addresses (REQ-10), fragments (REQ-14: dropped), protocols but TCP, UDP and
//! queries of ICMP. There: one public address for all connections of an inside one as long as it has ports (REQ-2), timeouts by phase (REQ-5;
//! RFC 5382 REQ-5; RFC 5508 REQ-2), and errors of ICMP translated with what they quote, which neither refresh nor end a mapping (REQ-12; RFC
//! 5382 REQ-10; RFC 5508 §4). A SYN from inside uses the mapping again of a connection that is closing.
//!
//! A flood of SYNs from inside takes ports until as many flows of a core are unconfirmed as [`Limits`](crate::Limits) has it; from then on,
//! every new one displaces an old one, which gives back its port. That protects the ports only if they last so long. A flood to *one* port of one
//! server has no more than *ports × public addresses ÷ cores* of them on each core, for a port must lead the answers to this core
//! ([`ports`](super::ports)). Keep [`Limits::unconfirmed`](crate::Limits::unconfirmed), which counts for each core, below that: with one
//! address, 64,512 ports and 16 cores, below 4,032. Otherwise the flood takes all ports to that server before it displaces anything, and new
//! connections to it, and to the one in 128 that shares its row of the hash, are dropped as [`NoPort`](Reason::NoPort) until half-open ones
//! are over.
//!
//! A displaced flow goes with both directions. What confirms one of UDP is a second datagram from inside: answers find the other entry, and leave
//! their note there. So a flow whose inside has sent once and only receives since then is among those that a flood may displace.
//!
//! Hops are not taken: it stands in a wire, and the routers on both sides count.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use trueplane_units::Nanos;

use super::ports::{Classes, Ports};
use super::sort::{Sort, alive, begins, hands_over, sort};
use crate::nf::options::{NatOptions, OptionsError};
use crate::nf::parse::PortRange;
use crate::{
    FlowId, FlowState, Flows, Kind, LocalFlow, LocalFlows, NetworkFunction, Packet, Phase, Reason, Removed,
    Steering, Verdict,
};

/// Addresses of a pool at most.
const MAX_ADDRESSES: usize = 1024;

/// Translation of the packets of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// Outward: the source is rewritten. Else the destination.
    pub outward: bool,
    /// Address that replaces the original one.
    pub address: Ipv4Addr,
    /// Port that replaces the original one.
    pub port: u16,
}

impl FlowState for Translation {
    fn to_words(self) -> [u64; 2] {
        let low = u64::from(self.port) << 1 | u64::from(self.outward);
        [u64::from(self.address.to_bits()) << 32 | low, 0]
    }

    fn from_words([word, _]: [u64; 2]) -> Self {
        let address = Ipv4Addr::from_bits((word >> 32) as u32);
        Self { outward: word & 1 == 1, address, port: (word >> 1) as u16 }
    }
}

impl Translation {
    /// The entry of the other direction of the flow that has this one.
    fn sibling(&self, flow: &FlowId) -> FlowId {
        let address = self.address.into();
        if self.outward {
            flow.with_source(address, self.port).reversed()
        } else {
            flow.with_destination(address, self.port).reversed()
        }
    }

    #[inline]
    fn apply(&self, packet: &mut Packet) -> Verdict {
        let address = self.address.into();
        let done = if self.outward {
            packet.set_source(address, self.port)
        } else {
            packet.set_destination(address, self.port)
        };
        if done { Verdict::Forward } else { Verdict::Drop(Reason::Unfit) }
    }
}

/// The function. See the module.
#[derive(Clone, Debug)]
pub struct Nat {
    inside: Arc<[ipnet::Ipv4Net]>,
    /// Public addresses in ascending order.
    public: Arc<[Ipv4Addr]>,
    classes: Arc<Classes>,
}

impl Nat {
    /// With these addresses and ports. What is changed later ([`Worker::reconfigure`](crate::Worker::reconfigure)) holds for which packets
    /// may begin connections; the pool of ports stays as it was.
    ///
    /// # Errors
    ///
    /// No public address or too many, one that is also inside, no prefix inside, no port: a range that begins with 0 or ends before it begins.
    pub fn new(options: &NatOptions) -> Result<Self, OptionsError> {
        let error = |text: String| Err(OptionsError(format!("nat: {text}")));
        let count: u64 = options.public.iter().map(|net| 1 << (32 - net.prefix_len())).sum();
        if count == 0 || count > MAX_ADDRESSES as u64 {
            return error(format!("expected 1 to {MAX_ADDRESSES} public addresses, got {count}"));
        }
        let each = options.public.iter().flat_map(|net| {
            let first = net.network().to_bits();
            (first..=net.broadcast().to_bits()).map(Ipv4Addr::from_bits)
        });
        let mut public: Vec<Ipv4Addr> = each.collect();
        public.sort_unstable();
        public.dedup();
        if options.inside.is_empty() {
            return error("expected a prefix inside, got none".to_owned());
        }
        let both = public.iter().find(|&address| options.inside.iter().any(|net| net.contains(address)));
        if let Some(address) = both {
            return error(format!("expected public addresses outside of the prefixes inside, got {address}"));
        }
        let range @ PortRange { first, last } = options.ports;
        if first == 0 || first > last {
            return error(format!("expected ports from 1 on, the first not after the last, got {range}"));
        }
        let classes = Arc::new(Classes::new(first..=last, options.seed));
        Ok(Self { inside: options.inside.clone().into(), public: public.into(), classes })
    }

    fn is_inside(&self, address: IpAddr) -> bool {
        let IpAddr::V4(address) = address else { return false };
        self.inside.iter().any(|net| net.contains(&address))
    }

    fn is_public(&self, address: IpAddr) -> bool {
        let IpAddr::V4(address) = address else { return false };
        self.public.binary_search(&address).is_ok()
    }

    /// Reason why a packet of a flow that does not exist may not begin it.
    fn refusal(&self, flow: &FlowId) -> Option<Reason> {
        if flow.is_v6() {
            return Some(Reason::Unfit);
        }
        if !self.is_inside(flow.source()) {
            return Some(Reason::NoFlow);
        }
        // From inside to inside is nothing to translate; to a public address would be hairpinning.
        let back = self.is_inside(flow.destination()) || self.is_public(flow.destination());
        back.then_some(Reason::Refused)
    }

    /// A regular packet of no flow that is there.
    fn unknown(&self, packet: &mut Packet, flows: &Flows<'_, Translation>) -> Verdict {
        match sort(packet) {
            Sort::Decided(verdict) => verdict,
            Sort::Other(_) => Verdict::Drop(Reason::Unfit),
            Sort::Error(flow) => match flows.peek_flow(&flow) {
                Some(translation) => translation.apply(packet),
                None => Verdict::Drop(Reason::NoFlow),
            },
            Sort::Flow(flow) => match self.refusal(&flow) {
                Some(reason) => Verdict::Drop(reason),
                None if hands_over(packet) => Verdict::HandOver,
                None => Verdict::Drop(Reason::NoFlow),
            },
        }
    }

    fn connection(
        &self,
        packet: &mut Packet,
        flows: &mut LocalFlows<'_, Translation>,
        ports: &mut Ports,
    ) -> Verdict {
        let id = match sort(packet) {
            Sort::Flow(id) => id,
            Sort::Decided(verdict) => return verdict,
            Sort::Error(_) | Sort::Other(_) => return Verdict::Drop(Reason::Unfit),
        };
        let Some(flow) = flows.claim(&id) else { return Verdict::Drop(Reason::Undecided) };
        let translation = match flows.get_local_flow(flow) {
            Some((Phase::Closing, translation)) if translation.outward && begins(packet) => {
                reopen(flow, translation, flows, ports)
            }
            Some((phase, translation)) => {
                advance(flow, phase, translation, packet.tcp_flags(), flows);
                Ok(translation)
            }
            None => match self.refusal(&id) {
                Some(reason) => Err(reason),
                None if begins(packet) => self.open(flow, phase_of(packet), flows, ports),
                None => Err(Reason::NoFlow),
            },
        };
        match translation {
            Ok(translation) => translation.apply(packet),
            Err(reason) => Verdict::Drop(reason),
        }
    }

    /// Begins a connection.
    fn open(
        &self,
        flow: LocalFlow<'_>,
        phase: Phase,
        flows: &mut LocalFlows<'_, Translation>,
        ports: &mut Ports,
    ) -> Result<Translation, Reason> {
        let id = *flow.id();
        let (address, port) = ports.take(&id, paired(id.source())).ok_or(Reason::NoPort)?;
        let translation = Translation { outward: true, address, port };
        insert(flow, phase, translation, flows, ports).map(|()| translation)
    }
}

/// The phase in which a packet begins a flow.
fn phase_of(packet: &Packet) -> Phase {
    match packet.kind() {
        Kind::Udp => Phase::Datagram,
        Kind::Query => Phase::Query,
        _ => Phase::HalfOpen,
    }
}

/// The number of the public address of an inside one: always the same (RFC 4787 REQ-2), spread by a product with 2^32 ÷ the golden ratio.
fn paired(address: IpAddr) -> usize {
    let IpAddr::V4(address) = address else { return 0 };
    (address.to_bits().wrapping_mul(0x9e37_79b9) >> 16) as usize
}

/// Inserts both directions; on an error, neither is there, and the port is given back.
fn insert(
    flow: LocalFlow<'_>,
    phase: Phase,
    translation: Translation,
    flows: &mut LocalFlows<'_, Translation>,
    ports: &mut Ports,
) -> Result<(), Reason> {
    let whole = Removed { flow: *flow.id(), state: translation };
    let inserted = insert_both(flow, phase, translation, flows, ports);
    let displaced = inserted.inspect_err(|_| release(&whole, flows, ports))?;
    if let Some(displaced) = displaced {
        release(&displaced, flows, ports);
        if displaced.flow == whole.flow {
            return Err(Reason::TableFull);
        }
    }
    Ok(())
}

/// Inserts both directions, and returns a flow that had to go for the second: it may be the first. On an error, either may be there.
fn insert_both(
    flow: LocalFlow<'_>,
    phase: Phase,
    translation: Translation,
    flows: &mut LocalFlows<'_, Translation>,
    ports: &mut Ports,
) -> Result<Option<Removed<Translation>>, Reason> {
    let sibling = flows.claim(&translation.sibling(flow.id())).ok_or(Reason::NoPort)?;
    let IpAddr::V4(address) = flow.id().source() else { return Err(Reason::Unfit) };
    let back = Translation { outward: false, address, port: flow.id().source_port() };
    let displaced = flows.insert_local_flow(flow, phase, translation).map_err(|_| Reason::TableFull)?;
    if let Some(displaced) = displaced {
        release(&displaced, flows, ports);
    }
    if flows.insert_local_sibling(sibling, phase, back).is_ok() {
        return Ok(None);
    }
    // The last place went to the first direction.
    flows.insert_local_flow(sibling, phase, back).map_err(|_| Reason::TableFull)
}

/// Removes both directions of a flow and gives back its port.
fn release(flow: &Removed<Translation>, flows: &mut LocalFlows<'_, Translation>, ports: &mut Ports) {
    let sibling = flow.state.sibling(&flow.flow);
    for id in [&flow.flow, &sibling] {
        if let Some(local) = flows.claim(id) {
            flows.remove_local_flow(local);
        }
    }
    // The outward flow, and what it is translated to, are one entry's name and state, or the other's name reversed.
    if flow.state.outward {
        ports.give_back(&flow.flow, flow.state.address, flow.state.port);
    } else if let IpAddr::V4(address) = flow.flow.destination() {
        ports.give_back(&sibling, address, flow.flow.destination_port());
    }
}

/// A connection that is closing begins again with the same port: its entries wait to be confirmed as new ones do.
fn reopen(
    flow: LocalFlow<'_>,
    translation: Translation,
    flows: &mut LocalFlows<'_, Translation>,
    ports: &mut Ports,
) -> Result<Translation, Reason> {
    let sibling = flows.claim(&translation.sibling(flow.id()));
    for local in [Some(flow), sibling].into_iter().flatten() {
        flows.remove_local_flow(local);
    }
    insert(flow, Phase::HalfOpen, translation, flows, ports).map(|()| translation)
}

/// Moves both entries to the phase that a segment with these flags leads to.
fn advance(
    flow: LocalFlow<'_>,
    phase: Phase,
    translation: Translation,
    flags: u8,
    flows: &mut LocalFlows<'_, Translation>,
) {
    let next = phase.after(flags, true);
    if next == phase {
        return;
    }
    flows.set_local_flow(flow, next, translation);
    if let Some(sibling) = flows.claim(&translation.sibling(flow.id()))
        && let Some((phase, translation)) = flows.peek_local_flow(sibling)
    {
        flows.set_local_flow(sibling, phase.after(flags, false), translation);
    }
}

impl NetworkFunction for Nat {
    type State = Translation;
    type Core = Ports;

    fn init(&self, core: usize, cores: usize) -> Ports {
        Ports::new(core, &Steering::new(cores), &self.public, &self.classes)
    }

    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, Translation>,
        ports: &mut Ports,
        _now: Nanos,
    ) {
        for packet in packets {
            let verdict = self.connection(packet, flows, ports);
            packet.set_verdict(verdict);
        }
    }

    fn regular_packets(
        &self,
        packets: &mut [Packet],
        flows: &Flows<'_, Translation>,
        _ports: &mut Ports,
        _now: Nanos,
    ) {
        let found = flows.get_flows_by(packets, alive);
        for (packet, found) in packets.iter_mut().zip(found) {
            let verdict = match found {
                Some(translation) => translation.apply(packet),
                None => self.unknown(packet, flows),
            };
            packet.set_verdict(verdict);
        }
    }

    /// Keeps a connection as long as either direction has been seen; but one that was never established goes with its first direction.
    fn retire(&self, flow: Removed<Translation>, flows: &mut LocalFlows<'_, Translation>, ports: &mut Ports) {
        let Some(local) = flows.claim(&flow.flow) else { return };
        let Some((phase, state)) = flows.peek_local_flow(local) else { return };
        let flow = Removed { state, ..flow };
        let alive = |id: &FlowId| flows.claim(id).is_some_and(|local| !flows.is_idle(local));
        let half_open = state.outward && phase.is_half_open();
        if half_open || !alive(&state.sibling(&flow.flow)) {
            release(&flow, flows, ports);
        }
    }
}

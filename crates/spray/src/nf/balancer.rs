//! A load balancer of layer 4: connections to one address and port are shared out to backends, which see the client's own address.
//!
//! A flow's backend is the one that [`Maglev`] has for it when it begins, and is kept in its entry, so that it stays there when backends come and go.
//! What a client sends has its destination rewritten to the backend, what the backend answers its source to the service.
//!
//! **One entry.** An answer belongs to another core than what it answers, for the hash sees the backend where the client put the service.
//! Nothing has to be written for it: the flow that it answers is computed from it (its reverse, to the service), looked up on whichever core that is, and
//! says whether this backend may speak for the service. So there is no entry for answers, no address or port to be taken for the way back, and IPv6
//! as well as IPv4. The price is that a backend's FIN and RST, which go to the core of the answers, do not move the phase: a
//! client's FIN or RST does (to [`Closing`](Phase::Closing): what follows keeps the entry as long as it is needed), and a connection that only its backend
//! reset stays until it is silent, as in balancers that see one direction only.
//!
//! **Health.** Backends go up and down as another configuration ([`with_health`](Balancer::with_health),
//! [`Worker::reconfigure`](crate::Worker::reconfigure)). A flow stays with its backend while that is up. If it is down, or was taken away,
//! datagrams of UDP and a new SYN go to another; other segments of TCP are dropped as [`NoBackend`](Reason::NoBackend), for no other backend knows the
//! connection.
//!
//! What is not of the service passes by, what is no IP (such as LLDP) included, but for other ports of its address
//! ([`Refused`](Reason::Refused)), and what a backend sends from its port to who has no connection ([`NoFlow`](Reason::NoFlow)). What cannot be
//! told to be of the service or not is dropped, if it goes to the service's address or comes from a backend's: fragments, and
//! what has a header of TCP or UDP, or extension headers of IPv6, that cannot be read. So is what says that it is IP and is none.

use std::net::SocketAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use trueplane_units::Nanos;

use super::maglev::{MAX_ROWS, MAX_SERVERS, Maglev, is_prime, name_of};
use super::options::{Backend, BalancerOptions, OptionsError};
use super::sort::{Sort, alive, begins, says_ip, sort};
use crate::packet::headers::protocol::{TCP, UDP};
use crate::packet::tcp_flags;
use crate::{FlowId, Flows, Kind, LocalFlow, LocalFlows, NetworkFunction, Packet, Phase, Reason, Verdict};

/// The function. See the module. The state of a flow is the name of its backend, which is the same in every configuration.
#[derive(Clone, Debug)]
pub struct Balancer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: BalancerOptions,
    table: Maglev,
    /// Backends by what is in the state of flows.
    by_name: HashMap<u64, Backend>,
    by_address: HashMap<SocketAddr, u64>,
    names: Vec<u64>,
}

/// Direction of a packet through the service.
enum Way {
    /// A packet from a client, with its flow.
    In(FlowId),
    /// A packet from a backend, with the flow that it answers and the name of the backend.
    Out(FlowId, u64),
    /// Passes by: from neither.
    By,
}

impl Balancer {
    /// With this service and these backends. O(rows of the table).
    ///
    /// # Errors
    ///
    /// No backend or too many, one twice, one of another family than the service or the service itself; a table whose size is not a prime that
    /// the backends fit into.
    pub fn new(options: &BalancerOptions) -> Result<Self, OptionsError> {
        let error = |text: String| Err(OptionsError(format!("balancer: {text}")));
        let BalancerOptions { service, backends, rows, seed } = options;
        if backends.is_empty() || backends.len() > MAX_SERVERS {
            return error(format!("expected 1 to {MAX_SERVERS} backends, got {}", backends.len()));
        }
        if *rows > MAX_ROWS || !is_prime(*rows) || (*rows as usize) < backends.len() {
            let least = backends.len();
            return error(format!(
                "expected a prime of {least} to {MAX_ROWS} as the table's size, got {rows}"
            ));
        }
        let mut by_name = HashMap::new();
        for backend in backends {
            let address = backend.address;
            if address.is_ipv4() != service.is_ipv4() || address == *service {
                return error(format!("expected backends of the service's family but itself, got {address}"));
            }
            if by_name.insert(name_of(&address.to_string()), *backend).is_some() {
                return error(format!("expected each backend once, got {address} twice"));
            }
        }
        let names: Vec<u64> = backends.iter().map(|backend| name_of(&backend.address.to_string())).collect();
        let weight = |backend: &Backend| if backend.up { backend.weight } else { 0 };
        let servers: Vec<_> = names.iter().copied().zip(backends.iter().map(weight)).collect();
        Ok(Self(Arc::new(Inner {
            table: Maglev::new(&servers, *rows, *seed),
            by_address: by_name.iter().map(|(&name, backend)| (backend.address, name)).collect(),
            by_name,
            names,
            options: options.clone(),
        })))
    }

    /// The same with a backend up or down.
    ///
    /// # Errors
    ///
    /// There is no such backend.
    pub fn with_health(&self, backend: SocketAddr, up: bool) -> Result<Self, OptionsError> {
        let mut options = self.0.options.clone();
        let found = options.backends.iter_mut().find(|known| known.address == backend);
        let Some(found) = found else {
            return Err(OptionsError(format!("balancer: expected one of the backends, got {backend}")));
        };
        found.up = up;
        Self::new(&options)
    }

    /// Options of the load balancer.
    pub fn options(&self) -> &BalancerOptions {
        &self.0.options
    }

    /// The backend that a flow to the service has if it begins now.
    pub fn choose(&self, flow: &FlowId) -> Option<&Backend> {
        self.0.by_name.get(&self.chosen(flow)?)
    }

    fn chosen(&self, flow: &FlowId) -> Option<u64> {
        self.0.names.get(self.0.table.server(flow)?).copied()
    }

    /// The backend of this name, if it is up.
    fn up(&self, name: u64) -> Option<SocketAddr> {
        self.0.by_name.get(&name).filter(|backend| backend.up).map(|backend| backend.address)
    }

    fn way(&self, flow: &FlowId) -> Way {
        if !matches!(flow.protocol(), TCP | UDP) {
            return Way::By;
        }
        let service = self.0.options.service;
        if flow.destination_port() == service.port() && flow.destination() == service.ip() {
            return Way::In(*flow);
        }
        let source = SocketAddr::new(flow.source(), flow.source_port());
        match self.0.by_address.get(&source) {
            Some(&name) => Way::Out(flow.reversed().with_destination(service.ip(), service.port()), name),
            None => Way::By,
        }
    }

    /// Translates a packet by the state of its flow.
    fn translate(&self, packet: &mut Packet, way: &Way, name: Option<u64>) -> Verdict {
        let service = self.0.options.service;
        let done = match (way, name) {
            (Way::By, _) => return self.pass_by(packet),
            (_, None) => return Verdict::Drop(Reason::NoFlow),
            (Way::In(_), Some(name)) => match self.up(name) {
                Some(backend) => packet.set_destination(backend.ip(), backend.port()),
                None => return Verdict::Drop(Reason::NoBackend),
            },
            // Another backend has the flow now.
            (Way::Out(_, from), Some(name)) if *from != name => return Verdict::Drop(Reason::NoFlow),
            (Way::Out(..), Some(_)) => packet.set_source(service.ip(), service.port()),
        };
        if done { Verdict::Forward } else { Verdict::Drop(Reason::Unfit) }
    }

    /// Verdict on a packet that does not belong to the service.
    fn pass_by(&self, packet: &Packet) -> Verdict {
        let Some(flow) = packet.flow() else { return Verdict::Forward };
        if packet.kind() != Kind::Error && flow.destination() == self.0.options.service.ip() {
            return Verdict::Drop(Reason::Refused);
        }
        Verdict::Forward
    }

    /// Verdict on a packet of which it is unclear whether it belongs to the service: one that may have to be translated, and cannot be,
    /// is dropped.
    fn unclear(&self, packet: &Packet, reason: Reason) -> Verdict {
        let is_ours = match packet.flow() {
            None => says_ip(packet),
            Some(flow) => {
                let backends = &self.0.options.backends;
                flow.destination() == self.0.options.service.ip()
                    || backends.iter().any(|known| known.address.ip() == flow.source())
            }
        };
        if is_ours { Verdict::Drop(reason) } else { Verdict::Forward }
    }

    fn regular(&self, packet: &mut Packet, found: Option<u64>, flows: &Flows<'_, u64>) -> Verdict {
        let (flow, found) = match sort(packet) {
            Sort::Flow(flow) => (flow, found),
            Sort::Other(flow) if matches!(flow.protocol(), TCP | UDP) => {
                return self.unclear(packet, Reason::Unfit);
            }
            Sort::Other(flow) => (flow, None),
            Sort::Error(flow) => match self.way(&flow) {
                Way::In(key) | Way::Out(key, _) => (flow, flows.peek_flow(&key)),
                Way::By => (flow, None),
            },
            Sort::Decided(Verdict::Drop(reason)) => return self.unclear(packet, reason),
            Sort::Decided(verdict) => return verdict,
        };
        let way = self.way(&flow);
        let begins = matches!(way, Way::In(_)) && packet.kind() == Kind::Udp;
        if begins && found.is_none_or(|name| self.up(name).is_none()) {
            return Verdict::HandOver;
        }
        self.translate(packet, &way, found)
    }

    fn connection(&self, packet: &mut Packet, flows: &mut LocalFlows<'_, u64>) -> Verdict {
        let id = match sort(packet) {
            Sort::Flow(id) => id,
            Sort::Decided(Verdict::Drop(reason)) => return self.unclear(packet, reason),
            Sort::Decided(verdict) => return verdict,
            Sort::Error(_) | Sort::Other(_) => return Verdict::Drop(Reason::Unfit),
        };
        let way = self.way(&id);
        let name = match &way {
            Way::By => None,
            Way::Out(key, _) => flows.get_flow(key),
            Way::In(key) => {
                let Some(flow) = flows.claim(key) else { return Verdict::Drop(Reason::Undecided) };
                match self.incoming(flow, packet, flows) {
                    Ok(name) => Some(name),
                    Err(reason) => return Verdict::Drop(reason),
                }
            }
        };
        self.translate(packet, &way, name)
    }

    /// The backend of a flow to the service, after a packet that may begin or end it.
    fn incoming(
        &self,
        flow: LocalFlow<'_>,
        packet: &Packet,
        flows: &mut LocalFlows<'_, u64>,
    ) -> Result<u64, Reason> {
        let ends = packet.tcp_flags() & (tcp_flags::FIN | tcp_flags::RST) != 0;
        match flows.get_local_flow(flow) {
            Some((phase, name))
                if self.up(name).is_some() && !(phase == Phase::Closing && begins(packet)) =>
            {
                if ends && phase != Phase::Closing {
                    flows.set_local_flow(flow, Phase::Closing, name);
                }
                Ok(name)
            }
            Some(_) if begins(packet) => {
                flows.remove_local_flow(flow);
                self.begin(flow, packet, flows)
            }
            Some(_) => Err(Reason::NoBackend),
            None if begins(packet) => self.begin(flow, packet, flows),
            None => Err(Reason::NoFlow),
        }
    }

    fn begin(
        &self,
        flow: LocalFlow<'_>,
        packet: &Packet,
        flows: &mut LocalFlows<'_, u64>,
    ) -> Result<u64, Reason> {
        let name = self.chosen(flow.id()).ok_or(Reason::NoBackend)?;
        let phase = if packet.kind() == Kind::Udp { Phase::Datagram } else { Phase::HalfOpen };
        flows.insert_local_flow(flow, phase, name).map_err(|_| Reason::TableFull)?;
        Ok(name)
    }
}

impl NetworkFunction for Balancer {
    type State = u64;
    type Core = ();

    fn init(&self, _core: usize, _cores: usize) {}

    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, u64>,
        (): &mut (),
        _now: Nanos,
    ) {
        for packet in packets {
            let verdict = self.connection(packet, flows);
            packet.set_verdict(verdict);
        }
    }

    fn regular_packets(&self, packets: &mut [Packet], flows: &Flows<'_, u64>, (): &mut (), _now: Nanos) {
        let found = flows.get_flows_by(packets, |packet| match self.way(&alive(packet)?) {
            Way::In(key) | Way::Out(key, _) => Some(key),
            Way::By => None,
        });
        for (packet, found) in packets.iter_mut().zip(found) {
            let verdict = self.regular(packet, found, flows);
            packet.set_verdict(verdict);
        }
    }
}

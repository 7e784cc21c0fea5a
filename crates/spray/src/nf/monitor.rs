//! A traffic monitor: packets and bytes of every flow, and how far its connection is.
//!
//! Every core counts what it sees, in a bounded map of its own, and nothing is shared while packets pass; [`collect`] adds up what the cores have
//! (§3.2.4: statistics that tolerate looser consistency). Connections of TCP are in the flow table, for their phase. All packets pass, also
//! those of flows for which there is no room: these are counted together, as are flows that made room for others and what is not IP, so that
//! the sum over all rows and the rest is what passed.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Serialize, Serializer};
use trueplane_units::Nanos;

use super::followed::Followed;
use super::options::MonitorOptions;
use super::sort::{alive, begins};
use crate::packet::headers::protocol::{ICMP, ICMPV6, TCP};
use crate::{FlowId, Flows, LocalFlows, NetworkFunction, Packet, Phase, Table, Verdict};

/// The function. See the module. Connections have one entry, under their [canonical](FlowId::canonical) direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monitor {
    options: MonitorOptions,
}

/// Packets and bytes of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of their frames.
    pub bytes: u64,
}

impl Traffic {
    fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Traffic of a flow on one core.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    traffic: Traffic,
    /// Times of the first and the last packet.
    span: Option<(Nanos, Nanos)>,
}

/// Counters of a core.
#[derive(Clone, Debug)]
pub struct Counters {
    flows: Followed<Seen>,
    other: Traffic,
}

impl Counters {
    fn count(&mut self, packet: &Packet, now: Nanos) {
        let traffic = Traffic { packets: 1, bytes: packet.bytes().len() as u64 };
        let Some(flow) = packet.flow() else { return self.other.add(traffic) };
        let (seen, gone) = self.flows.see(flow, now);
        match seen {
            Some(seen) => {
                seen.traffic.add(traffic);
                let first = seen.span.map_or(now, |(first, _)| first);
                seen.span = Some((first, now));
            }
            None => self.other.add(traffic),
        }
        if let Some(gone) = gone {
            self.other.add(gone.traffic);
        }
    }
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Flow, as this direction has it.
    #[serde(serialize_with = "as_text")]
    pub flow: FlowId,
    /// Its packets and bytes.
    pub traffic: Traffic,
    /// Arrival time of the flow's first packet that was counted, in ns.
    pub first_ns: Nanos,
    /// Arrival time of the flow's last packet, in ns.
    pub last_ns: Nanos,
    /// Phase of its connection; `None` if it is not known: no SYN was seen, there was no room, or the connection is over.
    #[serde(serialize_with = "as_name")]
    pub phase: Option<Phase>,
}

/// Counters of all cores together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Export {
    /// Flows, in their order.
    pub rows: Vec<Row>,
    /// All other packets.
    pub other: Traffic,
}

impl Export {
    /// All that passed.
    pub fn total(&self) -> Traffic {
        self.rows.iter().fold(self.other, |mut sum, row| {
            sum.add(row.traffic);
            sum
        })
    }
}

/// Adds up what the cores have counted; `tables` are those of their workers. O(flows × log flows + slots of the tables).
pub fn collect<'a>(cores: impl IntoIterator<Item = &'a Counters>, tables: &[Arc<Table<()>>]) -> Export {
    let phases: HashMap<FlowId, Phase> =
        tables.iter().flat_map(|table| table.flows()).map(|(flow, phase, ())| (flow, phase)).collect();
    let (mut flows, mut other) = (BTreeMap::<FlowId, Row>::new(), Traffic::default());
    for core in cores {
        other.add(core.other);
        for (flow, seen) in core.flows.iter() {
            let (first, last) = seen.span.unwrap_or_default();
            let row = flows.entry(*flow).or_insert_with(|| Row {
                flow: *flow,
                traffic: Traffic::default(),
                first_ns: first,
                last_ns: last,
                phase: phase_of(flow, &phases),
            });
            row.traffic.add(seen.traffic);
            row.first_ns = row.first_ns.min(first);
            row.last_ns = row.last_ns.max(last);
        }
    }
    Export { rows: flows.into_values().collect(), other }
}

fn phase_of(flow: &FlowId, phases: &HashMap<FlowId, Phase>) -> Option<Phase> {
    match flow.protocol() {
        TCP => phases.get(&flow.canonical()).copied(),
        ICMP | ICMPV6 => Some(Phase::Query),
        _ => Some(Phase::Datagram),
    }
}

impl Monitor {
    /// With this much memory.
    pub fn new(options: &MonitorOptions) -> Self {
        Self { options: *options }
    }
}

/// Follows the connection of a packet that may begin or end one.
fn follow(packet: &Packet, flows: &mut LocalFlows<'_, ()>) {
    let Some(id) = alive(packet) else { return };
    let Some(flow) = flows.claim(&id.canonical()) else { return };
    match flows.get_local_flow(flow) {
        Some((Phase::Closing, ())) if begins(packet) => {
            flows.remove_local_flow(flow);
        }
        Some((phase, ())) => {
            flows.set_local_flow(flow, phase.after(packet.tcp_flags(), id.is_canonical()), ());
            return;
        }
        None if !begins(packet) => return,
        None => {}
    }
    // Without room, it is counted all the same.
    let _ = flows.insert_local_flow(flow, Phase::HalfOpen, ());
}

impl NetworkFunction for Monitor {
    type State = ();
    type Core = Counters;

    fn init(&self, _core: usize, _cores: usize) -> Counters {
        let flows = Followed::new(self.options.flows, self.options.idle);
        Counters { flows, other: Traffic::default() }
    }

    fn connection_packets(
        &self,
        packets: &mut [Packet],
        flows: &mut LocalFlows<'_, ()>,
        counters: &mut Counters,
        now: Nanos,
    ) {
        for packet in packets {
            follow(packet, flows);
            counters.count(packet, now);
            packet.set_verdict(Verdict::Forward);
        }
    }

    fn regular_packets(
        &self,
        packets: &mut [Packet],
        flows: &Flows<'_, ()>,
        counters: &mut Counters,
        now: Nanos,
    ) {
        // What is found is nothing; that it was looked for is noted.
        let _ = flows.get_flows_by(packets, |packet| {
            alive(packet).filter(|flow| flow.protocol() == TCP).map(|flow| flow.canonical())
        });
        for packet in packets {
            counters.count(packet, now);
            packet.set_verdict(Verdict::Forward);
        }
    }
}

fn as_text<S: Serializer>(flow: &FlowId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(flow)
}

fn as_name<S: Serializer>(phase: &Option<Phase>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = phase.map(|phase| match phase {
        Phase::HalfOpen => "half_open",
        Phase::Established => "established",
        Phase::Finishing => "finishing",
        Phase::FinishingBack => "finishing_back",
        Phase::Closing => "closing",
        Phase::Datagram => "datagram",
        Phase::Query => "query",
    });
    name.serialize(serializer)
}

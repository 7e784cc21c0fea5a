//! Packets from a trace.

use std::sync::Arc;

use etherparse::LaxNetSlice;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Format, Layers, Place, Trace, TraceError};
use trueplane_units::{Bytes, Nanos};

use super::{CLASSES, Character};
use crate::distribution::MOST_SPAN;
use crate::port::{Traffic, go_on};
use crate::rank::PacketMeta;

/// Records between two reports of progress, and two questions whether to stop.
const REPORT: usize = 1 << 12;

/// Parts of a trace that are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its keys are ranks.
    pub ranks: bool,
    /// Its times are when packets come.
    pub times: bool,
    /// The packets after so many are not read.
    pub packets: u64,
    /// The length of packets whose length the trace does not say.
    pub packet_bytes: u32,
    /// Seed of the random draws.
    pub seed: u64,
    /// Longest time that a packet may wait and be in time.
    pub slack: Nanos,
}

/// The packets of a trace.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its name.
    pub name: String,
    /// Things in the trace that could not be read, with their counts.
    pub skipped: Vec<(String, u64)>,
    /// The packets, which begin at time zero.
    pub packets: Arc<[(Nanos, PacketMeta)]>,
    /// The ranks of the packets, if they were wanted.
    pub ranks: Arc<[u64]>,
    /// Packets whose length the trace does not tell, or tells as 0, though it has lengths: they have [`Wanted::packet_bytes`].
    pub without_length: u64,
    /// Whether flows have sizes, which only those of captures do.
    pub is_capture: bool,
}

impl Recording {
    /// From the first packet to the last.
    pub fn span(&self) -> Nanos {
        self.packets.last().map_or(Nanos(0), |&(time, _)| time)
    }

    /// Total length of all packets.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.packets.iter().map(|(_, packet)| u64::from(packet.bytes)).sum())
    }

    /// The packets at their times.
    pub fn traffic(&self) -> Replayed {
        Replayed { packets: Arc::clone(&self.packets), next: 0 }
    }

    /// Reads a trace: a capture, or any other request log.
    ///
    /// Memory: about 90 bytes per packet.
    ///
    /// # Errors
    /// If the trace cannot be read, has no times or no ranks where they are wanted, or the observer interrupts.
    pub fn read(trace: &Trace, wanted: &Wanted, observer: &dyn Observer) -> Result<Self, Error> {
        observer.stage("reading", trace.bytes());
        if trace.format() != Format::Pcap {
            return requests(trace, wanted, observer);
        }
        if wanted.ranks {
            let problem = "a capture has no ranks: choose a rank policy such as --ranks pfabric".to_owned();
            return Err(input(trace, problem));
        }
        capture(trace, wanted, observer)
    }
}

fn input(trace: &Trace, problem: String) -> Error {
    TraceError::Input { trace: trace.name().to_owned(), place: Place::Whole, problem }.into()
}

/// The packets of a recording.
pub struct Replayed {
    packets: Arc<[(Nanos, PacketMeta)]>,
    next: usize,
}

impl Traffic for Replayed {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        let packet = self.packets.get(self.next).copied();
        self.next += 1;
        packet
    }
}

/// Requests: the key is the rank if ranks are wanted, and the flow in any case.
fn requests(trace: &Trace, wanted: &Wanted, observer: &dyn Observer) -> Result<Recording, Error> {
    let clock = if wanted.times { Clock::Timestamps } else { Clock::Steps };
    if wanted.times && !trace.fields().time {
        let problem = "the trace has no timestamps, which --arrivals trace needs".to_owned();
        return Err(input(trace, problem));
    }
    let sized = trace.fields().size && wanted.times;
    let mut reader = trace.reader(clock)?.first(wanted.packets);
    let (mut chunk, mut packets, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut position, mut without_length) = (0, 0);
    while reader.next_chunk(&mut chunk)? {
        for request in &chunk {
            let number = packets.len() + 1;
            if wanted.ranks {
                if request.key >= MOST_SPAN {
                    let problem = format!(
                        "request {number}: expected a rank, a whole number below {MOST_SPAN}, as its key; found {} (what is no number is read as its hash)",
                        request.key
                    );
                    return Err(input(trace, problem));
                }
                ranks.push(request.key);
            }
            let bytes = match request.size {
                size if sized && size > 0 => u32::try_from(size).map_err(|_| {
                    let problem =
                        format!("request {number}: expected a packet below 4 GiB, found {size} bytes");
                    input(trace, problem)
                })?,
                _ => {
                    without_length += u64::from(sized);
                    wanted.packet_bytes
                }
            };
            packets.push((request.time, PacketMeta { flow: request.key, bytes, ..PacketMeta::default() }));
        }
        observer.advance(reader.position() - position);
        position = reader.position();
        go_on(observer)?;
    }
    from_zero(&mut packets);
    Ok(Recording {
        name: trace.name().to_owned(),
        skipped: reader.skipped().to_vec(),
        packets: packets.into(),
        ranks: ranks.into(),
        without_length,
        is_capture: false,
    })
}

/// Packets, with the sizes of their flows in a second pass.
fn capture(trace: &Trace, wanted: &Wanted, observer: &dyn Observer) -> Result<Recording, Error> {
    let mut reader = trace.packets()?.first(wanted.packets);
    let mut packets = Vec::new();
    let mut position = 0;
    let mut more = true;
    while more {
        more = reader.read(REPORT, |packet| {
            let flow = packet.flow().unwrap_or_default();
            let class = class_of(packet.layers);
            // A frame of no length would take no time.
            let bytes = packet.length.max(1);
            packets.push((packet.time, PacketMeta { flow, bytes, class, ..PacketMeta::default() }));
        })?;
        observer.advance(reader.position() - position);
        position = reader.position();
        go_on(observer)?;
    }
    if reader.may_go_back() {
        packets.sort_by_key(|&(time, _)| time);
        packets.truncate(usize::try_from(wanted.packets).unwrap_or(usize::MAX));
    }
    from_zero(&mut packets);
    follow_flows(&mut packets, wanted);
    Ok(Recording {
        name: trace.name().to_owned(),
        skipped: reader.skipped().to_vec(),
        packets: packets.into(),
        ranks: Arc::default(),
        without_length: 0,
        is_capture: true,
    })
}

fn from_zero(packets: &mut [(Nanos, PacketMeta)]) {
    let first = packets.first().map_or(Nanos(0), |&(time, _)| time);
    packets.iter_mut().for_each(|(time, _)| *time = time.since(first));
}

/// A flow of a capture, as far as it has been followed.
struct Followed {
    bytes: u64,
    sent: u64,
    slack: Nanos,
    last: Nanos,
}

/// Gives packets what only the whole of their flow can tell: its size, what is left of it, and the deadline, which is the time of its
/// last packet and its slack. Slacks, and what packets waited upstream, are not in captures: they are drawn.
fn follow_flows(packets: &mut [(Nanos, PacketMeta)], wanted: &Wanted) {
    let mut character = Character::new(wanted.seed, wanted.slack);
    let mut flows: HashMap<u64, Followed> = HashMap::new();
    for (time, packet) in packets.iter() {
        let followed = match flows.entry(packet.flow) {
            Entry::Occupied(followed) => followed.into_mut(),
            Entry::Vacant(new) => {
                let (_, slack) = character.of(packet.flow);
                new.insert(Followed { bytes: 0, sent: 0, slack, last: *time })
            }
        };
        followed.bytes += u64::from(packet.bytes);
        followed.last = *time;
    }
    for (_, packet) in packets {
        packet.excess_wait_ns = character.excess_wait_ns();
        let Some(flow) = flows.get_mut(&packet.flow) else { continue };
        packet.flow_bytes = flow.bytes;
        packet.remaining_bytes = flow.bytes - flow.sent;
        packet.slack = flow.slack;
        packet.deadline = flow.last.after(flow.slack);
        flow.sent += u64::from(packet.bytes);
    }
}

/// The class of a packet: 7 − IP precedence (the upper three bits of DSCP), so that 0 is the most urgent. Without IP the last.
fn class_of(layers: Layers<'_>) -> u8 {
    let precedence = match layers.headers().and_then(|headers| headers.net) {
        Some(LaxNetSlice::Ipv4(ip)) => ip.header().dcp().value() >> 3,
        Some(LaxNetSlice::Ipv6(ip)) => ip.header().traffic_class() >> 5,
        _ => 0,
    };
    CLASSES - 1 - precedence
}

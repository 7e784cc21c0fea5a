//! The packets of a capture, as they are.

use hashbrown::HashMap;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Layers, Place, Trace, TraceError};
use trueplane_units::Nanos;

use crate::dispatch::Arrival;
use crate::packet::headers::Link;
use crate::silence::Silences;
use crate::source::{Next, Offer, Source};
use crate::{FlowId, Packet};

/// Records between two reports of progress.
const REPORT: usize = 1 << 12;

/// EtherTypes (IANA).
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// The bytes of a captured packet from Ethernet or IP on; none if it is neither.
pub(super) fn framed(layers: Layers<'_>) -> Option<(&[u8], Link)> {
    match layers {
        Layers::Ethernet(frame) => Some((frame, Link::Ethernet)),
        Layers::Ip(packet) | Layers::EtherType(IPV4 | IPV6, packet) => Some((packet, Link::Ip)),
        Layers::EtherType(..) | Layers::Other => None,
    }
}

/// Lets `visit` see all packets of a capture that begin with Ethernet or IP, with their times and lengths on the wire.
pub(super) fn read(
    trace: &Trace,
    observer: &dyn Observer,
    mut visit: impl FnMut(Nanos, u32, &[u8], Link),
) -> Result<Vec<(String, u64)>, Error> {
    observer.stage("reading", trace.bytes());
    let mut reader = trace.packets()?;
    let (mut position, mut more) = (0, true);
    while more {
        more = reader.read(REPORT, |packet| {
            if let Some((bytes, link)) = framed(packet.layers) {
                visit(packet.time, packet.length, bytes, link);
            }
        })?;
        observer.advance(reader.position() - position);
        position = reader.position();
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
    Ok(reader.skipped().to_vec())
}

struct Recorded {
    /// Since the first packet.
    time: Nanos,
    packet: Packet,
    arrival: Arrival,
    flow: u32,
}

/// A capture in memory, about 300 bytes for each packet and its bytes.
pub struct Capture {
    name: String,
    packets: Vec<Recorded>,
    flows: usize,
    silences: Silences,
    skipped: Vec<(String, u64)>,
}

impl Capture {
    /// Reads it. O(n log n).
    ///
    /// # Errors
    ///
    /// The trace is no capture, is broken, holds no packet that begins with Ethernet or IP, or the observer interrupts.
    pub fn read(trace: &Trace, observer: &dyn Observer) -> Result<Self, Error> {
        let mut packets = Vec::new();
        let mut numbers: HashMap<Option<FlowId>, u32> = HashMap::new();
        let skipped = read(trace, observer, |time, _, bytes, link| {
            let packet = Packet::new(bytes.to_vec(), link);
            let next = numbers.len() as u32;
            let flow = *numbers.entry(packet.flow().copied()).or_insert(next);
            packets.push(Recorded { time, arrival: Arrival::of(&packet), packet, flow });
        })?;
        packets.sort_by_key(|packet| packet.time);
        if packets.is_empty() {
            let problem = "expected packets of Ethernet or IP, found none".to_owned();
            let trace = trace.name().to_owned();
            return Err(TraceError::Input { trace, place: Place::Whole, problem }.into());
        }
        let silences = Silences::shorten(packets.iter_mut().map(|packet| &mut packet.time));
        Ok(Self { name: trace.name().to_owned(), packets, flows: numbers.len(), silences, skipped })
    }

    /// Name of the capture.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of packets in the capture, at least one.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether it has none: never.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Number of flows, where each direction is one; all packets without addresses are another.
    pub fn flows(&self) -> usize {
        self.flows
    }

    /// Silences that were shortened.
    pub fn silences(&self) -> Silences {
        self.silences
    }

    /// Packets of the capture that could not be read, by kind, with their numbers.
    pub fn skipped(&self) -> &[(String, u64)] {
        &self.skipped
    }
}

/// A capture's packets again and again, at a rate of their own.
pub struct Replayed<'a> {
    capture: &'a Capture,
    /// Number of packets to replay.
    packets: u64,
    gap: u64,
    sent: u64,
    /// Packets of each flow so far.
    sequences: Vec<u32>,
    last: usize,
}

impl<'a> Replayed<'a> {
    /// The first `packets` packets of an endless repetition, with `gap` picoseconds between two on average.
    pub fn new(capture: &'a Capture, packets: u64, gap: u64) -> Self {
        let sequences = vec![0; capture.flows];
        Self { capture, packets, gap, sent: 0, sequences, last: 0 }
    }
}

impl Source for Replayed<'_> {
    fn next(&mut self) -> Next {
        if self.sent == self.packets {
            return Next::End;
        }
        let all = self.capture.packets.len() as u64;
        let (round, index) = (self.sent / all, (self.sent % all) as usize);
        let recorded = &self.capture.packets[index];
        let length = all * self.gap;
        // The span from the first packet to the last is one gap shorter than a round.
        let span = self.capture.packets.last().map_or(0, |last| last.time.0);
        let within = match span {
            0 => index as u64 * self.gap,
            span => {
                let share = u128::from(recorded.time.0) * u128::from(length - self.gap);
                (share / u128::from(span)) as u64
            }
        };
        self.last = index;
        self.sent += 1;
        let sequence = &mut self.sequences[recorded.flow as usize];
        *sequence += 1;
        Next::Packet(Offer {
            at: round * length + within,
            flow: recorded.flow,
            sequence: *sequence - 1,
            arrival: recorded.arrival,
            is_copy: false,
        })
    }

    fn packet(&mut self, spent: Option<Packet>) -> Packet {
        let recorded = &self.capture.packets[self.last].packet;
        match spent {
            Some(mut packet) => {
                packet.refill(recorded.link(), |bytes| {
                    bytes.clear();
                    bytes.extend_from_slice(recorded.bytes());
                });
                packet
            }
            None => recorded.clone(),
        }
    }

    fn begins(&self) -> u64 {
        0
    }

    fn ends(&self) -> u64 {
        self.packets * self.gap
    }
}

//! TCP and UDP packets of a capture, with their payloads: what the applications of this crate work on.
//!
//! ```no_run
//! use std::path::Path;
//! use trueplane_surge::segments::{Segments, Wanted};
//! use trueplane_trace::{Trace, TraceOptions};
//!
//! // `-` is standard input; gzip, zstd and xz are undone; pcap and pcapng are told apart.
//! let trace = Trace::open(Path::new("video.pcap"), &TraceOptions::default())?;
//! let segments = Segments::read(&trace, &Wanted::default(), &())?;
//! for segment in segments.all() {
//!     let bytes = segments.payload(segment); // what was captured of it
//!     println!("{} {:x} {} bits, {} bytes", segment.at, segment.flow, segment.bits, bytes.len());
//! }
//! for (what, packets) in segments.left_out() {
//!     println!("{what}: {packets}");
//! }
//! # Ok::<(), trueplane_study::Error>(())
//! ```
//!
//! What is no TCP or UDP packet over IPv4 or IPv6 is left out and counted: other protocols, fragments (nothing here puts IP packets
//! together again), headers that are cut short, and a last packet that the end of the file cuts off.
//!
//! Captures often hold only the start of every packet. Lengths are then those of the IP header, so that sequence numbers still
//! follow each other, and the bytes that were not captured are nowhere: whoever matches payloads does not find what would have been
//! in them. [`Segments::truncated`] says how many packets that concerns.

use std::path::Path;
use std::sync::Arc;

use etherparse::{LaxIpPayloadSlice, LaxNetSlice, LenSource, TcpSlice, ip_number};
use trueplane_study::{Error, Observer};
use trueplane_trace::{Format, Layers, Packet, Place, Trace, TraceError, TraceOptions};
use trueplane_units::Nanos;

/// Records between two reports of progress, and two questions whether to stop.
const REPORT: usize = 1 << 12;

/// The longest packet whose bits 32 of them can count. No link has any nearly as long.
pub const MOST_BYTES: u32 = u32::MAX / 8;

/// A UDP header.
const UDP_HEADER: usize = 8;

/// A TCP or UDP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Time at which it was captured, the first packet of the capture at zero.
    pub at: Nanos,
    /// The SipHash-2-4 of protocol, addresses and ports under the all-zero key: each direction of a connection is a flow of its own.
    pub flow: u64,
    /// Its size on the wire: eight times the length of the frame, without its checksum, whatever was captured of it. Above zero.
    pub bits: u32,
    /// Bytes of payload that it had on the wire.
    pub length: u32,
    /// Fields of its TCP header; `None` if it is UDP.
    pub tcp: Option<Tcp>,
    /// Offset of its payload in the arena.
    start: usize,
    /// Bytes of its payload there, at most `length`.
    captured: u32,
}

/// Fields of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// The sequence number of the first byte of payload; with `syn`, of the SYN, which comes before that.
    pub seq: u32,
    /// Opens the direction.
    pub syn: bool,
    /// Ends it after the payload.
    pub fin: bool,
    /// Aborts the connection.
    pub rst: bool,
}

/// Choice of packets from a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Segments after so many are not read.
    pub packets: u64,
    /// True if payloads are wanted; without them [`Segments::payload`] is empty.
    pub payloads: bool,
    /// Bytes of memory for segments and payloads; a growing vector may for a moment take twice that.
    pub memory: u64,
}

impl Default for Wanted {
    /// Everything, in 4 GiB.
    fn default() -> Self {
        Self { packets: u64::MAX, payloads: true, memory: 4 << 30 }
    }
}

/// The TCP and UDP packets of a capture, in the order of their times.
#[derive(Clone, Debug)]
pub struct Segments {
    name: String,
    all: Arc<[Segment]>,
    arena: Arc<[u8]>,
    left_out: Vec<(String, u64)>,
    truncated: u64,
}

impl Segments {
    /// Reads the capture at `path`, `-` being standard input, whatever it is called, otherwise as `options` say; O(n).
    ///
    /// # Errors
    ///
    /// As [`Segments::read`], and if there is no such file; where its very start is wrong, with a word on jobs, which are read elsewhere.
    pub fn open(
        path: &Path,
        options: &TraceOptions,
        wanted: &Wanted,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let options = TraceOptions { format: Some(Format::Pcap), ..options.clone() };
        let trace = Trace::open(path, &options)?;
        Self::read(&trace, wanted, observer).map_err(|error| match error {
            Error::Trace(TraceError::Input { trace, place: Place::Byte(0), problem }) => {
                let problem = format!("not a capture: {problem}; for a CSV file of jobs say trace:FILE");
                TraceError::Input { trace, place: Place::Whole, problem }.into()
            }
            error => error,
        })
    }

    /// Reads a capture. O(n), and O(n log n) where its times may go back ([`trueplane_trace::TraceOptions::sort`]).
    ///
    /// # Errors
    ///
    /// The trace is no capture, is broken, holds no TCP or UDP packet or more than fits in the memory, or the observer interrupts.
    pub fn read(trace: &Trace, wanted: &Wanted, observer: &dyn Observer) -> Result<Self, Error> {
        observer.stage("reading", trace.bytes());
        let mut reader = trace.packets()?;
        let mut gathered = Gathered { wanted: *wanted, ..Gathered::default() };
        let mut position = 0;
        let mut more = true;
        while more && !gathered.is_done() {
            // No more than are wanted: what comes long after them may be broken.
            let left = wanted.packets - gathered.all.len() as u64;
            let most = usize::try_from(left).unwrap_or(REPORT).min(REPORT);
            more = reader.read(most, |packet| gathered.add(packet))?;
            gathered.check(trace)?;
            observer.advance(reader.position() - position);
            position = reader.position();
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
        }
        let Gathered { mut all, arena, left_out, truncated, first, .. } = gathered;
        let mut counts = reader.skipped().to_vec();
        counts.extend(left_out.iter().map(|&(what, count)| (what.to_owned(), count)));
        if all.is_empty() {
            let found: Vec<String> = counts.iter().map(|(what, count)| format!("{what}: {count}")).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Err(input(trace, format!("expected TCP or UDP packets, found {found}")));
        }
        if reader.may_go_back() {
            all.sort_by_key(|segment| segment.at);
        }
        all.iter_mut().for_each(|segment| segment.at = segment.at.since(first));
        Ok(Self {
            name: trace.name().to_owned(),
            all: all.into(),
            arena: arena.into(),
            left_out: counts,
            truncated,
        })
    }

    /// Segments that are made up, each with the first bytes of its payload, in the order of their times.
    pub fn made(name: &str, made: impl IntoIterator<Item = (Made, Vec<u8>)>) -> Self {
        let (mut all, mut arena) = (Vec::new(), Vec::new());
        for (Made { at, flow, bits, length, tcp }, payload) in made {
            let captured = u32::try_from(payload.len()).unwrap_or(u32::MAX).min(length);
            all.push(Segment { at, flow, bits, length, tcp, start: arena.len(), captured });
            arena.extend_from_slice(&payload[..captured as usize]);
        }
        let left_out = Vec::new();
        Self { name: name.to_owned(), all: all.into(), arena: arena.into(), left_out, truncated: 0 }
    }

    /// The name of the capture.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All of them, in the order of their times.
    pub fn all(&self) -> &[Segment] {
        &self.all
    }

    /// All of them, to share: what knows packets by their index keeps this.
    pub fn shared(&self) -> Arc<[Segment]> {
        Arc::clone(&self.all)
    }

    /// Captured payload of one of the segments; empty for the segment of another capture that does not fit this one.
    pub fn payload(&self, segment: &Segment) -> &[u8] {
        let start = segment.start;
        self.arena.get(start..start.saturating_add(segment.captured as usize)).unwrap_or_default()
    }

    /// Time from the first packet of the capture that counts to the last.
    pub fn span(&self) -> Nanos {
        let first = self.all.first().map_or(Nanos(0), |segment| segment.at);
        self.all.last().map_or(Nanos(0), |segment| segment.at.since(first))
    }

    /// Kinds of packets of the capture that were left out, such as `packets that are neither TCP nor UDP`, with their numbers.
    pub fn left_out(&self) -> &[(String, u64)] {
        &self.left_out
    }

    /// Number of packets with payload that was not captured.
    pub fn truncated(&self) -> u64 {
        self.truncated
    }
}

/// A segment that is made up, but for its payload; the fields are those of [`Segment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Time at which it comes.
    pub at: Nanos,
    /// The name of its flow.
    pub flow: u64,
    /// Its size on the wire, in bits; above zero.
    pub bits: u32,
    /// Bytes of payload that it has on the wire.
    pub length: u32,
    /// Fields of its TCP header; `None` if it is UDP.
    pub tcp: Option<Tcp>,
}

fn input(trace: &Trace, problem: String) -> Error {
    TraceError::Input { trace: trace.name().to_owned(), place: Place::Whole, problem }.into()
}

/// Segments that have been read so far.
#[derive(Default)]
struct Gathered {
    wanted: Wanted,
    all: Vec<Segment>,
    arena: Vec<u8>,
    left_out: Vec<(&'static str, u64)>,
    truncated: u64,
    /// The earliest time of any packet, once there is one.
    first: Nanos,
    has_packets: bool,
}

impl Gathered {
    fn is_done(&self) -> bool {
        self.all.len() as u64 >= self.wanted.packets
    }

    /// Adds a packet, or counts it among those that are left out.
    fn add(&mut self, packet: &Packet<'_>) {
        self.first = if self.has_packets { self.first.min(packet.time) } else { packet.time };
        self.has_packets = true;
        if self.is_full() {
            return;
        }
        let found = Transport::of(packet);
        let (Ok(found), Some(flow)) = (&found, packet.flow()) else {
            return self.leave_out(found.err().unwrap_or(MALFORMED));
        };
        let captured = found.payload.len() as u32;
        self.truncated += u64::from(captured < found.length);
        let start = self.arena.len();
        if self.wanted.payloads {
            self.arena.extend_from_slice(found.payload);
        }
        self.all.push(Segment {
            at: packet.time,
            flow,
            bits: found.frame * 8,
            length: found.length,
            tcp: found.tcp,
            start,
            captured: if self.wanted.payloads { captured } else { 0 },
        });
    }

    fn leave_out(&mut self, what: &'static str) {
        match self.left_out.iter_mut().find(|(name, _)| *name == what) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((what, 1)),
        }
    }

    fn is_full(&self) -> bool {
        (self.all.len() * size_of::<Segment>() + self.arena.len()) as u64 > self.wanted.memory
    }

    /// Refuses what does not fit in the memory.
    fn check(&self, trace: &Trace) -> Result<(), Error> {
        if !self.is_full() {
            return Ok(());
        }
        let problem = format!(
            "expected a capture that fits in {} bytes of memory, found {} packets that do not: raise --memory or read fewer with --packets",
            self.wanted.memory,
            self.all.len()
        );
        Err(input(trace, problem))
    }
}

const MALFORMED: &str = "packets with a header that is cut short or malformed";
const OTHER: &str = "packets that are neither TCP nor UDP";
const FRAGMENT: &str = "IP fragments";
const LONG: &str = "packets longer than any link has them";

/// The TCP or UDP part of a packet.
struct Transport<'a> {
    /// The length of the frame on the wire, in bytes; above zero and at most [`MOST_BYTES`].
    frame: u32,
    /// The length of the payload on the wire, in bytes.
    length: u32,
    tcp: Option<Tcp>,
    /// Captured part of the payload.
    payload: &'a [u8],
}

impl<'a> Transport<'a> {
    /// The TCP or UDP part of `packet`; else what it is counted as.
    fn of(packet: &Packet<'a>) -> Result<Self, &'static str> {
        if packet.layers == Layers::Other {
            return Err(OTHER);
        }
        let sliced = packet.layers.headers().ok_or(MALFORMED)?;
        let bytes = packet.layers.bytes();
        // Some write a length below that of what they captured.
        let frame = packet.length.max(bytes.len() as u32);
        if frame > MOST_BYTES {
            return Err(LONG);
        }
        let uncaptured = frame - bytes.len() as u32;
        let (ip, announced) = match &sliced.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let before =
                    ip.header().slice().len() + ip.extensions().auth.map_or(0, |auth| auth.slice().len());
                (ip.payload(), usize::from(ip.header().total_len()).saturating_sub(before))
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let before = ip.extensions().slice().len();
                (ip.payload(), usize::from(ip.header().payload_length()).saturating_sub(before))
            }
            Some(LaxNetSlice::Arp(_)) => return Err(OTHER),
            None if sliced.stop_err.is_some() => return Err(MALFORMED),
            None => return Err(OTHER),
        };
        if ip.fragmented {
            return Err(FRAGMENT);
        }
        let (tcp, header) = header_of(ip)?;
        let length = match ip.len_source {
            _ if ip.incomplete => announced as u32,
            // A length of zero: segmentation was left to the network card.
            LenSource::Slice => ip.payload.len() as u32 + uncaptured,
            _ => ip.payload.len() as u32,
        };
        let payload = ip.payload.get(header..).unwrap_or_default();
        let captured = payload.len() as u32;
        // A header may promise more than was on the wire.
        let length = length.saturating_sub(header as u32).clamp(captured, captured + uncaptured);
        Ok(Self { frame, length, tcp, payload })
    }
}

/// The header at the start of the payload of an IP packet, and its length, which was captured.
fn header_of(ip: &LaxIpPayloadSlice<'_>) -> Result<(Option<Tcp>, usize), &'static str> {
    match ip.ip_number {
        ip_number::TCP => {
            let header = TcpSlice::from_slice(ip.payload).map_err(|_| MALFORMED)?;
            let tcp = Tcp {
                seq: header.sequence_number(),
                syn: header.syn(),
                fin: header.fin(),
                rst: header.rst(),
            };
            Ok((Some(tcp), header.header_slice().len()))
        }
        ip_number::UDP if ip.payload.len() >= UDP_HEADER => Ok((None, UDP_HEADER)),
        ip_number::UDP => Err(MALFORMED),
        _ => Err(OTHER),
    }
}

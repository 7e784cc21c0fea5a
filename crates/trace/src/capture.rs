//! Packet captures, pcap and pcapng: their packets, and a packet as a request for its flow, of the packet's original length.
//!
//! Packets that are no request (ARP, IP headers cut short, unknown link types) are counted, and on a clock of steps
//! they are idle steps.
//!
//! Source: <https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/> and `…-pcapng/`.

use pcap_parser::nom::{Err as NomError, IResult, Needed};
use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock, OptionCode, parse_block_be, parse_block_le};
use pcap_parser::{
    LegacyPcapBlock, PcapError, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::decode::{Decode, Skipped};
use crate::dialect::{Dialect, Input, Opened, Sign, Start};
use crate::error::TraceError;
use crate::hash::Hashing;
use crate::options::{PacketKey, TraceOptions};
use crate::packet::{Link, NoKey, key_of};
use crate::timeline::Timeline;
use crate::window::Window;
use crate::{Fields, Request};

/// The longest packet or block in bytes; Wireshark's limit too. Longer ones are taken for damage.
const LONGEST: usize = 16 << 20;

/// The longest record that may be cut off by the end of the file: the most that capturing programs keep of a packet, and some
/// more for a block's options. A longer one is taken for damage, so that not much is lost to it.
const LONGEST_CUT: usize = (256 << 10) + (64 << 10);

/// More interfaces than any machine has; without a limit they could fill the memory.
const MOST_INTERFACES: usize = 1 << 16;

/// The block type of pcapng's section header, a palindrome.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The type and twice the length, which every pcapng block has.
const SHORTEST_BLOCK: usize = 12;

/// The byte order magic of a big-endian section.
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// Name under which [`Record::Obsolete`] is counted.
pub(super) const OBSOLETE: &str = "packets in obsolete packet blocks";

/// Name under which [`Record::Cut`] is counted.
pub(super) const CUT: &str = "records cut off by the end of the file";

/// Name under which packets are counted whose link type is not known.
pub(super) const UNKNOWN_LINK: &str = "packets of unknown link types";

/// Whether a trace that starts with these bytes is a capture.
fn looks_like_capture(start: &[u8]) -> bool {
    let is_section = start.starts_with(&SECTION_HEADER)
        && matches!(start.get(8..12), Some([0x1a, 0x2b, 0x3c, 0x4d] | [0x4d, 0x3c, 0x2b, 0x1a]));
    is_section || (start.len() >= 24 && parse_pcap_header(start).is_ok())
}

/// Captures, pcap and pcapng.
pub(super) struct Capture;

impl Dialect for Capture {
    fn sign(&self, start: &Start<'_>) -> Option<Sign> {
        let is_capture = looks_like_capture(start.bytes);
        if is_capture { Some(Sign::Magic) } else { start.named(&["pcap", "pcapng", "cap"]) }
    }

    fn open(&self, _window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        let key = options.packet_key.unwrap_or_default();
        let read = move |Input { window, timeline, hashing, strict }| {
            let (records, skipped) = (Records::new(window, strict), Skipped::default());
            Ok(Reader { records, timeline, key, hashing, skipped })
        };
        Ok(Opened { has_key_text: false, ..Opened::new(Fields::TIME_AND_SIZE, read) })
    }
}

/// Reads the requests of captures.
struct Reader {
    records: Records,
    timeline: Timeline,
    key: PacketKey,
    hashing: Hashing,
    skipped: Skipped,
}

/// Reads captures record by record.
pub(super) struct Records {
    window: Window,
    container: Container,
    /// Whether a last record that is cut off is an error.
    strict: bool,
}

/// Content of a record that somebody sent.
pub(super) enum Record<'a> {
    Packet(CapturedPacket<'a>),
    /// A packet in a block of the kind that nobody writes any more, which is not read.
    Obsolete,
    /// The start of a last record: whoever wrote the file was killed, or is still writing.
    Cut,
}

/// Container format of the packets.
enum Container {
    /// Nothing has been read yet.
    Unread,
    Pcap {
        parse: FrameParser,
        link: Link,
        /// Nanoseconds per unit of the timestamp's fraction.
        tick: u64,
    },
    Pcapng {
        is_big_endian: bool,
        interfaces: Vec<Interface>,
    },
}

type FrameParser = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

/// Interface on which packets of a pcapng section were captured.
#[derive(Clone, Copy)]
struct Interface {
    link: Link,
    ticks: Ticks,
    /// Seconds to add to every timestamp.
    offset: i64,
    /// The most bytes captured of a packet; 0 for no limit.
    snapshot: u32,
}

/// Ticks of an interface's clock in a second.
#[derive(Clone, Copy)]
enum Ticks {
    PowerOfTen(u8),
    PowerOfTwo(u8),
}

/// A packet as its container gives it.
pub(super) struct CapturedPacket<'a> {
    pub(super) data: &'a [u8],
    pub(super) length: u32,
    pub(super) link: Link,
    /// `None` where the container has no time for it.
    pub(super) time: Option<Nanos>,
}

/// Takes what a record holds, or says what is wrong with it.
pub(super) type Visit<'a> = &'a mut dyn FnMut(&Record<'_>) -> Result<(), String>;

impl Records {
    /// Reads `window`; if it is `strict`, a last record that is cut off is an error.
    pub(super) fn new(window: Window, strict: bool) -> Self {
        Self { window, container: Container::Unread, strict }
    }

    /// Reads the next frame or block and lets `visit` see what it holds, if that is anything; `false` when there is none.
    pub(super) fn step(&mut self, visit: Visit<'_>) -> Result<bool, TraceError> {
        if !self.window.require(1)? {
            return Ok(false);
        }
        match &self.container {
            Container::Unread => self.read_start().map(|()| true),
            Container::Pcap { parse, link, tick } => {
                let (parse, link, tick) = (*parse, *link, *tick);
                self.read_frame(parse, link, tick, visit).map(|()| true)
            }
            Container::Pcapng { .. } => self.read_block(visit).map(|()| true),
        }
    }

    /// Reads the header of the file, which must be whole.
    fn read_start(&mut self) -> Result<(), TraceError> {
        self.require_start(4)?;
        if self.window.data().starts_with(&SECTION_HEADER) {
            self.require_start(12)?;
            let length = block_length(&self.window, &mut false)?;
            self.require_start(length)?;
            self.container = Container::Pcapng { is_big_endian: false, interfaces: Vec::new() };
            return Ok(());
        }
        self.require_start(24)?;
        let Ok((_, header)) = parse_pcap_header(self.window.data()) else {
            return Err(self.window.error_here("expected a pcap or pcapng header"));
        };
        self.window.consume(header.size());
        self.container = Container::Pcap {
            parse: frame_parser(&header),
            // The upper half says whether frames end with a checksum.
            link: Link::of(header.network.0 as u16),
            tick: if header.is_nanosecond_precision() { 1 } else { 1_000 },
        };
        Ok(())
    }

    fn read_frame(
        &mut self,
        parse: FrameParser,
        link: Link,
        tick: u64,
        visit: Visit<'_>,
    ) -> Result<(), TraceError> {
        loop {
            match parse(self.window.data()) {
                Ok((rest, frame)) => {
                    let time = u64::from(frame.ts_sec) * 1_000_000_000 + u64::from(frame.ts_usec) * tick;
                    let time = Some(Nanos(time));
                    let packet = CapturedPacket { data: frame.data, length: frame.origlen, link, time };
                    let length = self.window.data().len() - rest.len();
                    visit(&Record::Packet(packet)).map_err(|problem| self.window.error_here(problem))?;
                    self.window.consume(length);
                    return Ok(());
                }
                Err(NomError::Incomplete(Needed::Size(missing))) => {
                    let length = self.window.data().len().saturating_add(missing.get());
                    if !require(&mut self.window, length)? {
                        return self.cut(length, visit);
                    }
                }
                Err(_) => return Err(self.window.error_here("expected a packet")),
            }
        }
    }

    fn read_block(&mut self, visit: Visit<'_>) -> Result<(), TraceError> {
        let Container::Pcapng { is_big_endian, interfaces } = &mut self.container else { return Ok(()) };
        if !require(&mut self.window, SHORTEST_BLOCK)? {
            return self.cut(SHORTEST_BLOCK, visit);
        }
        let length = block_length(&self.window, is_big_endian)?;
        if !require(&mut self.window, length)? {
            return self.cut(length, visit);
        }
        let block = &self.window.data()[..length];
        let parsed = if *is_big_endian { parse_block_be(block) } else { parse_block_le(block) };
        let Ok((_, block)) = parsed else {
            return Err(no_block(&self.window, length));
        };
        let visited = match packet_of(&block, interfaces) {
            Ok(Some(packet)) => visit(&Record::Packet(packet)),
            Ok(None) if is_obsolete_packet(&block) => visit(&Record::Obsolete),
            Ok(None) => Ok(()),
            Err(problem) => Err(problem),
        };
        visited.map_err(|problem| self.window.error_here(problem))?;
        self.window.consume(length);
        Ok(())
    }

    /// Brings the first `length` bytes of the file's header into view.
    fn require_start(&mut self, length: usize) -> Result<(), TraceError> {
        if require(&mut self.window, length)? { Ok(()) } else { Err(self.cut_short(length)) }
    }

    /// Passes over the start of a last record, of which `expected` bytes were.
    fn cut(&mut self, expected: usize, visit: Visit<'_>) -> Result<(), TraceError> {
        let found = self.window.data().len();
        if self.strict || expected > LONGEST_CUT {
            return Err(self.cut_short(expected));
        }
        visit(&Record::Cut).map_err(|problem| self.window.error_here(problem))?;
        self.window.consume(found);
        Ok(())
    }

    fn cut_short(&self, expected: usize) -> TraceError {
        let found = self.window.data().len();
        self.window.error_here(format!("record cut short: expected {expected} bytes, found {found}"))
    }
}

impl Decode for Reader {
    fn decode(&mut self, out: &mut Vec<Request>, most: usize) -> Result<bool, TraceError> {
        let Self { records, timeline, key, hashing, skipped } = self;
        while out.len() < most {
            let more = records.step(&mut |record| {
                match record {
                    Record::Packet(packet) => {
                        out.extend(request_of(packet, *key, hashing, timeline, skipped)?);
                    }
                    Record::Obsolete => {
                        timeline.idle();
                        skipped.count(OBSOLETE);
                    }
                    Record::Cut => skipped.count(CUT),
                }
                Ok(())
            })?;
            if !more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn settled(&self) -> Nanos {
        self.timeline.settled()
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn census(&self) -> Option<KeyCensus> {
        self.hashing.census()
    }
}

/// Brings the `length` bytes of a record into view; `false` when the file ends before.
fn require(window: &mut Window, length: usize) -> Result<bool, TraceError> {
    if length > LONGEST {
        return Err(
            window.error_here(format!("record of {length} bytes, more than 16 MiB; is this a capture?"))
        );
    }
    window.require(length)
}

/// The length of the block whose first [`SHORTEST_BLOCK`] bytes are in view. A section header sets the byte order first.
///
/// `pcap-parser` 0.17 subtracts these bytes from the length of a process information block without comparing them.
fn block_length(window: &Window, is_big_endian: &mut bool) -> Result<usize, TraceError> {
    let word = |at: usize| [0, 1, 2, 3].map(|byte| window.data()[at + byte]);
    if word(0) == SECTION_HEADER {
        *is_big_endian = word(8) == BIG_ENDIAN;
    }
    let length = if *is_big_endian { u32::from_be_bytes(word(4)) } else { u32::from_le_bytes(word(4)) };
    let length = length as usize;
    if length < SHORTEST_BLOCK { Err(no_block(window, length)) } else { Ok(length) }
}

fn no_block(window: &Window, length: usize) -> TraceError {
    window.error_here(format!("expected a pcapng block, got {length} other bytes"))
}

fn frame_parser(header: &PcapHeader) -> FrameParser {
    if header.is_modified_format() {
        parse_pcap_frame_modified
    } else if header.is_bigendian() {
        parse_pcap_frame_be
    } else {
        parse_pcap_frame
    }
}

/// The packet in a block, if there is one; blocks about interfaces change `interfaces`.
fn packet_of<'a>(
    block: &'a Block<'a>,
    interfaces: &mut Vec<Interface>,
) -> Result<Option<CapturedPacket<'a>>, String> {
    match block {
        Block::SectionHeader(_) => interfaces.clear(),
        Block::InterfaceDescription(_) if interfaces.len() == MOST_INTERFACES => {
            return Err(format!("more than {MOST_INTERFACES} interfaces"));
        }
        Block::InterfaceDescription(description) => interfaces.push(Interface::of(description)),
        Block::EnhancedPacket(packet) => {
            let interface = interfaces.get(packet.if_id as usize).ok_or_else(|| {
                format!("packet of interface {}, of which there are {}", packet.if_id, interfaces.len())
            })?;
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let time = interface.time(ticks).ok_or("packet from before 1970 or after 2554")?;
            let data = &packet.data[..packet.data.len().min(packet.caplen as usize)];
            let length = packet.origlen;
            return Ok(Some(CapturedPacket { data, length, link: interface.link, time: Some(time) }));
        }
        Block::SimplePacket(packet) => {
            let interface = interfaces.first().ok_or("packet before any interface")?;
            let captured = match interface.snapshot {
                0 => packet.origlen,
                snapshot => packet.origlen.min(snapshot),
            };
            let data = &packet.data[..packet.data.len().min(captured as usize)];
            return Ok(Some(CapturedPacket {
                data,
                length: packet.origlen,
                link: interface.link,
                time: None,
            }));
        }
        _ => {}
    }
    Ok(None)
}

/// Whether a block is of the type 2, the packet block that the enhanced one replaced.
fn is_obsolete_packet(block: &Block<'_>) -> bool {
    // Read as little-endian in sections of either order.
    matches!(block, Block::Unknown(unknown) if matches!(unknown.block_type, 2 | 0x0200_0000))
}

/// The request that a packet is, unless it is none.
fn request_of(
    packet: &CapturedPacket<'_>,
    choice: PacketKey,
    hashing: &mut Hashing,
    timeline: &mut Timeline,
    skipped: &mut Skipped,
) -> Result<Option<Request>, String> {
    let key = match key_of(packet.data, packet.link, choice, |bytes| hashing.bytes(bytes)) {
        Ok(key) => key,
        Err(reason) => {
            timeline.idle();
            match reason {
                NoKey::NotIp => skipped.count("packets that are not IP"),
                NoKey::Malformed => skipped.count("packets with a header that is cut short or malformed"),
                NoKey::UnknownLink(number) => {
                    skipped.count_numbered(UNKNOWN_LINK, number);
                }
            }
            return Ok(None);
        }
    };
    let time = match packet.time {
        Some(time) => time,
        None if timeline.is_timed() => {
            return Err("packet without a timestamp (a simple packet block); use --time slotted".to_owned());
        }
        None => Nanos(0),
    };
    let time = timeline.stamp(time)?;
    Ok(Some(Request { time, key, size: u64::from(packet.length), fetch: Nanos(0) }))
}

impl Interface {
    fn of(description: &InterfaceDescriptionBlock<'_>) -> Self {
        // `pcap-parser` reads the offset as little-endian in sections of either order, so we read it ourselves.
        let is_big_endian = description.block_type.swap_bytes() == pcap_parser::IDB_MAGIC;
        let offset = description.options.iter().find(|option| option.code == OptionCode::IfTsoffset);
        let offset = offset.and_then(|option| option.value().first_chunk()).map_or(0, |bytes| {
            if is_big_endian { i64::from_be_bytes(*bytes) } else { i64::from_le_bytes(*bytes) }
        });
        let ticks = match description.if_tsresol {
            power @ 0..0x80 => Ticks::PowerOfTen(power),
            power => Ticks::PowerOfTwo(power & 0x7f),
        };
        let link = Link::of(description.linktype.0 as u16);
        Self { link, ticks, offset, snapshot: description.snaplen }
    }

    /// The instant of `ticks` on the interface's clock; `None` if it is out of range.
    fn time(&self, ticks: u64) -> Option<Nanos> {
        let ticks = i128::from(ticks);
        let nanos = match self.ticks {
            Ticks::PowerOfTen(power @ 0..=9) => ticks * 10_i128.pow(9 - u32::from(power)),
            // A u64 has fewer than 20 digits.
            Ticks::PowerOfTen(power) => ticks / 10_i128.pow((u32::from(power) - 9).min(20)),
            // A u64 times a billion has fewer than 95 bits.
            Ticks::PowerOfTwo(power) => (ticks * 1_000_000_000) >> power.min(95),
        };
        u64::try_from(nanos + i128::from(self.offset) * 1_000_000_000).ok().map(Nanos)
    }
}

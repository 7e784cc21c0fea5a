//! Packets of a link as a capture file, which Wireshark and tcpdump read.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;

use trueplane_units::Nanos;

use crate::transport::segment::{Ecn, Flags, Segment};

/// The first word of a file whose times have nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
/// Frames are Ethernet's.
const ETHERNET: u32 = 1;
/// Bytes that are kept of a frame at most: Ethernet 14, IPv4 20, TCP 60. Payloads have no bytes in a simulation.
const SNAP: u32 = 94;
/// Bytes of an IPv4 packet at most.
const MOST_BYTES: u32 = 65_535;
/// Windows are in units of so many bytes, as a power of two (RFC 7323 §2).
const WINDOW_SCALE: u8 = 8;
/// The options of a SYN: the window scale, and that SACK blocks may come (RFC 2018 §2).
const SYN_OPTIONS: [u8; 8] = [1, 3, 3, WINDOW_SCALE, 1, 1, 4, 2];
/// The port of receivers: discard (RFC 863).
const DISCARD: u16 = 9;
/// Ports of senders: so many, from the first that is free to use.
const PORTS: u64 = 64_512;
const FIRST_PORT: u16 = 1_024;

/// A packet on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// Host that sent it.
    pub(super) from: u32,
    /// Host that it goes to.
    pub(super) to: u32,
    /// Number of its flow.
    pub(super) flow: u64,
    /// Whether it goes from the sender of the flow to the receiver.
    pub(super) is_data: bool,
    /// The segment in it.
    pub(super) segment: &'a Segment,
}

/// A capture of what the port of a link sends, in the format of pcap with nanoseconds.
///
/// A packet is dated when its first bit leaves the port. Packets that the queue drops are not there; packets that the link loses are. Each is an
/// Ethernet frame with IPv4 and TCP headers, and cut off behind them: payloads have no bytes here, and count as zeros in the checksum. Host *n*
/// has the address 10.0.0.0 + *n* + 1. The lengths are those of these headers, and not those that the simulation counts. Payload beyond 65,535 bytes
/// of a packet, which IPv4 does not have, is left out.
///
/// Clones write to one file.
#[derive(Clone)]
pub struct Capture(Rc<RefCell<State>>);

struct State {
    link: u32,
    out: Box<dyn Write>,
    packets: u64,
    /// The first error, after which nothing is written.
    failed: Option<io::Error>,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.borrow();
        f.debug_struct("Capture")
            .field("link", &state.link)
            .field("packets", &state.packets)
            .finish_non_exhaustive()
    }
}

impl Capture {
    /// A capture of the link with this number.
    pub fn new(link: u32, mut out: impl Write + 'static) -> Self {
        let header = [MAGIC, 4 << 16 | 2, 0, 0, SNAP, ETHERNET];
        let failed = header.iter().try_for_each(|word| out.write_all(&word.to_le_bytes())).err();
        Self(Rc::new(RefCell::new(State { link, out: Box::new(out), packets: 0, failed })))
    }

    /// Whether packets of this link are captured.
    #[inline]
    pub(super) fn is_of(&self, link: u32) -> bool {
        self.0.borrow().link == link
    }

    /// A packet begins to leave the port.
    pub(super) fn leaves(&self, seen: &Seen<'_>, now: Nanos) {
        let state = &mut *self.0.borrow_mut();
        if state.failed.is_some() {
            return;
        }
        let (headers, length) = frame(seen);
        let seconds = u32::try_from(now.0 / 1_000_000_000).unwrap_or(u32::MAX);
        let words = [seconds, (now.0 % 1_000_000_000) as u32, headers.len() as u32, length];
        let record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).chain(headers).collect();
        state.failed = state.out.write_all(&record).err();
        state.packets += 1;
    }

    /// Writes what is not yet written. Returns the number of packets.
    ///
    /// # Errors
    ///
    /// The first error of the file.
    pub fn finish(&self) -> io::Result<u64> {
        let state = &mut *self.0.borrow_mut();
        match state.failed.take() {
            Some(error) => Err(error),
            None => state.out.flush().map(|()| state.packets),
        }
    }
}

/// The headers of a packet, and the length of its frame with the payload.
fn frame(seen: &Seen<'_>) -> (Vec<u8>, u32) {
    let &Seen { from, to, flow, is_data, segment } = seen;
    let options = options(segment);
    let headers = 40 + options.len() as u32;
    let bytes = headers + segment.length.min(MOST_BYTES - headers);
    let mut frame = Vec::with_capacity(SNAP as usize);
    for host in [to, from] {
        frame.extend([2, 0]);
        frame.extend((host + 1).to_be_bytes());
    }
    frame.extend([8, 0]);
    let addresses = [from, to].map(|host| (0x0a00_0000 + host + 1).to_be_bytes()).concat();
    frame.extend(internet(bytes as u16, segment.ecn, &addresses));
    let sender = FIRST_PORT + (flow % PORTS) as u16;
    let ports = if is_data { [sender, DISCARD] } else { [DISCARD, sender] };
    // Nobody sends data to the sender, so its own window is not simulated: it is open.
    let window = if is_data { u32::MAX } else { segment.window };
    let header = transmission(&Segment { window, ..*segment }, ports, &options);
    let mut pseudo = addresses;
    pseudo.extend([0, 6]);
    pseudo.extend(((bytes - 20) as u16).to_be_bytes());
    let sum = checksum(&[&pseudo[..], &header[..]]);
    frame.extend(&header[..16]);
    frame.extend(sum.to_be_bytes());
    frame.extend(&header[18..]);
    (frame, 14 + bytes)
}

/// The header of IPv4 (RFC 791 §3.1) of a packet of so many bytes.
fn internet(bytes: u16, ecn: Ecn, addresses: &[u8]) -> Vec<u8> {
    let service = match ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Experienced => 3,
    };
    let mut header = vec![0x45, service];
    header.extend(bytes.to_be_bytes());
    // No fragment may be made; 64 hops; TCP; a place for the checksum.
    header.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    header.extend(addresses);
    let sum = checksum(&[&header]);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// The header of TCP (RFC 9293 §3.1), with 0 as its checksum.
fn transmission(segment: &Segment, ports: [u16; 2], options: &[u8]) -> Vec<u8> {
    let Segment { sequence, ack, window, flags, .. } = *segment;
    let mut header = ports.map(u16::to_be_bytes).concat();
    header.extend((sequence as u32).to_be_bytes());
    header.extend((if flags.ack { ack as u32 } else { 0 }).to_be_bytes());
    header.push(((20 + options.len() as u8) / 4) << 4);
    header.push(bits(flags));
    let unit = if flags.syn { 1 } else { 1 << WINDOW_SCALE };
    header.extend(u16::try_from(window / unit).unwrap_or(u16::MAX).to_be_bytes());
    header.extend([0; 4]);
    header.extend(options);
    header
}

/// The control bits, with those of RFC 3168.
fn bits(flags: Flags) -> u8 {
    let Flags { syn, fin, ack, ece, cwr } = flags;
    u8::from(fin) | u8::from(syn) << 1 | u8::from(ack) << 4 | u8::from(ece) << 6 | u8::from(cwr) << 7
}

/// The options of a segment, in words of four bytes.
fn options(segment: &Segment) -> Vec<u8> {
    if segment.flags.syn {
        return SYN_OPTIONS.to_vec();
    }
    let blocks = segment.sack.as_slice();
    if blocks.is_empty() {
        return Vec::new();
    }
    let mut options = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
    for block in blocks {
        options.extend([block.start, block.end].map(|edge| (edge as u32).to_be_bytes()).concat());
    }
    options
}

/// The checksum of the Internet (RFC 1071) over parts of an even length each.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

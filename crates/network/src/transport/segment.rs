//! Segments as the two ends of a connection exchange them.

use trueplane_units::Nanos;

use super::span::Span;

/// Sequence number of the first byte of data; the SYN has 0.
pub const FIRST_BYTE: u64 = 1;

/// Most SACK blocks in a segment: as many as fit beside the timestamp option (RFC 2018 §3).
pub const MOST_SACK_BLOCKS: usize = 3;

/// The SACK option of a segment: what the receiver has beyond the acknowledged bytes (RFC 2018), after what it got twice (RFC 2883).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Span; MOST_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// An option without blocks, which is not sent.
    pub const NONE: SackBlocks =
        SackBlocks { blocks: [Span { start: 0, end: 0 }; MOST_SACK_BLOCKS], count: 0 };

    /// Adds a block, unless the option is full.
    pub fn push(&mut self, block: Span) {
        if let Some(free) = self.blocks.get_mut(usize::from(self.count)) {
            *free = block;
            self.count += 1;
        }
    }

    /// The blocks in the order in which they are sent.
    #[inline]
    pub fn as_slice(&self) -> &[Span] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the first block reports bytes that arrived twice.
    ///
    /// It does if it is acknowledged already, or if the second block covers it (RFC 2883 §4).
    pub fn has_duplicate(&self, ack: u64) -> bool {
        match self.as_slice() {
            [] => false,
            [first, rest @ ..] => {
                first.start < ack || rest.first().is_some_and(|second| second.covers(*first))
            }
        }
    }
}

/// Control bits of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Opens the connection; takes sequence number 0.
    pub syn: bool,
    /// Ends the stream; takes the sequence number behind its last byte.
    pub fin: bool,
    /// The acknowledgement number counts.
    pub ack: bool,
    /// ECN-Echo: a packet arrived that was marked (RFC 3168 §6.1).
    pub ece: bool,
    /// The sender has reduced its window because of an ECN-Echo (RFC 3168 §6.1).
    pub cwr: bool,
}

/// The ECN field of the packet around a segment (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not know marks; a queue that would mark drops instead.
    #[default]
    NotCapable,
    /// The transport knows marks: ECT(0).
    Capable,
    /// A queue has marked the packet: CE.
    Experienced,
}

/// A segment without its payload: what the state machines of both ends read and write.
///
/// Sequence numbers count bytes of one stream in 64 bits and never wrap: 0 is the SYN, 1 the first byte of data, and the FIN follows
/// the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of the SYN.
    pub sequence: u64,
    /// Sequence number that the receiver waits for, if `flags.ack`.
    pub ack: u64,
    /// Payload in bytes.
    pub length: u32,
    /// Bytes from `ack` on that the receiver takes.
    pub window: u32,
    /// Control bits.
    pub flags: Flags,
    /// ECN field of the packet.
    pub ecn: Ecn,
    /// Blocks that the receiver has beyond `ack`.
    pub sack: SackBlocks,
    /// Time at which it left; in an acknowledgement, time at which the segment left that it answers (as the option of RFC 7323 §3).
    ///
    /// Only the [simplified](super::simplified) ends set and read it.
    pub stamp: Nanos,
}

impl Segment {
    /// The sequence numbers that it takes: those of payload, SYN and FIN.
    #[inline]
    pub fn span(&self) -> Span {
        let taken = u64::from(self.length) + u64::from(self.flags.syn) + u64::from(self.flags.fin);
        // Nobody sends so great a number, but anybody may forge one.
        Span { start: self.sequence, end: self.sequence.saturating_add(taken) }
    }
}

//! The bytes that were written, counted and not kept.

use super::segment::{FIRST_BYTE, Flags, Segment};
use super::span::Span;

/// Greatest sequence number behind the last byte: bytes beyond are not taken, so that sums of sequence numbers fit into 64 bits.
const MOST_END: u64 = 1 << 62;

/// A stream from its first byte to its FIN.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Sequence number behind the last byte that was written.
    data_end: u64,
    is_closed: bool,
    /// Whether a FIN ends it.
    has_fin: bool,
}

impl Stream {
    /// Nothing is written.
    pub fn new(has_fin: bool) -> Self {
        Self { data_end: FIRST_BYTE, is_closed: false, has_fin }
    }

    /// Adds bytes, up to 2⁶² in all.
    pub fn write(&mut self, bytes: u64) {
        debug_assert!(!self.is_closed);
        self.data_end = self.data_end.saturating_add(bytes).min(MOST_END);
    }

    /// Ends the stream.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether the stream is ended.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Sequence number behind the last byte that was written.
    #[inline]
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Sequence number behind the last byte and the FIN.
    #[inline]
    pub fn end(&self) -> u64 {
        self.data_end + u64::from(self.is_closed && self.has_fin)
    }

    /// A segment with these sequence numbers, and nothing else.
    pub fn segment(&self, span: Span) -> Segment {
        let data = Span { start: span.start.max(FIRST_BYTE), end: span.end.min(self.data_end) };
        let flags = Flags {
            syn: span.start < FIRST_BYTE,
            fin: span.end > self.data_end && !span.is_empty(),
            ..Flags::default()
        };
        Segment { sequence: span.start, length: data.len() as u32, flags, ..Segment::default() }
    }
}

//! The receiver's window, as the sender sees it (RFC 9293 §3.8.6).

use super::span::Span;

/// What is written, and what of it may leave.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// First sequence number that was never sent.
    pub next: u64,
    /// Sequence number behind the last byte that was written.
    pub data_end: u64,
    /// Sequence number behind the last byte and the FIN.
    pub end: u64,
    /// Segment size (SMSS), in bytes.
    pub segment: u64,
}

/// The window that the receiver offers; it never moves back.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// End of the window (SND.UNA + SND.WND).
    end: u64,
    /// Greatest window that it ever offered.
    most: u64,
}

impl Offered {
    /// A window of so many bytes from a sequence number on.
    pub fn new(start: u64, window: u64) -> Self {
        Self { end: start + window, most: window }
    }

    /// End of the window, as a sequence number.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The receiver offers a window. Returns whether it ends later than before.
    pub fn offer(&mut self, ack: u64, window: u64) -> bool {
        if ack + window <= self.end {
            return false;
        }
        self.end = ack + window;
        self.most = self.most.max(window);
        true
    }

    /// The next new segment, as far as the window lets it leave (RFC 9293 §3.8.6.2.1).
    pub fn fits(&self, stream: &Stream) -> Option<Span> {
        let Stream { next, data_end, .. } = *stream;
        let data = data_end.min(next + stream.segment);
        let whole = if data == data_end { stream.end } else { data };
        let usable = self.end.saturating_sub(next);
        let end = if whole <= self.end {
            whole
        } else if data <= self.end {
            data // rules 1 and 2: a whole segment, or all data that there is; the FIN follows when it can
        } else if usable >= self.most / 2 {
            self.end // rule 3: part of a segment fills half of the greatest window there was
        } else {
            next
        };
        (end > next).then_some(Span { start: next, end })
    }
}

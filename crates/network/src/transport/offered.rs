//! The receiver's window, as the sender sees it (RFC 9293 §3.8.6).

use super::stream::Stream;

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

    /// End of the segment from `next` on, as far as the window lets it leave (RFC 9293 §3.8.6.2.1).
    pub fn fits(&self, stream: &Stream, next: u64, segment: u64) -> Option<u64> {
        let data = stream.data_end().min(next + segment);
        let whole = if data == stream.data_end() { stream.end() } else { data };
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
        (end > next).then_some(end)
    }
}

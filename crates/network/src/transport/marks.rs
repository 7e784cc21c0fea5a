//! What a sender does about the marks that its receiver echoes.

/// Lets a mark count once in a window of data, and owes the receiver the news (RFC 3168 §6.1.2).
#[derive(Clone, Debug, Default)]
pub struct Marks {
    is_on: bool,
    owes_cwr: bool,
    /// Echoes count again when more than this is acknowledged.
    end: u64,
}

impl Marks {
    /// No mark was echoed; `is_on`: both ends know marks.
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Whether both ends know marks.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether an echo with this acknowledgement number is the first in its window of data.
    pub fn counts(&self, ack: u64) -> bool {
        self.is_on && ack > self.end
    }

    /// The window was reduced, for a mark or for a loss; `next` is the first sequence number that was never sent.
    pub fn reduce(&mut self, next: u64) {
        self.end = next;
        self.owes_cwr = self.is_on;
    }

    /// Whether the segment that leaves now says that the window was reduced (CWR).
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.owes_cwr)
    }
}

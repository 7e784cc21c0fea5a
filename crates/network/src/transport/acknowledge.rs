//! When a receiver acknowledges, and how it echoes marks.

use trueplane_units::Nanos;

use super::control::Echo;
use super::segment::{Ecn, Segment};

/// Segments after which an acknowledgement is due, however short the wait (RFC 5681 §4.2).
const SEGMENTS: u32 = 2;

/// Decides when the next acknowledgement is due.
#[derive(Clone, Debug)]
pub struct Schedule {
    delay: Option<Nanos>,
    /// Segments that are not acknowledged.
    waiting: u32,
    due: Option<Nanos>,
}

impl Schedule {
    /// Acknowledgements wait for `delay` at most; `None`: they do not wait.
    pub fn new(delay: Option<Nanos>) -> Self {
        Self { delay, waiting: 0, due: None }
    }

    /// A segment arrived. `is_urgent`: it has to be acknowledged at once.
    pub fn hear(&mut self, is_urgent: bool, now: Nanos) {
        self.waiting += 1;
        let due = match self.delay {
            Some(delay) if !is_urgent && self.waiting < SEGMENTS => now.after(delay),
            _ => now,
        };
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
    }

    /// Time at which an acknowledgement is due, if one is.
    #[inline]
    pub fn due(&self) -> Option<Nanos> {
        self.due
    }

    /// Whether any segment waits for an acknowledgement.
    pub fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// An acknowledgement leaves.
    pub fn acknowledge(&mut self) {
        (self.waiting, self.due) = (0, None);
    }
}

/// Echoes the marks of queues.
#[derive(Clone, Debug)]
pub struct MarkEcho {
    echo: Echo,
    is_on: bool,
}

impl MarkEcho {
    /// No mark was seen.
    pub fn new(echo: Echo) -> Self {
        Self { echo, is_on: false }
    }

    /// Way in which marks are echoed.
    pub fn echo(&self) -> Echo {
        self.echo
    }

    /// Whether the next acknowledgement has the ECN-Echo.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether this segment ends a stretch of marked or of unmarked bytes.
    ///
    /// Bytes that wait are acknowledged first, with the old echo; the segment itself is acknowledged at once (RFC 8257 §3.2).
    pub fn changes(&self, segment: &Segment) -> bool {
        self.echo == Echo::Accurate && self.is_on != (segment.ecn == Ecn::Experienced)
    }

    /// Takes a segment with data.
    pub fn hear(&mut self, segment: &Segment) {
        let is_marked = segment.ecn == Ecn::Experienced;
        match self.echo {
            Echo::Off => {}
            Echo::Accurate => self.is_on = is_marked,
            // RFC 3168 §6.1.3: until CWR; a mark on the same packet counts again.
            Echo::Classic => self.is_on = is_marked || self.is_on && !segment.flags.cwr,
        }
    }
}

//! How far a flow is, and after what silence it is over.

use trueplane_units::Nanos;

use crate::packet::tcp_flags;

/// Phase of a flow's life.
///
/// Connection packets move it, and silence ends it. What regular packets tell (that a handshake was completed) is not here, because
/// they are not handled by the core that writes: that a regular packet was seen is noted beside the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// A SYN came, and nothing since that shows that its sender is there.
    #[default]
    HalfOpen,
    /// Data flow in both directions.
    Established,
    /// The first end to send a FIN was the one whose direction the entry stands for.
    Finishing,
    /// It was the other end.
    FinishingBack,
    /// Both ends finished, or one reset it: what is left are stragglers.
    Closing,
    /// UDP, which has no phases.
    Datagram,
    /// A query of ICMP.
    Query,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::HalfOpen,
        Self::Established,
        Self::Finishing,
        Self::FinishingBack,
        Self::Closing,
        Self::Datagram,
        Self::Query,
    ];

    /// After a segment with these flags, in the direction that the entry stands for (`along`) or against it.
    ///
    /// Sequence numbers are not followed: a forged RST shortens the silence after which a flow is over, and does no more.
    #[must_use]
    pub fn after(self, flags: u8, along: bool) -> Self {
        if matches!(self, Self::Datagram | Self::Query | Self::Closing) {
            return self;
        }
        if flags & tcp_flags::RST != 0 {
            return Self::Closing;
        }
        if flags & tcp_flags::FIN == 0 {
            return self;
        }
        match (self, along) {
            (Self::Finishing, true) | (Self::FinishingBack, false) => self,
            (Self::Finishing, false) | (Self::FinishingBack, true) => Self::Closing,
            (_, true) => Self::Finishing,
            (_, false) => Self::FinishingBack,
        }
    }

    /// Whether it still has to be shown that anybody is there.
    pub fn is_half_open(self) -> bool {
        self == Self::HalfOpen
    }

    /// The phase with what regular packets add to it, if any was seen.
    pub(super) fn seen(self, confirmed: bool) -> Self {
        if confirmed && self == Self::HalfOpen { Self::Established } else { self }
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn of_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or_default()
    }
}

/// After what silence a flow is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Timeout of a connection of which no regular packet came yet.
    pub half_open: Nanos,
    /// Timeout of a TCP connection that at most one end has finished.
    pub established: Nanos,
    /// Timeout of a connection that is closing.
    pub closing: Nanos,
    /// Timeout of a UDP flow.
    pub datagram: Nanos,
    /// Timeout of an ICMP query.
    pub query: Nanos,
}

impl Default for Timeouts {
    /// RFC 5382 REQ-5 (two hours and four minutes; four minutes where it is opened or closed), RFC 4787 REQ-5 (five minutes), RFC 5508
    /// REQ-2 (one minute).
    fn default() -> Self {
        let seconds = |count: u64| Nanos(count * 1_000_000_000);
        Self {
            half_open: seconds(240),
            established: seconds(7440),
            closing: seconds(240),
            datagram: seconds(300),
            query: seconds(60),
        }
    }
}

impl Timeouts {
    /// That of a phase.
    pub fn of(&self, phase: Phase) -> Nanos {
        match phase {
            Phase::HalfOpen => self.half_open,
            Phase::Established | Phase::Finishing | Phase::FinishingBack => self.established,
            Phase::Closing => self.closing,
            Phase::Datagram => self.datagram,
            Phase::Query => self.query,
        }
    }
}

/// Time as the table keeps it: tenths of a second, 31 bits of them (six years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(u32);

/// Nanoseconds of a tick.
const TICK: u64 = 100_000_000;

impl Tick {
    /// The tick in which `now` lies.
    #[inline]
    pub fn at(now: Nanos) -> Self {
        Self((now.0 / TICK) as u32 & (u32::MAX >> 1))
    }

    /// Ticks since `earlier`, 0 if that is later: cores' clocks may be a tick apart.
    pub(super) fn since(self, earlier: Self) -> u64 {
        u64::from(self.0.saturating_sub(earlier.0))
    }

    /// Whether a flow last seen at `seen` is over: the silence has lasted for longer than `timeout`, rounded up to whole ticks.
    pub(super) fn is_past(self, seen: Self, timeout: Nanos) -> bool {
        self.since(seen) > timeout.0.div_ceil(TICK)
    }

    pub(super) fn seen(self, confirmed: bool) -> u32 {
        self.0 << 1 | u32::from(confirmed)
    }

    pub(super) fn of_seen(seen: u32) -> (Self, bool) {
        (Self(seen >> 1), seen & 1 == 1)
    }
}

//! The time that a port takes for a packet.

use trueplane_units::Nanos;

/// Bits in a byte, times nanoseconds in a second.
const BYTE: u64 = 8 * 1_000_000_000;

/// The line behind a port.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    /// A byte takes so many nanoseconds: most rates need no division.
    Byte(u64),
    /// So many bits are sent in a second.
    Rate(u64),
    /// A packet takes so long, whatever its length.
    Each(Nanos),
}

impl Line {
    /// A line of so many bits per second.
    pub(super) fn of_rate(bits_per_second: u64) -> Self {
        if BYTE.is_multiple_of(bits_per_second) {
            Line::Byte(BYTE / bits_per_second)
        } else {
            Line::Rate(bits_per_second)
        }
    }

    /// Time that a packet of so many bytes takes, rounded up to a nanosecond.
    #[inline]
    pub(super) fn time(self, bytes: u32) -> Nanos {
        match self {
            Line::Byte(nanos) => Nanos(u64::from(bytes) * nanos),
            Line::Rate(rate) => Nanos((u64::from(bytes) * BYTE).div_ceil(rate)),
            Line::Each(time) => time,
        }
    }
}

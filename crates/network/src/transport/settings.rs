//! What can be set of a sender and of a receiver.

use std::ops::RangeInclusive;

use thiserror::Error;
use trueplane_units::Nanos;

use super::reduction::Reduction;
use super::round_trip::TimeoutSettings;

/// Most payload in a segment, in bytes: what an IPv4 packet holds.
pub const MOST_SEGMENT: u32 = 65_495;

/// A setting that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}: expected {expected}, got {got}")]
pub struct BadSettings {
    /// Name of the setting.
    pub name: &'static str,
    /// Description of the values that it can have.
    pub expected: &'static str,
    /// Value that it was given.
    pub got: u64,
}

/// Checks that a value lies in a range.
pub(super) fn check_range(
    name: &'static str,
    expected: &'static str,
    got: u64,
    range: RangeInclusive<u64>,
) -> Result<(), BadSettings> {
    if range.contains(&got) { Ok(()) } else { Err(BadSettings { name, expected, got }) }
}

/// Checks the size of a segment.
pub(super) fn check_segment(name: &'static str, segment: u32) -> Result<(), BadSettings> {
    check_range(name, "1 to 65495 bytes", u64::from(segment), 1..=u64::from(MOST_SEGMENT))
}

/// Gaps between segments, so that a window is not sent in one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Rate in slow start, in hundredths of a window in a round-trip time.
    pub slow_start_percent: u32,
    /// Rate in congestion avoidance, in hundredths of a window in a round-trip time.
    pub avoidance_percent: u32,
}

/// What can be set of a sender, beside its loss recovery and its congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderSettings {
    /// Sender maximum segment size (SMSS): the most payload in a segment, in bytes.
    pub segment: u32,
    /// Whether a SYN comes first.
    pub handshake: bool,
    /// Whether a FIN ends the stream.
    pub fin: bool,
    /// Window that the receiver is believed to have until it says so, in bytes.
    pub first_window: u32,
    /// Retransmission time-out.
    pub timeout: TimeoutSettings,
    /// Gaps between segments, if any.
    pub pacing: Option<Pacing>,
    /// Way in which the window gets smaller when a loss begins a recovery.
    pub reduction: Reduction,
}

impl SenderSettings {
    /// A standard sender of segments of so many bytes.
    pub const fn standard(segment: u32) -> Self {
        Self {
            segment,
            handshake: true,
            fin: true,
            first_window: 65_535,
            timeout: TimeoutSettings::STANDARD,
            pacing: None,
            reduction: Reduction::AtOnce,
        }
    }

    /// Checks that the values make sense.
    ///
    /// # Errors
    ///
    /// If a segment has no byte, or more than a packet holds; if the first time-out expires at once; if a pace is zero.
    pub fn check(&self) -> Result<(), BadSettings> {
        check_segment("segment", self.segment)?;
        check_range("timeout.initial", "1 ns or more", self.timeout.initial.0, 1..=u64::MAX)?;
        for percent in
            self.pacing.iter().flat_map(|pacing| [pacing.slow_start_percent, pacing.avoidance_percent])
        {
            check_range("pacing", "1 percent or more", u64::from(percent), 1..=u64::MAX)?;
        }
        Ok(())
    }
}

/// What can be set of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverSettings {
    /// Bytes that it keeps until they are read: its greatest window.
    pub buffer: u32,
    /// Segment size by which it judges whether a window is worth telling of, in bytes.
    pub segment: u32,
    /// Whether bytes are read as soon as they are in order.
    pub reads_at_once: bool,
    /// Whether acknowledgements carry SACK blocks.
    pub sends_sack: bool,
    /// Longest time for which an acknowledgement is delayed; `None`: each segment is acknowledged at once.
    pub delay: Option<Nanos>,
}

impl ReceiverSettings {
    /// A receiver with a buffer that is read at once, and an acknowledgement for each segment.
    pub const fn immediate(buffer: u32, segment: u32) -> Self {
        Self { buffer, segment, reads_at_once: true, sends_sack: true, delay: None }
    }
}

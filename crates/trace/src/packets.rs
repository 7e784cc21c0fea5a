//! The packets of a capture, one after the other.

use std::sync::Arc;

use trueplane_units::Nanos;

use crate::capture::{CUT, CapturedPacket, OBSOLETE, Record, Records, UNKNOWN_LINK};
use crate::decode::Skipped;
use crate::error::{Place, TraceError};
use crate::held::Held;
use crate::options::PacketKey;
use crate::packet::{Layers, Link, key_of};
use crate::sip::sip_hash;
use crate::source::Position;
use crate::timeline::Timeline;

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Time of capture, in nanoseconds since 1970.
    pub time: Nanos,
    /// Length on the wire in bytes, whatever was captured of it: the frame with its header, without its checksum.
    pub length: u32,
    /// Captured layers of the packet.
    pub layers: Layers<'a>,
    data: &'a [u8],
    link: Link,
}

impl Packet<'_> {
    /// The flow that it belongs to, as [`PacketKey::Flow`] has it; `None` if it is no IP packet, or a broken one.
    pub fn flow(&self) -> Option<u64> {
        key_of(self.data, self.link, PacketKey::Flow, sip_hash).ok()
    }
}

/// Reads the packets of a capture once, from its start; made by [`super::Trace::packets`].
pub struct PacketReader {
    trace: Arc<str>,
    records: Records,
    timeline: Timeline,
    held: Held,
    position: Position,
    skipped: Skipped,
    /// Number of packets that are still to be read.
    wanted: u64,
    has_packets: bool,
    has_ended: bool,
}

impl PacketReader {
    pub(super) fn new(trace: &Arc<str>, records: Records, position: Position, timeline: Timeline) -> Self {
        Self {
            trace: Arc::clone(trace),
            position,
            records,
            timeline,
            held: Held::default(),
            skipped: Skipped::default(),
            wanted: u64::MAX,
            has_packets: false,
            has_ended: false,
        }
    }

    /// Ends after the first so many packets of the capture, at least one. What lies behind them is not read, and may be damaged. A
    /// capture that the caller has to sort is read whole, as an early packet may come last.
    #[must_use]
    pub fn first(self, packets: u64) -> Self {
        let wanted = if self.may_go_back() { u64::MAX } else { packets };
        Self { wanted, ..self }
    }

    /// Lets `visit` see up to `most` packets, in the order of their times, of about as many records; `false` when there are no
    /// more. Packets of one time stay in the order of the capture.
    ///
    /// # Errors
    ///
    /// The capture is not what it should be, which includes one without any packet, one whose time goes back by more than a little
    /// (unless [`super::TraceOptions::sort`] leaves the order to the caller) and one that does not tell the time, or it cannot be
    /// read.
    pub fn read(&mut self, most: usize, mut visit: impl FnMut(&Packet<'_>)) -> Result<bool, TraceError> {
        for _ in 0..most {
            let settled = if self.has_ended { Nanos(u64::MAX) } else { self.timeline.settled() };
            if let Some(held) = self.held.take(settled) {
                // Only packets whose link is known are held.
                if let Ok(layers) = Layers::of(&held.data, held.link) {
                    let (time, length, link) = (held.time, held.length, held.link);
                    visit(&Packet { time, length, layers, data: &held.data, link });
                }
                self.held.recycle(held);
                continue;
            }
            if self.has_ended {
                return if self.has_packets { Ok(false) } else { Err(self.no_packets()) };
            }
            let Self { timeline, skipped, has_packets, held, wanted, .. } = self;
            let more = self.records.step(&mut |record| {
                if let Some(packet) = packet_of(record, timeline, skipped)? {
                    *has_packets = true;
                    *wanted = wanted.saturating_sub(1);
                    if held.is_empty() && packet.time <= timeline.settled() {
                        visit(&packet);
                    } else {
                        held.add(packet.time, packet.length, packet.link, packet.data);
                    }
                }
                Ok(())
            })?;
            self.has_ended = !more || self.wanted == 0;
        }
        Ok(true)
    }

    /// Whether the times of packets may go backwards, so that the caller has to sort them.
    pub fn may_go_back(&self) -> bool {
        self.timeline.may_go_back()
    }

    /// Number of bytes of the capture that have been read, compressed as they are; for progress bars against [`super::Trace::bytes`].
    pub fn position(&self) -> u64 {
        self.position.bytes()
    }

    /// Things in the capture so far that could not be read, such as `packets of unknown link types`, with their counts.
    pub fn skipped(&self) -> &[(String, u64)] {
        self.skipped.counts()
    }

    fn no_packets(&self) -> TraceError {
        let problem = self.skipped.explain("no packets found");
        TraceError::Input { trace: self.trace.to_string(), place: Place::Whole, problem }
    }
}

/// The packet of a record, unless it cannot be read.
fn packet_of<'a>(
    record: &Record<'a>,
    timeline: &mut Timeline,
    skipped: &mut Skipped,
) -> Result<Option<Packet<'a>>, String> {
    let &CapturedPacket { data, length, link, time } = match record {
        Record::Packet(packet) => packet,
        Record::Obsolete => {
            skipped.count(OBSOLETE);
            return Ok(None);
        }
        Record::Cut => {
            skipped.count(CUT);
            return Ok(None);
        }
    };
    match Layers::of(data, link) {
        Ok(layers) => {
            let time = time.ok_or("packet without a timestamp (a simple packet block)")?;
            let time = timeline.stamp_sized(time, data.len())?;
            Ok(Some(Packet { time, length, layers, data, link }))
        }
        Err(number) => {
            skipped.count_numbered(UNKNOWN_LINK, number);
            Ok(None)
        }
    }
}

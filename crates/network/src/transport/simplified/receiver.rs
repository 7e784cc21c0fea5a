//! The receiver of the published simulator.

use trueplane_units::Nanos;

use super::settings::Simplified;
use crate::transport::connection::End;
use crate::transport::control::Echo;
use crate::transport::receiver::Receiver as Reassembly;
use crate::transport::segment::{Flags, Segment};
use crate::transport::settings::ReceiverSettings;

/// Window of the receiver, in bytes: more than any sender has on its way, as the published receiver has no limit.
const WINDOW: u32 = 1 << 31;

/// Stage of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The SYN has not arrived.
    Listening,
    /// The SYN is to be answered, for the first time or again.
    OwesAnswer,
    /// The SYN is answered, and the answer is not acknowledged.
    Answered,
    /// The handshake is over.
    Open,
}

/// Takes data once the handshake is over, and acknowledges every segment at once.
///
/// Data that overtakes the last packet of the handshake is ignored.
///
/// - State and cost: those of the [receiver](Reassembly) that follows the RFCs, which puts the bytes in order.
/// - Source: `NewRenoTcpSocket` in `nsg-ethz/SP-PIFO`. Departure: three spans at most are acknowledged selectively.
#[derive(Clone, Debug)]
pub struct Receiver {
    stage: Stage,
    reassembly: Reassembly,
    /// Time-out of the answer to the SYN.
    timeout: Nanos,
    timer: Option<Nanos>,
    /// Time at which the segment left that arrived last.
    stamp: Nanos,
    /// A SYN that arrived after the handshake is to be acknowledged.
    owes_ack: bool,
}

impl Receiver {
    /// Nothing has arrived yet.
    pub fn new(settings: Simplified) -> Self {
        let reassembly =
            Reassembly::new(ReceiverSettings::immediate(WINDOW, settings.segment), Echo::Accurate);
        Self {
            stage: Stage::Listening,
            reassembly,
            timeout: settings.timeout,
            timer: None,
            stamp: Nanos(0),
            owes_ack: false,
        }
    }

    /// Bytes that arrived in order.
    pub fn received(&self) -> u64 {
        self.reassembly.received()
    }
}

impl End for Receiver {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        let flags = segment.flags;
        match self.stage {
            Stage::Listening if flags.syn => self.stage = Stage::OwesAnswer,
            Stage::OwesAnswer | Stage::Answered if flags.ack && !flags.syn => {
                self.stage = Stage::Open;
                self.timer = None;
            }
            Stage::Open if flags.syn => {
                self.stamp = segment.stamp;
                self.owes_ack = true;
            }
            Stage::Open if !flags.ack => {
                self.stamp = segment.stamp;
                self.reassembly.on_segment(segment, now);
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        if self.timer.is_some_and(|timer| timer <= now) {
            self.timeout = Nanos(self.timeout.0.saturating_mul(2));
            self.stage = Stage::OwesAnswer;
        }
        if self.stage == Stage::OwesAnswer {
            self.stage = Stage::Answered;
            self.timer = Some(now.after(self.timeout));
            let flags = Flags { syn: true, ack: true, ..Flags::default() };
            return Some(Segment { ack: 1, window: WINDOW, flags, stamp: now, ..Segment::default() });
        }
        let stamp = self.stamp;
        if std::mem::take(&mut self.owes_ack) {
            let flags = Flags { ack: true, ..Flags::default() };
            let ack = self.reassembly.received() + 1;
            return Some(Segment { sequence: 1, ack, window: WINDOW, flags, stamp, ..Segment::default() });
        }
        Some(Segment { stamp, ..self.reassembly.poll(now)? })
    }

    fn wakeup(&self) -> Option<Nanos> {
        self.timer
    }
}

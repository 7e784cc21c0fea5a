//! The sender of the published simulator.

use trueplane_units::Nanos;

use super::settings::Simplified;
use super::window::Window;
use crate::transport::connection::{End, SendingEnd};
use crate::transport::round_trip::{RoundTrip, TimeoutSettings};
use crate::transport::segment::{Ecn, FIRST_BYTE, Flags, Segment};
use crate::transport::span::{Span, SpanSet};

/// Duplicate acknowledgements that begin fast recovery.
const DUPLICATES: u64 = 3;

/// Stage of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The SYN is to be sent, for the first time or again.
    OwesSyn,
    /// The SYN is sent.
    SynSent,
    /// The SYN is acknowledged.
    Open,
}

/// Sends the bytes of a flow by NewReno and SACK as the published simulator has them.
///
/// Segments begin at multiples of the segment size, and only whole ones are sent: what is acknowledged selectively is a set of segments.
///
/// - State: spans of what is acknowledged selectively.
/// - Cost: O(log n) a segment, O(n) an acknowledgement that changes one of n spans.
/// - Source: `NewRenoTcpSocket` in `nsg-ethz/SP-PIFO`. Departures: an acknowledgement reports at most three spans and not all, those that
///   changed last first; a span that is left out was reported before.
#[derive(Clone, Debug)]
pub struct Sender {
    segment: u64,
    heeds_marks: bool,
    /// Sequence number behind the last byte.
    end: u64,
    stage: Stage,
    /// First sequence number that is not acknowledged.
    first: u64,
    /// Next sequence number to send. A time-out moves it back.
    next: u64,
    /// Sequence number behind the last that was ever sent.
    highest: u64,
    /// Spans that are acknowledged selectively.
    selected: SpanSet,
    /// Last acknowledgement number that was new.
    last_ack: Option<u64>,
    /// Number of its repetitions.
    repeats: u64,
    /// Sequence number behind what was sent when fast recovery began last.
    recover: Option<u64>,
    is_recovering: bool,
    window: Window,
    round_trip: RoundTrip,
    timer: Option<Nanos>,
    /// The end of the handshake is to be sent.
    owes_ack: bool,
    /// Segment to send again.
    again: Option<u64>,
    /// A new segment is to be sent, even if the window is full.
    sends_extra: bool,
}

impl Sender {
    /// A sender of so many bytes that has sent nothing.
    pub fn new(settings: Simplified, bytes: u64) -> Self {
        Self {
            segment: settings.segment.into(),
            heeds_marks: settings.heeds_marks,
            end: FIRST_BYTE + bytes,
            stage: Stage::OwesSyn,
            first: 0,
            next: FIRST_BYTE,
            highest: FIRST_BYTE,
            selected: SpanSet::new(),
            last_ack: None,
            repeats: 0,
            recover: None,
            is_recovering: false,
            window: Window::new(&settings),
            round_trip: RoundTrip::new(TimeoutSettings::without_least(settings.timeout)),
            timer: None,
            owes_ack: false,
            again: None,
            sends_extra: false,
        }
    }

    /// The congestion window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Round-trip time and time-out.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// Whether fast recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.is_recovering
    }

    /// Bytes from the first that is not acknowledged to the next to send.
    fn flight(&self) -> u64 {
        self.next - self.first
    }

    /// Bytes of the segment that begins at a sequence number; 0 behind the last byte.
    fn length_at(&self, start: u64) -> u64 {
        self.segment.min(self.end - start)
    }

    /// Starts the timer anew, or stops it if nothing is on its way.
    fn restart_timer(&mut self, now: Nanos) {
        self.timer = (self.first != self.next).then(|| now.after(self.round_trip.timeout()));
    }

    /// An acknowledgement arrives after the handshake.
    fn on_ack(&mut self, segment: &Segment, now: Nanos) {
        let ack = segment.ack;
        if self.is_done() || ack > self.highest {
            return;
        }
        self.round_trip.measure(now.since(segment.stamp));
        for block in segment.sack.as_slice() {
            let span = Span { start: block.start.max(self.first), end: block.end.min(self.highest) };
            self.selected.insert(span);
        }
        let is_new = ack > self.first;
        if self.last_ack == Some(ack) {
            self.repeats += 1;
            self.on_duplicate(ack);
        } else if is_new {
            self.last_ack = Some(ack);
            self.repeats = 0;
            self.on_new(ack, segment.flags.ece);
        }
        if self.heeds_marks {
            self.window.hear_mark(ack, ack.saturating_sub(self.first), segment.flags.ece);
        }
        self.advance(ack);
        if is_new && !self.is_recovering {
            self.restart_timer(now);
        }
    }

    fn on_new(&mut self, ack: u64, is_marked: bool) {
        if self.is_recovering && self.recover.is_some_and(|recover| ack < recover) {
            self.window.deflate(ack - self.first);
            self.send_again(ack);
            return;
        }
        if self.is_recovering {
            self.window.end_recovery(self.flight());
            self.is_recovering = false;
        }
        if !(self.heeds_marks && is_marked) {
            self.window.grow();
        }
    }

    fn on_duplicate(&mut self, ack: u64) {
        let is_behind = self.recover.is_none_or(|recover| ack > recover + 1);
        if self.repeats == DUPLICATES && !self.is_recovering && is_behind {
            self.window.begin_recovery(self.flight());
            self.recover = Some(self.highest);
            self.is_recovering = true;
            self.send_again(ack);
        } else if self.is_recovering {
            self.window.inflate();
        } else if self.repeats < DUPLICATES {
            self.sends_extra = true; // RFC 3042
        }
    }

    fn send_again(&mut self, start: u64) {
        self.next = self.next.max(start);
        self.again = Some(start);
    }

    /// Moves the first byte that is not acknowledged, also past what is acknowledged selectively.
    fn advance(&mut self, ack: u64) {
        self.first = self.first.max(ack);
        if let Some(known) = self.selected.containing(self.first) {
            self.first = known.end;
        }
        self.selected.remove_below(self.first);
        self.next = self.next.max(self.first);
    }

    /// The timer has expired.
    fn time_out(&mut self, now: Nanos) {
        self.is_recovering = false;
        self.window.time_out(self.flight());
        self.round_trip.expire();
        self.round_trip.begin_anew();
        if self.stage == Stage::Open {
            self.next = self.first;
        } else {
            self.stage = Stage::OwesSyn;
        }
        self.restart_timer(now);
    }

    /// Passes over what is acknowledged selectively. Returns the length of the segment behind it.
    fn pass_selected(&mut self, limit: u64) -> u64 {
        while self.next + self.length_at(self.next) <= limit
            && let Some(known) = self.selected.containing(self.next)
        {
            // A segment at a time, as the limit may lie within the span.
            self.next = known.end.min(self.next + self.segment);
        }
        self.length_at(self.next)
    }

    /// The next segment that the window lets leave.
    fn fill(&mut self, now: Nanos) -> Option<Segment> {
        let limit = self.first + self.window.usable();
        let length = self.pass_selected(limit);
        (length > 0 && self.next + length <= limit).then(|| self.send(self.next, now))
    }

    /// Sends the segment that begins at a sequence number.
    fn send(&mut self, start: u64, now: Nanos) -> Segment {
        let length = self.length_at(start);
        if start == self.next {
            self.next += length;
        }
        self.highest = self.highest.max(self.next);
        self.restart_timer(now);
        let ecn = if self.heeds_marks { Ecn::Capable } else { Ecn::NotCapable };
        Segment { sequence: start, length: length as u32, stamp: now, ecn, ..Segment::default() }
    }
}

impl End for Sender {
    fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        let flags = segment.flags;
        match self.stage {
            Stage::Open if flags.syn => self.owes_ack = true,
            Stage::Open if flags.ack => self.on_ack(segment, now),
            Stage::Open => {}
            Stage::OwesSyn | Stage::SynSent if flags.syn && flags.ack => {
                self.stage = Stage::Open;
                self.first = FIRST_BYTE;
                self.owes_ack = true;
                self.timer = None;
            }
            Stage::OwesSyn | Stage::SynSent => {}
        }
    }

    fn poll(&mut self, now: Nanos) -> Option<Segment> {
        if self.timer.is_some_and(|timer| timer <= now) {
            self.time_out(now);
        }
        match self.stage {
            Stage::OwesSyn => {
                self.stage = Stage::SynSent;
                self.restart_timer(now);
                let flags = Flags { syn: true, ..Flags::default() };
                return Some(Segment { flags, stamp: now, ..Segment::default() });
            }
            Stage::SynSent => return None,
            Stage::Open => {}
        }
        if std::mem::take(&mut self.owes_ack) {
            let flags = Flags { ack: true, ..Flags::default() };
            return Some(Segment { sequence: self.next, ack: 1, flags, stamp: now, ..Segment::default() });
        }
        if let Some(start) = self.again.take() {
            return Some(self.send(start, now));
        }
        if std::mem::take(&mut self.sends_extra) && self.pass_selected(u64::MAX) > 0 {
            return Some(self.send(self.next, now));
        }
        self.fill(now)
    }

    fn wakeup(&self) -> Option<Nanos> {
        if self.stage == Stage::OwesSyn { Some(Nanos(0)) } else { self.timer }
    }
}

impl SendingEnd for Sender {
    fn is_done(&self) -> bool {
        self.stage == Stage::Open && self.first == self.end
    }

    /// The bytes from the segment's first on.
    fn remaining(&self, segment: &Segment) -> u64 {
        (self.end - FIRST_BYTE).saturating_sub(segment.sequence)
    }
}

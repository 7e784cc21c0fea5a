//! The sending end of a connection.

mod values;

use trueplane_units::Nanos;

use super::control::{Acknowledged, CongestionControl, Echo};
use super::flight::Flight;
use super::marks::Marks;
use super::offered::Offered;
use super::pacing::Pacer;
use super::persist::Persist;
use super::recovery::{Heard, LossRecovery, Stage, Verdict};
use super::reduction::{Proportional, Reduction};
use super::round_trip::RoundTrip;
use super::scoreboard::Scoreboard;
use super::segment::{Ecn, FIRST_BYTE, Segment};
use super::settings::{BadSettings, SenderSettings};
use super::span::Span;
use super::stream::Stream;

/// Sends a stream of bytes: a loss recovery and a congestion control, put together.
///
/// After [`Sender::write`], [`Sender::close`], [`Sender::on_segment`] and at [`Sender::wakeup`], call [`Sender::poll`] until it gives nothing.
///
/// - State: a run for each segment on its way.
/// - Cost: O(1) a segment, and that of the loss recovery an acknowledgement. Where SACK has room and nothing else to send, it looks through all
///   runs; RACK does so when segments overtake one another.
/// - Source: RFC 9293 (states, windows, probes), RFC 6298 (timer), RFC 3168 (marks). Departures: bytes are counted and not kept; a window never
///   moves back; the other direction carries no data.
#[derive(Clone, Debug)]
pub struct Sender<C, R> {
    settings: SenderSettings,
    control: C,
    recovery: R,
    board: Scoreboard,
    round_trip: RoundTrip,
    pacer: Pacer,
    stream: Stream,
    offered: Offered,
    flight: Flight,
    /// Proportional rate reduction, in a recovery that has it.
    reduction: Option<Proportional>,
    /// Time at which the retransmission timer expires.
    timer: Option<Nanos>,
    /// Time-outs since bytes were acknowledged.
    timeouts: u32,
    persist: Persist,
    /// The first lost segment is sent even if the window is full.
    sends_now: bool,
    marks: Marks,
    /// The answer to our SYN is not acknowledged yet.
    owes_ack: bool,
    /// A segment waits for the pacer.
    is_paced: bool,
    last_sent: Nanos,
}

/// What may be sent for the first time.
enum New {
    /// A segment that ends before this sequence number.
    Segment(u64),
    /// There is something, but the receiver's window does not let it leave.
    Closed,
    /// There is something, but the congestion window does not let it leave.
    Full,
    /// There is nothing.
    Nothing,
}

impl<C: CongestionControl, R: LossRecovery> Sender<C, R> {
    /// A sender without data.
    ///
    /// # Errors
    ///
    /// As [`SenderSettings::check`] and [`CongestionControl::check`].
    pub fn new(settings: SenderSettings, control: C, recovery: R) -> Result<Self, BadSettings> {
        settings.check()?;
        control.check(settings.segment)?;
        let start = if settings.handshake { 0 } else { FIRST_BYTE };
        Ok(Self {
            board: Scoreboard::new(start),
            round_trip: RoundTrip::new(settings.timeout),
            pacer: Pacer::new(settings.pacing),
            stream: Stream::new(settings.fin),
            offered: Offered::new(start, u64::from(settings.first_window)),
            flight: Flight::default(),
            reduction: None,
            timer: None,
            timeouts: 0,
            persist: Persist::default(),
            sends_now: false,
            marks: Marks::new(!settings.handshake && control.echo() != Echo::Off),
            owes_ack: false,
            is_paced: false,
            last_sent: Nanos(0),
            settings,
            control,
            recovery,
        })
    }

    /// Adds bytes to the stream, up to 2⁶² in all.
    pub fn write(&mut self, bytes: u64) {
        self.stream.write(bytes);
    }

    /// Ends the stream: a FIN follows the last byte, if it is set to send one.
    pub fn close(&mut self) {
        self.stream.close();
    }

    /// Whether the stream is closed, and all of it is acknowledged.
    pub fn is_done(&self) -> bool {
        self.stream.is_closed() && self.is_open() && self.board.acknowledged() == self.stream.end()
    }

    /// Whether the handshake is over.
    fn is_open(&self) -> bool {
        self.board.acknowledged() >= FIRST_BYTE
    }

    /// A segment of the receiver arrives.
    pub fn on_segment(&mut self, segment: &Segment, now: Nanos) {
        let ack = segment.ack;
        let may_be_acked = self.board.next().max(self.persist.end());
        // RFC 9293 §3.10.7.4: old acknowledgements, and those of what was never sent, say nothing.
        if !segment.flags.ack || ack < self.board.acknowledged() || ack > may_be_acked {
            return;
        }
        if segment.flags.syn {
            self.owes_ack = true;
            if !self.is_open() {
                self.on_answer(segment);
            }
        }
        if ack > self.board.next() {
            // The receiver took the probe of its window.
            self.board.send(ack, now);
            self.board.send_again(Span { start: ack - 1, end: ack }, now);
        }
        let opened = self.offer(ack, u64::from(segment.window));
        let (outstanding, in_flight) = (self.board.outstanding(), self.in_flight());
        let (flight, is_limited) = (self.judged_flight(), self.flight.is_limited(self.board.acknowledged()));
        let unsacked = self.board.unsacked();
        let blocks = if self.recovery.reads_sack() { segment.sack.as_slice() } else { &[] };
        let delivered = self.board.acknowledge(ack, blocks, self.round_trip.least(), now);
        if let Some(sample) = delivered.round_trip {
            self.round_trip.measure(sample);
        }
        let lost = self.board.lost();
        // RFC 6298 §5.2, §5.3: off if nothing is outstanding, else from now on.
        let restarted = (self.board.outstanding() > 0).then(|| now.after(self.round_trip.timeout()));
        let was_recovering = self.recovery.episode().stage() == Stage::FastRecovery;
        let is_duplicate = delivered.acked == 0 && outstanding > 0 && !opened && !segment.flags.syn; // RFC 5681 §2
        self.flight.hear(delivered.acked > 0, is_duplicate || delivered.sacked > 0, self.board.next());
        let verdict = self.recovery.on_ack(
            &mut self.board,
            &Heard {
                now,
                delivered: &delivered,
                ack,
                is_duplicate,
                has_duplicate_block: segment.sack.has_duplicate(ack),
                round_trip: &self.round_trip,
                segment: u64::from(self.settings.segment),
                expiry: if delivered.acked > 0 { restarted } else { self.timer },
            },
        );
        if delivered.acked > 0 {
            let is_recovering = was_recovering || self.recovery.episode().stage() == Stage::FastRecovery;
            self.timeouts = 0;
            self.control.on_ack(&Acknowledged {
                now,
                bytes: delivered.acked,
                is_marked: segment.flags.ece && !segment.flags.syn && self.marks.is_on(),
                acknowledged: ack,
                next: self.board.next(),
                in_flight,
                sample: delivered.round_trip,
                smoothed: self.round_trip.smoothed().unwrap_or_default(),
                is_limited,
                may_grow: !is_recovering && ack > FIRST_BYTE,
            });
            if !verdict.keeps_timer {
                self.timer = restarted;
            }
            if restarted.is_none() {
                self.flight.end(now);
            }
        }
        self.obey(verdict, flight, unsacked, now);
        self.go_on_reducing(delivered.bytes, delivered.acked > 0 && self.board.lost() <= lost);
        if segment.flags.ece && !segment.flags.syn {
            self.on_echo(ack, flight, verdict.is_congested, now);
        }
        if self.board.next() >= self.stream.end() {
            self.persist.open(); // the receiver has taken all that there was to probe with
        }
    }

    /// The answer to the SYN arrives.
    fn on_answer(&mut self, segment: &Segment) {
        let window = u64::from(segment.window);
        self.offered = Offered::new(segment.ack, window);
        self.marks = Marks::new(segment.flags.ece && self.control.echo() != Echo::Off); // RFC 3168 §6.1.1
        if self.timeouts > 0 {
            self.round_trip.end_lost_handshake();
        }
    }

    /// The receiver offers a window. Returns whether it ends later than before.
    fn offer(&mut self, ack: u64, window: u64) -> bool {
        let opened = self.offered.offer(ack, window);
        // A probe may be taken while the window stays closed.
        if opened && window > 0 {
            self.persist.open();
        }
        opened
    }

    /// Bytes by which congestion control judges a loss.
    fn judged_flight(&self) -> u64 {
        let (acknowledged, next) = (self.board.acknowledged(), self.board.next());
        self.flight.without_limited_transmit(acknowledged, next, self.control.cwnd())
    }

    /// Does what loss recovery has decided. `unsacked` are the bytes that were not known to have arrived before.
    fn obey(&mut self, verdict: Verdict, flight: u64, unsacked: u64, now: Nanos) {
        if verdict.is_congested {
            // Where one recovery follows another, what was sent behind the holes is many windows, and a loss must not raise the window.
            self.control.on_loss(flight.min(self.control.cwnd()), now);
            self.marks.reduce(self.board.next());
            if self.settings.reduction == Reduction::Proportional && self.recovery.reads_sack() {
                let threshold = self.control.ssthresh();
                self.reduction = Some(Proportional::new(threshold, unsacked, self.in_flight()));
            }
        }
        if let Some(limit) = verdict.limit {
            self.control.limit(limit);
        }
        self.sends_now |= verdict.sends_now;
    }

    /// Takes an acknowledgement into a reduction of the window that is under way; ends it with the recovery.
    fn go_on_reducing(&mut self, delivered: u64, is_safe: bool) {
        let in_flight = self.in_flight();
        if self.recovery.episode().stage() != Stage::FastRecovery {
            self.reduction = None;
        } else if let Some(reduction) = &mut self.reduction {
            reduction.hear(delivered, in_flight, is_safe, u64::from(self.settings.segment));
        }
    }

    /// An ECN-Echo arrives.
    fn on_echo(&mut self, ack: u64, flight: u64, is_congested: bool, now: Nanos) {
        let in_recovery = is_congested || self.recovery.episode().stage() == Stage::FastRecovery;
        if self.marks.counts(ack) && !in_recovery {
            self.control.on_mark(flight, now);
            self.marks.reduce(self.board.next());
        }
    }

    /// The next segment to send, if there is one now.
    pub fn poll(&mut self, now: Nanos) -> Option<Segment> {
        if let Some(probe) = self.expire(now) {
            return Some(probe);
        }
        self.is_paced = false;
        if self.settings.handshake && self.board.next() == 0 {
            return Some(self.send_new(FIRST_BYTE, now));
        }
        if let Some(span) = self.next_repeated() {
            return self.pace(now).then(|| self.send_again(span, now));
        }
        if !self.is_open() {
            return None;
        }
        match self.next_new() {
            New::Segment(end) => {
                if self.pace(now) {
                    self.restart_if_idle(now);
                    return Some(self.send_new(end, now));
                }
            }
            New::Full => self.flight.hold(self.board.next()),
            New::Closed if self.board.outstanding() == 0 => self.persist.close(&self.round_trip, now),
            // RFC 6675 §4: rule 3 of NextSeg is for when there is nothing new that the receiver takes.
            New::Closed | New::Nothing => {
                if let Some(span) = self.rescue() {
                    return self.pace(now).then(|| self.send_again(span, now));
                }
            }
        }
        // Data carries the acknowledgement of the handshake; without any it leaves alone.
        self.owes_ack.then(|| self.segment(Span { start: self.board.next(), end: self.board.next() }))
    }

    /// Time at which [`Sender::poll`] may have something to send, if nothing else happens.
    ///
    /// Once [`Sender::poll`] has given nothing at a time, it is later than that.
    pub fn wakeup(&self) -> Option<Nanos> {
        let paced = self.is_paced.then(|| self.pacer.next());
        let timers = [self.timer, self.recovery.timer(), self.persist.timer(), paced];
        timers.into_iter().flatten().min()
    }

    /// Does what the timers that have expired ask for. Returns the probe that one of them sends.
    fn expire(&mut self, now: Nanos) -> Option<Segment> {
        if self.recovery.timer().is_some_and(|timer| timer <= now) {
            let (flight, unsacked) = (self.judged_flight(), self.board.unsacked());
            let verdict = self.recovery.on_timer(&mut self.board, &self.round_trip, now);
            self.obey(verdict, flight, unsacked, now);
            if verdict.probes_tail
                && self.is_open()
                && let Some(probe) = self.probe_tail(now)
            {
                return Some(probe);
            }
        }
        if self.timer.is_some_and(|timer| timer <= now) {
            self.time_out(now);
        }
        if self.persist.timer().is_some_and(|timer| timer <= now) {
            return Some(self.probe_window(now));
        }
        None
    }

    /// The retransmission timer has expired (RFC 6298 §5.4 to §5.6).
    fn time_out(&mut self, now: Nanos) {
        self.round_trip.expire();
        // RFC 6298 §5.6: it runs on as long as anything is outstanding.
        self.timer = (self.board.outstanding() > 0).then(|| now.after(self.round_trip.timeout()));
        if self.is_open() {
            let is_first = self.timeouts == 0;
            self.control.on_timeout(self.board.outstanding(), is_first, now);
            self.marks.reduce(self.board.next());
        } else {
            self.control.on_lost_handshake();
        }
        self.timeouts += 1;
        self.reduction = None;
        self.recovery.on_timeout(&mut self.board, &self.round_trip, now);
        if self.board.lost() == 0 {
            self.board.doubt_first();
        }
        self.sends_now = true;
    }

    /// Probes the tail (RFC 8985 §7.3): a new segment if there is one, else the last again; whatever the congestion window.
    fn probe_tail(&mut self, now: Nanos) -> Option<Segment> {
        let new_end = self.fits_window();
        let repeated = self.board.last_in_flight();
        let (span, is_repeated) = match (new_end, repeated) {
            (Some(end), _) => (Span { start: self.board.next(), end }, false),
            (None, Some(span)) => (span, true),
            (None, None) => return None,
        };
        self.recovery.on_probe(span, is_repeated);
        let probe = if is_repeated { self.send_again(span, now) } else { self.send_new(span.end, now) };
        self.timer = Some(now.after(self.round_trip.timeout())); // RFC 8985 §7.3: the timer starts anew
        Some(probe)
    }

    /// Probes a closed window with a byte, or with the FIN (RFC 9293 §3.8.6.1); fills one that has waited for more (§3.8.6.2.1).
    fn probe_window(&mut self, now: Nanos) -> Segment {
        let start = self.board.next();
        debug_assert!(start < self.stream.end());
        if self.window_end() > start {
            self.persist.open();
            return self.send_new(self.window_end().min(self.stream.end()), now);
        }
        self.persist.probe(start + 1, &self.round_trip, now);
        self.last_sent = now;
        self.segment(Span { start, end: start + 1 })
    }

    /// What is lost and may be sent again.
    fn next_repeated(&mut self) -> Option<Span> {
        let span = self.board.first_lost()?;
        if self.recovery.probes_with_a_byte() && !self.sends_now {
            return None;
        }
        (self.sends_now || self.has_room(span.len())).then_some(span)
    }

    /// What is sent again though it is not known to be lost.
    ///
    /// The search goes through all runs, so it is left out if there is no room.
    fn rescue(&self) -> Option<Span> {
        let span = self.has_room(1).then(|| self.recovery.rescue(&self.board))??;
        self.has_room(span.len()).then_some(span)
    }

    /// Whether the window has room for so many bytes. A segment may always be on its way.
    fn has_room(&self, bytes: u64) -> bool {
        let in_flight = self.in_flight();
        in_flight == 0 || in_flight + bytes <= self.window()
    }

    /// End of the next new segment, as far as the receiver's window lets it leave.
    fn fits_window(&self) -> Option<u64> {
        self.offered.fits(&self.stream, self.board.next(), u64::from(self.settings.segment))
    }

    fn next_new(&self) -> New {
        if self.board.next() >= self.stream.end() || self.recovery.probes_with_a_byte() {
            return New::Nothing;
        }
        match self.fits_window() {
            Some(end) if self.has_room(end - self.board.next()) => New::Segment(end),
            Some(_) => New::Full,
            None => New::Closed,
        }
    }

    /// Whether a segment may leave now; else it waits for the pacer.
    fn pace(&mut self, now: Nanos) -> bool {
        self.is_paced = self.pacer.next() > now;
        !self.is_paced
    }

    /// The window is small again after a time without a segment (RFC 5681 §4.1).
    fn restart_if_idle(&mut self, now: Nanos) {
        if self.board.outstanding() > 0 {
            return;
        }
        if now.since(self.last_sent) > self.round_trip.timeout() {
            self.control.on_idle();
        } else {
            self.control.on_pause(self.flight.pause(now));
        }
    }

    fn send_new(&mut self, end: u64, now: Nanos) -> Segment {
        let span = Span { start: self.board.next(), end };
        self.board.send(end, now);
        let mut segment = self.segment(span);
        if self.marks.is_on() && segment.length > 0 {
            segment.ecn = Ecn::Capable; // RFC 3168 §6.1.5: on new data only
            segment.flags.cwr = self.marks.take_cwr();
        }
        self.leave(span, true, now);
        segment
    }

    fn send_again(&mut self, span: Span, now: Nanos) -> Segment {
        self.board.send_again(span, now);
        self.sends_now = false;
        self.leave(span, false, now);
        self.segment(span)
    }

    /// Sets the timers as a segment leaves.
    fn leave(&mut self, span: Span, is_new: bool, now: Nanos) {
        self.last_sent = now;
        if let Some(reduction) = &mut self.reduction {
            reduction.send(span.len());
        }
        if self.timer.is_none() {
            self.timer = Some(now.after(self.round_trip.timeout())); // RFC 6298 §5.1
        }
        if is_new {
            self.recovery.on_sent(&self.board, &self.round_trip, self.timer, now);
        }
        let is_slow_start = self.control.cwnd() < self.control.ssthresh();
        self.pacer.send(span.len(), self.control.cwnd(), is_slow_start, self.round_trip.smoothed(), now);
    }

    /// The segment with these sequence numbers.
    fn segment(&mut self, span: Span) -> Segment {
        self.owes_ack = false;
        let mut segment = self.stream.segment(span);
        segment.flags.ack = self.is_open();
        segment.ack = u64::from(self.is_open());
        // RFC 3168 §6.1.1: a SYN with both asks for ECN.
        let wants_ecn = segment.flags.syn && self.control.echo() != Echo::Off;
        (segment.flags.ece, segment.flags.cwr) = (wants_ecn, wants_ecn);
        segment
    }
}

//! RACK-TLP: loss by time.

use trueplane_units::Nanos;

use super::episode::{Episode, Stage};
use super::{Heard, LossRecovery, Verdict};
use crate::transport::round_trip::RoundTrip;
use crate::transport::scoreboard::{Belief, Newest, Run, Scoreboard};
use crate::transport::span::Span;

/// Segments beyond a gap that make up for a reordering window (RFC 8985 §6.2: DupThresh).
const DUPLICATES: usize = 3;

/// Time after which a tail is probed before anything is measured (RFC 8985 §7.2).
const PROBE_UNMEASURED: Nanos = Nanos::from_secs(1);

/// Recoveries after which the reordering window is as small as at first (RFC 8985 §6.2: RACK.reo_wnd_persist).
const PERSIST: u32 = 16;

/// RACK-TLP: a segment is lost if one that was sent later arrived, and a reordering window has passed since.
///
/// The window is a quarter of the least round-trip time, and grows with each round in which something was sent again for nothing. When
/// the tail of a flight is silent for two round trips, it is probed.
///
/// - State: 136 bytes.
/// - Cost: O(1) as long as nothing overtakes; else O(n) an acknowledgement, for n runs.
/// - Source: RFC 8985. Departure: the least round-trip time is that of the whole connection.
#[derive(Clone, Debug)]
pub struct RackTlp {
    episode: Episode,
    /// The segment sent last of those that arrived (RACK.segment).
    newest: Option<Newest>,
    /// Its round-trip time (RACK.rtt).
    round_trip: Nanos,
    /// Whether anything ever arrived out of order (RACK.reordering_seen).
    is_reordering: bool,
    /// Quarters of the least round-trip time in the reordering window (RACK.reo_wnd_mult).
    quarters: u64,
    /// Recoveries until that is one again.
    persist: u32,
    /// No duplicate counts before this is acknowledged (RACK.dsack_round).
    round_end: Option<u64>,
    /// Time at which what is not lost yet will be.
    reorder_timer: Option<Nanos>,
    probe_timer: Option<Nanos>,
    /// The probe that is on its way.
    probe: Option<Probe>,
    /// Longest time for which the receiver delays an acknowledgement (TLP.max_ack_delay).
    delay: Nanos,
}

/// A probe of the tail.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq.
    end: u64,
    /// TLP.is_retrans.
    is_repeated: bool,
}

impl RackTlp {
    /// Nothing is lost. The receiver delays acknowledgements by `delay` at most.
    pub fn new(delay: Nanos) -> Self {
        Self {
            episode: Episode::default(),
            newest: None,
            round_trip: Nanos(0),
            is_reordering: false,
            quarters: 1,
            persist: PERSIST,
            round_end: None,
            reorder_timer: None,
            probe_timer: None,
            probe: None,
            delay,
        }
    }

    /// RFC 8985 §6.2, step 4: RACK_update_reo_wnd.
    fn reordering_window(&self, board: &Scoreboard, round_trip: &RoundTrip) -> Nanos {
        let is_sacked = |run: &&Run| run.belief == Belief::Sacked;
        let has_passed = || board.runs().filter(is_sacked).take(DUPLICATES).count() == DUPLICATES;
        if !self.is_reordering && (self.episode.stage() != Stage::Open || has_passed()) {
            return Nanos(0);
        }
        let least = round_trip.least().unwrap_or_default();
        let window = Nanos(least.0 / 4 * self.quarters);
        round_trip.smoothed().map_or(window, |smoothed| window.min(smoothed))
    }

    /// RFC 8985 §6.2, step 5: RACK_detect_loss. Returns the bytes that are lost.
    fn detect(&mut self, board: &mut Scoreboard, window: Nanos, now: Nanos) -> u64 {
        self.reorder_timer = None;
        let Some(newest) = self.newest else { return 0 };
        let Some(first) = board.runs().next() else { return 0 };
        // Without repetitions the first was sent before all others.
        if !board.has_repeated() && (first.sent, first.span.end) > (newest.sent, newest.end) {
            return 0;
        }
        let mut timer: Option<Nanos> = None;
        let patience = self.round_trip.after(window);
        let lost = board.lose(board.acknowledged(), board.next(), |run| {
            if (run.sent, run.span.end) >= (newest.sent, newest.end) {
                return false;
            }
            let due = run.sent.after(patience);
            if due > now {
                timer = Some(timer.map_or(due, |timer| timer.max(due)));
            }
            due <= now
        });
        self.reorder_timer = timer;
        lost
    }

    /// Begins fast recovery if anything is lost and none is under way.
    fn judge(&mut self, board: &Scoreboard, lost: u64) -> Verdict {
        let mut verdict = Verdict::default();
        if lost > 0 && self.episode.stage() == Stage::Open {
            self.episode.begin(Stage::FastRecovery, board.next());
            (verdict.is_congested, verdict.sends_now) = (true, true);
            self.probe_timer = None;
        }
        verdict
    }

    /// RFC 8985 §6.2, step 4: the window grows by a quarter in a round with a duplicate.
    fn adapt(&mut self, heard: &Heard<'_>, next: u64) {
        if self.round_end.is_some_and(|end| heard.ack >= end) {
            self.round_end = None;
        }
        if heard.has_duplicate_block && self.round_end.is_none() {
            self.round_end = Some(next);
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// RFC 8985 §7.4: what the acknowledgement says of the probe. Returns whether the probe has repaired a loss.
    fn end_probe(&mut self, heard: &Heard<'_>) -> bool {
        let Some(probe) = self.probe.filter(|probe| heard.ack >= probe.end) else { return false };
        if !probe.is_repeated || heard.has_duplicate_block {
            self.probe = None;
            return false;
        }
        if heard.ack > probe.end {
            self.probe = None;
            return true;
        }
        if heard.is_duplicate && heard.delivered.sacked == 0 {
            self.probe = None;
        }
        false
    }

    /// RFC 8985 §7.2: TLP_calc_PTO.
    ///
    /// The probe comes no later than the time-out would, so that it takes its place.
    fn arm_probe(&mut self, board: &Scoreboard, round_trip: &RoundTrip, expiry: Option<Nanos>, now: Nanos) {
        let is_quiet = self.episode.stage() == Stage::Open
            && board.sacked().is_empty()
            && board.outstanding() > 0
            && self.probe.is_none();
        self.probe_timer = is_quiet.then(|| {
            let time = match round_trip.smoothed() {
                None => PROBE_UNMEASURED,
                Some(smoothed) if board.runs().len() == 1 => Nanos(2 * smoothed.0).after(self.delay),
                Some(smoothed) => Nanos(2 * smoothed.0),
            };
            // A round trip may take no time at all; a probe that waits for none would be due as it is set.
            let probe = now.after(time.max(Nanos(1)));
            expiry.map_or(probe, |expiry| probe.min(expiry))
        });
    }
}

impl LossRecovery for RackTlp {
    fn reads_sack(&self) -> bool {
        true
    }

    fn episode(&self) -> &Episode {
        &self.episode
    }

    fn on_ack(&mut self, board: &mut Scoreboard, heard: &Heard<'_>) -> Verdict {
        let delivered = heard.delivered;
        // RFC 8985 §6.2, step 2: the segment sent last of those that arrived.
        let key = |newest: &Newest| (newest.sent, newest.end);
        if let Some(newest) = delivered.newest {
            if self.newest.is_none_or(|known| key(&known) < key(&newest)) {
                self.newest = Some(newest);
            }
            self.round_trip = heard.now.since(newest.sent);
        }
        self.is_reordering |= delivered.is_reordered; // RFC 8985 §6.2, step 3
        self.adapt(heard, board.next());
        if delivered.acked > 0 && self.episode.acknowledge(heard.ack).is_some() {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.quarters = 1;
            }
        }
        let window = self.reordering_window(board, heard.round_trip);
        let lost = self.detect(board, window, heard.now);
        let mut verdict = self.judge(board, lost);
        // RFC 8985 §7.4.2: a loss that the probe repaired counts as any other.
        verdict.is_congested |= self.end_probe(heard) && self.episode.stage() == Stage::Open;
        if delivered.acked > 0 || delivered.sacked > 0 {
            self.arm_probe(board, heard.round_trip, heard.expiry, heard.now);
        }
        verdict
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, round_trip: &RoundTrip, now: Nanos) {
        self.episode.begin(Stage::AfterTimeout, board.next());
        (self.reorder_timer, self.probe_timer, self.probe) = (None, None, None);
        // RFC 8985 §6.3: the first one, and those that had time enough to be acknowledged.
        board.lose_first();
        let patience = self.round_trip.after(self.reordering_window(board, round_trip));
        let had_time = |run: &Run| run.sent.after(patience) <= now;
        board.lose(board.acknowledged(), board.next(), had_time);
    }

    fn on_sent(&mut self, board: &Scoreboard, round_trip: &RoundTrip, expiry: Option<Nanos>, now: Nanos) {
        self.arm_probe(board, round_trip, expiry, now);
    }

    fn timer(&self) -> Option<Nanos> {
        match (self.reorder_timer, self.probe_timer) {
            (Some(reorder), Some(probe)) => Some(reorder.min(probe)),
            (one, other) => one.or(other),
        }
    }

    fn on_timer(&mut self, board: &mut Scoreboard, round_trip: &RoundTrip, now: Nanos) -> Verdict {
        let mut verdict = Verdict::default();
        if self.reorder_timer.is_some_and(|timer| timer <= now) {
            // What was waited for is over: all that is due by now is lost (RFC 8985 §6.2, step 5).
            let window = self.reordering_window(board, round_trip);
            let lost = self.detect(board, window, now);
            verdict = self.judge(board, lost);
        }
        if self.probe_timer.is_some_and(|timer| timer <= now) {
            self.probe_timer = None;
            verdict.probes_tail = self.probe.is_none();
        }
        verdict
    }

    fn on_probe(&mut self, span: Span, is_repeated: bool) {
        self.probe = Some(Probe { end: span.end, is_repeated });
        self.probe_timer = None;
    }
}

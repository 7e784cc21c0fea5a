//! Recovery by SACK blocks.

use trueplane_units::Nanos;

use super::episode::{Episode, Stage};
use super::{Heard, LossRecovery, Verdict};
use crate::transport::round_trip::RoundTrip;
use crate::transport::scoreboard::{Belief, Scoreboard};
use crate::transport::span::Span;

/// Duplicates, or disjoint blocks beyond a byte, that tell of its loss (RFC 6675 §2: DupThresh).
pub const DUPLICATES: u32 = 3;

/// SACK: what three later segments have passed is lost.
///
/// A byte is lost if three disjoint blocks lie beyond it, or more than two segments of bytes (IsLost).
///
/// - State: 32 bytes.
/// - Cost: amortised O(1) for each segment sent; O(n) for what rule 3 of NextSeg sends, for n runs.
/// - Source: RFC 6675. Departures: a segment that rule 3 of NextSeg sends again is counted once in the pipe; rule 4 (the rescue
///   retransmission) is left to the timer; after a time-out the blocks are kept, as our receiver never takes back what it reported; the
///   first is doubted if nothing else is lost.
#[derive(Clone, Debug, Default)]
pub struct Sack {
    episode: Episode,
    duplicates: u32,
    /// All below is known to be lost or to have arrived.
    judged: u64,
}

impl Sack {
    /// Nothing is lost.
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything below that is not known to have arrived is lost (RFC 6675 §4: IsLost).
    fn limit(board: &Scoreboard, segment: u64) -> u64 {
        let mut bytes = 0;
        for (count, span) in (1..).zip(board.sacked().spans().iter().rev()) {
            bytes += span.len();
            if count >= DUPLICATES || bytes > u64::from(DUPLICATES - 1) * segment {
                return span.start;
            }
        }
        0
    }
}

impl LossRecovery for Sack {
    fn reads_sack(&self) -> bool {
        true
    }

    fn episode(&self) -> &Episode {
        &self.episode
    }

    fn on_ack(&mut self, board: &mut Scoreboard, heard: &Heard<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        if heard.delivered.acked > 0 {
            self.duplicates = 0;
            self.episode.acknowledge(heard.ack);
        } else if heard.delivered.sacked > 0 {
            self.duplicates += 1; // RFC 6675 §2: a duplicate reports something new
        }
        let limit = Self::limit(board, heard.segment);
        if limit > self.judged {
            board.lose(self.judged.max(heard.ack), limit, |run| !run.is_repeated);
            self.judged = limit;
        }
        let is_lost = limit > heard.ack || self.duplicates >= DUPLICATES;
        if is_lost && self.episode.stage() == Stage::Open {
            self.episode.begin(Stage::FastRecovery, board.next()); // RFC 6675 §5 (4.1)
            board.lose_first();
            (verdict.is_congested, verdict.sends_now) = (true, true); // RFC 6675 §5 (4.2), (4.3)
        }
        verdict
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _round_trip: &RoundTrip, _now: Nanos) {
        self.duplicates = 0;
        self.judged = board.next();
        self.episode.begin(Stage::AfterTimeout, board.next()); // RFC 6675 §5.1
        board.lose(board.acknowledged(), board.next(), |_| true);
    }

    /// RFC 6675 §4: rule 3 of NextSeg.
    fn rescue(&self, board: &Scoreboard) -> Option<Span> {
        if self.episode.stage() != Stage::FastRecovery {
            return None;
        }
        let highest = board.sacked().spans().last()?.start;
        let mut below = board.runs().take_while(|run| run.span.start < highest);
        below.find(|run| run.belief == Belief::InFlight && !run.is_repeated).map(|run| run.span)
    }
}

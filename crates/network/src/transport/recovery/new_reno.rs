//! NewReno: duplicate acknowledgements, and then partial ones.

use trueplane_units::Nanos;

use super::episode::{Episode, Stage};
use super::{Heard, LossRecovery, Verdict};
use crate::transport::round_trip::RoundTrip;
use crate::transport::scoreboard::Scoreboard;

/// Duplicate acknowledgements that tell of a loss (RFC 5681 §3.2).
pub const DUPLICATES: u32 = 3;

/// New segments that the first duplicates let leave (RFC 3042 §2).
const LIMITED_TRANSMIT: u32 = 2;

/// NewReno: the third duplicate acknowledgement sends the first segment again, and each partial one the next.
///
/// - State: 32 bytes.
/// - Cost: O(1).
/// - Source: RFC 5681 §3.2, RFC 6582, RFC 3042. The RFCs add to cwnd for each duplicate; we subtract from the flight,
///   which allows the same.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    episode: Episode,
    duplicates: u32,
    /// Bytes that have left the network, by the count of duplicates; what RFC 5681 §3.2 adds to cwnd.
    ///
    /// It is negative after a partial acknowledgement of more than that: RFC 6582 takes all of it from cwnd.
    left: i64,
    /// A partial acknowledgement came in this recovery.
    is_partial: bool,
}

impl NewReno {
    /// Nothing is lost.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Bytes as a number that may be subtracted; streams are shorter than 2⁶³.
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl LossRecovery for NewReno {
    fn reads_sack(&self) -> bool {
        false
    }

    fn episode(&self) -> &Episode {
        &self.episode
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        match self.episode.stage() {
            Stage::AfterTimeout => board.pipe(),
            Stage::Open | Stage::FastRecovery => board.outstanding().saturating_add_signed(-self.left),
        }
    }

    fn on_ack(&mut self, board: &mut Scoreboard, heard: &Heard<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        let segment = signed(heard.segment);
        if heard.delivered.acked > 0 {
            self.duplicates = 0;
            if self.episode.acknowledge(heard.ack) == Some(Stage::FastRecovery) {
                // RFC 6582 §3.2 (3), full acknowledgement, option 1.
                verdict.limit = Some(board.outstanding().max(heard.segment) + heard.segment);
            }
            match self.episode.stage() {
                Stage::FastRecovery => {
                    // RFC 6582 §3.2 (3), partial acknowledgement: deflate by what is acknowledged, add back a segment.
                    self.left -= signed(heard.delivered.acked);
                    if heard.delivered.acked >= heard.segment {
                        self.left += segment;
                    }
                    board.lose_first();
                    verdict.sends_now = true;
                    // RFC 6582 §3.2 (3): the first one alone starts the timer anew.
                    verdict.keeps_timer = std::mem::replace(&mut self.is_partial, true);
                }
                Stage::Open | Stage::AfterTimeout => self.left = 0,
            }
        } else if heard.is_duplicate {
            self.duplicates += 1;
            match self.episode.stage() {
                // RFC 5681 §3.2 (4): a segment for each more.
                Stage::FastRecovery => self.left += segment,
                Stage::Open => {
                    // RFC 6582 §3.2 (2): what is acknowledged must be more than was sent when the last recovery began.
                    let counts = heard.ack > self.episode.end();
                    // RFC 3042 §2: one new segment for each of the first two; RFC 5681 §3.2 (3): three of them for the third.
                    let most = if counts { DUPLICATES } else { LIMITED_TRANSMIT };
                    self.left = i64::from(self.duplicates.min(most)) * segment;
                    if counts && self.duplicates == DUPLICATES {
                        self.episode.begin(Stage::FastRecovery, board.next());
                        self.is_partial = false;
                        board.lose_first();
                        (verdict.is_congested, verdict.sends_now) = (true, true);
                    }
                }
                // RFC 6582 §3.2 (4): no fast retransmit of what was sent before the time-out.
                Stage::AfterTimeout => {}
            }
        }
        verdict
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _round_trip: &RoundTrip, _now: Nanos) {
        (self.duplicates, self.left) = (0, 0);
        // RFC 6582 §3.2 (4). A SYN alone is no data whose duplicates could be mistaken.
        let end = if board.acknowledged() == 0 { 0 } else { board.next() };
        self.episode.begin(Stage::AfterTimeout, end);
        board.lose(board.acknowledged(), board.next(), |_| true);
    }
}

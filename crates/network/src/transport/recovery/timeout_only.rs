//! Recovery by the timer alone, for networks that reorder and drop by priority.

use trueplane_units::Nanos;

use super::episode::{Episode, Stage};
use super::{Heard, LossRecovery, Verdict};
use crate::transport::round_trip::RoundTrip;
use crate::transport::scoreboard::Scoreboard;

/// Time-outs in a row after which only probes of one byte are sent (pFabric §4.3).
pub const TIMEOUTS_BEFORE_PROBES: u32 = 5;

/// Recovery of pFabric's minimal transport: no duplicate acknowledgement means anything, as packets of one flow overtake each other.
///
/// When the timer expires, all that is not known to have arrived is lost. After five time-outs without an acknowledgement, one byte is
/// sent at a time until one comes.
///
/// - State: 24 bytes.
/// - Cost: O(1), and O(n) at a time-out, for n runs.
/// - Source: Alizadeh et al., *pFabric*, SIGCOMM 2013, §4.3.
#[derive(Clone, Debug, Default)]
pub struct TimeoutOnly {
    episode: Episode,
    timeouts: u32,
}

impl TimeoutOnly {
    /// Nothing is lost.
    pub fn new() -> Self {
        Self::default()
    }
}

impl LossRecovery for TimeoutOnly {
    fn reads_sack(&self) -> bool {
        true
    }

    fn episode(&self) -> &Episode {
        &self.episode
    }

    fn on_ack(&mut self, _board: &mut Scoreboard, heard: &Heard<'_>) -> Verdict {
        if heard.delivered.bytes > 0 {
            self.timeouts = 0;
        }
        self.episode.acknowledge(heard.ack);
        Verdict::default()
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _round_trip: &RoundTrip, _now: Nanos) {
        self.timeouts += 1;
        self.episode.begin(Stage::AfterTimeout, board.next());
        board.lose(board.acknowledged(), board.next(), |_| true);
        if self.probes_with_a_byte() {
            board.split_first_lost();
        }
    }

    fn probes_with_a_byte(&self) -> bool {
        self.timeouts >= TIMEOUTS_BEFORE_PROBES
    }
}

//! Turns by rounds.

use trueplane_pqueue::BadShape;
use trueplane_units::Nanos;

use super::{End, Job, Rule, Turn};

/// The rule of [`Drr`](super::Drr): flows take turns, and each turn is worth a quantum of work.
///
/// A flow whose turn it is gets `quantum` added to its deficit, is served as long as its first packet takes no more than that, and then
/// goes behind the others with what is left; a flow of which nothing waits any more loses it. The rank of a flow is the round in which
/// its deficit is enough for its first packet, by a division: turns in which nothing would be served are not taken, so that a job
/// costs O(1), however long it is.
///
/// - Source: Shreedhar, Varghese, *Efficient Fair Queuing Using Deficit Round Robin*, SIGCOMM 1995, with work for bytes.
/// - Departures: a turn ends when its last packet begins to be served, so that a flow that comes meanwhile is behind. No other, if no
///   job is longer than the quantum. Else flows are served in the same rounds with the same deficits as they
///   would be by walking from flow to flow; but within a round one that skipped turns comes before those that did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeficitRoundRobin {
    quantum: u64,
    /// The round of the flow that was served last.
    round: u64,
}

/// State of a flow that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deficit {
    /// Work that it may do in its round.
    deficit: u64,
    round: u64,
}

/// 10 µs: some packets of average traffic. As empty turns cost nothing, a small one is no slower.
pub const DEFAULT_QUANTUM: Nanos = Nanos(10_000);

impl Default for DeficitRoundRobin {
    fn default() -> Self {
        Self { quantum: DEFAULT_QUANTUM.0, round: 0 }
    }
}

impl DeficitRoundRobin {
    /// Turns of `quantum`.
    ///
    /// # Errors
    ///
    /// If it is 0, or longer than [`MOST_WORK`](super::MOST_WORK).
    pub fn new(quantum: Nanos) -> Result<Self, BadShape> {
        BadShape::check("a quantum in ns", quantum.0, 1..=super::MOST_WORK.0)?;
        Ok(Self { quantum: quantum.0, round: 0 })
    }

    /// The round that is served.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Lets a flow take its next turns, one at least, until it may do so much work.
    fn take_turns(&self, state: &mut Deficit, work: u64) -> u64 {
        let turns = work.saturating_sub(state.deficit).div_ceil(self.quantum).max(1);
        // Below `work` and a quantum.
        state.deficit += turns * self.quantum;
        state.round = self.round.saturating_add(turns);
        state.round
    }
}

impl Rule for DeficitRoundRobin {
    type Rank = u64;
    type State = Deficit;
    type Mark = ();
    const RERANKS: bool = false;

    fn opens(&mut self) -> Deficit {
        Deficit::default()
    }

    fn arrives(&mut self, _state: &mut Deficit, _job: Job<()>) {}

    #[inline]
    fn enters(&mut self, state: &mut Deficit, head: Job<()>) -> u64 {
        self.take_turns(state, head.work)
    }

    #[inline]
    fn rank(&self, state: &Deficit, _head: Job<()>) -> u64 {
        state.round
    }

    #[inline]
    fn leaves(&mut self, state: &mut Deficit, job: Job<()>, end: End) {
        if end == End::Head {
            self.round = state.round;
            state.deficit -= job.work;
        }
    }

    #[inline]
    fn continues(&mut self, state: &mut Deficit, head: Job<()>) -> Turn<u64> {
        if head.work <= state.deficit {
            return Turn::GoesOn;
        }
        Turn::Waits(self.take_turns(state, head.work))
    }

    /// A flow that comes begins in the round after the one that is served.
    fn bound(&self) -> u64 {
        u64::MAX
    }
}

//! Fair shares by virtual clocks.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::{End, Job, Rule};
use crate::pqueue::MOST_ITEMS;
use crate::units::Nanos;

/// The rule of [`Fq`](super::Fq): every flow has a clock, which runs by the work that it asks for, and the one that is behind goes
/// first.
///
/// A packet's tag is `max(now, clock of its flow) + work`, and its flow's clock from then on; the rank of a flow is the tag of its first
/// packet. A packet that is dropped sets the clock back. Between two flows of which packets always wait, the work done differs by at
/// most a packet of each; but there may be as many flows as the attacker likes, and against that this does nothing (§3.4.2).
///
/// A flow of which nothing waits has a clock only as long as that is ahead of now; it would begin at now all the same. Those that are
/// ahead are remembered and swept, two for every flow that comes, O(1); at most 2^28 of them.
///
/// - Source: Zhang, *VirtualClock*, SIGCOMM 1990, where a flow's rate is its share; the fair queueing of Atre 2025 §3.4.2.
/// - Departures: Demers' fair queueing has one virtual time for all, which runs slower the more flows there are. Here a flow that
///   was idle begins at the time of day, behind those that waited all along and so are behind it.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    idle: Idle,
}

/// The clock of a flow of which packets wait: the tag of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(u64);

impl VirtualClock {
    /// How many flows of which nothing waits are remembered.
    pub fn idle_flows(&self) -> usize {
        self.idle.clocks.len()
    }
}

impl Rule for VirtualClock {
    type Rank = u64;
    type State = Clock;
    type Mark = u64;
    const RERANKS: bool = false;

    #[inline]
    fn opens(&mut self, flow: u64, now: Nanos) -> Clock {
        self.idle.sweep(now);
        Clock(self.idle.recall(flow).unwrap_or(0))
    }

    #[inline]
    fn arrives(&mut self, clock: &mut Clock, job: Job<()>, now: Nanos) -> u64 {
        clock.0 = clock.0.max(now.0).saturating_add(job.work);
        clock.0
    }

    #[inline]
    fn rank(&self, _clock: &Clock, head: Job<u64>) -> u64 {
        head.mark
    }

    /// Where its clock was before, or where the time was, and that is the same from now on.
    #[inline]
    fn leaves(&mut self, clock: &mut Clock, job: Job<u64>, end: End) {
        if end == End::Tail {
            clock.0 = job.mark.saturating_sub(job.work);
        }
    }

    #[inline]
    fn closes(&mut self, flow: u64, clock: Clock, now: Nanos) {
        if clock.0 > now.0 {
            self.idle.remember(flow, clock.0);
        }
    }
}

/// Clocks that are ahead, of flows of which nothing waits.
#[derive(Clone, Debug, Default)]
struct Idle {
    clocks: HashMap<u64, Remembered>,
    /// Flows in the order in which they came, each with its serial number: what is not that any more has gone.
    sweep: VecDeque<(u64, u64)>,
    serial: u64,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    clock: u64,
    serial: u64,
}

impl Idle {
    /// The clock of a flow, which is idle no more.
    #[inline]
    fn recall(&mut self, flow: u64) -> Option<u64> {
        if self.clocks.is_empty() {
            return None;
        }
        Some(self.clocks.remove(&flow)?.clock)
    }

    fn remember(&mut self, flow: u64, clock: u64) {
        if self.sweep.len() as u64 == MOST_ITEMS {
            self.sweep_one(Nanos::MAX);
        }
        self.clocks.insert(flow, Remembered { clock, serial: self.serial });
        self.sweep.push_back((flow, self.serial));
        self.serial += 1;
    }

    /// Forgets two that are not ahead any more, or looks at two others next time.
    #[inline]
    fn sweep(&mut self, now: Nanos) {
        if !self.sweep.is_empty() {
            self.sweep_one(now);
            self.sweep_one(now);
        }
    }

    fn sweep_one(&mut self, now: Nanos) {
        let Some((flow, serial)) = self.sweep.pop_front() else { return };
        let Some(remembered) = self.clocks.get(&flow).filter(|remembered| remembered.serial == serial) else {
            return;
        };
        if remembered.clock > now.0 {
            self.sweep.push_back((flow, serial));
        } else {
            self.clocks.remove(&flow);
        }
    }
}

//! Fair shares by virtual clocks.

use hashbrown::HashMap;

use super::{End, Job, Rule};
use crate::units::Nanos;

/// The rule of [`Fq`](super::Fq): every flow has a clock, which runs by the work that it asks for, and the one that is behind goes
/// first.
///
/// A packet's tag is `max(now, clock of its flow) + work`, and its flow's clock from then on; the rank of a flow is the tag of its first
/// packet. A packet that is dropped sets the clock back. Between two flows of which packets always wait, the work done differs by at
/// most a packet of each; but there may be as many flows as the attacker likes, and against that this does nothing (§3.4.2).
///
/// When the last packet of a flow leaves, its clock only matters if it is ahead of now, as the next packet sets any other to now. So
/// clocks that are ahead are remembered, for as many flows as the policy has room for packets. Whenever a flow begins to wait, two of
/// them are looked at, in turn, and forgotten if time has caught up with them: O(1). If there is no room for one more, it is held against
/// one that was there, again in turn, and whichever is ahead less goes. A flow whose clock is forgotten begins at now, like one that never sent: it gets as
/// much work too much as its clock was ahead. Nobody else loses more than that, and nothing else changes.
///
/// - Source: Zhang, *VirtualClock*, SIGCOMM 1990, where a flow's rate is its share; the fair queueing of Atre 2025 §3.4.2.
/// - Departures: Demers' fair queueing has one virtual time for all flows, which runs slower the more of them wait; whoever begins to send
///   begins at that, level with the others. Here he begins at the time of day. If more work comes than can be done, the tags of what
///   waits lie more and more in the past, and a newcomer has to wait for everything that came before him.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    idle: Idle,
}

/// The clock of a flow of which packets wait: the tag of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(u64);

impl VirtualClock {
    /// How many flows of which nothing waits are remembered: no more than the policy has room for packets.
    pub fn idle_flows(&self) -> usize {
        self.idle.clocks.len()
    }
}

impl Rule for VirtualClock {
    type Rank = u64;
    type State = Clock;
    type Mark = u64;
    const RERANKS: bool = false;

    fn begins(&mut self, capacity: usize) {
        self.idle.capacity = capacity;
    }

    fn bytes_per_packet() -> usize {
        Idle::bytes_per_clock()
    }

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

/// Clocks that are ahead, of flows of which nothing waits. Every operation: O(1), amortised over the growth of its memory.
#[derive(Clone, Debug, Default)]
struct Idle {
    /// How many it remembers at most.
    capacity: usize,
    clocks: Vec<Remembered>,
    /// Where in `clocks` a flow is.
    places: HashMap<u64, u32>,
    /// Whose turn it is to be looked at.
    hand: usize,
    /// Whose turn it is to be held against a new one for which there is no room.
    rival: usize,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    flow: u64,
    clock: u64,
}

impl Idle {
    /// The clock of a flow, which is idle no more.
    #[inline]
    fn recall(&mut self, flow: u64) -> Option<u64> {
        if self.clocks.is_empty() {
            return None;
        }
        let place = *self.places.get(&flow)?;
        Some(self.forget(place as usize).clock)
    }

    /// Remembers the clock of a flow that it does not know; or not, if that is ahead less than a rival.
    fn remember(&mut self, flow: u64, clock: u64) {
        if self.clocks.len() >= self.capacity {
            let place = self.rival;
            self.rival = if place + 1 < self.clocks.len() { place + 1 } else { 0 };
            match self.clocks.get(place) {
                Some(rival) if rival.clock < clock => drop(self.forget(place)),
                _ => return,
            }
        }
        self.places.insert(flow, self.clocks.len() as u32);
        self.clocks.push(Remembered { flow, clock });
    }

    /// Looks at two clocks, and forgets those that are not ahead any more.
    #[inline]
    fn sweep(&mut self, now: Nanos) {
        for _ in 0..2 {
            if self.hand >= self.clocks.len() {
                self.hand = 0;
            }
            match self.clocks.get(self.hand) {
                None => return,
                Some(remembered) if remembered.clock > now.0 => self.hand += 1,
                Some(_) => drop(self.forget(self.hand)),
            }
        }
    }

    /// Forgets a clock, whose place the last one gets.
    fn forget(&mut self, place: usize) -> Remembered {
        let forgotten = self.clocks.swap_remove(place);
        self.places.remove(&forgotten.flow);
        if let Some(moved) = self.clocks.get(place) {
            self.places.insert(moved.flow, place as u32);
        }
        forgotten
    }

    /// Bytes for a clock.
    fn bytes_per_clock() -> usize {
        // A table is between 7/16 and 7/8 full, and has a byte for every place.
        size_of::<Remembered>() + (size_of::<(u64, u32)>() + 1) * 16 / 7
    }
}

//! LFU: evict the object that was used least often since it came.

use trueplane_pqueue::product::compare;
use trueplane_pqueue::{Curve, KineticTournament};
use trueplane_units::Nanos;

use crate::cost::{Cost, Stake, Unit};
use crate::{Access, Object, Outcome, Policy, Room, Slot, grow};

/// Least frequently used, counted while the object is in the cache.
///
/// Rank: number of requests since the object came (its miss, its delayed hits, its hits), times the [`Cost`]; among
/// equals the one used longest ago goes first. O(log n) a request.
#[derive(Clone, Debug, Default)]
pub struct Lfu<C: Cost = Unit> {
    counts: Vec<u64>,
    ranks: KineticTournament<Frequency>,
    turns: u64,
    cost: C,
}

/// count × mean aggregate delay, the smallest on top; it does not change with time.
#[derive(Clone, Copy, Debug)]
struct Frequency {
    count: u64,
    stake: Stake,
    turn: u64,
}

impl Curve for Frequency {
    type Instant = u64;

    fn beats(&self, other: &Self, _now: u64) -> bool {
        let scaled = |a: &Self, b: &Self| [a.count, a.stake.delay, b.stake.windows];
        compare(scaled(self, other), scaled(other, self)).then(self.turn.cmp(&other.turn)).is_lt()
    }

    fn holds_until(&self, _other: &Self, _now: u64) -> u64 {
        u64::MAX
    }
}

impl Lfu {
    /// Classical LFU: every miss costs the same. [`with_cost`](Self::with_cost) of [`AggregateDelay`](super::AggregateDelay) is
    /// LFU-MAD.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<C: Cost> Lfu<C> {
    /// LFU under the given estimate of what a miss costs.
    pub fn with_cost(cost: C) -> Self {
        Self { counts: Vec::new(), ranks: KineticTournament::default(), turns: 0, cost }
    }

    fn rank(&mut self, slot: Slot, now: Nanos) {
        self.turns += 1;
        let stake = self.cost.stake(slot);
        let rank = Frequency { count: self.counts[slot.index()], stake, turn: self.turns };
        self.ranks.set(slot.0, rank, now.0);
    }
}

impl<C: Cost> Policy for Lfu<C> {
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        self.cost.request(slot, object, access, outcome);
    }

    fn touch(&mut self, slot: Slot, _object: Object, times: u64, now: Nanos) {
        self.counts[slot.index()] += times;
        self.rank(slot, now);
    }

    fn admit(&mut self, slot: Slot, fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.cost.fetched(slot, fetch);
        self.make_room(now, room);
        grow(&mut self.counts, slot, 0);
        self.counts[slot.index()] = 1;
        self.rank(slot, now);
    }

    fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        self.cost.fetched(slot, fetch);
    }

    fn remove(&mut self, slot: Slot, object: Object, now: Nanos) {
        self.ranks.remove(slot.0, now.0);
        self.cost.evicted(slot, object);
    }

    fn abandon(&mut self, slot: Slot, object: Object) {
        self.cost.evicted(slot, object);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let victim = self.ranks.top(now.0).map(Slot).expect("what does not fit alone is not admitted");
            self.remove(victim, room.object(victim), now);
            room.evict(victim);
        }
    }
}

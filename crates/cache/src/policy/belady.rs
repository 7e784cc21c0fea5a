//! The offline policies: they know the next request of every object, and one of them what it will cost.

use trueplane_pqueue::product::{compare, excess};
use trueplane_pqueue::{Curve, KineticTournament};
use trueplane_units::Nanos;

use crate::{Access, NextUse, Object, Outcome, Policy, Room, Slot, grow};

/// Order of eviction that an offline policy derives from the future.
pub trait Foresight: Curve<Instant = u64> {
    /// The rank of an object with this future and size; among equals the lower `turn` goes first.
    fn rank(future: NextUse, size: u64, turn: u64) -> Self;
}

/// Bélády's algorithm: evict the object whose next request is farthest away, the newcomer included.
///
/// Optimal for hit rates of equal-sized objects in the classical model; thesis §2.2.2 shows why not for latency.
/// Source: L. Bélády, *A study of replacement algorithms for a virtual-storage computer*, IBM Systems Journal 1966.
pub type Belady = Offline<Farthest>;

/// Bélády-AggregateDelay: evict the object with the smallest aggregate delay of its next request over the time until
/// then, per size; the newcomer included.
///
/// Source: thesis §2.5.1, eq. 2.45.
pub type BeladyAd = Offline<LeastDelay>;

/// An offline policy; O(log n) a request. Needs [`Access::future`].
#[derive(Clone, Debug)]
pub struct Offline<R: Foresight> {
    futures: Vec<NextUse>,
    ranks: KineticTournament<R>,
    turns: u64,
}

impl<R: Foresight> Default for Offline<R> {
    fn default() -> Self {
        Self { futures: Vec::new(), ranks: KineticTournament::default(), turns: 0 }
    }
}

impl<R: Foresight> Offline<R> {
    fn rank(&mut self, slot: Slot, object: Object, now: Nanos) {
        self.turns += 1;
        let rank = R::rank(self.futures[slot.index()], object.size, self.turns);
        self.ranks.set(slot.0, rank, now.0);
    }
}

impl<R: Foresight> Policy for Offline<R> {
    fn request(&mut self, slot: Slot, _object: Object, access: Access, _outcome: Outcome) {
        grow(&mut self.futures, slot, NextUse::UNKNOWN);
        self.futures[slot.index()] = access.future;
    }

    fn touch(&mut self, slot: Slot, object: Object, _times: u64, now: Nanos) {
        self.rank(slot, object, now);
    }

    fn admit(&mut self, slot: Slot, _fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.rank(slot, room.object(slot), now);
        self.make_room(now, room);
    }

    fn remove(&mut self, slot: Slot, _object: Object, now: Nanos) {
        self.ranks.remove(slot.0, now.0);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let victim = self.ranks.top(now.0).map(Slot).expect("the newcomer at least is there");
            self.ranks.remove(victim.0, now.0);
            room.evict(victim);
        }
    }
}

/// The farthest next request on top; it does not change with time.
#[derive(Clone, Copy, Debug)]
pub struct Farthest {
    next: Nanos,
    turn: u64,
}

impl Foresight for Farthest {
    fn rank(future: NextUse, _size: u64, turn: u64) -> Self {
        Self { next: future.next, turn }
    }
}

impl Curve for Farthest {
    type Instant = u64;

    fn beats(&self, other: &Self, _now: u64) -> bool {
        self.next.cmp(&other.next).then(other.turn.cmp(&self.turn)).is_gt()
    }

    fn holds_until(&self, _other: &Self, _now: u64) -> u64 {
        u64::MAX
    }
}

/// The smallest aggregate delay over time to next access on top: its inverse, size × (next − now) / delay, is a
/// straight line that falls to zero at the next request.
#[derive(Clone, Copy, Debug)]
pub struct LeastDelay {
    future: NextUse,
    size: u64,
    turn: u64,
}

impl LeastDelay {
    /// Never asked for again, so that keeping it saves nothing, now or later.
    fn worthless(&self) -> bool {
        self.future.next == Nanos::MAX
    }

    fn inverse(&self, other: &Self, now: u64) -> [u64; 3] {
        [self.size, self.future.next.since(Nanos(now)).0, other.future.delay]
    }
}

impl Foresight for LeastDelay {
    fn rank(future: NextUse, size: u64, turn: u64) -> Self {
        // A store that answers in no time delays nothing; every miss then costs the same.
        Self { future: NextUse { delay: future.delay.max(1), ..future }, size, turn }
    }
}

impl Curve for LeastDelay {
    type Instant = u64;

    fn beats(&self, other: &Self, now: u64) -> bool {
        let order = match (self.worthless(), other.worthless()) {
            (false, false) => compare(self.inverse(other, now), other.inverse(self, now)),
            (mine, theirs) => mine.cmp(&theirs),
        };
        order.then(other.turn.cmp(&self.turn)).is_gt()
    }

    fn holds_until(&self, other: &Self, now: u64) -> u64 {
        if self.worthless() || other.worthless() {
            return u64::MAX;
        }
        // Both fall; `other` overtakes only if it falls more slowly.
        let closing = excess([self.size, other.future.delay, 1], [other.size, self.future.delay, 1]);
        if closing == 0.0 {
            return u64::MAX;
        }
        let gap = excess(self.inverse(other, now), other.inverse(self, now));
        let time = gap / closing * (1.0 - 2f64.powi(-40));
        now.saturating_add((time as u64).max(1))
    }
}

//! ARC: balance recency against frequency by what the cache regrets.

use trueplane_units::Nanos;

use crate::cost::{Cost, Unit, VictimOrder};
use crate::ghost::GhostList;
use crate::{Access, Object, Outcome, Policy, Room, Slot, grow};

/// Adaptive replacement cache: T1 holds what was used once, T2 what was used again, and the ghosts B1 and B2 of either
/// tell which of the two should have been larger.
///
/// The target size of T1 is an integer in units of capacity and moves by max(1, |B2| / |B1|) rounded half up, times the
/// object's size, on a ghost hit in B1, and the other way round in B2. Cost: O(1) a request under the classical cost.
/// With another [`Cost`] ARC still chooses the list, and the cost and recency choose the victim within it.
///
/// Source: N. Megiddo, D. Modha, *ARC: a self-tuning, low overhead replacement cache*, FAST 2003, figure 4.
/// Departures: a request for an object on its way is processed when the object comes, so one with delayed hits goes on
/// to T2 at once; sizes generalise the counts; an object that the driver removes leaves no ghost.
///
/// `policy::Arc` is not [`std::sync::Arc`]: import the module and write `policy::Arc`, or rename it.
#[derive(Clone, Debug, Default)]
pub struct Arc<C: Cost = Unit> {
    once: Side<C>,
    again: Side<C>,
    in_again: Vec<bool>,
    /// The target size of T1: `p` in the paper.
    target: u64,
    cost: C,
}

/// T1 and B1, or T2 and B2.
#[derive(Clone, Debug)]
struct Side<C: Cost> {
    order: C::Recency,
    size: u64,
    ghosts: GhostList,
}

impl<C: Cost> Default for Side<C> {
    fn default() -> Self {
        Self { order: C::Recency::default(), size: 0, ghosts: GhostList::default() }
    }
}

impl<C: Cost> Side<C> {
    fn with_ghosts(&self) -> u64 {
        self.size + self.ghosts.size()
    }

    fn insert(&mut self, slot: Slot, object: Object, cost: &C, now: Nanos) {
        self.order.insert(slot, cost.stake(slot), now);
        self.size += object.size;
    }

    fn remove(&mut self, slot: Slot, object: Object, now: Nanos) {
        self.order.remove(slot, now);
        self.size -= object.size;
    }

    /// Evicts one object and returns it.
    fn evict(&mut self, cost: &mut C, now: Nanos, room: &mut Room<'_>) -> Object {
        let victim =
            self.order.victim(now, |slot| cost.stake(slot)).expect("a list of some size has a victim");
        let object = room.object(victim);
        self.remove(victim, object, now);
        cost.evicted(victim, object);
        room.evict(victim);
        object
    }
}

impl Arc {
    /// Classical ARC: every miss costs the same. [`with_cost`](Self::with_cost) of [`AggregateDelay`](super::AggregateDelay) is
    /// ARC-MAD.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<C: Cost> Arc<C> {
    /// ARC under the given estimate of what a miss costs.
    pub fn with_cost(cost: C) -> Self {
        Self { cost, ..Self::default() }
    }

    /// REPLACE of the paper, until there is room.
    fn replace(&mut self, wanted_again: bool, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let over = self.once.size > self.target || (wanted_again && self.once.size == self.target);
            let side = if self.again.size == 0 || (self.once.size > 0 && over) {
                &mut self.once
            } else {
                &mut self.again
            };
            let object = side.evict(&mut self.cost, now, room);
            side.ghosts.push(object);
        }
    }

    /// Case IV: the newcomer is unknown; keeps T1 ∪ B1 within the capacity and all four lists within twice that.
    fn make_room_for_stranger(&mut self, size: u64, now: Nanos, room: &mut Room<'_>) {
        let capacity = room.capacity();
        while self.once.size + size > capacity {
            self.once.evict(&mut self.cost, now, room);
        }
        self.once.ghosts.shrink(capacity - size - self.once.size);
        let others = self.once.with_ghosts() + self.again.size + size;
        self.again.ghosts.shrink((2 * capacity).saturating_sub(others));
        self.replace(false, now, room);
    }
}

/// Distance by which a ghost hit moves the target: max(1, other / own), rounded half up.
fn step(own: u64, other: u64) -> u64 {
    ((2 * other + own) / (2 * own)).max(1)
}

impl<C: Cost> Policy for Arc<C> {
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        self.cost.request(slot, object, access, outcome);
    }

    fn touch(&mut self, slot: Slot, object: Object, _times: u64, now: Nanos) {
        if std::mem::replace(&mut self.in_again[slot.index()], true) {
            self.again.order.renew(slot, self.cost.stake(slot), now);
        } else {
            self.once.remove(slot, object, now);
            self.again.insert(slot, object, &self.cost, now);
        }
    }

    fn admit(&mut self, slot: Slot, fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.cost.fetched(slot, fetch);
        let object = room.object(slot);
        let (b1, b2) = (self.once.ghosts.size(), self.again.ghosts.size());
        let known = if self.once.ghosts.contains(object.key) {
            let towards = self.target.saturating_add(step(b1, b2).saturating_mul(object.size));
            self.target = towards.min(room.capacity());
            self.replace(false, now, room);
            self.once.ghosts.remove(object.key)
        } else if self.again.ghosts.contains(object.key) {
            self.target = self.target.saturating_sub(step(b2, b1).saturating_mul(object.size));
            self.replace(true, now, room);
            self.again.ghosts.remove(object.key)
        } else {
            self.make_room_for_stranger(object.size, now, room);
            false
        };
        grow(&mut self.in_again, slot, false);
        self.in_again[slot.index()] = known;
        let side = if known { &mut self.again } else { &mut self.once };
        side.insert(slot, object, &self.cost, now);
    }

    fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        self.cost.fetched(slot, fetch);
    }

    fn remove(&mut self, slot: Slot, object: Object, now: Nanos) {
        let side = if self.in_again[slot.index()] { &mut self.again } else { &mut self.once };
        side.remove(slot, object, now);
        self.cost.evicted(slot, object);
    }

    fn abandon(&mut self, slot: Slot, object: Object) {
        self.cost.evicted(slot, object);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        let capacity = room.capacity();
        self.target = self.target.min(capacity);
        self.replace(false, now, room);
        // The bounds of the four lists, for the new capacity.
        self.once.ghosts.shrink(capacity - self.once.size);
        self.again.ghosts.shrink(2 * capacity - self.once.with_ghosts() - self.again.size);
    }
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn the_target_moves_by_the_rounded_ratio_of_the_ghosts() {
        assert_eq!([step(4, 1), step(4, 5), step(4, 6), step(1, 9), step(2, 3)], [1, 1, 2, 9, 2]);
    }
}

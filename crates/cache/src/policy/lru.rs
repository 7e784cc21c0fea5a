//! LRU: evict the object that was used longest ago.

use trueplane_units::Nanos;

use crate::cost::{Cost, Unit, VictimOrder};
use crate::{Access, Object, Outcome, Policy, Room, Slot};

/// Least recently used: an object not wanted for long will not be wanted soon.
///
/// Rank: 1 / (now − last use), times the [`Cost`]; with the classical [`Unit`] cost that is the order of a list, O(1).
/// `Lru<AggregateDelay>` is LRU-MAD of thesis §2.5.2. Delayed hits change nothing until the object is admitted, which
/// makes it the most recently used.
#[derive(Clone, Debug, Default)]
pub struct Lru<C: Cost = Unit> {
    order: C::Recency,
    cost: C,
}

impl Lru {
    /// Classical LRU: every miss costs the same. [`with_cost`](Self::with_cost) of [`AggregateDelay`](super::AggregateDelay) is
    /// LRU-MAD.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<C: Cost> Lru<C> {
    /// LRU under the given estimate of what a miss costs.
    pub fn with_cost(cost: C) -> Self {
        Self { order: C::Recency::default(), cost }
    }
}

impl<C: Cost> Policy for Lru<C> {
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        self.cost.request(slot, object, access, outcome);
    }

    fn touch(&mut self, slot: Slot, _object: Object, _times: u64, now: Nanos) {
        self.order.renew(slot, self.cost.stake(slot), now);
    }

    fn admit(&mut self, slot: Slot, fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.cost.fetched(slot, fetch);
        self.make_room(now, room);
        self.order.insert(slot, self.cost.stake(slot), now);
    }

    fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        self.cost.fetched(slot, fetch);
    }

    fn remove(&mut self, slot: Slot, object: Object, now: Nanos) {
        self.order.remove(slot, now);
        self.cost.evicted(slot, object);
    }

    fn abandon(&mut self, slot: Slot, object: Object) {
        self.cost.evicted(slot, object);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let victim = self
                .order
                .victim(now, |slot| self.cost.stake(slot))
                .expect("what does not fit alone is not admitted");
            self.remove(victim, room.object(victim), now);
            room.evict(victim);
        }
    }
}

//! The delayed-hits cache itself: what is resident, what is on its way, and who waits.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry as IndexEntry;
use trueplane_units::Nanos;

use crate::{Access, Key, Object, Policy, Slot};

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The object is resident.
    Hit,
    /// The object is on its way: the request waits for the fetch that an earlier miss began.
    Delayed,
    /// The object is neither resident nor on its way: the request begins a fetch.
    Miss,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Free,
    /// Being fetched, with the number of delayed hits so far.
    Fetching(u64),
    Resident,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    object: Object,
    state: State,
}

/// The largest capacity there is, 1 EiB; sums of sizes then stay far from overflowing.
pub const LARGEST_CAPACITY: u64 = 1 << 60;

/// A cache of fixed capacity under some policy, without the objects' contents and without a clock.
///
/// The driver calls [`request`](Self::request) for every request, begins a fetch on each miss, and calls
/// [`fetched`](Self::fetched) when one ends. Objects being fetched take no capacity. Cost: one hash look-up a request,
/// besides the policy. Memory: proportional to the objects resident and on their way, never to those ever seen.
///
/// ```
/// use trueplane_cache::policy::Lru;
/// use trueplane_cache::{Access, Cache, Key, Object, Outcome};
/// use trueplane_units::Nanos;
///
/// let mut cache = Cache::new(<Lru>::default(), 2);
/// let page = Object { key: Key(7), size: 1 };
/// let (outcome, slot) = cache.request(page, Access::at(Nanos(0)));
/// assert_eq!(outcome, Outcome::Miss); // the driver sends for it …
/// assert_eq!(cache.request(page, Access::at(Nanos(60))).0, Outcome::Delayed);
/// cache.fetched(slot, Nanos(100), Nanos(100)); // … and it is there 100 ns later
/// assert_eq!(cache.request(page, Access::at(Nanos(130))).0, Outcome::Hit);
/// ```
pub struct Cache<P> {
    policy: P,
    capacity: u64,
    used: u64,
    index: HashMap<Key, Slot>,
    entries: Vec<Entry>,
    free: Vec<Slot>,
    leaving: Vec<Slot>,
}

impl<P: Policy> Cache<P> {
    /// An empty cache that holds objects up to a total size of `capacity`, at most [`LARGEST_CAPACITY`].
    pub fn new(policy: P, capacity: u64) -> Self {
        Self {
            policy,
            capacity: capacity.min(LARGEST_CAPACITY),
            used: 0,
            index: HashMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// Takes a request for `object`; on a miss the driver must fetch it and hand the slot to
    /// [`fetched`](Self::fetched).
    ///
    /// The size counts on a miss only: an object keeps the size that it was fetched with.
    pub fn request(&mut self, object: Object, access: Access) -> (Outcome, Slot) {
        self.request_releasing(object, access, |_| ())
    }

    /// Does the same, and tells `released` of every slot that is free from now on because its object left of its own
    /// accord ([`Policy::departs`]): before the look-up, and right after the hit, whose object is still to be served.
    ///
    /// For drivers that keep something in a slot, such as the object itself, until it is free. One that keeps no
    /// more than what a fetch needs (its end, say) has no use for it: no object leaves while it is on its way.
    pub fn request_releasing(
        &mut self,
        object: Object,
        access: Access,
        mut released: impl FnMut(Slot),
    ) -> (Outcome, Slot) {
        self.depart(&mut released);
        let slot = match self.index.entry(object.key) {
            IndexEntry::Occupied(found) => *found.get(),
            IndexEntry::Vacant(vacant) => {
                let entry = Entry { object, state: State::Fetching(0) };
                let slot = if let Some(slot) = self.free.pop() {
                    self.entries[slot.index()] = entry;
                    slot
                } else {
                    self.entries.push(entry);
                    Slot(u32::try_from(self.entries.len() - 1).expect("memory ends before 2^32 slots do"))
                };
                vacant.insert(slot);
                self.policy.request(slot, object, access, Outcome::Miss);
                return (Outcome::Miss, slot);
            }
        };
        let entry = &mut self.entries[slot.index()];
        if let State::Fetching(waiting) = &mut entry.state {
            *waiting += 1;
            self.policy.request(slot, entry.object, access, Outcome::Delayed);
            return (Outcome::Delayed, slot);
        }
        self.policy.request(slot, entry.object, access, Outcome::Hit);
        self.policy.touch(slot, entry.object, 1, access.now);
        self.depart(&mut released);
        (Outcome::Hit, slot)
    }

    /// Lets go what leaves of its own accord.
    #[inline]
    fn depart(&mut self, released: &mut impl FnMut(Slot)) {
        while let Some(slot) = self.policy.departs() {
            let Some(entry) = self.entries.get_mut(slot.index()) else { continue };
            if !matches!(entry.state, State::Resident) {
                continue;
            }
            entry.state = State::Free;
            self.used -= entry.object.size;
            self.release(slot);
            released(slot);
        }
    }

    /// The object that `slot` waited for has come, after `fetch`: admits it and lets the delayed hits take effect.
    ///
    /// Returns the slots that are free from now on, the newcomer's own among them if it was not kept: because an offline
    /// policy let it pass by, or because it is larger than the whole cache. Does nothing for a slot that awaits no
    /// object.
    pub fn fetched(&mut self, slot: Slot, fetch: Nanos, now: Nanos) -> &[Slot] {
        self.leaving.clear();
        let Some(&Entry { object, state: State::Fetching(waiting) }) = self.entries.get(slot.index()) else {
            return &self.leaving;
        };
        if object.size > self.capacity {
            // Served and not kept; the policy never hears of it as a resident.
            self.entries[slot.index()].state = State::Free;
            self.release(slot);
            self.leaving.push(slot);
            return &self.leaving;
        }
        self.entries[slot.index()].state = State::Resident;
        self.used += object.size;
        let mut room = Room {
            entries: &mut self.entries,
            used: &mut self.used,
            capacity: self.capacity,
            newcomer: slot,
            leaving: &mut self.leaving,
        };
        self.policy.admit(slot, fetch, now, &mut room);
        debug_assert!(self.used <= self.capacity, "the policy left the cache over its capacity");
        for position in 0..self.leaving.len() {
            self.release(self.leaving[position]);
        }
        if waiting > 0 && matches!(self.entries[slot.index()].state, State::Resident) {
            self.policy.touch(slot, object, waiting, now);
        }
        &self.leaving
    }

    fn release(&mut self, slot: Slot) {
        self.index.remove(&self.entries[slot.index()].object.key);
        self.free.push(slot);
    }

    /// Whether the object is resident.
    pub fn contains(&self, key: Key) -> bool {
        self.index.get(&key).is_some_and(|slot| matches!(self.entries[slot.index()].state, State::Resident))
    }

    /// The total size of the resident objects, at most the capacity.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The policy, for inspection.
    pub fn policy(&self) -> &P {
        &self.policy
    }
}

/// The cache as a policy sees it while it makes room for a newcomer, which already counts as resident.
pub struct Room<'a> {
    entries: &'a mut [Entry],
    used: &'a mut u64,
    capacity: u64,
    newcomer: Slot,
    leaving: &'a mut Vec<Slot>,
}

impl Room<'_> {
    /// The object that comes in.
    pub fn newcomer(&self) -> Object {
        self.object(self.newcomer)
    }

    /// The object in a slot.
    pub fn object(&self, slot: Slot) -> Object {
        self.entries[slot.index()].object
    }

    /// The cache's capacity.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The total size of what is resident, the newcomer included.
    pub fn used(&self) -> u64 {
        *self.used
    }

    /// Whether something must still leave.
    pub fn lacking(&self) -> bool {
        *self.used > self.capacity
    }

    /// Sends away a resident object, or the newcomer.
    ///
    /// # Panics
    /// If the slot holds no resident object: a policy that evicts what is not there is broken.
    pub fn evict(&mut self, slot: Slot) {
        let entry = &mut self.entries[slot.index()];
        assert!(
            matches!(entry.state, State::Resident),
            "evicted {:?}, which is not resident",
            entry.object.key
        );
        entry.state = State::Free;
        *self.used -= entry.object.size;
        self.leaving.push(slot);
    }
}

//! The directory of a cache with delayed hits: what is resident, what is on its way, and who waits.

mod entry;
mod fetch_id;
mod room;

use std::fmt;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as IndexEntry;
use trueplane_units::Nanos;

use entry::{Entry, State, residents};
pub use fetch_id::FetchId;
pub use room::Room;

use crate::{Access, Key, Object, Outcome, Policy, Slot};

/// Object that [`Directory::remove`] has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It was neither resident nor on its way.
    Absent,
    /// It was resident; its slot is free from now on.
    Resident(Slot),
    /// It is on its way. Its slot is free when the driver reports the end of the fetch, and what comes is not kept.
    OnItsWay(Slot),
}

/// The largest capacity there is, 1 EiB; sums of sizes then stay far from overflowing.
pub const LARGEST_CAPACITY: u64 = 1 << 60;

/// A cache of fixed capacity under some policy, without the objects' contents and without a clock.
///
/// The driver calls [`request`](Self::request) for every request, begins a fetch on each miss, and reports its end, by its name
/// ([`fetched_by`](Self::fetched_by), [`failed_by`](Self::failed_by)) or by its slot ([`fetched`](Self::fetched),
/// [`fetched_sized`](Self::fetched_sized), [`failed`](Self::failed)). Objects being fetched take no capacity. Cost: one hash look-up a request, besides the policy. Memory: proportional to the objects resident and on their way, never to those ever seen.
///
/// ```
/// use trueplane_cache::policy::Lru;
/// use trueplane_cache::{Access, Directory, Key, Object, Outcome};
/// use trueplane_units::Nanos;
///
/// let mut cache = Directory::new(<Lru>::default(), 2);
/// let page = Object { key: Key(7), size: 1 };
/// let (outcome, slot) = cache.request(page, Access::at(Nanos(0)));
/// assert_eq!(outcome, Outcome::Miss); // the driver sends for it …
/// assert_eq!(cache.request(page, Access::at(Nanos(60))).0, Outcome::Delayed);
/// let freed = cache.fetched(slot, Nanos(100), Nanos(100)); // … and it is there 100 ns later
/// assert!(freed.is_empty()); // nothing has left for it
/// assert_eq!(cache.request(page, Access::at(Nanos(130))).0, Outcome::Hit);
/// ```
#[derive(Clone)]
pub struct Directory<P> {
    policy: P,
    capacity: u64,
    used: u64,
    /// Number of objects on their way that nobody has removed.
    fetching: usize,
    /// The slot of every object, by its key, which stands in the entry.
    index: HashTable<Slot>,
    entries: Vec<Entry>,
    free: Vec<Slot>,
    leaving: Vec<Slot>,
    /// Number of the last fetch named in every slot. Empty unless the driver names fetches: a simulator does not pay for it.
    numbers: Vec<u64>,
    /// Number of fetches named so far.
    named: u64,
}

impl<P: Policy> Directory<P> {
    /// An empty cache that holds objects up to a total size of `capacity`, at most [`LARGEST_CAPACITY`].
    pub fn new(policy: P, capacity: u64) -> Self {
        Self {
            policy,
            capacity: capacity.min(LARGEST_CAPACITY),
            used: 0,
            fetching: 0,
            index: HashTable::new(),
            entries: Vec::new(),
            free: Vec::new(),
            leaving: Vec::new(),
            numbers: Vec::new(),
            named: 0,
        }
    }

    /// Takes a request for `object`; on a miss the driver must fetch it and report the end of the fetch.
    ///
    /// A driver whose reports can be late or doubled names the fetch ([`fetch_id`](Self::fetch_id)), and reports its end by the name, by
    /// [`fetched_by`](Self::fetched_by) or [`failed_by`](Self::failed_by). A driver that reports every fetch exactly once, such as a
    /// simulator, saves the name and reports by the slot, by [`fetched`](Self::fetched), [`fetched_sized`](Self::fetched_sized) or
    /// [`failed`](Self::failed). There a second report can end the fetch of another object, as slots are reused.
    ///
    /// Time should not go back: a request with an earlier time than the one before is taken, and only makes the policy's choices worse.
    ///
    /// The size counts on a miss only, where 0 counts as 1: an object keeps the size that it was fetched with.
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
        let entries = &self.entries;
        let found = self.index.entry(
            spread(object.key),
            |slot| entries[slot.index()].object.key == object.key,
            |slot| spread(entries[slot.index()].object.key),
        );
        let slot = match found {
            IndexEntry::Occupied(found) => *found.get(),
            IndexEntry::Vacant(vacant) => {
                // Empty objects would fill the memory without filling the cache.
                let object = Object { size: object.size.max(1), ..object };
                let entry = Entry { object, state: State::Fetching(0) };
                let slot = if let Some(slot) = self.free.pop() {
                    self.entries[slot.index()] = entry;
                    // Earlier fetches into this slot are no longer awaited.
                    if let Some(number) = self.numbers.get_mut(slot.index()) {
                        *number = 0;
                    }
                    slot
                } else {
                    let slots = self.entries.len() + 1;
                    crate::reserve(&mut self.entries, slots);
                    self.entries.push(entry);
                    Slot(u32::try_from(self.entries.len() - 1).expect("memory ends before 2^32 slots do"))
                };
                vacant.insert(slot);
                self.fetching += 1;
                self.policy.request(slot, object, access, Outcome::Miss);
                return (Outcome::Miss, slot);
            }
        };
        let outcome = self.meet(slot, access);
        if outcome == Outcome::Hit {
            self.depart(&mut released);
        }
        (outcome, slot)
    }

    /// Takes a request for the object in `slot`, which has been [looked up](Self::look_up), and saves looking it up again. Does nothing for a
    /// slot that holds no object, and returns a miss.
    ///
    /// It asks no policy whether an object leaves of its own accord: for policies that know no future.
    #[inline]
    pub fn request_at(&mut self, slot: Slot, access: Access) -> Outcome {
        match self.entries.get(slot.index()) {
            Some(Entry { state: State::Fetching(_) | State::Resident, .. }) => self.meet(slot, access),
            _ => Outcome::Miss,
        }
    }

    /// Finds the resident object with this key, and tells the policy of a hit. The driver compares what it keeps in a slot: `is_it` must hold for
    /// the slot of the resident object alone. It may be asked about slots of other keys, and of objects on their way.
    #[inline]
    pub(crate) fn hit(&mut self, key: Key, is_it: impl FnMut(Slot) -> bool, access: Access) -> Option<Slot> {
        let slot = self.resident(key, is_it)?;
        let object = self.entries[slot.index()].object;
        self.policy.hit(slot, object, access);
        Some(slot)
    }

    /// Does the same by shared access, for a policy whose [hits only mark](Policy::hits_only_mark).
    #[inline]
    pub(crate) fn mark(&self, key: Key, is_it: impl FnMut(Slot) -> bool) -> Option<Slot> {
        let slot = self.resident(key, is_it)?;
        self.policy.mark(slot, 1);
        Some(slot)
    }

    /// The slot for which `is_it` holds, among those that may have this key.
    #[inline]
    fn resident(&self, key: Key, mut is_it: impl FnMut(Slot) -> bool) -> Option<Slot> {
        self.index.find(spread(key), |slot| is_it(*slot)).copied()
    }

    /// A request meets the object in `slot`, which is resident or on its way.
    #[inline]
    fn meet(&mut self, slot: Slot, access: Access) -> Outcome {
        let entry = &mut self.entries[slot.index()];
        if let State::Fetching(waiting) = &mut entry.state {
            *waiting = waiting.saturating_add(1);
            self.policy.request(slot, entry.object, access, Outcome::Delayed);
            return Outcome::Delayed;
        }
        self.policy.hit(slot, entry.object, access);
        Outcome::Hit
    }

    /// What a request for the object would meet, and its slot if there is one. It is no request: the policy does not hear of it.
    #[inline]
    pub fn look_up(&self, key: Key) -> (Outcome, Option<Slot>) {
        let slot = self.slot_of(key);
        let outcome = match slot.map(|slot| self.entries[slot.index()].state) {
            None => Outcome::Miss,
            Some(State::Resident) => Outcome::Hit,
            Some(_) => Outcome::Delayed,
        };
        (outcome, slot)
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

    /// The object that `slot` waited for has come, after `fetch`: admits it and lets the delayed hits take effect. Its size is the one of
    /// the request that missed.
    ///
    /// Returns the slots that are free from now on, the newcomer's own among them if it was not kept: because an offline
    /// policy let it pass by, because it is larger than the whole cache, or because it was removed meanwhile. Does nothing for a slot
    /// that awaits no object.
    ///
    /// The fast path. Report each fetch exactly once: a second report can end the fetch of another object that has the slot by then, and
    /// [`fetched_by`](Self::fetched_by) protects from that.
    #[must_use = "the driver must free what it keeps in the returned slots"]
    pub fn fetched(&mut self, slot: Slot, fetch: Nanos, now: Nanos) -> &[Slot] {
        self.end_fetch(slot, None, fetch, now)
    }

    /// Does the same as [`fetched`](Self::fetched), and sets the size of the object to `size`, in units of the capacity; 0 counts as 1.
    ///
    /// For a driver that learns the size from the answer, as an HTTP cache does. The size that the request named has no effect then.
    #[must_use = "the driver must free what it keeps in the returned slots"]
    pub fn fetched_sized(&mut self, slot: Slot, size: u64, fetch: Nanos, now: Nanos) -> &[Slot] {
        self.end_fetch(slot, Some(size), fetch, now)
    }

    /// Ends the fetch into `slot`; `size` is the object's size if the answer has told it.
    #[inline]
    fn end_fetch(&mut self, slot: Slot, size: Option<u64>, fetch: Nanos, now: Nanos) -> &[Slot] {
        self.leaving.clear();
        if let Some(size) = size
            && let Some(entry) = self.entries.get_mut(slot.index())
            && matches!(entry.state, State::Fetching(_))
        {
            entry.object.size = size.max(1);
        }
        let Some(&Entry { object, state: State::Fetching(waiting) }) = self.entries.get(slot.index()) else {
            if self.release_abandoned(slot) {
                self.leaving.push(slot);
            }
            return &self.leaving;
        };
        self.fetching -= 1;
        if object.size > self.capacity {
            // Served and not kept; the policy never hears of it as a resident.
            self.policy.abandon(slot, object);
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
            leaving: &mut self.leaving,
        };
        self.policy.admit(slot, fetch, now, &mut room);
        self.release_leaving();
        if waiting > 0 && matches!(self.entries[slot.index()].state, State::Resident) {
            self.policy.touch(slot, object, waiting.into(), now);
        }
        &self.leaving
    }

    /// The resident object in `slot` was fetched again, which took `fetch`: another object of its size takes its place. Does nothing for a
    /// slot that holds none.
    pub fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        if self.object(slot).is_some() {
            self.policy.renewed(slot, fetch);
        }
    }

    /// The fetch into `slot` has failed: the object is neither resident nor on its way, and the next request for it is a miss. The
    /// requests that wait for it, the miss and its delayed hits, are the driver's to answer.
    ///
    /// The slot is free from now on. Returns whether it awaited an object; if not, nothing has changed.
    ///
    /// The fast path. Report each fetch exactly once: a second report can fail the fetch of another object that has the slot by then, and
    /// [`failed_by`](Self::failed_by) protects from that.
    pub fn failed(&mut self, slot: Slot) -> bool {
        let Some(&Entry { object, state: State::Fetching(_) }) = self.entries.get(slot.index()) else {
            return self.release_abandoned(slot);
        };
        self.fetching -= 1;
        self.policy.abandon(slot, object);
        self.entries[slot.index()].state = State::Free;
        self.release(slot);
        true
    }

    /// Removes the object called `key`: what the driver has of it is not valid any more. The next request for it is a miss.
    ///
    /// If it is on its way, the requests that wait for it go on waiting. The driver reports the end of that fetch as ever, and what has
    /// come is not kept; a fetch that a miss has begun in between is another one, into another slot.
    #[must_use = "the driver must free what it keeps in the slot of a resident object"]
    pub fn remove(&mut self, key: Key, now: Nanos) -> Removed {
        let Some(slot) = self.slot_of(key) else { return Removed::Absent };
        let entry = &mut self.entries[slot.index()];
        let object = entry.object;
        if let State::Resident = entry.state {
            entry.state = State::Free;
            self.used -= object.size;
            self.policy.remove(slot, object, now);
            self.release(slot);
            return Removed::Resident(slot);
        }
        entry.state = State::Abandoned;
        self.fetching -= 1;
        self.policy.abandon(slot, object);
        self.forget(slot);
        Removed::OnItsWay(slot)
    }

    /// [Removes](Self::remove) all objects, those on their way included, and returns the slots that are free from now on: those of the
    /// objects that were resident. O(n) for the n objects that the cache ever held at once, besides the policy.
    #[must_use = "the driver must free what it keeps in the returned slots"]
    pub fn clear(&mut self, now: Nanos) -> &[Slot] {
        self.leaving.clear();
        for position in 0..self.entries.len() {
            let Entry { object, state } = self.entries[position];
            if matches!(state, State::Fetching(_) | State::Resident)
                && let Removed::Resident(slot) = self.remove(object.key, now)
            {
                self.leaving.push(slot);
            }
        }
        &self.leaving
    }

    /// Changes the capacity, to at most [`LARGEST_CAPACITY`], and returns the slots that are free from now on because their objects had
    /// to leave. The policy chooses them, as it does for a newcomer.
    ///
    /// What a policy was told of the number of objects when it was made (the size of a sketch, say) stays as it is.
    #[must_use = "the driver must free what it keeps in the returned slots"]
    pub fn resize(&mut self, capacity: u64, now: Nanos) -> &[Slot] {
        self.capacity = capacity.min(LARGEST_CAPACITY);
        self.leaving.clear();
        let mut room = Room {
            entries: &mut self.entries,
            used: &mut self.used,
            capacity: self.capacity,
            leaving: &mut self.leaving,
        };
        self.policy.make_room(now, &mut room);
        self.release_leaving();
        &self.leaving
    }

    /// Frees the slots of the objects that the policy has just sent away.
    fn release_leaving(&mut self) {
        debug_assert!(self.used <= self.capacity, "the policy left the cache over its capacity");
        for position in 0..self.leaving.len() {
            self.release(self.leaving[position]);
        }
    }

    /// Frees `slot` if its object was removed while it was on its way.
    fn release_abandoned(&mut self, slot: Slot) -> bool {
        let is_abandoned =
            self.entries.get(slot.index()).is_some_and(|entry| matches!(entry.state, State::Abandoned));
        if is_abandoned {
            self.entries[slot.index()].state = State::Free;
            // Its key may be that of another slot by now.
            self.free.push(slot);
        }
        is_abandoned
    }

    fn release(&mut self, slot: Slot) {
        self.forget(slot);
        self.free.push(slot);
    }

    /// The slot of an object that is resident or on its way.
    fn slot_of(&self, key: Key) -> Option<Slot> {
        self.index.find(spread(key), |slot| self.entries[slot.index()].object.key == key).copied()
    }

    /// From now on the object in `slot` is not found by its key.
    fn forget(&mut self, slot: Slot) {
        let key = self.entries[slot.index()].object.key;
        if let Ok(found) = self.index.find_entry(spread(key), |other| *other == slot) {
            found.remove();
        }
    }

    /// The resident object in a slot.
    pub fn object(&self, slot: Slot) -> Option<Object> {
        let entry = self.entries.get(slot.index())?;
        matches!(entry.state, State::Resident).then_some(entry.object)
    }

    /// Whether the object is resident. It is no request: the policy does not hear of it.
    pub fn contains(&self, key: Key) -> bool {
        self.peek(key).is_some()
    }

    /// The slot of the object if it is resident. It is no request: the policy does not hear of it.
    pub fn peek(&self, key: Key) -> Option<Slot> {
        let slot = self.slot_of(key)?;
        matches!(self.entries[slot.index()].state, State::Resident).then_some(slot)
    }

    /// The resident objects with their slots, in no useful order. O(n) for the n objects that the cache ever held at once.
    pub fn iter(&self) -> impl Iterator<Item = (Object, Slot)> {
        residents(&self.entries)
    }

    /// Number of resident objects.
    pub fn len(&self) -> usize {
        self.index.len() - self.fetching
    }

    /// Whether no object is resident.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of objects on their way, without those that were removed meanwhile.
    pub fn fetching(&self) -> usize {
        self.fetching
    }

    /// Largest total size of the resident objects.
    pub fn capacity(&self) -> u64 {
        self.capacity
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

/// The bits of a key spread over all bits, as keys may be small numbers.
#[inline]
pub(crate) fn spread(key: Key) -> u64 {
    // The odd number next to 2^64 over the golden ratio (Knuth, *The Art of Computer Programming*, volume 3, §6.4).
    let product = u128::from(key.0) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

/// The numbers and the policy, not the objects.
impl<P: fmt::Debug> fmt::Debug for Directory<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory")
            .field("capacity", &self.capacity)
            .field("used", &self.used)
            .field("resident", &(self.index.len() - self.fetching))
            .field("fetching", &self.fetching)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

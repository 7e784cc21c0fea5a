//! Names of fetches, for drivers whose reports can be late or doubled.

use trueplane_units::Nanos;

use super::Directory;
use super::entry::State;
use crate::{Policy, Slot};

/// Name of one fetch, which no other fetch of the same cache has; slots are reused and cannot serve as one.
///
/// [`Directory::fetch_id`] gives it; [`Directory::fetched_by`] and [`Directory::failed_by`] report the end of the fetch by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchId {
    slot: Slot,
    number: u64,
}

impl FetchId {
    /// The slot that the fetch is on its way into, until its end is reported.
    pub fn slot(self) -> Slot {
        self.slot
    }
}

impl<P: Policy> Directory<P> {
    /// Names the fetch on its way into `slot`, so that it can be told from earlier ones into the same slot.
    ///
    /// Every call for one fetch returns the same name. Returns `None` if the slot awaits no object. O(1), amortised; memory: 8 bytes for every
    /// slot.
    pub fn fetch_id(&mut self, slot: Slot) -> Option<FetchId> {
        if !self.awaits(slot) {
            return None;
        }
        if self.numbers.len() < self.entries.len() {
            crate::reserve(&mut self.numbers, self.entries.len());
            self.numbers.resize(self.entries.len(), 0);
        }
        let number = &mut self.numbers[slot.index()];
        if *number == 0 {
            self.named += 1;
            *number = self.named;
        }
        Some(FetchId { slot, number: *number })
    }

    /// The object of this fetch has come, of this `size`, after `took`: does what [`fetched_sized`](Self::fetched_sized) does.
    ///
    /// Returns the slot of the object, to store it in, and then the slots that are free from now on, which may include that one. Returns
    /// `None`, and does nothing, if the fetch is not [awaited](Self::awaited) any more: what has come is not to be stored then, as the
    /// slot may be another object's.
    #[must_use = "the driver must store the object in its slot, and free what it keeps in the others, only if the fetch was awaited"]
    pub fn fetched_by(
        &mut self,
        fetch: FetchId,
        size: u64,
        took: Nanos,
        now: Nanos,
    ) -> Option<(Slot, &[Slot])> {
        let slot = self.awaited(fetch)?;
        Some((slot, self.fetched_sized(slot, size, took, now)))
    }

    /// This fetch has failed: does what [`failed`](Self::failed) does, and nothing if the fetch is not [awaited](Self::awaited) any more.
    /// Returns whether it was.
    pub fn failed_by(&mut self, fetch: FetchId) -> bool {
        self.awaited(fetch).is_some_and(|slot| self.failed(slot))
    }

    /// The slot of a fetch whose end has not been reported yet; `None` if it has been, and a late or doubled report is to be dropped.
    ///
    /// A fetch whose object was [removed](Self::remove) meanwhile is still awaited.
    ///
    /// ```
    /// use trueplane_cache::{Access, Directory, Key, Nanos, Object, Outcome, policy::Lru};
    ///
    /// let mut cache = Directory::new(Lru::new(), 10);
    /// let (_, slot) = cache.request(Object { key: Key(1), size: 1 }, Access::at(Nanos(0)));
    /// let first = cache.fetch_id(slot).expect("a miss");
    /// assert_eq!(cache.fetch_id(slot), Some(first));
    /// assert!(cache.failed_by(first)); // The driver's patience is over …
    /// let (_, reused) = cache.request(Object { key: Key(2), size: 1 }, Access::at(Nanos(5)));
    /// let second = cache.fetch_id(reused).expect("a miss");
    /// assert_eq!(slot, reused);
    /// // … and the first answer comes after all. It is not the one that the slot awaits.
    /// assert_eq!((cache.awaited(first), cache.awaited(second)), (None, Some(reused)));
    /// assert_eq!(cache.fetched_by(first, 1, Nanos(9), Nanos(9)), None);
    /// ```
    pub fn awaited(&self, fetch: FetchId) -> Option<Slot> {
        let is_last = self.numbers.get(fetch.slot.index()) == Some(&fetch.number);
        (is_last && self.awaits(fetch.slot)).then_some(fetch.slot)
    }

    /// Whether the end of a fetch into `slot` is still to be reported.
    fn awaits(&self, slot: Slot) -> bool {
        let entry = self.entries.get(slot.index());
        entry.is_some_and(|entry| matches!(entry.state, State::Fetching(_) | State::Abandoned))
    }
}

//! A core's flow table: one writer, any number of readers, none of whom takes a lock.
//!
//! 1. `slot`: a flow and its state in one cache line, under a sequence lock; `bucket`: what tells of eight slots which one to look at.
//! 2. `phase`: how far a flow is, and after what silence it is over.
//! 3. [`Table`]: what readers do.
//! 4. [`Writer`]: what only its core can do.
//!
//! **A flow never moves.** It lies in the first bucket from its home on that had a free slot when it came; each bucket that it passed counts
//! it, and a lookup goes on from bucket to bucket as long as they count any (as in Facebook's F14, 2019). So a reader cannot miss what is
//! there while the writer inserts and removes other flows: no lookup is ever repeated but for a slot that is being written at that moment.
//!
//! **Bounded.** All memory is taken at the beginning: a slot and a half of 72 bytes for each flow, and what waits (below). Nothing is allocated or
//! freed later, so that nothing has to be reclaimed: a reader that comes late finds another flow in the slot, or none, and notices.
//!
//! **Full.** An insertion into a full table displaces the flow that has waited longest without being *confirmed* by a regular packet; if all are
//! confirmed, it is refused. Besides, at most [`Limits::unconfirmed`] flows are unconfirmed at a time: the next displaces the oldest of them. So
//! a flood of SYNs from 10⁷ sources displaces only SYNs, and a connection whose handshake completes before three quarters of that many SYNs
//! came after its own is established and safe. (Whoever follows each SYN with a forged ACK defeats this, for sequence numbers are not followed.)

mod bucket;
mod phase;
mod slot;
mod sync;
mod writer;

#[cfg(all(test, loom))]
mod every_order;
#[cfg(all(test, not(loom)))]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use self::bucket::{Bucket, SLOTS};
use self::slot::{Held, Slot};
use crate::FlowId;

pub use self::phase::{Phase, Tick, Timeouts};
pub use self::writer::{Full, Limits, Removed, Writer};

/// The state of a flow: 16 bytes, read and written as a whole. What is larger lies in an array of the function and is named here by index.
pub trait FlowState: Copy {
    /// The state in two words.
    fn to_words(self) -> [u64; 2];
    /// The state of these words, which [`to_words`](Self::to_words) made.
    fn from_words(words: [u64; 2]) -> Self;
}

impl FlowState for () {
    fn to_words(self) -> [u64; 2] {
        [0; 2]
    }

    fn from_words(_: [u64; 2]) -> Self {}
}

impl FlowState for u64 {
    fn to_words(self) -> [u64; 2] {
        [self, 0]
    }

    fn from_words(words: [u64; 2]) -> Self {
        words[0]
    }
}

/// The table as readers have it.
#[derive(Debug)]
pub struct Table<S> {
    buckets: Box<[Bucket]>,
    slots: Box<[Slot]>,
    /// Secret factors of the hash, drawn from the seed.
    keys: [u64; 6],
    state: PhantomData<fn() -> S>,
}

/// Bucket at which a lookup begins, and the tag that it looks for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Home {
    bucket: usize,
    tag: u8,
}

impl<S: FlowState> Table<S> {
    fn new(flows: usize, seed: u64) -> Arc<Self> {
        // Two thirds full at most: then one flow in twelve has to leave its first bucket.
        let buckets = (flows + flows.div_ceil(2)).div_ceil(SLOTS).max(1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Arc::new(Self {
            buckets: (0..buckets).map(|_| Bucket::free()).collect(),
            slots: (0..buckets * SLOTS).map(|_| Slot::free()).collect(),
            keys: std::array::from_fn(|_| random.next_u64()),
            state: PhantomData,
        })
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.buckets)
    }

    /// The state of `flow`, if it is there. Noted is that a regular packet saw it, if `confirm` says when.
    ///
    /// O(1) expected; at most as many slots as there are.
    #[inline]
    pub fn find(&self, flow: &FlowId, confirm: Option<Tick>) -> Option<S> {
        self.find_from(self.home(flow), flow, confirm)
    }

    /// [`find`](Self::find), if it is known where it begins.
    #[inline]
    pub(crate) fn find_from(&self, home: Home, flow: &FlowId, confirm: Option<Tick>) -> Option<S> {
        self.look(home, |slot| slot.state_of(flow, confirm)).map(|(_, state)| S::from_words(state))
    }

    /// Has the bucket of this home in the cache soon.
    #[inline]
    pub(crate) fn fetch_bucket(&self, home: Home) {
        self.buckets[home.bucket].fetch();
    }

    /// Has the slot in the cache soon in which a flow of this home most likely is.
    #[inline]
    pub(crate) fn fetch(&self, home: Home) {
        if let Some(slot) = self.buckets[home.bucket].candidates(home.tag).next() {
            self.slots[home.bucket * SLOTS + slot].fetch();
        }
    }

    /// All flows with phase and state, each as it was at some moment. O(slots).
    pub fn flows(&self) -> impl Iterator<Item = (FlowId, Phase, S)> {
        self.slots
            .iter()
            .filter_map(|slot| Some((slot.read()?, slot.seen().1)))
            .map(|(held, confirmed)| (held.flow, held.phase.seen(confirmed), S::from_words(held.state)))
    }

    /// Tag of a flow, and the bucket in which it lies if there is room. Keyed, so that nobody outside can choose flows that collide. O(1).
    #[inline]
    pub(crate) fn home(&self, flow: &FlowId) -> Home {
        let [a, b, c, d, e] = *flow.words();
        let [k0, k1, k2, k3, k4, k5] = self.keys;
        // Every word meets a secret of its own, so that none can be chosen to undo another.
        let (source, destination) = (folded_product(a ^ k0, b ^ k1), folded_product(c ^ k2, d ^ k3));
        let hash = folded_product(source ^ e ^ k4, destination ^ k5);
        let bucket = ((u128::from(hash) * self.buckets.len() as u128) >> 64) as usize;
        Home { bucket, tag: (hash as u8).max(1) }
    }

    /// The first slot, from `home` on, of which `read` says something, and what it says.
    #[inline]
    fn look<T>(&self, home: Home, read: impl Fn(&Slot) -> Option<T>) -> Option<(usize, T)> {
        let mut at = home.bucket;
        for _ in 0..self.buckets.len() {
            let bucket = &self.buckets[at];
            for slot in bucket.candidates(home.tag) {
                let slot = at * SLOTS + slot;
                if let Some(found) = read(&self.slots[slot]) {
                    return Some((slot, found));
                }
            }
            if !bucket.is_passed() {
                return None;
            }
            at = self.following(at);
        }
        None
    }

    #[inline]
    fn following(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// Index of the slot of `flow`.
    fn position(&self, flow: &FlowId) -> Option<usize> {
        self.look(self.home(flow), |slot| slot.state_of(flow, None)).map(|(slot, _)| slot)
    }
}

/// Both halves of a product, summed ⊕: every bit of the factors counts in every bit of it, as in W. Yi's wyhash.
#[inline]
fn folded_product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

//! A core's flow table: one writer, any number of readers, none of whom takes a lock.
//!
//! 1. `slot`: a flow and its state in one cache line, under a sequence lock.
//! 2. `phase`: how far a flow is, and after what silence it is over.
//! 3. [`Table`]: linear probing over slots; what readers do.
//! 4. [`Writer`]: what only its core can do.
//!
//! **Bounded.** All memory is taken at the beginning: a slot and a half of 64 bytes for each flow. Nothing is allocated or freed later, so that
//! nothing has to be reclaimed: a reader that comes late finds another flow in the slot, or none, and notices.
//!
//! **Full.** An insertion into a full table displaces the flow that has waited longest without being *confirmed* by a regular packet; if all are
//! confirmed, it is refused. Besides, at most [`Limits::unconfirmed`] flows are unconfirmed at a time: the next displaces the oldest of them. So
//! a flood of SYNs from 10⁷ sources displaces only SYNs, and a connection whose handshake completes before that many SYNs came after
//! its own is established and safe. (Whoever follows each SYN with a forged ACK defeats this, for sequence numbers are not followed.)
//!
//! **Removal** closes the gap by moving later flows back (Knuth, vol. 3, §6.4, algorithm R), first written to the new place and then gone from
//! the old. A reader finds the flow in one of both, or has missed it between: only a reader that found nothing must know that nothing
//! moved meanwhile, and begins again otherwise. So a lookup always tells what was true at one moment of it.

mod phase;
mod slot;
mod sync;
mod writer;

use std::marker::PhantomData;
use std::sync::Arc;

use self::slot::{Held, Probe, Slot};
use self::sync::{AtomicU64, Ordering, fence, wait};
use super::FlowId;

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
    slots: Box<[Slot]>,
    /// Odd while a removal moves flows.
    moves: AtomicU64,
    seed: u64,
    state: PhantomData<fn() -> S>,
}

impl<S: FlowState> Table<S> {
    fn new(flows: usize, seed: u64) -> Arc<Self> {
        // Two thirds full at most: a lookup that finds nothing looks at five slots on average then, one that finds at two (Knuth, §6.4).
        let slots = flows + flows.div_ceil(2) + 1;
        let slots = (0..slots).map(|_| Slot::free()).collect();
        Arc::new(Self { slots, moves: AtomicU64::new(0), seed, state: PhantomData })
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>()
    }

    /// The state of `flow`, if it is there. Noted is that a regular packet saw it, if `confirm` says when.
    ///
    /// O(1) expected; at most as many slots as there are.
    #[inline]
    pub fn find(&self, flow: &FlowId, confirm: Option<Tick>) -> Option<S> {
        self.find_from(flow, self.home(flow), confirm)
    }

    /// [`find`](Self::find), if the flow's [`home`](Self::home) is known.
    #[inline]
    fn find_from(&self, flow: &FlowId, home: usize, confirm: Option<Tick>) -> Option<S> {
        let mut round = 0;
        loop {
            let moves = self.moves.load(Ordering::Acquire);
            let mut at = home;
            for _ in 0..self.slots.len() {
                match self.slots[at].probe(flow) {
                    Probe::Found(words) => {
                        if let Some(tick) = confirm {
                            self.slots[at].confirm(tick);
                        }
                        return Some(S::from_words(words));
                    }
                    Probe::Other => at = self.following(at),
                    Probe::Free => break,
                }
            }
            fence(Ordering::Acquire);
            if moves & 1 == 0 && self.moves.load(Ordering::Relaxed) == moves {
                return None;
            }
            wait(&mut round);
        }
    }

    /// All flows with phase and state, each as it was at some moment; one that moves meanwhile may be missing or twice. O(slots).
    pub fn flows(&self) -> impl Iterator<Item = (FlowId, Phase, S)> {
        self.slots
            .iter()
            .filter_map(Slot::read)
            .map(|held| (held.flow, held.phase, S::from_words(held.state)))
    }

    /// Where a flow lies if nothing was there before it. Keyed, so that nobody outside can choose flows that lie together. O(1).
    #[inline]
    fn home(&self, flow: &FlowId) -> usize {
        let hash = flow.words().iter().fold(self.seed, |hash, &word| folded_product(hash ^ word));
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    #[inline]
    fn following(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Where `flow` lies; for the writer, whom nobody disturbs.
    fn position(&self, flow: &FlowId) -> Result<usize, usize> {
        let mut at = self.home(flow);
        loop {
            match self.slots[at].probe(flow) {
                Probe::Found(_) => return Ok(at),
                Probe::Free => return Err(at),
                Probe::Other => at = self.following(at),
            }
        }
    }
}

/// Mixes a word so that all of its bits count in all of the result: both halves of a product, summed ⊕, as in W. Yi's wyhash.
#[inline]
fn folded_product(word: u64) -> u64 {
    // 2^64 divided by the golden ratio, and an odd constant with as many ones as zeros.
    let product = u128::from(word ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03;
    (product as u64) ^ ((product >> 64) as u64)
}

//! One flow in one cache line: a sequence lock without `unsafe`.
//!
//! Everything is an atomic word, so that a reader that races with the writer reads old and new words mixed, which is not undefined
//! behaviour, only useless, and the version tells. Source of the fences: H.-J. Boehm, *Can Seqlocks Get Along With Programming Language
//! Memory Models?*, MSPC 2012, figure 6.

use super::sync::{AtomicU32, AtomicU64, Ordering, fence, wait};
use super::{Phase, Tick};
use crate::spray::FlowId;

/// Words of a slot: five of the flow, two of its state.
const WORDS: usize = 7;
/// The word that is zero in a free slot, and has the phase besides protocol and ports.
const LAST: usize = 4;
/// Where the phase lies in it, in bits that a flow leaves zero.
const PHASE_SHIFT: u32 = 16;
const PHASE_MASK: u64 = 0xff << PHASE_SHIFT;

/// A flow and its state.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(align(64)))]
pub(super) struct Slot {
    /// Odd while it is written.
    version: AtomicU32,
    /// When a packet was last seen, and whether a regular one was: [`Tick::seen`]. It is no state of the flow: any core may set it.
    seen: AtomicU32,
    words: [AtomicU64; WORDS],
}

/// What a slot held at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) flow: FlowId,
    pub(super) phase: Phase,
    pub(super) state: [u64; 2],
}

impl Slot {
    pub(super) fn free() -> Self {
        Self {
            version: AtomicU32::new(0),
            seen: AtomicU32::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Has it in the cache soon: a load whose value nobody waits for.
    #[inline]
    pub(super) fn fetch(&self) {
        std::hint::black_box(self.seen.load(Ordering::Relaxed));
    }

    /// What it holds, or `None` if it is free: a state in which the writer left it. Waits while the writer is at it.
    #[inline]
    pub(super) fn read(&self) -> Option<Held> {
        self.raw().map(|words| Held::of(&words))
    }

    /// The state, if it holds this flow.
    #[inline]
    pub(super) fn state_of(&self, flow: &FlowId) -> Option<[u64; 2]> {
        let words = self.raw()?;
        let key = flow.words();
        let same = words[..LAST] == key[..LAST] && words[LAST] & !PHASE_MASK == key[LAST];
        same.then_some([words[LAST + 1], words[LAST + 2]])
    }

    #[inline]
    fn raw(&self) -> Option<[u64; WORDS]> {
        let mut round = 0;
        loop {
            let before = self.version.load(Ordering::Acquire);
            let words = std::array::from_fn(|at| self.words[at].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before & 1 == 0 && self.version.load(Ordering::Relaxed) == before {
                return (words[LAST] != 0).then_some(words);
            }
            wait(&mut round);
        }
    }

    /// Writes it; the owner only.
    pub(super) fn write(&self, held: &Held) {
        let mut words = [0; WORDS];
        words[..=LAST].copy_from_slice(held.flow.words());
        words[LAST] |= u64::from(held.phase.code()) << PHASE_SHIFT;
        words[LAST + 1..].copy_from_slice(&held.state);
        self.store(&words);
    }

    /// Frees it; the owner only.
    pub(super) fn clear(&self) {
        self.store(&[0; WORDS]);
        self.seen.store(0, Ordering::Relaxed);
    }

    fn store(&self, words: &[u64; WORDS]) {
        let before = self.version.load(Ordering::Relaxed);
        self.version.store(before.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (place, &word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.version.store(before.wrapping_add(2), Ordering::Release);
    }

    /// When a packet was seen last, and whether a regular one ever was.
    pub(super) fn seen(&self) -> (Tick, bool) {
        Tick::of_seen(self.seen.load(Ordering::Relaxed))
    }

    pub(super) fn set_seen(&self, tick: Tick, confirmed: bool) {
        self.seen.store(tick.seen(confirmed), Ordering::Relaxed);
    }

    /// A regular packet was seen: writes only what is new, so that a line that many cores read stays with all of them.
    #[inline]
    pub(super) fn confirm(&self, tick: Tick) {
        let seen = tick.seen(true);
        if self.seen.load(Ordering::Relaxed) != seen {
            self.seen.store(seen, Ordering::Relaxed);
        }
    }
}

impl Held {
    fn of(words: &[u64; WORDS]) -> Self {
        let mut key = [0; LAST + 1];
        key.copy_from_slice(&words[..=LAST]);
        let phase = Phase::of_code((key[LAST] >> PHASE_SHIFT) as u8);
        key[LAST] &= !PHASE_MASK;
        Self { flow: FlowId::from_words(key), phase, state: [words[LAST + 1], words[LAST + 2]] }
    }
}

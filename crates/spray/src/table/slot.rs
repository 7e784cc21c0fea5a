//! One flow in one cache line: a sequence lock without `unsafe`.
//!
//! Everything is an atomic word, so that a reader that races with the writer reads old and new words mixed, which is not undefined
//! behaviour, only useless, and the version tells. Source of the fences: H.-J. Boehm, *Can Seqlocks Get Along With Programming Language
//! Memory Models?*, MSPC 2012, figure 6.

use super::sync::{AtomicU64, Ordering, fence, wait};
use super::{Phase, Tick};
use crate::FlowId;

/// Words of a slot: five of the flow, two of its state.
const WORDS: usize = 7;
/// The word that is zero in a free slot, and has the phase besides protocol and ports.
const LAST: usize = 4;
/// Position of the phase in the word, in bits that a flow leaves zero.
const PHASE_SHIFT: u32 = 16;
const PHASE_MASK: u64 = 0xff << PHASE_SHIFT;
/// One in the version.
const VERSION: u64 = 1 << 32;

/// A flow and its state.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(align(64)))]
pub(super) struct Slot {
    /// Upper half: a version, odd while the slot is written. Lower half: when a packet was last seen, and whether a regular one was
    /// ([`Tick::seen`]), which is no state of the flow: any core may set it. They are one word so that nobody sets it for a flow that has left.
    head: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// Contents of a slot at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) flow: FlowId,
    pub(super) phase: Phase,
    pub(super) state: [u64; 2],
}

impl Slot {
    pub(super) fn free() -> Self {
        Self { head: AtomicU64::new(0), words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Has it in the cache soon: a load whose value nobody waits for.
    #[inline]
    pub(super) fn fetch(&self) {
        std::hint::black_box(self.head.load(Ordering::Relaxed));
    }

    /// Contents of the slot, or `None` if it is free: a state in which the writer left it. Waits while the writer changes it.
    #[inline]
    pub(super) fn read(&self) -> Option<Held> {
        self.raw().map(|(_, words)| Held::of(&words))
    }

    /// The state, if it holds this flow, and the note that a regular packet of it was seen, if `confirm` says when.
    #[inline]
    pub(super) fn state_of(&self, flow: &FlowId, confirm: Option<Tick>) -> Option<[u64; 2]> {
        let (head, words) = self.raw()?;
        let key = flow.words();
        let same = words[..LAST] == key[..LAST] && words[LAST] & !PHASE_MASK == key[LAST];
        if !same {
            return None;
        }
        if let Some(tick) = confirm {
            self.confirm(head, tick);
        }
        Some([words[LAST + 1], words[LAST + 2]])
    }

    /// Its head and words; `None` if it is free.
    #[inline]
    fn raw(&self) -> Option<(u64, [u64; WORDS])> {
        let mut round = 0;
        loop {
            let before = self.head.load(Ordering::Acquire);
            let words = std::array::from_fn(|at| self.words[at].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            let same = self.head.load(Ordering::Relaxed) >> 32 == before >> 32;
            if before & VERSION == 0 && same {
                return (words[LAST] != 0).then_some((before, words));
            }
            wait(&mut round);
        }
    }

    /// Notes that a regular packet of the flow was seen that was here under this head; writes only what is new, so that a line that many
    /// cores read stays with all of them.
    #[inline]
    pub(super) fn confirm(&self, mut head: u64, tick: Tick) {
        let version = head >> 32;
        loop {
            let noted = version << 32 | u64::from(tick.seen(true));
            if head == noted || head >> 32 != version {
                return;
            }
            match self.head.compare_exchange(head, noted, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
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
    }

    fn store(&self, words: &[u64; WORDS]) {
        // Added, for readers write the lower half.
        self.head.fetch_add(VERSION, Ordering::Relaxed);
        fence(Ordering::Release);
        for (place, &word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.head.fetch_add(VERSION, Ordering::Release);
    }

    /// Version and note, as a reader has them that confirms a little later.
    #[cfg(all(test, loom))]
    pub(super) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Time when a packet was seen last, and whether a regular one ever was.
    pub(super) fn seen(&self) -> (Tick, bool) {
        Tick::of_seen(self.head.load(Ordering::Relaxed) as u32)
    }

    /// Notes what has been seen of a flow that comes; the owner only, before it writes the flow.
    pub(super) fn set_seen(&self, tick: Tick, confirmed: bool) {
        self.note(|_| tick.seen(confirmed));
    }

    /// Notes that a packet was seen, and leaves it to others whether a regular one ever was.
    pub(super) fn touch(&self, tick: Tick) {
        self.note(|seen| tick.seen(Tick::of_seen(seen).1));
    }

    fn note(&self, seen: impl Fn(u32) -> u32) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let noted = head >> 32 << 32 | u64::from(seen(head as u32));
            match self.head.compare_exchange(head, noted, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
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

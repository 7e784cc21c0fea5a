//! What tells of eight slots which one to look at: a byte of the hash of each.

use super::sync::{AtomicU64, Ordering};

/// Slots of a bucket.
pub(super) const SLOTS: usize = 8;

/// One in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every byte.
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Tags and overflow of a bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    /// A byte for each slot, the first one lowest: zero where it is free.
    tags: AtomicU64,
    /// Flows that lie behind it because it was full when they came.
    passed: AtomicU64,
}

impl Bucket {
    pub(super) fn free() -> Self {
        Self { tags: AtomicU64::new(0), passed: AtomicU64::new(0) }
    }

    /// Has it in the cache soon: a load whose value nobody waits for.
    #[inline]
    pub(super) fn fetch(&self) {
        std::hint::black_box(self.tags.load(Ordering::Relaxed));
    }

    /// Slots that may have a flow of this tag, which is not zero: all that have one, and few others.
    #[inline]
    pub(super) fn candidates(&self, tag: u8) -> Candidates {
        // What the writer wrote into a slot before its tag is seen by who sees the tag.
        let tags = self.tags.load(Ordering::Acquire);
        Candidates(zero_bytes(tags ^ (ONES * u64::from(tag))))
    }

    /// A free slot.
    pub(super) fn free_slot(&self) -> Option<usize> {
        Candidates(zero_bytes(self.tags.load(Ordering::Relaxed))).next()
    }

    /// Gives a slot its tag, 0 if it is free from now on; the owner only.
    pub(super) fn set_tag(&self, slot: usize, tag: u8) {
        let shift = 8 * slot;
        let tags = self.tags.load(Ordering::Relaxed) & !(0xff << shift) | u64::from(tag) << shift;
        self.tags.store(tags, Ordering::Release);
    }

    /// Whether flows lie behind it because it was full when they came.
    #[inline]
    pub(super) fn is_passed(&self) -> bool {
        self.passed.load(Ordering::Acquire) != 0
    }

    /// Another such flow comes, or one goes; the owner only.
    pub(super) fn pass(&self, comes: bool) {
        let passed = self.passed.load(Ordering::Relaxed);
        self.passed.store(if comes { passed + 1 } else { passed - 1 }, Ordering::Release);
    }
}

/// The highest bit of every byte that is zero, and now and then of a byte of 1 above one that is.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Slots, in ascending order.
pub(super) struct Candidates(u64);

impl Iterator for Candidates {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros() as usize / 8;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn candidates_have_all_slots_of_a_tag_and_the_first_is_right(tags: [u8; SLOTS], pick in 0..SLOTS) {
            let bucket = Bucket::free();
            tags.iter().enumerate().for_each(|(slot, &tag)| bucket.set_tag(slot, tag));
            let tag = tags[pick].max(1);
            let candidates: Vec<_> = bucket.candidates(tag).collect();
            let having: Vec<_> = (0..SLOTS).filter(|&slot| tags[slot] == tag).collect();
            prop_assert!(having.iter().all(|slot| candidates.contains(slot)));
            prop_assert_eq!(candidates.first(), having.first());
            prop_assert_eq!(bucket.free_slot(), tags.iter().position(|&tag| tag == 0));
        }
    }
}

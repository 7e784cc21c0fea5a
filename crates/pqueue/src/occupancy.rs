//! Which of the integers below a bound are there, and how often: a tree of bitmaps and counts.
//!
//! The tree has a bit for every integer; a bit for every 64 of those bits, set if any of them is; and so on up to a single word.
//! The smallest integer is found by the lowest set bit of a word at every level from the top, the largest by the highest. Every bit
//! comes with the number of integers below it (the *subtree occupancy counter* of BBQ, §4.2.2), by which an emptied subtree is known
//! without a look at it.
//!
//! The lowest level, whose bits change all the time, branches on no data: nothing can be mispredicted there. The levels above change
//! when a word becomes empty or stops being so, and are left alone otherwise.
//!
//! Sources: Atre 2025 §3.5.4 and §4.2; the counts are those of H. Wang, B. Lin, *Succinct priority indexing structures for the
//! management of large priority queues*, IWQoS 2009.

use std::fmt;

use crate::BadShape;

/// Bits of an index that a level resolves: words have 64 bits.
const BITS: u32 = 6;
const WIDTH: u64 = 1 << BITS;

/// A multiset of integers below a span of at most 64^`LEVELS`, of 1 to 5 levels.
///
/// Every operation is O(`LEVELS`) in the worst case unless it says otherwise. Memory: 4 bytes and a bit for every integer of the
/// span, and for every subtree of the widest span: take no more levels than the span needs.
#[derive(Clone)]
pub struct OccupancyTree<const LEVELS: usize> {
    span: u64,
    len: u32,
    /// The root, then level by level.
    words: Box<[u64]>,
    /// A count for every bit, in the same order.
    counts: Box<[u32]>,
}

/// The integers, each with the number of times that it is there.
impl<const LEVELS: usize> fmt::Debug for OccupancyTree<LEVELS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = std::iter::successors(self.min(), |&value| self.min_from(value + 1));
        f.debug_map().entries(values.map(|value| (value, self.count(value)))).finish()
    }
}

/// Index of the first word of the level that has `above` levels above it: a level has a word for every bit of the one before.
const fn first_word(above: usize) -> usize {
    let (mut first, mut level) = (0, 0);
    while level < above {
        first = first * WIDTH as usize + 1;
        level += 1;
    }
    first
}

impl<const LEVELS: usize> OccupancyTree<LEVELS> {
    /// The widest span that a tree with so many levels can have.
    pub const WIDEST: u64 = {
        assert!(1 <= LEVELS && LEVELS <= 5, "a tree has 1 to 5 levels");
        WIDTH.pow(LEVELS as u32)
    };

    /// An empty multiset of integers below `span`.
    ///
    /// # Errors
    ///
    /// If the span is 0 or beyond [`Self::WIDEST`].
    pub fn new(span: u64) -> Result<Self, BadShape> {
        BadShape::check("a span", span, 1..=Self::WIDEST)?;
        let words = first_word(LEVELS - 1) + span.div_ceil(WIDTH) as usize;
        let counts = Self::count_at(0, span as usize);
        Ok(Self { span, len: 0, words: vec![0; words].into(), counts: vec![0; counts].into() })
    }

    /// Index of the first word of the level whose bits stand for 64^`height` integers each.
    const fn base(height: usize) -> usize {
        first_word(LEVELS - 1 - height)
    }

    /// Index of the count of a subtree.
    const fn count_at(height: usize, index: usize) -> usize {
        Self::base(height) * WIDTH as usize + index
    }

    /// The bound: all integers are below it.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Number of integers, each as often as it was added.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether none is there.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds `value` once more.
    ///
    /// # Panics
    ///
    /// If it is not below the span, or if there are 2³² − 1 already.
    #[inline]
    pub fn add(&mut self, value: u64) {
        assert!(value < self.span, "{value} is not below {}", self.span);
        self.len = self.len.checked_add(1).expect("at most 2^32 - 1 integers");
        let mut index = value as usize;
        for height in 0..LEVELS {
            self.counts[Self::count_at(height, index >> (BITS as usize * height))] += 1;
        }
        for height in 0..LEVELS {
            let bit = index as u32 % u64::BITS;
            index >>= BITS;
            let word = &mut self.words[Self::base(height) + index];
            let before = *word;
            *word |= 1 << bit;
            if before != 0 {
                break;
            }
        }
    }

    /// Takes `value` out once; `false` if it was not there.
    #[inline]
    pub fn remove(&mut self, value: u64) -> bool {
        if self.count(value) == 0 {
            return false;
        }
        self.len -= 1;
        let mut index = value as usize;
        for height in 0..LEVELS {
            self.counts[Self::count_at(height, index >> (BITS as usize * height))] -= 1;
        }
        let mut emptied = u64::from(self.count(value) == 0);
        for height in 0..LEVELS {
            let bit = index as u32 % u64::BITS;
            index >>= BITS;
            let word = &mut self.words[Self::base(height) + index];
            *word &= !(emptied << bit);
            if *word != 0 {
                break;
            }
            emptied = 1;
        }
        true
    }

    /// Number of times that `value` is there.
    #[inline]
    pub fn count(&self, value: u64) -> usize {
        if value < self.span { self.counts[Self::count_at(0, value as usize)] as usize } else { 0 }
    }

    /// Number of integers in the subtree `index` of height `height`: from `index` · 64^`height` to the next multiple.
    ///
    /// Height 0 is a single integer.
    pub fn subtree_len(&self, height: usize, index: usize) -> usize {
        if height >= LEVELS || (index as u64).saturating_mul(WIDTH.pow(height as u32)) >= self.span {
            return 0;
        }
        self.counts[Self::count_at(height, index)] as usize
    }

    /// The smallest integer.
    #[inline]
    pub fn min(&self) -> Option<u64> {
        if self.len == 0 { None } else { Some(self.descend(LEVELS, 0, u64::trailing_zeros)) }
    }

    /// The largest integer.
    #[inline]
    pub fn max(&self) -> Option<u64> {
        if self.len == 0 { None } else { Some(self.descend(LEVELS, 0, highest)) }
    }

    /// The smallest integer that is not below `from`.
    #[inline]
    pub fn min_from(&self, from: u64) -> Option<u64> {
        if from >= self.span {
            return None;
        }
        let mut index = from as usize;
        for height in 0..LEVELS {
            // One after the last of its level, which is not there, or the first of the next one.
            if index >> (BITS as usize * (LEVELS - height)) > 0 {
                return None;
            }
            let word = self.words.get(Self::base(height) + (index >> BITS))?;
            let rest = word >> (index as u32 % u64::BITS);
            if rest != 0 {
                return Some(self.descend(
                    height,
                    index + rest.trailing_zeros() as usize,
                    u64::trailing_zeros,
                ));
            }
            index = (index >> BITS) + 1;
        }
        None
    }

    /// The largest integer that is not above `to`.
    #[inline]
    pub fn max_to(&self, to: u64) -> Option<u64> {
        let mut index = to.min(self.span - 1) as usize;
        for height in 0..LEVELS {
            let rest = self.words[Self::base(height) + (index >> BITS)]
                << (u64::BITS - 1 - index as u32 % u64::BITS);
            if rest != 0 {
                return Some(self.descend(height, index - rest.leading_zeros() as usize, highest));
            }
            index = (index >> BITS).checked_sub(1)?;
        }
        None
    }

    /// Number of integers below `value`: O(64 · `LEVELS`).
    pub fn count_below(&self, value: u64) -> usize {
        if value >= self.span {
            return self.len();
        }
        let mut index = value as usize;
        let mut below = 0;
        for height in 0..LEVELS {
            let first = index & !(WIDTH as usize - 1);
            below += self.counts[Self::count_at(height, first)..Self::count_at(height, index)]
                .iter()
                .map(|&count| count as usize)
                .sum::<usize>();
            index >>= BITS;
        }
        below
    }

    /// From the bit `index` at `height` down to the leaves, by the bit that `choose` finds in every word.
    #[inline]
    fn descend(&self, height: usize, index: usize, choose: impl Fn(u64) -> u32) -> u64 {
        let mut index = index;
        for height in (0..height).rev() {
            index = (index << BITS) | choose(self.words[Self::base(height) + index]) as usize;
        }
        index as u64
    }
}

/// The highest set bit of a word that is not 0.
#[inline]
fn highest(word: u64) -> u32 {
    u64::BITS - 1 - word.leading_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A step that a naive multiset can follow.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Add(u64),
        Remove(u64),
    }

    fn follow<const LEVELS: usize>(span: u64, steps: &[Step]) {
        let mut tree = OccupancyTree::<LEVELS>::new(span).unwrap();
        let mut naive: Vec<u64> = Vec::new();
        for step in steps {
            match *step {
                Step::Add(value) => {
                    tree.add(value % span);
                    naive.push(value % span);
                    naive.sort_unstable();
                }
                Step::Remove(value) => {
                    // Half of the time one that is there.
                    let value =
                        if value % 2 == 0 { naive.first().copied().unwrap_or(value) } else { value % span };
                    let found = naive.binary_search(&value).ok();
                    assert_eq!(tree.remove(value), found.is_some());
                    found.map(|at| naive.remove(at));
                }
            }
            assert_eq!(tree.len(), naive.len());
            assert_eq!((tree.min(), tree.max()), (naive.first().copied(), naive.last().copied()));
            let probe = match *step {
                Step::Add(value) | Step::Remove(value) => value % (span + 2),
            };
            let (below, upto) =
                (naive.partition_point(|&v| v < probe), naive.partition_point(|&v| v <= probe));
            assert_eq!(tree.count_below(probe), below);
            assert_eq!(tree.count(probe), upto - below);
            assert_eq!(tree.min_from(probe), naive.get(below).copied());
            assert_eq!(tree.max_to(probe), naive[..upto].last().copied());
            assert_eq!(tree.min_from(u64::MAX), None);
            assert_eq!(tree.max_to(u64::MAX), naive.last().copied());
            for height in 0..LEVELS {
                let size = WIDTH.pow(height as u32);
                let inside = naive.iter().filter(|&&v| v / size == probe / size).count();
                assert_eq!(tree.subtree_len(height, (probe / size) as usize), inside);
            }
        }
    }

    proptest! {
        #[test]
        fn the_tree_is_a_sorted_vector(
            steps in prop::collection::vec(
                prop_oneof![any::<u64>().prop_map(Step::Add), any::<u64>().prop_map(Step::Remove)],
                1..200,
            ),
            span in 1u64..70,
        ) {
            follow::<1>(span.min(64), &steps);
            follow::<2>(span * 58, &steps);
            follow::<3>(span * 3_700, &steps);
        }
    }

    #[test]
    fn spans_are_bounded() {
        assert!(OccupancyTree::<2>::new(4096).is_ok());
        let error = OccupancyTree::<2>::new(4097).unwrap_err();
        assert_eq!(error.to_string(), "expected a span from 1 to 4096, got 4097");
        assert!(OccupancyTree::<2>::new(0).is_err());
    }
}

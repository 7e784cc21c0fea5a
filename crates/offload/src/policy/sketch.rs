//! What the pipeline of a switch can remember of keys that it has no entry for.

use crate::Key;
use crate::hash::{mix, row};
use crate::table::Mixed;

/// Positions of a key in any number of arrays, from one more hash.
///
/// Source: A. Kirsch, M. Mitzenmacher, *Less Hashing, Same Performance*, 2006.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    start: u64,
    stride: u64,
}

impl Positions {
    #[inline]
    pub(super) fn of(key: Mixed) -> Self {
        Self { start: mix(Key(key.0 ^ 0xd1b5_4a32_d192_ed03)), stride: key.0.rotate_left(32) | 1 }
    }

    #[inline]
    fn in_array(self, array: u32, width: u32) -> usize {
        row(self.start.wrapping_add(self.stride.wrapping_mul(u64::from(array))), width) as usize
    }
}

/// A count-min sketch of 16-bit counters that stop at 65,535: an estimate is never too low, up to there. O(rows) an
/// operation.
///
/// Source: G. Cormode, S. Muthukrishnan, *An Improved Data Stream Summary*, 2005.
#[derive(Clone, Debug)]
pub(super) struct CountMin {
    counters: Vec<u16>,
    rows: u32,
    width: u32,
}

impl CountMin {
    /// `rows` rows of `width` counters, both at least 1.
    pub(super) fn new(rows: u32, width: u32) -> Self {
        let (rows, width) = (rows.max(1), width.max(1));
        Self { counters: vec![0; rows as usize * width as usize], rows, width }
    }

    /// Counts a key once more; the estimate with it.
    #[inline]
    pub(super) fn add(&mut self, positions: Positions) -> u16 {
        let mut estimate = u16::MAX;
        for (row, counters) in (0..self.rows).zip(self.counters.chunks_exact_mut(self.width as usize)) {
            let counter = &mut counters[positions.in_array(row, self.width)];
            *counter = counter.saturating_add(1);
            estimate = estimate.min(*counter);
        }
        estimate
    }

    /// Sets all counters to zero.
    pub(super) fn clear(&mut self) {
        self.counters.fill(0);
    }
}

/// A Bloom filter whose hash functions have an array of bits each: what was inserted is always found, something else
/// rarely. O(arrays) an operation.
///
/// Source: B. Bloom, *Space/Time Trade-offs in Hash Coding with Allowable Errors*, 1970.
#[derive(Clone, Debug)]
pub(super) struct Bloom {
    words: Vec<u64>,
    arrays: u32,
    bits: u32,
}

/// Arrays of the filter use other positions than the rows of a sketch, as far as that has fewer.
const AFTER_SKETCH: u32 = 16;

impl Bloom {
    /// `arrays` arrays of `bits` bits, both at least 1.
    pub(super) fn new(arrays: u32, bits: u32) -> Self {
        let (arrays, bits) = (arrays.max(1), bits.max(1));
        Self { words: vec![0; arrays as usize * bits.div_ceil(64) as usize], arrays, bits }
    }

    /// Inserts a key; whether it seemed to be there already.
    pub(super) fn insert(&mut self, positions: Positions) -> bool {
        let mut found = true;
        for (array, words) in
            (0..self.arrays).zip(self.words.chunks_exact_mut(self.bits.div_ceil(64) as usize))
        {
            let bit = positions.in_array(AFTER_SKETCH + array, self.bits);
            let (word, mask) = (&mut words[bit / 64], 1 << (bit % 64));
            found &= *word & mask != 0;
            *word |= mask;
        }
        found
    }

    /// Takes everything out.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn of(key: u64) -> Positions {
        Positions::of(Mixed::from(Key(key)))
    }

    proptest! {
        #[test]
        fn estimates_are_never_too_low(
            rows in 1..5u32,
            width in 1..40u32,
            keys in prop::collection::vec(0..60u64, 1..300),
        ) {
            let mut sketch = CountMin::new(rows, width);
            let mut exact: HashMap<u64, u16> = HashMap::new();
            for key in keys {
                let count = exact.entry(key).or_default();
                *count += 1;
                prop_assert!(sketch.add(of(key)) >= *count);
            }
        }

        #[test]
        fn what_is_inserted_is_found(
            arrays in 1..4u32,
            bits in 1..200u32,
            keys in prop::collection::vec(any::<u64>(), 1..50),
        ) {
            let mut filter = Bloom::new(arrays, bits);
            let keys: Vec<_> = keys.into_iter().map(of).collect();
            keys.iter().for_each(|&key| _ = filter.insert(key));
            prop_assert!(keys.iter().all(|&key| filter.insert(key)));
            filter.clear();
            prop_assert!(!filter.insert(keys[0]));
        }
    }

    #[test]
    fn counters_stop_at_the_top() {
        let mut sketch = CountMin::new(2, 3);
        let estimates: Vec<_> = (0..70_000).map(|_| sketch.add(of(1))).collect();
        assert_eq!((estimates[65_533], estimates[65_534], estimates[69_999]), (65_534, 65_535, 65_535));
    }

    /// The sizes that NetCache has, and as many keys as make a filter err once in a thousand by the formula.
    #[test]
    fn errors_are_as_rare_as_theory_says() {
        let mut filter = Bloom::new(3, 1 << 18);
        let mut sketch = CountMin::new(4, 1 << 16);
        let keys = |range: std::ops::Range<u64>| range.map(of);
        keys(0..27_600).for_each(|key| _ = filter.insert(key));
        let wrong = keys(1 << 40..(1 << 40) + 10_000).filter(|&key| filter.contains(key)).count();
        assert!((1..30).contains(&wrong), "{wrong} of 10,000, expected 10");
        // Each of four rows hits one of 32,768 counters that are not zero in 65,536 with 1 − e^(−1/2): all of them with
        // 2.4%.
        keys(0..32_768).for_each(|key| _ = sketch.add(key));
        let wrong = keys(1 << 40..(1 << 40) + 10_000).filter(|&key| sketch.estimate(key) > 0).count();
        assert!((180..300).contains(&wrong), "{wrong} of 10,000, expected 240");
    }

    impl Bloom {
        fn contains(&self, positions: Positions) -> bool {
            (0..self.arrays).zip(self.words.chunks_exact(self.bits.div_ceil(64) as usize)).all(
                |(array, words)| {
                    let bit = positions.in_array(AFTER_SKETCH + array, self.bits);
                    words[bit / 64] >> (bit % 64) & 1 == 1
                },
            )
        }
    }

    impl CountMin {
        fn estimate(&self, positions: Positions) -> u16 {
            let rows = (0..self.rows).zip(self.counters.chunks_exact(self.width as usize));
            rows.map(|(row, counters)| counters[positions.in_array(row, self.width)]).min().unwrap_or(0)
        }
    }
}

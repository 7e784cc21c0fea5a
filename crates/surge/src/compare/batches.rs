//! Runs side by side, as many as memory allows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Splits runs that take so many bytes into ranges that can go side by side on `threads` threads within `memory`: the `threads` largest
/// of each range together take no more. A run that takes more than all memory is alone.
///
/// O(n log threads).
pub(super) fn batches(bytes: &[u64], threads: usize, memory: u64) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let mut start = 0;
    // The largest of the batch, least first, and their sum.
    let mut largest: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut sum = 0u64;
    for (index, &needed) in bytes.iter().enumerate() {
        let add = |largest: &mut BinaryHeap<Reverse<u64>>, sum: u64| {
            largest.push(Reverse(needed));
            let least = if largest.len() > threads.max(1) { largest.pop() } else { None };
            sum.saturating_add(needed) - least.map_or(0, |Reverse(least)| least)
        };
        let with = add(&mut largest, sum);
        if with > memory && index > start {
            batches.push(start..index);
            start = index;
            largest.clear();
            sum = add(&mut largest, 0);
        } else {
            sum = with;
        }
    }
    if start < bytes.len() {
        batches.push(start..bytes.len());
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_side_by_side_fit() {
        assert_eq!(batches(&[1, 1, 1, 1], 2, 2), vec![0..4; 1]);
        assert_eq!(batches(&[1, 3, 1, 3], 2, 4), [0..3, 3..4]);
        assert_eq!(batches(&[9, 1, 9], 2, 4), [0..1, 1..2, 2..3]);
        assert!(batches(&[], 2, 4).is_empty());
        assert_eq!(batches(&[u64::MAX, u64::MAX], 2, u64::MAX), vec![0..2; 1]);
    }

    proptest! {
        #[test]
        fn every_run_is_in_one_batch_that_fits(
            bytes in prop::collection::vec(0u64..100, 0..50),
            threads in 1usize..5,
            memory in 1u64..200,
        ) {
            let batches = batches(&bytes, threads, memory);
            prop_assert_eq!(batches.iter().cloned().flatten().collect::<Vec<_>>(), (0..bytes.len()).collect::<Vec<_>>());
            for batch in batches {
                let mut of = bytes[batch].to_vec();
                of.sort_unstable_by(|a, b| b.cmp(a));
                prop_assert!(of.len() == 1 || of.iter().take(threads).sum::<u64>() <= memory);
            }
        }
    }
}

//! What is counted, and what all paths draw their inputs from.

use std::hint::black_box;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Calls `work`. Its instructions are those that are counted.
#[inline(never)]
pub(crate) fn hot_path<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

/// The same numbers in every run.
pub(crate) fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

/// Numbers below `most`, the small ones far more often than the large ones.
pub(crate) fn skewed(count: usize, most: u64) -> Vec<u64> {
    let mut random = random();
    let mut number = || {
        let uniform = random.next_u64() >> 40;
        (((uniform * uniform) >> 24) * most) >> 24
    };
    std::iter::repeat_with(&mut number).take(count).collect()
}

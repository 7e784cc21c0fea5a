//! Random choices that one number decides.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of random choices.
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The choices of this number.
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.random_range(0..end)
    }

    /// True once in `times`, on average.
    pub(super) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub(super) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.0.random_range(0..from.len())]
    }

    /// A number whose magnitude is drawn evenly: 0, 1, 2 to 3, 4 to 7, and so on below `2^bits`.
    pub(super) fn magnitude(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits + 1);
        self.below(1 << bits)
    }
}

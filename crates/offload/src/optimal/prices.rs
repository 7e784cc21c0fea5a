//! Prices in integers: what a lower bound is proved by.

use rayon::prelude::*;

use super::path::Tariff;
use super::problem::Problem;

/// Keys are dealt with in so many at a time.
const CHUNK: usize = 1 << 12;

/// A price for an entry of the table and one for an insertion, in every batch interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prices {
    /// They are in misses / 2^bits; at most 32.
    bits: u32,
    entries: Vec<u64>,
    insertions: Vec<u64>,
}

impl Prices {
    /// Fixed point for prices in misses, as fine as 32 bits of fraction and a sum below 2⁶² allow. What is not a
    /// positive number becomes zero.
    pub(super) fn fixed(entries: &[f64], insertions: &[f64]) -> Self {
        let sum: f64 = entries.iter().chain(insertions).map(|price| price.max(0.0)).sum();
        let bits = (62.0 - sum.max(1.0).log2().ceil()).clamp(0.0, 32.0);
        let scale = bits.exp2();
        let fixed = |prices: &[f64]| prices.iter().map(|price| (price * scale) as u64).collect();
        Self { bits: bits as u32, entries: fixed(entries), insertions: fixed(insertions) }
    }

    /// All prices zero.
    pub(super) fn zero(intervals: usize) -> Self {
        Self { bits: 0, entries: vec![0; intervals], insertions: vec![0; intervals] }
    }

    /// No schedule has fewer misses: what the keys cost under these prices, each for itself, less what the whole
    /// table and all insertions are worth. O(visits). The result does not depend on the number of threads. `None` if
    /// it does not fit into 128 bits.
    ///
    /// Rounded up, as misses come whole.
    pub(super) fn lower(&self, problem: &Problem) -> Option<u64> {
        let mut rent = Vec::with_capacity(self.entries.len() + 1);
        let mut sum = 0i128;
        rent.push(sum);
        for &price in &self.entries {
            sum = sum.checked_add(i128::from(price))?;
            rent.push(sum);
        }
        let toll: Vec<i128> = self.insertions.iter().copied().map(i128::from).collect();
        let tolls = toll.iter().try_fold(0i128, |sum, &price| sum.checked_add(price))?;
        let miss = 1i128 << self.bits;
        let tariff = Tariff { rent: &rent, toll: &toll, miss };
        // Whatever a path adds up is below 2³² intervals × 2 × 2⁶⁴ + 2³² lookups × 2³² < 2⁹⁸. The cheapest is no
        // dearer than never to be in the table, and that is all lookups × 2³² < 2⁶⁴ for all of them.
        let keys = (0..problem.keys()).into_par_iter().with_min_len(CHUNK);
        let paths: i128 = keys.map(|key| tariff.least(problem.visits(key))).sum();
        let revenue = i128::from(problem.capacity)
            .checked_mul(sum)?
            .checked_add(i128::from(problem.batch).checked_mul(tolls)?)?;
        let certain = i128::from(problem.certain) << self.bits;
        let lower = paths.checked_add(certain)?.checked_sub(revenue)?.max(0);
        u64::try_from((lower + (miss - 1)) >> self.bits).ok()
    }
}

//! Where a key belongs.

use crate::Key;

/// 64 bits that depend on every bit of `key` and are as good as random. O(1).
///
/// A bijection, so that different keys have different hashes. Source: the finaliser of MurmurHash3 with the constants of D. Stafford's
/// *Better Bit Mixing* (Mix13), as in SplitMix64.
#[inline]
pub fn mix(key: Key) -> u64 {
    let mut bits = key.0;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The row of a table of `rows` rows that a hash belongs to: ⌊hash × rows / 2⁶⁴⌋, each row for as many hashes as any other
/// but for one. O(1), without a division; for a power of two these are the hash's highest bits.
#[inline]
pub fn row(hash: u64, rows: u32) -> u32 {
    ((u128::from(hash) * u128::from(rows)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_are_used_alike() {
        let mut counts = [0u32; 24];
        (0..240_000).for_each(|key| counts[row(mix(Key(key)), 24) as usize] += 1);
        // Poisson with mean 10,000: six standard deviations.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 600), "{counts:?}");
    }

    proptest! {
        /// A coarser table cuts the same order into larger pieces: the rows of one lie together in the other.
        #[test]
        fn rows_of_two_tables_nest(hash: u64, coarse in 1..1000u32, factor in 1..1000u32) {
            prop_assert_eq!(row(hash, coarse * factor) / factor, row(hash, coarse));
        }
    }
}

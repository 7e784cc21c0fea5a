//! Approximate counting of how often keys occurred lately.

use crate::Key;

/// Four counters speak for a key, in as many rows.
const ROWS: usize = 4;
/// A counter has four bits.
const MOST: u8 = 15;
/// Odd multipliers, one a row, so that keys that collide in one row part in another (the digits of π).
const SEEDS: [u64; ROWS] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89];

/// A count-min sketch of four-bit counters that are halved after a period, so that the past fades.
///
/// Overestimates only. Memory: 16 to 32 B per expected object. Source: G. Einziger, R. Friedman, B. Manes, *TinyLFU: a
/// highly efficient cache admission policy*, ACM ToS 2017, §3.
#[derive(Clone, Debug)]
pub(super) struct FrequencySketch {
    rows: [Vec<u8>; ROWS],
    shift: u32,
    additions: u64,
    period: u64,
}

impl FrequencySketch {
    /// A sketch for a cache of about `objects` objects; fades every ten times as many additions (§3.2).
    pub(super) fn new(objects: u64) -> Self {
        let width = objects.clamp(16, 1 << 30).next_power_of_two() as usize;
        Self {
            rows: std::array::from_fn(|_| vec![0; 4 * width]),
            shift: 64 - (4 * width).trailing_zeros(),
            additions: 0,
            period: objects.clamp(16, 1 << 30) * 10,
        }
    }

    fn position(&self, key: Key, row: usize) -> usize {
        let mixed = (key.0 ^ (key.0 >> 32)).wrapping_mul(SEEDS[row]);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Counts one occurrence.
    pub(super) fn add(&mut self, key: Key) {
        for row in 0..ROWS {
            let position = self.position(key, row);
            let counter = &mut self.rows[row][position];
            *counter = (*counter + 1).min(MOST);
        }
        self.additions += 1;
        if self.additions == self.period {
            self.additions = self.period / 2;
            self.rows.iter_mut().flatten().for_each(|counter| *counter /= 2);
        }
    }

    /// Estimate of the number of recent occurrences of the key, at most 15.
    pub(super) fn estimate(&self, key: Key) -> u8 {
        (0..ROWS).map(|row| self.rows[row][self.position(key, row)]).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_saturate_and_fade() {
        let mut sketch = FrequencySketch::new(100);
        for _ in 0..40 {
            sketch.add(Key(1));
        }
        sketch.add(Key(2));
        assert_eq!(sketch.estimate(Key(1)), 15);
        assert!(sketch.estimate(Key(2)) >= 1);
        for other in 0..960 {
            sketch.add(Key(1000 + other));
        }
        assert_eq!(sketch.additions, 501); // 1,001 additions, halved at the thousandth
        assert!((7..15).contains(&sketch.estimate(Key(1))), "{}", sketch.estimate(Key(1)));
    }

    #[test]
    fn estimates_never_fall_short() {
        let mut sketch = FrequencySketch::new(64);
        for key in 0..64u64 {
            for _ in 0..key % 5 {
                sketch.add(Key(key));
            }
        }
        assert!((0..64).all(|key| u64::from(sketch.estimate(Key(key))) >= key % 5));
    }
}

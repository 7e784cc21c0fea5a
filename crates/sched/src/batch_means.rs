//! How far a mean over one run may be off.
//!
//! What happens to a packet depends on what happened to those before it, so that a run of n packets tells less than n independent draws.
//! The method of *batch means* cuts the run into consecutive batches that are so long that they hardly depend on each other, and takes
//! the standard error from how much the batches differ.
//!
//! Source: Law, *Simulation Modeling and Analysis*, §9.5.3; that the largest error over batches of rising length is taken is after
//! Flyvbjerg and Petersen, *Error estimates on averages of correlated data*, J. Chem. Phys. 1989.

/// Most batches; when there are that many, neighbours are put together in pairs.
const MOST: usize = 64;

/// Fewer batches tell nothing of how much they differ.
const LEAST: usize = 8;

/// The first batches have so many packets.
const FIRST: u64 = 64;

/// A run cut into batches of equally many arrivals.
///
/// The number of packets need not be known: whenever there are 64 batches, neighbours are put together in pairs. Memory: 5 KiB.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    length: u64,
    /// Arrivals until the batch is full.
    left: u64,
    /// All sums when the last batch began.
    began: Sums,
    batches: Vec<Sums>,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self { length: FIRST, left: FIRST, began: Sums::default(), batches: Vec::with_capacity(MOST) }
    }
}

impl BatchMeans {
    /// A packet came; whether the batch is full, and has to be closed.
    #[inline]
    pub fn arrived(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// Closes a full batch; `sums` are those of the whole run so far.
    pub fn close(&mut self, sums: &Sums) {
        self.batches.push(sums.since(&self.began));
        self.began = *sums;
        if self.batches.len() == MOST {
            self.batches = in_pairs(&self.batches);
            self.length *= 2;
        }
        self.left = self.length;
    }

    /// The standard error of the sum of `what` divided by the sum of `per`; none for fewer than 8 batches of 64 packets.
    ///
    /// Packets behind the last full batch are left out. Of batches as they are, of twice that length, and so on, the largest error is
    /// taken: it grows with the length as long as neighbours depend on each other.
    pub fn error(&self, what: impl Fn(&Sums) -> f64, per: impl Fn(&Sums) -> f64) -> Option<f64> {
        let (mut batches, mut largest) = (self.batches.clone(), None::<f64>);
        while batches.len() >= LEAST {
            let sum = |of: &dyn Fn(&Sums) -> f64| batches.iter().map(of).sum::<f64>();
            let (total, count) = (sum(&per), batches.len() as f64);
            let ratio = if total > 0.0 { sum(&what) / total } else { return None };
            let squares = batches.iter().map(|batch| (what(batch) - ratio * per(batch)).powi(2)).sum::<f64>();
            let error = (squares * count / (count - 1.0)).sqrt() / total;
            // What is the same in all batches is exact; the rest is rounding.
            let error = if error <= 1e-12 * ratio { 0.0 } else { error };
            largest = Some(largest.map_or(error, |largest| largest.max(error)));
            batches = in_pairs(&batches);
        }
        largest
    }
}

/// Neighbours put together; the last is left out if it is alone.
fn in_pairs(batches: &[Sums]) -> Vec<Sums> {
    batches.chunks_exact(2).map(|pair| pair[0].plus(&pair[1])).collect()
}

/// Sums whose standard errors are estimated, over packets of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Packets that came,
    pub arrivals: u64,
    /// that left,
    pub departures: u64,
    /// and that left while one of lower rank waited.
    pub inversions: u64,
    /// The weight of the inversions.
    pub unpifoness: u128,
    /// Unpifoness that eq. 5 expects under the bounds after each arrival, times the square of the number of packets in the distribution.
    pub expected: u128,
}

impl Sums {
    /// Returns the sums since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            arrivals: self.arrivals - before.arrivals,
            departures: self.departures - before.departures,
            inversions: self.inversions - before.inversions,
            unpifoness: self.unpifoness - before.unpifoness,
            expected: self.expected - before.expected,
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            arrivals: self.arrivals + other.arrivals,
            departures: self.departures + other.departures,
            inversions: self.inversions + other.inversions,
            unpifoness: self.unpifoness + other.unpifoness,
            expected: self.expected + other.expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// The mean of what each of `packets` adds, and its standard error.
    fn measured(packets: impl Iterator<Item = u64>) -> (f64, Option<f64>) {
        let (mut means, mut sums) = (BatchMeans::default(), Sums::default());
        for packet in packets {
            sums.departures += 1;
            sums.inversions += packet;
            if means.arrived() {
                means.close(&sums);
            }
        }
        let error = means.error(|sums| sums.inversions as f64, |sums| sums.departures as f64);
        (sums.inversions as f64 / sums.departures as f64, error)
    }

    #[test]
    fn few_packets_have_no_error_and_equal_ones_have_none() {
        assert_eq!(measured((0..511).map(|number| number % 2)).1, None);
        assert_eq!(measured((0..512).map(|number| number % 2)), (0.5, Some(0.0)));
        assert_eq!(measured((0..100_000).map(|number| number % 2)), (0.5, Some(0.0)));
        assert!(BatchMeans::default().error(|_| 1.0, |_| 0.0).is_none());
    }

    /// Of 200 runs the mean is within three standard errors of the truth in nearly all, whether packets depend on each other or not.
    #[test]
    fn means_are_within_three_errors_of_the_truth() {
        for (stays, length) in [(1, 2_000), (1, 40_000), (50, 40_000)] {
            let mut far = 0;
            for seed in 0..200 {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                let mut now = 0;
                // A coin that is tossed once in `stays` packets.
                let coins = (0..length).map(|number: u64| {
                    if number.is_multiple_of(stays) {
                        now = random.next_u64() & 1;
                    }
                    now
                });
                let (mean, error) = measured(coins);
                let error = error.unwrap();
                let exact = 0.5 / (length as f64 / stays as f64).sqrt();
                assert!(error > exact * 0.5 && error < exact * 3.0, "{error} for {exact}");
                far += u32::from((mean - 0.5).abs() > 3.0 * error);
            }
            assert!(far <= 3, "{far} of 200 are far off, {stays} {length}");
        }
    }
}

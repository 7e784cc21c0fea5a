//! An index by algebra: the queue that finds its best bucket by a division, nearly.
//!
//! Give bucket i the weight 2^(i/16), and keep two sums over the buckets that are not empty: a of their weights, b of i times
//! them. b/a is their centre of mass, and because weights grow so fast it lies just below the highest of them, m. If all buckets
//! up to m are occupied, it lies 1/(2^(1/16) − 1) ≈ 22.6 below m; adding that estimates m whatever m is. The bucket that is
//! served is the nearest to the estimate that is not empty.
//!
//! How far that is off:
//!
//! - *not at all*, if all buckets up to m are occupied: then the estimate is m, one more, or for the lowest m some more;
//! - above m the search only costs time, at most [`SEARCH_ABOVE`] steps: there is nothing else to be found there;
//! - below m by [`SEARCH_BELOW`] at most, and the nearest bucket that far again: **what is served is within [`MOST_OFF`] buckets of
//!   the best**, whatever is occupied. (The centre is lowest when m stands alone above a run that begins at bucket 0; the bounds are
//!   taken over all of those.)
//!
//! If every bucket is occupied with the same chance, the best is missed in about one of nine draws at worst, and the error is
//! below one bucket on average, of 1,024: see the test `random_occupancy_is_off_by_little`. Sparse buckets draw the estimate up,
//! and so are served without error. (Adding [`SEARCH_BELOW`] to the shift would make every answer exact, for as many steps more;
//! the shift here is that of the source.)
//!
//! Source: Saeed et al., *Eiffel*, NSDI 2019, §3.1.2. Departures: sums are integers of 128 bits, so that what was added is taken
//! out again to the last bit; the low buckets, below which there are too few others for the shift to fit, are used all the same,
//! because the estimate is then too high, which costs a search and no error; the best bucket here is the smallest priority, so
//! that bucket i is priority span − 1 − i.

use std::collections::VecDeque;

use crate::{BadShape, MOST_ITEMS, PriorityQueue, Refused};

/// More buckets than these cannot be asked for.
///
/// The sum b stays below 2^10 · 2^5 · 2^(16 + 1024/16) = 2^95, which leaves 128-bit integers room for the fraction of the shift.
pub const MOST_BUCKETS: u64 = 1 << 10;

/// The estimate is above the best bucket by no more than this.
pub const SEARCH_ABOVE: usize = 23;

/// The estimate is below the best bucket by no more than this.
pub const SEARCH_BELOW: usize = 30;

/// Largest distance in buckets of what is served from the best.
pub const MOST_OFF: u64 = 2 * SEARCH_BELOW as u64;

/// Buckets in which the weight doubles (the paper's α).
const DOUBLING: usize = 16;

/// 2^(i/16) in units of 2^-16, for the first doubling.
const WEIGHTS: [u32; DOUBLING] = [
    65_536, 68_438, 71_468, 74_632, 77_936, 81_386, 84_990, 88_752, 92_682, 96_785, 101_070, 105_545,
    110_218, 115_098, 120_194, 125_515,
];

/// 1/(2^(1/16) − 1) buckets in units of 2^-8, rounded up.
const SHIFT: u128 = 5_783;
const SHIFT_BITS: u32 = 8;

/// A queue for priorities below a span, whose order is nearly right.
///
/// Items of one bucket leave in the order in which they came. Insertion is O(1) amortised, finding the best bucket a division and at
/// most `2 * SEARCH_BELOW` looks at buckets. Memory: a ring for every bucket, which keeps the room that it ever needed: span ×
/// capacity items at worst. A full queue refuses.
#[derive(Clone, Debug)]
pub struct Gradient<T> {
    capacity: usize,
    len: usize,
    /// The best priority last.
    buckets: Box<[VecDeque<T>]>,
    /// The sum of the weights of the buckets that are not empty.
    a: u128,
    /// The sum of their indices, each times its weight.
    b: u128,
}

impl<T> Gradient<T> {
    /// A queue for `capacity` items of priorities below `span`.
    ///
    /// # Errors
    ///
    /// If either is 0, the span is beyond [`MOST_BUCKETS`] or the capacity beyond [`MOST_ITEMS`].
    pub fn new(span: u64, capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a span", span, 1..=MOST_BUCKETS)?;
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        let buckets = std::iter::repeat_with(VecDeque::new).take(span as usize).collect();
        Ok(Self { capacity, len: 0, buckets, a: 0, b: 0 })
    }

    /// All priorities are below it.
    pub fn span(&self) -> u64 {
        self.buckets.len() as u64
    }

    /// All items with their priorities, the smallest priority first and the oldest item of a priority first: O(span + items).
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let buckets = (0u64..).zip(self.buckets.iter().rev());
        buckets.flat_map(|(priority, bucket)| bucket.iter().map(move |item| (priority, item)))
    }

    /// The bucket of a priority, and the priority of a bucket.
    fn mirrored(&self, index: usize) -> usize {
        self.buckets.len() - 1 - index
    }

    /// Estimate of the highest bucket that is not empty.
    fn estimate(&self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let estimate = ((self.b << SHIFT_BITS) + SHIFT * self.a).div_ceil(self.a << SHIFT_BITS);
        Some((estimate as usize).min(self.buckets.len() - 1))
    }

    /// The bucket nearest to the estimate that is not empty; of two, the higher.
    fn nearest(&self) -> Option<usize> {
        let estimate = self.estimate()?;
        let is_occupied = |&index: &usize| self.buckets.get(index).is_some_and(|bucket| !bucket.is_empty());
        (0..self.buckets.len()).find_map(|distance| {
            let below = estimate.checked_sub(distance);
            Some(estimate + distance).filter(is_occupied).or(below.filter(is_occupied))
        })
    }
}

crate::methods::one_end!([T] Gradient<T>);

impl<T> PriorityQueue<T> for Gradient<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.len
    }

    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        if priority >= self.span() {
            return Err(Refused::OutOfSpan(item));
        }
        if self.len == self.capacity {
            return Err(Refused::Full(item));
        }
        let index = self.mirrored(priority as usize);
        if self.buckets[index].is_empty() {
            self.a += weight(index);
            self.b += index as u128 * weight(index);
        }
        self.buckets[index].push_back(item);
        self.len += 1;
        Ok(None)
    }

    /// A priority that is nearly the smallest, and the item that [`Self::extract_min`] would return.
    fn peek_min(&self) -> Option<(u64, &T)> {
        let index = self.nearest()?;
        Some((self.mirrored(index) as u64, self.buckets[index].front()?))
    }

    /// Takes out the oldest item of a priority that is nearly the smallest.
    fn extract_min(&mut self) -> Option<(u64, T)> {
        let index = self.nearest()?;
        let item = self.buckets[index].pop_front()?;
        self.len -= 1;
        if self.buckets[index].is_empty() {
            self.a -= weight(index);
            self.b -= index as u128 * weight(index);
        }
        Some((self.mirrored(index) as u64, item))
    }
}

/// 2^(`index`/16), in units of 2^-16.
fn weight(index: usize) -> u128 {
    u128::from(WEIGHTS[index % DOUBLING]) << (index / DOUBLING)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256StarStar;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    const SPAN: u64 = MOST_BUCKETS;

    /// A queue with an item in each bucket of those in `indices`.
    fn occupied(indices: impl IntoIterator<Item = usize>) -> Gradient<()> {
        let mut queue = Gradient::new(SPAN, SPAN as usize).unwrap();
        for index in indices {
            let priority = queue.mirrored(index) as u64;
            queue.insert(priority, ()).unwrap();
        }
        queue
    }

    #[test]
    fn constants_are_what_they_stand_for() {
        let ratio = 2f64.powf(1.0 / DOUBLING as f64);
        for (index, &weight) in WEIGHTS.iter().enumerate() {
            assert_eq!(f64::from(weight), (65_536.0 * ratio.powi(index as i32)).round());
        }
        assert_eq!(SHIFT, (256.0 / (ratio - 1.0)).ceil() as u128);
        let all = occupied(0..SPAN as usize);
        assert!(all.b >> 95 == 0 && all.b >> 92 > 0);
    }

    #[test]
    fn a_run_from_the_bottom_is_exact() {
        for highest in 0..SPAN as usize {
            let queue = occupied(0..=highest);
            assert_eq!(queue.nearest(), Some(highest));
            assert!(highest < 300 || queue.estimate().unwrap() - highest <= 1);
        }
    }

    #[test]
    fn the_estimate_is_never_far() {
        let (mut above, mut below) = (0, 0);
        for alone in 0..SPAN as usize {
            // The lowest centres: a bucket alone above a run.
            let mut queue = occupied([alone]);
            for run in 0..alone {
                let estimate = queue.estimate().unwrap();
                above = above.max(estimate.saturating_sub(alone));
                below = below.max(alone.saturating_sub(estimate));
                let priority = queue.mirrored(run) as u64;
                queue.insert(priority, ()).unwrap();
            }
        }
        assert_eq!((above, below), (SEARCH_ABOVE, SEARCH_BELOW));
    }

    #[test]
    fn random_occupancy_is_off_by_little() {
        let mut rng = Xoshiro256StarStar::seed_from_u64(1);
        for percent in [1, 3, 10, 25, 50, 60, 70, 90, 99] {
            let (mut trials, mut missed, mut error, mut worst) = (0, 0, 0, 0);
            for _ in 0..2_000 {
                let chosen =
                    (0..SPAN as usize).filter(|_| rng.next_u64() % 100 < percent).collect::<Vec<_>>();
                let Some(&best) = chosen.last() else { continue };
                let off = best - occupied(chosen).nearest().unwrap();
                trials += 1;
                missed += u64::from(off > 0);
                error += off as u64;
                worst = worst.max(off as u64);
            }
            assert!(trials > 1_900 && worst <= MOST_OFF);
            assert!(error < trials, "{percent}%: off by {error} buckets in {trials} trials");
            assert!(missed < trials / 7, "{percent}%: {missed} of {trials} trials missed");
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert!(Gradient::<()>::new(0, 1).is_err() && Gradient::<()>::new(1, 0).is_err());
        let error = Gradient::<()>::new(SPAN + 1, 1).unwrap_err();
        assert_eq!(error.to_string(), "expected a span from 1 to 1024, got 1025");
    }
}

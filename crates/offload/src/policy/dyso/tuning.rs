//! How fast counters should age.

use super::ranking::Ranking;
use super::shape::Shape;
use crate::Key;
use crate::policy::dyso::ageing::Ageing;
use crate::policy::dyso::image::Image;

/// A replica has every so-many-th row, the 1% of §III-B2 as a power of two …
const STRIDE: u32 = 128;
/// … but no fewer rows than these, if there are so many.
const FEWEST_ROWS: u32 = 64;
/// The longest period is so many times the shortest.
const SPAN: u64 = 1024;

/// Tunes the ageing period by miniature simulation (§III-B2).
///
/// At the start of every interval replicas take over a few rows from the controller, one with half the period in use, one with its double,
/// and one with the period itself. They see what the controller sees of these rows and install at once. At the end the period of
/// the one with the fewest misses is used; among equals what is in use stays, and then the longer one.
///
/// The period stays between the 1024th part of the interval and the interval itself, so that every replica ages at least once in an
/// interval or its half.
#[derive(Clone, Debug)]
pub(super) struct Tuner {
    shape: Shape,
    stride: u32,
    interval: u64,
    next: u64,
    replicas: Vec<Replica>,
}

/// The controller of a few rows, under another ageing period.
#[derive(Clone, Debug)]
struct Replica {
    ranking: Ranking,
    image: Image,
    ageing: Ageing,
    period: u64,
    misses: u64,
}

impl Tuner {
    /// Begins with the first interval.
    pub(super) fn new(shape: Shape, interval: u64) -> Self {
        let stride = (shape.rows() / FEWEST_ROWS).clamp(1, STRIDE);
        Self { shape, stride, interval: interval.max(1), next: 0, replicas: Vec::new() }
    }

    /// The nearest period that may be used.
    pub(super) fn within_bounds(&self, period: u64) -> u64 {
        period.clamp((self.interval / SPAN).max(1), self.interval)
    }

    /// Replicas age, and at the end of an interval new ones begin: the period to use from now on.
    pub(super) fn pass_time(&mut self, now: u64, ranking: &Ranking, image: &Image, period: u64) -> u64 {
        if now < self.next {
            self.replicas.iter_mut().for_each(|replica| replica.age(now));
            return period;
        }
        self.next = now.saturating_add(self.interval);
        let best = self.replicas.iter().min_by_key(|replica| replica.misses);
        let period = best.map_or(period, |replica| replica.period);
        let stride = self.stride as usize;
        // In the order of preference among equals.
        let periods = [period, period.saturating_mul(2), period / 2].map(|period| self.within_bounds(period));
        let replica = |period| Replica {
            ranking: ranking.sample(stride),
            image: image.sample(stride),
            ageing: Ageing::new(period, now),
            period,
            misses: 0,
        };
        self.replicas = periods.into_iter().map(replica).collect();
        period
    }

    /// A lookup that came back.
    pub(super) fn count(&mut self, row: u32, key: Key) {
        if row.is_multiple_of(self.stride) {
            let chain = self.shape.chain();
            self.replicas.iter_mut().for_each(|replica| replica.count(row / self.stride, key, chain));
        }
    }
}

impl Replica {
    fn age(&mut self, now: u64) {
        self.ranking.age_by(self.ageing.due(now));
    }

    fn count(&mut self, row: u32, key: Key, chain: usize) {
        let place = self.ranking.count(row, key);
        if !self.image.keys(row).contains(&key) {
            self.misses += 1;
            if place < chain {
                self.image.set(row, self.ranking.top(row, chain));
            }
        }
    }
}

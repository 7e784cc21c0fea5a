//! Counters of a site: how its requests were answered, and how long they waited. They stay when the site's settings change.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use trueplane_units::Nanos;

/// Parts of the counters of hits, so that threads seldom write to the same line of memory.
const STRIPES: usize = 16;

/// Upper bounds of the classes of waits, in ns, from 100 µs to 100 s; longer waits are in one class more.
pub(crate) const BOUNDS: [u64; 37] = bounds();

const fn bounds() -> [u64; 37] {
    const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];
    let (mut all, mut place, mut unit) = ([0; 37], 0, 10_000);
    while place < all.len() {
        all[place] = STEPS[place % STEPS.len()] * unit;
        place += 1;
        if place % STEPS.len() == 0 {
            unit *= 10;
        }
    }
    all
}

/// The way in which a request was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// From a fetch that an earlier request had begun.
    Delayed,
    /// From a fetch that it began.
    Miss,
    /// By the origin, for this request alone.
    Passed,
}

/// Counters of a thread, or of a few.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe {
    hits: AtomicU64,
    bytes: AtomicU64,
}

/// Waits of requests that were no hits.
#[derive(Clone, Debug)]
struct Waits {
    delayed: u64,
    misses: u64,
    /// Sums in ns.
    of_delayed: u128,
    of_misses: u128,
    /// Times that the fetches of misses took, in ns: their sum, and that of their squares.
    fetching: u128,
    fetching_squared: f64,
    classes: [u64; BOUNDS.len() + 1],
}

/// Counters of a site.
#[derive(Debug)]
pub(crate) struct Tally {
    stripes: [Stripe; STRIPES],
    waits: Mutex<Waits>,
    passed: AtomicU64,
    asked: AtomicU64,
    failed: AtomicU64,
}

impl Default for Tally {
    fn default() -> Self {
        let waits = Waits {
            delayed: 0,
            misses: 0,
            of_delayed: 0,
            of_misses: 0,
            fetching: 0,
            fetching_squared: 0.0,
            classes: [0; BOUNDS.len() + 1],
        };
        Self {
            stripes: Default::default(),
            waits: Mutex::new(waits),
            passed: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }
}

/// The part of the counters that this thread writes to.
fn own_stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Relaxed) % STRIPES;
    }
    OWN.with(|own| *own)
}

impl Tally {
    /// A request was a hit, whose answer has a body of so many bytes.
    pub(crate) fn hit(&self, bytes: u64) {
        let stripe = &self.stripes[own_stripe()];
        stripe.hits.fetch_add(1, Relaxed);
        stripe.bytes.fetch_add(bytes, Relaxed);
    }

    /// A request was served otherwise: it waited so long, for a fetch that took `took` if it has ended, and was sent so many bytes.
    pub(crate) fn served(&self, served: Served, wait: Nanos, took: Option<Nanos>, bytes: u64) {
        self.stripes[own_stripe()].bytes.fetch_add(bytes, Relaxed);
        match served {
            Served::Passed => drop(self.passed.fetch_add(1, Relaxed)),
            Served::Delayed | Served::Miss => {
                let mut waits = self.lock();
                waits.classes[BOUNDS.partition_point(|bound| *bound < wait.0)] += 1;
                if served == Served::Delayed {
                    waits.delayed += 1;
                    waits.of_delayed += u128::from(wait.0);
                } else {
                    let took = took.unwrap_or(wait).0;
                    waits.misses += 1;
                    waits.of_misses += u128::from(wait.0);
                    waits.fetching += u128::from(took);
                    waits.fetching_squared += (took as f64) * (took as f64);
                }
            }
        }
    }

    /// The origin was asked.
    pub(crate) fn ask(&self) {
        self.asked.fetch_add(1, Relaxed);
    }

    /// The origin did not answer, or with an error of its own.
    pub(crate) fn fail(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All counters as they are now.
    pub(crate) fn totals(&self) -> Totals {
        let waits = self.lock().clone();
        let sum = |of: fn(&Stripe) -> &AtomicU64| self.stripes.iter().map(|one| of(one).load(Relaxed)).sum();
        Totals {
            hits: sum(|stripe| &stripe.hits),
            delayed: waits.delayed,
            misses: waits.misses,
            passed: self.passed.load(Relaxed),
            bytes: sum(|stripe| &stripe.bytes),
            asked: self.asked.load(Relaxed),
            failed: self.failed.load(Relaxed),
            waited: (waits.of_delayed + waits.of_misses) as f64,
            fetching: waits.fetching as f64,
            fetching_squared: waits.fetching_squared,
            classes: waits.classes.to_vec(),
        }
    }
}

/// Counters of a site at a time, or what came to them between two times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) hits: u64,
    pub(crate) delayed: u64,
    pub(crate) misses: u64,
    pub(crate) passed: u64,
    pub(crate) bytes: u64,
    pub(crate) asked: u64,
    pub(crate) failed: u64,
    /// Time that delayed hits and misses waited together, in ns.
    pub(crate) waited: f64,
    /// Time that the fetches of misses took together, in ns, and the sum of its squares.
    pub(crate) fetching: f64,
    pub(crate) fetching_squared: f64,
    /// Waits of delayed hits and misses, by class.
    pub(crate) classes: Vec<u64>,
}

impl Totals {
    /// Requests that a cache may answer.
    pub(crate) fn requests(&self) -> u64 {
        self.hits + self.delayed + self.misses
    }

    fn per_request(&self, time: f64) -> Option<f64> {
        (self.requests() > 0).then(|| time / self.requests() as f64)
    }

    /// Mean wait in ns by the classical model, share of misses × mean time of a fetch: delayed hits count as hits.
    pub(crate) fn classical(&self) -> Option<f64> {
        self.per_request(self.fetching)
    }

    /// Mean wait in ns by a model that knows delayed hits: each of them comes at any time of its fetch alike, and waits for the rest of it.
    /// A time in fetches is more often in a long one, so that the mean rest is E\[L²\] ÷ 2E\[L\].
    pub(crate) fn refined(&self) -> Option<f64> {
        let rest = if self.fetching > 0.0 { self.fetching_squared / (2.0 * self.fetching) } else { 0.0 };
        self.per_request(self.fetching + self.delayed as f64 * rest)
    }

    /// Mean wait in ns as it was.
    pub(crate) fn measured(&self) -> Option<f64> {
        self.per_request(self.waited)
    }

    /// The wait in ns that so large a share of the requests do not exceed: the bound of its class.
    pub(crate) fn quantile(&self, share: f64) -> Option<u64> {
        let requests = self.requests();
        let needed = (share * requests as f64).ceil() as u64;
        let mut found = self.hits;
        if requests == 0 || needed <= found {
            return (requests > 0).then_some(0);
        }
        let mut classes = BOUNDS.iter().zip(&self.classes);
        let class = classes.find(|(_, count)| {
            found += *count;
            needed <= found
        });
        Some(class.map_or(BOUNDS[BOUNDS.len() - 1], |(bound, _)| *bound))
    }

    /// What came since an earlier time.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let classes = self.classes.iter().enumerate();
        Self {
            hits: self.hits.saturating_sub(before.hits),
            delayed: self.delayed.saturating_sub(before.delayed),
            misses: self.misses.saturating_sub(before.misses),
            passed: self.passed.saturating_sub(before.passed),
            bytes: self.bytes.saturating_sub(before.bytes),
            asked: self.asked.saturating_sub(before.asked),
            failed: self.failed.saturating_sub(before.failed),
            waited: (self.waited - before.waited).max(0.0),
            fetching: (self.fetching - before.fetching).max(0.0),
            fetching_squared: (self.fetching_squared - before.fetching_squared).max(0.0),
            classes: classes
                .map(|(class, count)| count.saturating_sub(before.classes.get(class).copied().unwrap_or(0)))
                .collect(),
        }
    }
}

impl<'a> std::iter::Sum<&'a Totals> for Totals {
    fn sum<I: Iterator<Item = &'a Totals>>(all: I) -> Self {
        let mut sum = Self { classes: vec![0; BOUNDS.len() + 1], ..Self::default() };
        for one in all {
            sum.hits += one.hits;
            sum.delayed += one.delayed;
            sum.misses += one.misses;
            sum.passed += one.passed;
            sum.bytes += one.bytes;
            sum.asked += one.asked;
            sum.failed += one.failed;
            sum.waited += one.waited;
            sum.fetching += one.fetching;
            sum.fetching_squared += one.fetching_squared;
            sum.classes.iter_mut().zip(&one.classes).for_each(|(sum, one)| *sum += one);
        }
        sum
    }
}

/// Counters by the names of sites.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Mutex<HashMap<String, Arc<Tally>>>);

impl Tallies {
    /// The counters of the site of this name: those that it had before, if it had any.
    pub(crate) fn of(&self, name: &str) -> Arc<Tally> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry_ref(name).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Ten requests: six hits, two misses whose fetches take 100 ms and 300 ms, and two delayed hits that wait 50 ms and 150 ms.
    fn ten() -> Tally {
        let tally = Tally::default();
        (0..6).for_each(|_| tally.hit(10));
        for (served, wait) in
            [(Served::Miss, 100), (Served::Miss, 300), (Served::Delayed, 50), (Served::Delayed, 150)]
        {
            tally.served(served, Nanos(wait * MS), Some(Nanos(wait * MS)), 5);
        }
        tally.served(Served::Passed, Nanos(0), None, 1);
        tally
    }

    #[test]
    fn the_three_numbers_by_hand() {
        let totals = ten().totals();
        assert_eq!((totals.requests(), totals.passed, totals.bytes), (10, 1, 81));
        // 2 of 10 × 200 ms.
        assert_eq!(totals.classical(), Some(40.0 * MS as f64));
        // The rest of a fetch: (100² + 300²) ÷ (2 × 400) = 125 ms, for 2 of 10 more.
        assert_eq!(totals.refined(), Some(65.0 * MS as f64));
        assert_eq!(totals.measured(), Some(60.0 * MS as f64));
        assert_eq!(Totals::default().measured(), None);
    }

    #[test]
    fn quantiles_by_hand() {
        let totals = ten().totals();
        assert_eq!(totals.quantile(0.5), Some(0));
        assert_eq!(totals.quantile(0.7), Some(50 * MS));
        assert_eq!(totals.quantile(0.9), Some(150 * MS));
        assert_eq!(totals.quantile(0.99), Some(300 * MS));
        assert_eq!(Totals::default().quantile(0.5), None);
        let tally = Tally::default();
        tally.served(Served::Miss, Nanos::MAX, None, 0);
        assert_eq!(tally.totals().quantile(0.5), Some(100_000 * MS));
    }

    #[test]
    fn bounds_grow_from_100_us_to_100_s() {
        assert_eq!((BOUNDS[0], BOUNDS[1], BOUNDS[36]), (100_000, 150_000, 100_000_000_000));
        assert!(BOUNDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn what_came_between_two_times_and_sums() {
        let tally = ten();
        let before = tally.totals();
        tally.hit(1);
        tally.served(Served::Miss, Nanos(MS), None, 0);
        let since = tally.totals().since(&before);
        assert_eq!((since.hits, since.misses, since.delayed, since.bytes), (1, 1, 0, 1));
        assert_eq!(since.classes.iter().sum::<u64>(), 1);
        let all: Totals = [&before, &since].into_iter().sum();
        assert_eq!(all, tally.totals());
    }

    #[test]
    fn a_name_has_the_same_counters_all_the_time() {
        let tallies = Tallies::default();
        tallies.of("a").hit(1);
        assert_eq!((tallies.of("a").totals().hits, tallies.of("b").totals().hits), (1, 0));
    }
}

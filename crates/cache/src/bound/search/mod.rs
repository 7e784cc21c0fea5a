//! The search: prices from below, schedules from above.
//!
//! An [`Ascent`] finds prices; `relaxed` tells what they are worth. Every few steps `guided` makes a schedule of them, and meanwhile
//! `improve` works on the best schedule, with `occupancy` as its memory.

mod guided;
mod improve;
mod occupancy;
mod relaxed;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trueplane_study::Observer;
use trueplane_study::dual::{Ascent, Highest, Scarce, sums};
use trueplane_study::rounded::as_asked;

use crate::belatedly::{Instance, Prices, Schedule};
use crate::bounds::Bounds;
use guided::guided;
use improve::Improver;
use relaxed::Relaxed;

/// Limits of the search; it ends with the first that is reached. An observer that interrupts ends it too.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The bounds are this close: (upper − lower) / lower.
    pub gap: f64,
    /// Most time, by the observer's clock.
    pub time: Option<Duration>,
    /// Most steps of the search; one step looks at all requests once.
    pub iterations: u64,
}

impl Limits {
    /// The limits in words.
    pub(crate) fn words(&self) -> String {
        let mut ends = vec![format!("until the bounds are {} apart", as_asked(self.gap))];
        ends.extend(self.time.map(|time| format!("for {} s at most", time.as_secs_f64())));
        let iterations = Some(self.iterations).filter(|&iterations| iterations < u64::MAX);
        ends.extend(iterations.map(|iterations| format!("for {iterations} iterations at most")));
        ends.join(", ")
    }
}

/// Bounds that the search has found, with their proofs.
#[derive(Clone, Debug)]
pub struct Solution {
    /// No schedule has a smaller total latency, by [`Prices::lower`].
    pub lower: u64,
    /// The schedule's total latency.
    pub upper: u64,
    /// Prices that prove the lower bound.
    pub prices: Prices,
    /// Schedule that has the upper bound.
    pub schedule: Schedule,
    /// Steps made.
    pub iterations: u64,
    /// The bounds as they came closer: one for every change.
    pub history: Vec<Milestone>,
}

/// The bounds at some time of the search.
#[derive(Clone, Copy, Debug)]
pub struct Milestone {
    /// Time since the search began, by the observer's clock.
    pub time: Option<Duration>,
    /// Steps made.
    pub iterations: u64,
    /// The lower bound.
    pub lower: u64,
    /// The upper bound.
    pub upper: u64,
}

impl Solution {
    /// (upper − lower) / lower; zero if both are.
    pub fn gap(&self) -> f64 {
        gap(self.lower, self.upper)
    }
}

fn gap(lower: u64, upper: u64) -> f64 {
    Bounds { lower, upper }.gap()
}

/// Steps of the ascent from one look at the bounds to the next, and the sweeps of the improvement that go on beside them.
const STEPS: u64 = 50;
const SWEEPS: u64 = 4;

/// Length of the first step, in units of the best price that is the same everywhere.
const STEP: f64 = 12.0;
/// Cost differences that are smoothed over at first, in mean costs of a miss.
const SMOOTH: f64 = 0.3;

/// Sums of the best prices up to and with each gap.
fn prefix(ascent: &Ascent<Relaxed<'_>>) -> Vec<f64> {
    sums(&ascent.best().prices[0]).split_off(1)
}

/// Seed of the improvement's random draws.
const SEED: u64 = 7;

/// Looks for bounds until a limit is reached; on all of rayon's threads, with the same result on any number of them unless
/// time ends it.
pub fn search(instance: &Instance, limits: &Limits, observer: &dyn Observer) -> Solution {
    Search::new(instance, limits, observer).run()
}

struct Search<'a> {
    instance: &'a Instance,
    limits: Limits,
    observer: &'a dyn Observer,
    began: Option<Duration>,
    iterations: AtomicU64,
    /// Units of the progress that the observer knows of.
    reported: AtomicU64,
    prices: Prices,
    lower: u64,
    history: Vec<Milestone>,
}

impl<'a> Search<'a> {
    fn new(instance: &'a Instance, limits: &Limits, observer: &'a dyn Observer) -> Self {
        let prices = Prices { bits: 0, gaps: vec![0; instance.requests()] };
        Self {
            instance,
            limits: *limits,
            observer,
            began: observer.elapsed(),
            iterations: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            lower: prices.lower(instance),
            prices,
            history: Vec::new(),
        }
    }

    fn run(mut self) -> Solution {
        self.announce();
        // Without prices everything is worth its next miss: optimal where there is room for all.
        let free = vec![0.0; self.instance.requests()];
        let mut improver = Improver::new(self.instance, guided(self.instance, &free), SEED);
        self.milestone(&improver);
        if !self.done(&improver) {
            let mut ascent = self.ascent();
            self.take_stock(&ascent, &mut improver);
            while !self.done(&improver) {
                self.advance(&mut ascent, &mut improver);
            }
        }
        let (schedule, upper) = improver.best();
        Solution {
            lower: self.lower,
            upper,
            schedule: schedule.clone(),
            prices: self.prices,
            iterations: self.iterations.into_inner(),
            history: self.history,
        }
    }

    fn announce(&self) {
        let total = match self.limits.time {
            Some(limit) if self.began.is_some() => limit.as_millis() as u64,
            _ => self.limits.iterations,
        };
        self.observer.stage("searching", total);
    }

    fn ascent(&self) -> Ascent<Relaxed<'a>> {
        let instance = self.instance;
        let highest = Highest::Stretch(self.miss());
        let capacity = Scarce::new(instance.terms.capacity as f64, instance.requests(), highest);
        // There is nothing to hold before the first request.
        let capacity = capacity.priced_from(1);
        Ascent::new(Relaxed::new(instance), vec![capacity], STEP, 1, || self.in_time())
    }

    /// Mean cost of a miss.
    fn miss(&self) -> f64 {
        let instance = self.instance;
        let visits = (0..instance.objects()).flat_map(|object| instance.visits(object));
        let misses = visits.map(|visit| visit.delay as f64).sum::<f64>();
        (misses / instance.requests() as f64).max(f64::MIN_POSITIVE)
    }

    /// Improves prices and the schedule side by side.
    fn advance(&mut self, ascent: &mut Ascent<Relaxed<'_>>, improver: &mut Improver<'_>) {
        let guide = prefix(ascent);
        let smooth = SMOOTH * self.miss();
        let this = &*self;
        // What the improvement does must not depend on how far the ascent has got meanwhile.
        rayon::join(
            || ascent.advance(STEPS, smooth, || this.step()),
            || (0..SWEEPS).take_while(|_| this.in_time()).for_each(|_| improver.sweep(&guide)),
        );
        self.take_stock(ascent, improver);
    }

    /// Makes a lower bound of the best prices, and a schedule, if they are better than those before.
    fn take_stock(&mut self, ascent: &Ascent<Relaxed<'_>>, improver: &mut Improver<'_>) {
        if ascent.best().lower > self.lower as f64 {
            let prefix = prefix(ascent);
            let prices = fixed(&prefix);
            let lower = prices.lower(self.instance);
            if lower > self.lower {
                (self.lower, self.prices) = (lower, prices);
                // Whoever pressed Ctrl-C does not want to wait for one schedule more.
                if !self.observer.interrupted() {
                    improver.offer(&guided(self.instance, &prefix));
                }
            }
        }
        self.milestone(improver);
    }

    fn milestone(&mut self, improver: &Improver<'_>) {
        let upper = improver.best().1;
        let time = self.passed();
        let iterations = self.iterations.load(Ordering::Relaxed);
        let latest = self.history.last().map(|milestone| (milestone.lower, milestone.upper));
        if latest != Some((self.lower, upper)) {
            self.history.push(Milestone { time, iterations, lower: self.lower, upper });
        }
        self.observer.tell(&format!("gap {:.3}%", 100.0 * gap(self.lower, upper)));
    }

    /// Whether the bounds are close enough or the search must end.
    fn done(&self, improver: &Improver<'_>) -> bool {
        gap(self.lower, improver.best().1) <= self.limits.gap || !self.may_go_on()
    }

    /// Counts a step, if one more may be made.
    fn step(&self) -> bool {
        let go_on = self.may_go_on();
        self.progress();
        if go_on {
            self.iterations.fetch_add(1, Ordering::Relaxed);
        }
        go_on
    }

    fn may_go_on(&self) -> bool {
        self.in_time() && self.iterations.load(Ordering::Relaxed) < self.limits.iterations
    }

    fn in_time(&self) -> bool {
        let in_time = match (self.limits.time, self.passed()) {
            (Some(limit), Some(passed)) => passed < limit,
            _ => true,
        };
        in_time && !self.observer.interrupted()
    }

    /// Tells the observer how much of the time, or of the steps, has gone.
    fn progress(&self) {
        let now = match (self.limits.time, self.passed()) {
            (Some(_), Some(passed)) => passed.as_millis() as u64,
            _ => self.iterations.load(Ordering::Relaxed),
        };
        let before = self.reported.fetch_max(now, Ordering::Relaxed);
        self.observer.advance(now.saturating_sub(before));
    }

    /// Time since the search began.
    fn passed(&self) -> Option<Duration> {
        Some(self.observer.elapsed()?.saturating_sub(self.began?))
    }
}

/// Prefix sums of prices in fixed point, as fine as leaves room for their differences in 32 bits.
fn fixed(prefix: &[f64]) -> Prices {
    let differences = || prefix.windows(2).map(|pair| pair[1] - pair[0]);
    let most = differences().fold(0.0, f64::max);
    let bits = if most > 0.0 { (32.0 - most.log2().ceil()).clamp(0.0, 48.0) as u32 } else { 0 };
    let scale = f64::from(bits).exp2();
    let gaps = std::iter::once(0).chain(differences().map(|price| (price * scale) as u64)).collect();
    Prices { bits, gaps }
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;
    use crate::belatedly::{Arrival, Terms};

    /// Requests for objects of which low numbers are asked for more often, in bursts.
    fn instance(requests: u64, fetch: u64, terms: Terms, largest: u64) -> Instance {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut object = 0;
        let arrivals: Vec<Arrival> = (0..requests)
            .map(|time| {
                if draw.random_range(0..4) > 0 {
                    object = draw.random_range(1u32..15).pow(2) - draw.random_range(0..2);
                }
                Arrival { time, object, size: 1 + u64::from(object) % largest, fetch }
            })
            .collect();
        Instance::new(&arrivals, terms).unwrap()
    }

    fn limits(iterations: u64) -> Limits {
        Limits { gap: 0.0, time: None, iterations }
    }

    const TERMS: Terms = Terms { capacity: 12, hit_latency: 1, warmup: 50, bypass: true };

    #[test]
    fn bounds_are_true_and_close() {
        for (fetch, bypass, largest) in
            [(1, true, 1), (30, true, 1), (30, false, 1), (200, true, 3), (30, false, 4)]
        {
            let instance = instance(3_000, fetch, Terms { bypass, ..TERMS }, largest);
            let found = search(&instance, &limits(700), &());
            assert_eq!(found.prices.lower(&instance), found.lower);
            let (cost, held) = found.schedule.replay(&instance);
            assert_eq!(cost, found.upper);
            assert!(held.iter().all(|&held| held <= instance.terms.capacity), "fetch {fetch}");
            // So few objects, some of which take a fourth of the cache, leave fractions of them worth something.
            assert!(found.lower <= found.upper && found.gap() < 0.1, "fetch {fetch}: {}", found.gap());
            assert!(found.history.is_sorted_by(|a, b| a.lower <= b.lower && a.upper >= b.upper));
        }
    }

    #[test]
    fn idle_stretches_do_not_hide_busy_ones() {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(3);
        let arrivals: Vec<Arrival> = (0..4_000)
            .map(|time| {
                let object = if time < 3_000 { 0 } else { draw.random_range(0..40) };
                Arrival { time, object, size: 1, fetch: 10 }
            })
            .collect();
        let instance = Instance::new(&arrivals, Terms { capacity: 10, ..TERMS }).unwrap();
        let found = search(&instance, &limits(700), &());
        assert!(found.gap() < 0.02, "{} to {}", found.lower, found.upper);
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let instance = instance(3_000, 30, TERMS, 2);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| search(&instance, &limits(250), &()))
        };
        let (one, three) = (on(1), on(3));
        assert_eq!((one.lower, one.upper, one.iterations), (three.lower, three.upper, 250));
        assert_eq!((one.prices, one.schedule), (three.prices, three.schedule));
    }

    #[test]
    fn where_there_is_room_for_all_nothing_is_searched() {
        let instance = instance(500, 30, Terms { capacity: 1_000, ..TERMS }, 1);
        let found = search(&instance, &limits(700), &());
        assert_eq!((found.lower, found.iterations), (found.upper, 0));
    }

    #[test]
    fn what_costs_nothing_has_the_bound_zero() {
        let instance = instance(500, 0, Terms { hit_latency: 0, ..TERMS }, 1);
        let found = search(&instance, &limits(10), &());
        assert_eq!((found.lower, found.upper), (0, 0));
        let empty = Instance::new(&[], TERMS).unwrap();
        assert_eq!(search(&empty, &limits(10), &()).upper, 0);
    }
}

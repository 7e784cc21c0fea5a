//! The offline optimum under a control loop: how few misses there could have been, had the controller known all that
//! comes.
//!
//! Source: Song et al., *Revisiting Application Offloads on Programmable Switches* (DySO), 2022, appendix A. In each
//! batch interval a key is in the table or not, as was decided when it began. At most as many keys are in it as it
//! has entries, a batch inserts at most so many, and only keys that were looked up in the interval before. A key that
//! is inserted misses until the interval is over, one that is evicted after the middle of it, and one that stays
//! where it is always or never.
//!
//! The source solves this as a flow of many commodities, for a sample of the keys. In fact one commodity is enough:
//! entries of the table flow from key to key through a pool of those that are free, which each batch lets out so many
//! of at most. So the linear programme has whole optima, and there are prices of an entry and of an insertion in each
//! interval by which the keys, each for itself, prove exactly the optimum. No sampling is needed: the search for such
//! prices looks at all keys, in parallel.
//!
//! 1. `problem`: lookups by key and interval.
//! 2. `path`: one key under prices; `prices`: the bound that they prove, in integers.
//! 3. `relaxed`: all keys under prices, for the search that `cache bound` makes too ([`Ascent`]).
//! 4. `guided`: a schedule from prices; `schedule`: follows it and counts its misses.
//! 5. [`bound()`]: both, until they are close.
//! 6. `lp`, with the feature of that name: the exact way, for small workloads.

mod guided;
#[cfg(feature = "lp")]
pub mod lp;
mod path;
mod prices;
mod problem;
mod relaxed;
mod schedule;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use trueplane_study::dual::{Ascent, Highest, Scarce, sums};
use trueplane_study::{Error, Observer};

use self::path::Tariff;
use self::prices::Prices;
use self::relaxed::Relaxed;
use self::schedule::Follower;

pub use problem::Problem;

/// Steps of the ascent from one look at the bounds to the next.
const STEPS: u64 = 50;
/// Length of the first step, in units of the best price that is the same everywhere.
const STEP: f64 = 0.3;
/// Cost differences that are smoothed over at first, in such prices of an entry and of an insertion.
const SMOOTH: [f64; 2] = [1.0, 0.1];
/// Number of times that the best prices that are the same everywhere are looked for in turn.
const TURNS: usize = 2;

/// Limits of the search for a bound.
#[derive(Clone, Copy, Debug)]
pub struct BoundLimits {
    /// Steps at most.
    pub iterations: u64,
    /// The search ends once lower and upper bound are this close, as a share of the lower.
    pub gap: f64,
}

/// Between what the least number of misses lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// No schedule has fewer.
    pub lower: u64,
    /// A schedule has so many.
    pub upper: u64,
    /// Steps of the search; each looks at all keys once.
    pub iterations: u64,
}

impl Bound {
    /// (upper − lower) / lower; zero if both are.
    pub fn gap(&self) -> f64 {
        if self.upper <= self.lower { 0.0 } else { self.upper as f64 / self.lower as f64 - 1.0 }
    }
}

/// Looks for prices that prove a lower bound and for a schedule that is an upper one, until a limit is reached; on
/// all of rayon's threads, with the same result on any number of them.
///
/// Memory, beside the problem: 4 B for every key and interval in which it is looked up, 40 B a key, 32 B an entry of
/// the table that is used, and about 200 B an interval.
///
/// # Errors
/// If the observer interrupts.
pub fn bound(problem: &Problem, limits: &BoundLimits, observer: &dyn Observer) -> Result<Bound, Error> {
    Search::new(problem, limits, observer)?.run()
}

/// The search for prices of entries and insertions.
fn ascent<'a>(problem: &'a Problem, go_on: impl Fn() -> bool) -> Ascent<Relaxed<'a>> {
    // Nobody pays more than all lookups are worth.
    let highest = Highest::BusyStretches((problem.lookups() as f64).max(1.0));
    let scarce =
        [problem.capacity, problem.batch].map(|there| Scarce::new(there as f64, problem.intervals, highest));
    Ascent::new(Relaxed::new(problem), scarce.into(), STEP, TURNS, go_on)
}

/// Cost differences that are smoothed over at first.
fn smooth(ascent: &Ascent<Relaxed<'_>>) -> f64 {
    let [entries, insertions] = [0, 1].map(|side| ascent.scarce()[side].level());
    SMOOTH[0] * entries + SMOOTH[1] * insertions
}

struct Search<'a> {
    problem: &'a Problem,
    limits: &'a BoundLimits,
    observer: &'a dyn Observer,
    iterations: Cell<u64>,
    bound: Bound,
}

impl<'a> Search<'a> {
    /// Begins with what there is without prices.
    fn new(problem: &'a Problem, limits: &'a BoundLimits, observer: &'a dyn Observer) -> Result<Self, Error> {
        observer.stage("bounding", limits.iterations);
        let bound = Bound { lower: 0, upper: u64::MAX, iterations: 0 };
        let mut search = Self { problem, limits, observer, iterations: Cell::new(0), bound };
        search.prove(&Prices::zero(problem.intervals));
        let zero = vec![0.0; problem.intervals + 1];
        search.follow(&Tariff { rent: &zero, toll: &zero, miss: 1.0 })?;
        Ok(search)
    }

    fn run(mut self) -> Result<Bound, Error> {
        if !self.is_done() {
            let mut ascent = ascent(self.problem, || !self.observer.interrupted());
            let smooth = smooth(&ascent);
            self.take_stock(&ascent)?;
            while !self.is_done() {
                ascent.advance(STEPS, smooth, || self.step());
                self.take_stock(&ascent)?;
            }
        }
        if self.observer.interrupted() {
            return Err(Error::Interrupted);
        }
        Ok(Bound { iterations: self.iterations.get(), ..self.bound })
    }

    /// Makes a lower bound of the best prices, and a schedule.
    fn take_stock(&mut self, ascent: &Ascent<Relaxed<'_>>) -> Result<(), Error> {
        let [entries, insertions] = &ascent.best().prices[..] else { unreachable!("two things are scarce") };
        if self.prove(&Prices::fixed(entries, insertions)) {
            self.follow(&Tariff { rent: &sums(entries), toll: insertions, miss: 1.0 })?;
        }
        self.observer.tell(&format!("gap {:.3}%", 100.0 * self.bound.gap()));
        Ok(())
    }

    /// Whether these prices prove more than those before.
    fn prove(&mut self, prices: &Prices) -> bool {
        let lower = prices.lower(self.problem).unwrap_or(0);
        let better = lower > self.bound.lower;
        self.bound.lower = self.bound.lower.max(lower);
        better
    }

    /// Counts the misses of the schedule that prices lead to.
    fn follow(&mut self, tariff: &Tariff<'_, f64>) -> Result<(), Error> {
        let mut follower = Follower::new(self.problem);
        guided::guided(self.problem, tariff, |batch| follower.follow(batch))?;
        self.bound.upper = self.bound.upper.min(follower.misses());
        if self.bound.lower > self.bound.upper {
            let Bound { lower, upper, .. } = self.bound;
            let message = format!("internal error: the lower bound {lower} is above the upper bound {upper}");
            return Err(Error::Internal(message));
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.bound.gap() <= self.limits.gap || !self.may_go_on()
    }

    fn may_go_on(&self) -> bool {
        self.iterations.get() < self.limits.iterations && !self.observer.interrupted()
    }

    /// Counts a step, if one more may be made.
    fn step(&self) -> bool {
        let go_on = self.may_go_on();
        if go_on {
            self.iterations.set(self.iterations.get() + 1);
            self.observer.advance(1);
        }
        go_on
    }
}

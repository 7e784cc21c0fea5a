//! The exact way: the flow model as a linear programme, which HiGHS solves, and the thesis's rounding of what it finds.
//!
//! It is the reference for [`search`](super::search()), which is as good within a fraction of a percent and far faster: the
//! optimum of the programme is the best bound that any prices can prove. Floating-point errors of the solver do no harm:
//! the bound that counts is what the prices, taken from the programme's duals, prove in integers.
//!
//! 1. `network`: the edges that an object's flow may take.
//! 2. [`solve()`]: all objects under one capacity.
//! 3. [`round()`]: a schedule out of fractions.

mod network;
pub mod round;
pub mod solve;

use std::time::Duration;

use crate::belatedly::{Instance, Schedule};

pub use round::round;
pub use solve::{Flow, LpSolution, solve};

use trueplane_study::{Error, Observer};

use super::search::{Limits, Milestone, Solution};

/// Where prices are the better way by far: from 10,000 to 20,000 requests the time grew from 6 s to 34 s.
pub const MOST_REQUESTS: usize = 100_000;

/// Number of schedules that are drawn from the fractions, of which the best counts; more of them gain little.
const ROUNDINGS: u64 = 32;

/// Reason why the linear program has no solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LpError {
    /// The programme would be too large.
    #[error(
        "the linear programme takes at most {MOST_REQUESTS} requests and there are {0}: take the first ones with --requests, or leave out --method lp"
    )]
    TooLong(usize),
    /// The time was over before there was an optimum.
    #[error(
        "the linear programme was not solved in time: allow more with --time-limit, take fewer requests with --requests, or leave out --method lp"
    )]
    OutOfTime,
    /// Nothing fits.
    #[error(
        "no schedule fits into a capacity of {0} without bypass: objects that must be there at once are larger together"
    )]
    Infeasible(u64),
    /// The solver gave up.
    #[error("the solver of linear programmes stopped without an optimum: {0}")]
    Solver(String),
}

impl From<LpError> for Error {
    fn from(error: LpError) -> Self {
        let message = error.to_string();
        match error {
            LpError::TooLong(_) | LpError::Infeasible(_) => Error::Parameters(message),
            LpError::OutOfTime | LpError::Solver(_) => Error::Unfinished(message),
        }
    }
}

/// Bounds by the linear programme: prices from its duals, and the best of several roundings. The solver itself heeds the time
/// limit only; if the observer has interrupted when it is done, the first rounding is the last one. Deterministic.
///
/// # Errors
/// If the programme is too large, has no solution, or is not solved in time; if the observer interrupts before the solver begins.
pub fn search(instance: &Instance, limits: &Limits, observer: &dyn Observer) -> Result<Solution, Error> {
    if observer.interrupted() {
        return Err(Error::Interrupted);
    }
    observer.stage("solving", 0);
    let began = observer.elapsed();
    let passed = || Some(observer.elapsed()?.saturating_sub(began?));
    let optimum = solve(instance, limits.time)?;
    observer.stage("rounding", ROUNDINGS);
    let mut best: Option<Solution> = None;
    for seed in 0..ROUNDINGS {
        let schedule = round(instance, &optimum, seed).ok_or(LpError::Infeasible(instance.terms.capacity))?;
        best = Some(better(instance, &optimum, best, schedule, passed()));
        observer.advance(1);
        let close = best.as_ref().is_some_and(|best| best.gap() <= limits.gap);
        let late = limits.time.zip(passed()).is_some_and(|(limit, passed)| passed >= limit);
        if close || late || observer.interrupted() {
            break;
        }
    }
    best.ok_or(Error::Interrupted)
}

/// The better of what was found so far and a new schedule.
fn better(
    instance: &Instance,
    optimum: &LpSolution,
    best: Option<Solution>,
    schedule: Schedule,
    time: Option<Duration>,
) -> Solution {
    let total = schedule.replay(instance).0;
    let mut best = match best {
        Some(best) if best.upper <= total => Solution { iterations: best.iterations + 1, ..best },
        Some(best) => Solution { upper: total, schedule, iterations: best.iterations + 1, ..best },
        None => Solution {
            lower: optimum.prices.lower(instance),
            upper: total,
            prices: optimum.prices.clone(),
            schedule,
            iterations: 1,
            history: Vec::new(),
        },
    };
    if best.history.last().is_none_or(|last| last.upper > best.upper) {
        let Solution { lower, upper, iterations, .. } = best;
        best.history.push(Milestone { time, iterations, lower, upper });
    }
    best
}

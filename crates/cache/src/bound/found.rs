//! What `cache bound` finds.

use std::time::Duration;

use trueplane_study::metrics::ratio;

use super::burstiness::Correlation;
use super::problem::{Problem, Scenario};
use super::replay::Replayed;
use super::search::Solution;
use crate::bounds::Bounds;
use crate::grid::{Point, Points};

/// The bounds with what proves them, and the policies beside them.
#[derive(Debug)]
pub struct Found {
    /// A grid of one point: the policies at it, none if they were not run to the end.
    pub grid: Points,
    /// The cache and what it serves.
    pub scenario: Scenario,
    /// The trace as an instance of the model.
    pub problem: Problem,
    /// Prices and a schedule.
    pub solution: Solution,
    /// Fate of the requests under the schedule.
    pub replayed: Replayed,
    /// Time that the search took; none without a clock.
    pub took: Option<Duration>,
    /// The search was stopped before a limit was reached.
    pub interrupted: bool,
    /// The observer interrupted before or while policies were run, so that none is told of.
    pub policies_skipped: bool,
    /// Bursty objects under the schedule compared with Bélády; none if that was not looked at: without policies, without bypass, or
    /// interrupted.
    pub burstiness: Option<Correlation>,
}

impl Found {
    /// The point of the grid.
    pub(super) fn point(&self) -> &Point {
        &self.grid.points[0]
    }

    /// The bounds on the total latency.
    pub fn bounds(&self) -> Bounds {
        Bounds { lower: self.solution.lower, upper: self.solution.upper }
    }

    /// Requests that count.
    pub fn requests(&self) -> u64 {
        self.problem.summary.requests - self.problem.instance.terms.warmup
    }

    /// The lower bound for a request that counts, on average.
    pub fn lower_mean(&self) -> f64 {
        ratio(self.solution.lower.into(), self.requests())
    }

    /// The mean latency under the schedule found.
    pub fn upper_mean(&self) -> f64 {
        ratio(self.solution.upper.into(), self.requests())
    }
}

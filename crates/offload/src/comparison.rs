//! What came of a comparison.

use trueplane_units::Nanos;

use crate::Counts;
use crate::options::Options;
use crate::policy::SystemName;
use crate::tally::Tally;

/// Every system at every rate, over one workload or several levels of change in it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was compared.
    pub options: Options,
    /// The workload as its user wrote it.
    pub workload: String,
    /// Whether trace or generator; what is known of the keys.
    pub keys: Keys,
    /// What of a trace is no lookup, and how often.
    pub skipped: Vec<(String, u64)>,
    /// What the user should know before believing the numbers, a sentence each.
    pub warnings: Vec<String>,
    /// The rows: by level of change, then by system in the order of the options, then by rates and chain in their orders.
    pub rows: Vec<Row>,
}

/// What is known of a workload's keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// Different keys, if they were counted.
    pub distinct: Option<u64>,
    /// Keys that share their 64-bit hash with another, if that could be found out: hashed texts and packets.
    pub collided: Option<u64>,
    /// The two numbers above are estimates from every so many hashes.
    pub one_in: u64,
}

/// One system in one configuration.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which system.
    pub system: SystemName,
    /// Keys that become the most popular at every change, where the workload has such changes.
    pub change: Option<u64>,
    /// Entries replaced a second; batched systems.
    pub update_rate: Option<u64>,
    /// Control packets a second; DySO.
    pub control_rate: Option<u64>,
    /// Entries in a row; DySO.
    pub chain: Option<u64>,
    /// Whether this is the best configuration found, beside the one given.
    pub best: bool,
    /// The threshold of reports; NetCache, TEA.
    pub threshold: Option<u32>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of one run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A system was simulated.
    Run {
        /// Lookups and misses.
        tally: Tally,
        /// What its control loop counted.
        counts: Counts,
        /// The ageing period at the end, for those who age.
        period: Option<Nanos>,
        /// How long it took to get over a change of popularity.
        recovery: Option<Recovery>,
    },
    /// The optimum lies between two numbers of misses.
    Bounds {
        /// Lookups after the warm-up.
        lookups: u64,
        /// No schedule has fewer misses.
        lower: u64,
        /// A schedule has so many; `None` if none was looked for.
        upper: Option<u64>,
    },
}

impl Row {
    /// Lookups after the warm-up.
    pub fn lookups(&self) -> u64 {
        match &self.outcome {
            Outcome::Run { tally, .. } => tally.lookups(),
            Outcome::Bounds { lookups, .. } => *lookups,
        }
    }

    /// Misses after the warm-up; of the optimum, the lower bound.
    pub fn misses(&self) -> u64 {
        match &self.outcome {
            Outcome::Run { tally, .. } => tally.misses(),
            Outcome::Bounds { lower, .. } => *lower,
        }
    }

    /// The share of lookups that missed; zero where there were none.
    pub fn miss_ratio(&self) -> f64 {
        trueplane_study::metrics::ratio(u128::from(self.misses()), self.lookups())
    }
}

/// How long it took to get over a change of popularity: the time until the miss ratio, in windows of 10 ms, is back within a tenth
/// of the lowest that it had right before any change so far, and stays there for three windows on average; see
/// [`recovery`](crate::compare::recovery).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The median over all changes after the warm-up that are followed by a full time between changes, as far as they can be told;
    /// `None` if in at least half of them the next change came first.
    pub median: Option<Nanos>,
    /// Changes looked at; at least one.
    pub changes: u64,
    /// Those of them that it did not get over before the next.
    pub never: u64,
}

//! The rows of `offload compare`.

use trueplane_units::{Nanos, PerSecond};

use super::recovery::Recovery;
use crate::Counts;
use crate::policy::SystemName;
use crate::tally::Tally;
use crate::workload::lookups::Keys;

/// Every system at every rate, over one workload or several levels of change in it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Numbers of keys, as far as they are known.
    pub keys: Keys,
    /// Parts of a trace that are no lookups, and how often each came.
    pub skipped: Vec<(String, u64)>,
    /// Sentences about what makes the numbers doubtful.
    pub warnings: Vec<String>,
    /// Lookups at the start of each level that are not counted.
    pub warmup: u64,
    /// The rows: by level of change, then by system in the order of the options, then by rates and chain in their orders.
    pub rows: Vec<Row>,
}

/// One system in one configuration.
#[derive(Clone, Debug)]
pub struct Row {
    /// System that was simulated.
    pub system: SystemName,
    /// Keys that become the most popular at every change, where the workload has such changes.
    pub change: Option<u64>,
    /// Entries replaced a second; batched systems.
    pub update_rate: Option<PerSecond>,
    /// Control packets a second; DySO.
    pub control_rate: Option<PerSecond>,
    /// Entries in a row; DySO.
    pub chain: Option<u64>,
    /// This is the best configuration found, beside the one given.
    pub best: bool,
    /// Threshold of reports; NetCache, TEA.
    pub threshold: Option<u32>,
    /// Result of the run.
    pub outcome: Outcome,
}

/// The result of one run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A system was simulated.
    Run {
        /// Lookups and misses.
        tally: Tally,
        /// Counts of its control loop.
        counts: Counts,
        /// Ageing period at the end, for those who age.
        period: Option<Nanos>,
        /// Time that it took to get over a change of popularity.
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

    /// Misses of a schedule that was found, for the optimum.
    pub fn upper(&self) -> Option<u64> {
        match self.outcome {
            Outcome::Bounds { upper, .. } => upper,
            Outcome::Run { .. } => None,
        }
    }

    /// Lookups and misses over time; the optimum has none.
    pub fn tally(&self) -> Option<&Tally> {
        match &self.outcome {
            Outcome::Run { tally, .. } => Some(tally),
            Outcome::Bounds { .. } => None,
        }
    }

    /// Counts of the control loop; nothing for what has none.
    pub fn counts(&self) -> Counts {
        match self.outcome {
            Outcome::Run { counts, .. } => counts,
            Outcome::Bounds { .. } => Counts::default(),
        }
    }

    /// Time that it took to get over a change of popularity, where that can be told.
    pub fn recovery(&self) -> Option<Recovery> {
        match self.outcome {
            Outcome::Run { recovery, .. } => recovery,
            Outcome::Bounds { .. } => None,
        }
    }

    /// Ageing period at the end, for those who age.
    pub fn period(&self) -> Option<Nanos> {
        match self.outcome {
            Outcome::Run { period, .. } => period,
            Outcome::Bounds { .. } => None,
        }
    }
}

//! Flows that start as a Poisson process, with sizes from a distribution.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;
use trueplane_units::Nanos;

use super::flow::FlowSpec;

/// A distribution of flow sizes that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("flow sizes: expected {expected}, got {got}")]
pub struct BadSizes {
    /// Description of what it can be.
    pub expected: &'static str,
    /// Text of what it is.
    pub got: String,
}

/// Sizes of flows as steps: a size, and the share of flows that are no larger.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    steps: Vec<(u64, f64)>,
}

impl Sizes {
    /// A distribution of these steps.
    ///
    /// # Errors
    ///
    /// If there is no step, sizes or shares do not ascend, or the last share is not 1.
    pub fn new(steps: Vec<(u64, f64)>) -> Result<Self, BadSizes> {
        let bad = |expected, got: String| Err(BadSizes { expected, got });
        if steps.windows(2).any(|pair| pair[0].0 >= pair[1].0 || pair[0].1 > pair[1].1) {
            return bad("sizes and shares that ascend", format!("{steps:?}"));
        }
        match steps.last() {
            Some((_, share)) if (share - 1.0).abs() < 1e-9 => Ok(Self { steps }),
            last => bad("1 as the last share", format!("{last:?}")),
        }
    }

    /// The data-mining workload as SP-PIFO's authors drew it: a draw falls to the step below.
    pub fn data_mining() -> Self {
        let steps: [(u64, f64); 12] = [
            (1, 0.1),
            (180, 0.2),
            (216, 0.3),
            (560, 0.4),
            (900, 0.5),
            (1_100, 0.6),
            (1_870, 0.7),
            (3_160, 0.8),
            (10_000, 0.9),
            (400_000, 0.95),
            (3_160_000, 0.98),
            (100_000_000, 1.0),
        ];
        Self { steps: steps.to_vec() }
    }

    /// The web-search workload as SP-PIFO's authors drew it: a draw falls to the step below, and 15 % of the flows have one byte.
    pub fn web_search() -> Self {
        let steps: [(u64, f64); 11] = [
            (1, 0.15),
            (10_000, 0.2),
            (20_000, 0.3),
            (30_000, 0.4),
            (50_000, 0.53),
            (80_000, 0.6),
            (200_000, 0.7),
            (1_000_000, 0.8),
            (2_000_000, 0.9),
            (5_000_000, 0.97),
            (10_000_000, 1.0),
        ];
        Self { steps: steps.to_vec() }
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        let mut below = 0.0;
        let mut sum = 0.0;
        for &(bytes, share) in &self.steps {
            sum += bytes as f64 * (share - below);
            below = share;
        }
        sum
    }

    /// The size at a share from 0 to below 1.
    pub fn at(&self, share: f64) -> u64 {
        let index = self.steps.partition_point(|(_, upto)| *upto <= share);
        self.steps[index.min(self.steps.len() - 1)].0
    }
}

/// A Poisson process of flows between random pairs of hosts, unlike each other.
#[derive(Clone, Debug)]
pub struct Poisson {
    random: Xoshiro256PlusPlus,
    hosts: u32,
    /// Mean time between two starts, in nanoseconds.
    gap: f64,
    sizes: Sizes,
    /// Time of the last start, in nanoseconds.
    now: f64,
    until: Nanos,
}

impl Poisson {
    /// `rate` flow starts a second among `hosts` hosts, at least two, before the time `until`.
    pub fn new(hosts: u32, rate: f64, sizes: Sizes, until: Nanos, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, hosts, gap: 1e9 / rate, sizes, now: 0.0, until }
    }
}

impl Iterator for Poisson {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let wait: f64 = Exp1.sample(&mut self.random);
        self.now += wait * self.gap;
        let start = Nanos(self.now as u64);
        if start >= self.until {
            return None;
        }
        let from = self.random.random_range(0..self.hosts);
        let other = self.random.random_range(0..self.hosts - 1);
        let to = other + u32::from(other >= from);
        let bytes = self.sizes.at(self.random.random());
        Some(FlowSpec { start, from, to, bytes })
    }
}

//! The flows that the published runs had.
//!
//! All published runs have the seed 83599, and their generator is documented (`java.util.Random`): the same flows start at the same times
//! between the same servers. Another draw moves the mean of a row by several per cent, as few flows carry most bytes.

use trueplane_network::Nanos;
use trueplane_network::simulator::{FlowSpec, Sizes};

/// Seed of all published runs.
const SEED: i64 = 83_599;

/// The generator of `java.util.Random`: a linear congruence of 48 bits.
struct Linear(u64);

impl Linear {
    const MULTIPLIER: u64 = 0x5_deec_e66d;
    const MASK: u64 = (1 << 48) - 1;

    /// The generator that a run has for a purpose: its seed is made of the run's and of the name.
    fn of(purpose: &str) -> Self {
        let name = purpose.bytes().fold(0_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let seed = SEED.wrapping_mul(997) ^ i64::from(name.wrapping_mul(991));
        Self((seed as u64 ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xb) & Self::MASK;
        self.0 >> (48 - count)
    }

    /// A number from 0 to below 1.
    fn share(&mut self) -> f64 {
        let high = self.bits(26) << 27;
        (high + self.bits(27)) as f64 / (1_u64 << 53) as f64
    }
}

/// The flows of a published run.
pub(crate) struct Published {
    gaps: Linear,
    pairs: Linear,
    draws: Linear,
    /// Upper end of each pair of servers, as sums of equal shares.
    ends: Vec<f64>,
    hosts: u32,
    rate: f64,
    sizes: Sizes,
    now: u64,
}

impl Published {
    /// Flows that start `rate` times a second within the first.
    pub(crate) fn new(hosts: u32, rate: f64, sizes: Sizes) -> Self {
        let pairs = hosts * (hosts - 1);
        let mut sum = 0.0;
        let mut add = |_| {
            sum += 1.0 / f64::from(pairs);
            sum
        };
        Self {
            gaps: Linear::of("poisson_inter_arrival"),
            pairs: Linear::of("pair_probabilities_draw"),
            draws: Linear::of("flow_size"),
            ends: (0..pairs).map(&mut add).collect(),
            hosts,
            rate,
            sizes,
            now: 0,
        }
    }
}

impl Iterator for Published {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let start = Nanos(self.now);
        if start > Nanos::from_secs(1) {
            return None;
        }
        let gap = -self.gaps.share().ln() / (self.rate / 1e9);
        let share = self.pairs.share();
        let pair = self.ends.partition_point(|end| *end < share) as u32;
        let (from, other) = (pair / (self.hosts - 1), pair % (self.hosts - 1));
        let to = other + u32::from(other >= from);
        self.now += gap as u64;
        Some(FlowSpec { start, from, to, bytes: self.sizes.at(self.draws.share()) })
    }
}

//! What to simulate.

use trueplane_trace::Clock;
use trueplane_units::{Nanos, Warmup};

use crate::capacity::Capacity;
use crate::latency::Latency;
use crate::policy::{MadMemory, PolicyName, Search, Window};

/// Grid of simulations to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The policies, in the order of the report.
    pub policies: Vec<PolicyName>,
    /// The latencies of the grid.
    pub latencies: Vec<Latency>,
    /// The capacities of the grid.
    pub capacities: Vec<Capacity>,
    /// Meaning of the times of requests.
    pub clock: Clock,
    /// Latency of a hit.
    pub hit_latency: Nanos,
    /// Requests at the start that are simulated but do not count.
    pub warmup: Warmup,
    /// Objects in a set; none: fully associative.
    pub ways: Option<u64>,
    /// Objects for which MAD keeps its counters.
    pub mad_memory: MadMemory,
    /// Way in which LHD finds its victim.
    pub search: Search,
    /// Size of W-TinyLFU's window.
    pub window: Window,
    /// Number from which draws begin.
    pub seed: u64,
    /// Objects larger than a cache pass it by instead of being an error.
    pub bypass_oversized: bool,
}

impl Plan {
    /// The policies that the classical model tells apart.
    pub(super) fn bases(&self) -> Vec<PolicyName> {
        let mut bases = Vec::new();
        for base in self.policies.iter().copied().map(base) {
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        bases
    }
}

/// The policy that a policy is in the classical model: where nothing is delayed, MAD is its base.
pub(super) fn base(policy: PolicyName) -> PolicyName {
    policy.properties().base.unwrap_or(policy)
}

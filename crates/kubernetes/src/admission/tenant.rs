//! A tenant: its weight and limits, and what of it waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use trueplane_fair::Nanos;
use trueplane_fair::cluster::MOST_WEIGHT;

use super::quotas::CohortSettings;

/// The place of a workload in the queue of its tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) priority: Reverse<i32>,
    pub(super) created: Nanos,
    pub(super) name: String,
    /// Two objects may have one name for a moment.
    pub(super) id: u64,
}

/// What is set for a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSettings {
    /// Its weight, from 1 to [`MOST_WEIGHT`]: a tenant of weight 2 is entitled to twice as much as one of weight 1.
    pub weight: u32,
    /// The most that it may hold of each resource, in units, if there is a limit.
    pub limits: Vec<Option<u64>>,
    /// Its cohort and its quotas, if it has any.
    pub quotas: CohortSettings,
    /// When the first workload of the tenant has waited for this long, and the tenant got nothing meanwhile, it is before those of all others.
    pub longest_wait: Option<Nanos>,
    /// Whether nothing of it is to be admitted.
    pub is_on_hold: bool,
}

impl TenantSettings {
    /// Weight 1, no quotas, and no limits on any of so many resources.
    pub fn usual(resources: usize) -> Self {
        let (quotas, longest_wait) = (CohortSettings::default(), None);
        Self { weight: 1, limits: vec![None; resources], quotas, longest_wait, is_on_hold: false }
    }
}

/// Why a tenant cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TenantError {
    /// The weight is out of range.
    #[error("expected a weight from 1 to {MOST_WEIGHT}, got {0}")]
    Weight(u32),
    /// More tenants than can be numbered.
    #[error("expected fewer than 2^32 - 1 tenants")]
    Tenants,
    /// Limits for more or fewer resources than there are.
    #[error("expected limits for {expected} resources, got {found}")]
    Resources {
        /// Number of resources.
        expected: usize,
        /// Number of limits.
        found: usize,
    },
}

/// What a tenant has had and is entitled to, as parts of the cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// What it is entitled to: its weight by the sum of all weights.
    pub entitled: f64,
    /// What it holds, of the resource by which its place in the order is found: that with the largest sum of both.
    pub held: f64,
    /// What it has had of that resource above its part, as remembered: its commitment.
    pub remembered: f64,
}

/// A tenant.
#[derive(Clone, Debug)]
pub(super) struct Tenant {
    /// Its number in the scheduler.
    pub(super) user: u32,
    pub(super) settings: TenantSettings,
    /// The workloads that can run some time.
    pub(super) waiting: BTreeMap<Place, u64>,
    /// The workloads that need more than the cluster has, or more than the limit.
    pub(super) aside: BTreeMap<Place, u64>,
    /// The workload of which the scheduler knows that it waits.
    pub(super) candidate: Option<u64>,
    /// Its ticket.
    pub(super) ticket: u64,
    /// When it last got something, or could first get something.
    pub(super) got: Nanos,
}

impl Tenant {
    pub(super) fn new(user: u32, settings: TenantSettings) -> Self {
        Self {
            user,
            settings,
            waiting: BTreeMap::new(),
            aside: BTreeMap::new(),
            candidate: None,
            ticket: 0,
            got: Nanos(0),
        }
    }

    /// The resource of which `needs` are more than the cluster or the tenant can ever have.
    pub(super) fn never(&self, needs: &[u64], capacity: &[u64]) -> Option<usize> {
        (0..needs.len()).find(|&resource| {
            let limit = self.settings.limits[resource].unwrap_or(u64::MAX);
            needs[resource] > capacity[resource].min(limit)
        })
    }

    /// The resource of which the tenant, which holds `held`, would have more than its limit with `needs`.
    pub(super) fn over_limit(&self, held: &[u64], needs: &[u64]) -> Option<usize> {
        (0..needs.len()).find(|&resource| {
            let with = held[resource].saturating_add(needs[resource]);
            needs[resource] > 0 && self.settings.limits[resource].is_some_and(|limit| with > limit)
        })
    }
}

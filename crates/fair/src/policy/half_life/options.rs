//! What can be chosen, and what is refused.

use trueplane_units::Nanos;

use crate::Cluster;

const HOUR: u64 = 3_600_000_000_000;
const MINUTE: u64 = 60_000_000_000;

/// The settings of Kueue's `admissionFairSharing`.
///
/// A list of factors that is empty has a 1 for every resource.
#[derive(Clone, Debug, PartialEq)]
pub struct KueueOptions {
    /// `usageHalfLifeTime`. Kueue has no default, and with none every usage is zero (its issue 11134); here it is 168 h, as in the
    /// example of its documentation.
    pub half_life: Nanos,
    /// `usageSamplingInterval`; 5 min.
    pub sampling: Nanos,
    /// Number of Kueue's units (processors, bytes, devices) in one of the cluster's units, for every resource.
    pub units: Vec<f64>,
    /// `resourceWeights`. The default of 1 for all makes a byte count like a processor.
    pub resource_weights: Vec<f64>,
    /// Whether a task is charged at its start, as it is since version 0.13: A times what it needs.
    pub entry_penalty: bool,
    /// Whether usage is cut to whole thousandths of a unit at every sample, as it was until the fix of issue 13596 (August 2026).
    pub thousandths: bool,
}

impl KueueOptions {
    /// The largest factor.
    pub const MOST: f64 = 1e18;
}

impl Default for KueueOptions {
    fn default() -> Self {
        Self {
            half_life: Nanos(168 * HOUR),
            sampling: Nanos(5 * MINUTE),
            units: Vec::new(),
            resource_weights: Vec::new(),
            entry_penalty: true,
            thousandths: false,
        }
    }
}

/// The settings of Slurm's `priority/multifactor`.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmOptions {
    /// `PriorityDecayHalfLife`; 7 days.
    pub half_life: Nanos,
    /// `PriorityCalcPeriod`; 5 min.
    pub period: Nanos,
    /// Number of Slurm's units in one of the cluster's units, for every resource; all 1 if empty.
    pub units: Vec<f64>,
    /// `TRESBillingWeights`, whose sum over resources is billed. If empty only the first resource is: without the setting Slurm bills
    /// processors alone.
    pub billing_weights: Vec<f64>,
    /// `PriorityWeightFairshare` of the classic factor (`NO_FAIR_TREE`; 10000 in the example of the documentation): priorities are
    /// whole numbers from 1 to it, and who has more than log₂ of it times its share of all usage has 1 like everybody above that.
    ///
    /// None: the order of a Fair Tree of one level, the default since 19.05, whose factor is the rank by usage over share, so that no
    /// two users with different usage have the same as long as the weight is at least their number.
    pub priority_weight: Option<u32>,
}

impl Default for SlurmOptions {
    fn default() -> Self {
        Self {
            half_life: Nanos(7 * 24 * HOUR),
            period: Nanos(5 * MINUTE),
            units: Vec::new(),
            billing_weights: Vec::new(),
            priority_weight: None,
        }
    }
}

/// Why there is no such policy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HalfLifeError {
    /// Nothing would ever be remembered.
    #[error("expected a half-life longer than zero")]
    HalfLife,
    /// There would be no end of periods.
    #[error("expected a period longer than zero")]
    Period,
    /// Factors for other resources than there are.
    #[error("expected a factor for each of {resources} resources, found {found}")]
    Factors {
        /// Number of resources.
        resources: usize,
        /// Number of factors found.
        found: usize,
    },
    /// A factor out of range.
    #[error("expected factors from 0 to 1e18, found {found} for resource {resource}")]
    Factor {
        /// Its number.
        resource: usize,
        /// The factor.
        found: f64,
    },
}

/// Refuses what cannot be.
pub(super) fn check(
    cluster: &Cluster,
    half_life: Nanos,
    period: Nanos,
    units: &[f64],
    weights: &[f64],
) -> Result<(), HalfLifeError> {
    if half_life.0 == 0 {
        return Err(HalfLifeError::HalfLife);
    }
    if period.0 == 0 {
        return Err(HalfLifeError::Period);
    }
    for factors in [units, weights] {
        if !factors.is_empty() && factors.len() != cluster.resources() {
            return Err(HalfLifeError::Factors { resources: cluster.resources(), found: factors.len() });
        }
        if let Some(resource) = factors.iter().position(|factor| !(0.0..=KueueOptions::MOST).contains(factor))
        {
            return Err(HalfLifeError::Factor { resource, found: factors[resource] });
        }
    }
    Ok(())
}

/// `factors`, or as many ones.
pub(super) fn filled(factors: &[f64], resources: usize) -> Vec<f64> {
    if factors.is_empty() { vec![1.0; resources] } else { factors.to_vec() }
}

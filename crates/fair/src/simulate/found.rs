//! The rows of `fair simulate`.

use trueplane_units::Nanos;

use crate::capacity::Capacity;
use crate::comparison::Comparison;
use crate::facts::{LogFacts, ResourceFacts};
use crate::outcome::PolicyRun;
use crate::policy::PolicyName;

/// Findings on one log.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Log that was run.
    pub log: LogFacts,
    /// Size of the cluster as it was asked for, or by default.
    pub capacity: Capacity,
    /// Resources of the cluster.
    pub cluster: Vec<ResourceFacts>,
    /// Time after the first submission by which a task must have ended to count as completed by the horizon.
    pub horizon: Nanos,
    /// Policy that the others are compared with.
    pub baseline: PolicyName,
    /// Policies in the order in which they were asked for.
    pub policies: Vec<PolicyRun>,
    /// Every other policy against the baseline.
    pub comparisons: Vec<Comparison>,
    /// Shares over time under every policy.
    pub over_time: Vec<Vec<UserShares>>,
}

/// The dominant share of a user over time.
#[derive(Clone, Debug, PartialEq)]
pub struct UserShares {
    /// Name of the user.
    pub user: String,
    /// Time since the first submission in ns, and mean share about then.
    pub points: Vec<(f64, f64)>,
}

impl Found {
    /// The run under the baseline.
    pub(super) fn base(&self) -> Option<&PolicyRun> {
        self.policies.iter().find(|run| run.policy == self.baseline)
    }

    /// The runs that are compared with the baseline.
    pub(super) fn compared(&self) -> impl Iterator<Item = &PolicyRun> {
        self.policies.iter().filter(|run| run.policy != self.baseline)
    }
}

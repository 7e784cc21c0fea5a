//! What a division finds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::allocation::Mechanism;

/// What of a share is rounding.
pub(super) const ROUNDING: f64 = 1e-9;

/// The result of `fair allocate`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Allocate {
    /// `fair.allocate`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The document.
    pub document: String,
    /// What there is.
    pub resources: Vec<ResourceFacts>,
    /// δ, if it was said.
    pub delta: Option<f64>,
    /// Every mechanism, the one that the others are compared with first.
    pub policies: Vec<Divided>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// A resource.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceFacts {
    /// Its name.
    pub name: String,
    /// How much there is, in the user's unit.
    pub capacity: f64,
}

/// What a mechanism makes of the demands.
#[derive(Clone, Debug, Serialize)]
pub struct Divided {
    /// Its name.
    pub policy: Mechanism,
    /// Whether it divides every resource by itself, as max-min fairness must where there are several.
    pub each_resource_alone: bool,
    /// One stage after the other.
    pub stages: Vec<Stage>,
}

/// A stage.
#[derive(Clone, Debug, Serialize)]
pub struct Stage {
    /// Counted from one.
    pub stage: usize,
    /// What of every resource is given away, and at which water level it stopped somebody, in the order of the document.
    pub resources: Vec<Use>,
    /// Users, in the order of the document.
    pub users: Vec<Part>,
}

/// What became of a resource.
#[derive(Clone, Debug, Serialize)]
pub struct Use {
    /// Its name.
    pub resource: String,
    /// What share of it users have.
    pub given_share: f64,
    /// What share of it users have and cannot use, for lack of another.
    pub stranded_share: f64,
    /// The water level, (share + commitment) / weight, at which it was full and stopped somebody; none if it did not.
    pub bottleneck_level: Option<f64>,
}

/// What a user gets.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// Her name.
    pub user: String,
    /// Her weight.
    pub weight: f64,
    /// What she gets of every resource, in its unit.
    pub amounts: BTreeMap<String, f64>,
    /// The resource that she needs the largest share of.
    pub dominant_resource: Option<String>,
    /// The share of it that she can use.
    pub dominant_share: f64,
    /// The share of it that she wants; none for tasks without end.
    pub wanted_share: Option<f64>,
    /// The largest of her commitments, whether it counts under this policy or not.
    pub commitment: f64,
    /// The same after the stage, if δ is known.
    pub commitment_after: Option<f64>,
    /// `satisfied`, `limited` or `idle`.
    pub end: &'static str,
    /// The resource that stopped her.
    pub limited_by: Option<String>,
}

impl Divided {
    /// The mean over stages of what a user can use of her dominant resource.
    pub fn mean_share(&self, user: usize) -> f64 {
        let sum: f64 = self.stages.iter().map(|stage| stage.users[user].dominant_share).sum();
        sum / self.stages.len() as f64
    }
}

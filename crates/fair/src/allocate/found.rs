//! The rows of `fair allocate`.

use super::demands::Resource;
use crate::allocation::{End, Mechanism};

/// Part of a share that may be rounding.
pub(super) const ROUNDING: f64 = 1e-9;

/// Allocations of the demands by every mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Resources of the document.
    pub resources: Vec<Resource>,
    /// Mechanisms, the one that the others are compared with first.
    pub policies: Vec<Divided>,
}

/// Allocation of the demands by one mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided {
    /// Mechanism that divides.
    pub policy: Mechanism,
    /// Whether it divides every resource by itself, as max-min fairness must where there are several.
    pub each_resource_alone: bool,
    /// Stages, one after the other.
    pub stages: Vec<Stage>,
}

/// A stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Number of the stage, counted from one.
    pub stage: usize,
    /// Resources in the order of the document.
    pub resources: Vec<Use>,
    /// Users in the order of the document.
    pub users: Vec<Part>,
}

/// Use of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// Share of the resource that users have.
    pub given_share: f64,
    /// Share of the resource that users have and cannot use, for lack of another.
    pub stranded_share: f64,
    /// Water level, (share + commitment) / weight, at which it was full and stopped somebody; none if it did not.
    pub bottleneck_level: Option<f64>,
}

/// Allocation of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name of the user.
    pub user: String,
    /// Weight of the user.
    pub weight: f64,
    /// Amount of every resource, in its unit.
    pub amounts: Vec<f64>,
    /// Index of the resource that the user needs the largest share of.
    pub dominant_resource: Option<usize>,
    /// Share of it that the user can use.
    pub dominant_share: f64,
    /// Share of it that the user wants; none for tasks without end.
    pub wanted_share: Option<f64>,
    /// Largest commitment, whether it counts under this policy or not.
    pub commitment: f64,
    /// Largest commitment after the stage, if δ is known.
    pub commitment_after: Option<f64>,
    /// Why the user got no more.
    pub end: End,
}

impl Found {
    /// The number of stages.
    pub fn stages(&self) -> usize {
        self.policies.first().map_or(0, |divided| divided.stages.len())
    }

    /// Returns the allocation by this mechanism, if it was asked for.
    pub(super) fn of(&self, policy: Mechanism) -> Option<&Divided> {
        self.policies.iter().find(|divided| divided.policy == policy)
    }

    /// A mechanism that forgets and the same with a memory, if both were asked: those of all resources rather than of one.
    pub(super) fn pair(&self) -> Option<(&Divided, &Divided)> {
        let pairs = [(Mechanism::Drf, Mechanism::Sdrf), (Mechanism::Mmf, Mechanism::Smmf)];
        pairs.into_iter().find_map(|(forgetful, stateful)| self.of(forgetful).zip(self.of(stateful)))
    }
}

impl Divided {
    /// The mean over stages of what a user can use of the dominant resource.
    pub fn mean_share(&self, user: usize) -> f64 {
        let sum: f64 = self.stages.iter().map(|stage| stage.users[user].dominant_share).sum();
        sum / self.stages.len() as f64
    }

    /// The users of the first stage, which are those of all.
    pub(super) fn users(&self) -> &[Part] {
        self.stages.first().map_or(&[], |stage| &stage.users)
    }
}

//! The demands document: a cluster, who uses it, and what everybody wants.
//!
//! ```json
//! {
//!   "resources": [{ "name": "cpu", "capacity": 9 }, { "name": "memory_gb", "capacity": 18 }],
//!   "users": [
//!     { "name": "ann", "task": { "cpu": 1, "memory_gb": 4 } },
//!     { "name": "bob", "task": { "cpu": 3, "memory_gb": 1 }, "tasks": 2, "weight": 2, "commitment": { "cpu": 0.1 } },
//!     { "name": "eve", "stages": [{ "demand": { "cpu": 4 } }, {}, { "task": { "cpu": 1 }, "tasks": 3 }] }
//!   ]
//! }
//! ```
//!
//! Amounts are in the units of the capacities. `demand` is what somebody wants in all; `task` what one of its tasks needs, of which
//! it has `tasks`, or without it any number. What is not named is not needed. `commitment` is the share of a resource, 0 to 1, that it
//! is to be behind the others by. `stages` has what it wants in one stage after the other, and nothing after the last of them; who
//! has no `stages` wants the same in every stage. The resources come before the users, so that a wrong name can be told with its line.

use crate::allocation::Demand;

/// A cluster and its users, known to fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct Demands {
    /// Name of the document.
    pub name: String,
    /// Resources of the cluster; at least one.
    pub resources: Vec<Resource>,
    /// Users of the cluster; at least one.
    pub users: Vec<UserDemands>,
}

/// Something that there is a fixed amount of.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Name of the resource, unlike the others'.
    pub name: String,
    /// Amount of the resource, in the user's unit; above zero.
    pub capacity: f64,
}

/// A user of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct UserDemands {
    /// Name of the user, unlike the others'.
    pub name: String,
    /// Weight of the user: its claim in proportion to those of the others.
    pub weight: f64,
    /// Commitment of the user for every resource, in shares of it.
    pub commitments: Vec<f64>,
    /// Demand of the user, in every stage or stage by stage.
    pub wants: Wants,
}

/// Demand of a user, in shares of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Wants {
    /// The same in every stage.
    Always(Demand),
    /// A demand for every stage in turn, then nothing.
    Stages(Vec<Demand>),
}

impl Demands {
    /// Number of stages: the longest list of them, or one.
    pub fn stages(&self) -> usize {
        let lengths = self.users.iter().map(|user| match &user.wants {
            Wants::Always(_) => 1,
            Wants::Stages(stages) => stages.len(),
        });
        lengths.max().unwrap_or(1).max(1)
    }

    /// Whether the document speaks of stages.
    pub fn has_stages(&self) -> bool {
        self.users.iter().any(|user| matches!(user.wants, Wants::Stages(_)))
    }

    /// Returns the demands of all users in a stage.
    pub fn in_stage(&self, stage: usize) -> Vec<Demand> {
        let nothing = || Demand::Total(vec![0.0; self.resources.len()]);
        let of = |user: &UserDemands| match &user.wants {
            Wants::Always(demand) => demand.clone(),
            Wants::Stages(stages) => stages.get(stage).cloned().unwrap_or_else(nothing),
        };
        self.users.iter().map(of).collect()
    }

    /// The weights of all users.
    pub fn weights(&self) -> Vec<f64> {
        self.users.iter().map(|user| user.weight).collect()
    }
}

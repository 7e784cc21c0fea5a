//! What is known of pods and jobs, and how they stand.

use std::collections::BTreeSet;

use trueplane_fair::Nanos;

use crate::objects::Item;

/// A pod or a job, and how it stands.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) item: Item,
    pub(super) standing: Standing,
    /// It does not wait before this time, as the API server did not allow that it be opened.
    pub(super) not_before: Nanos,
}

/// What a number of [`Admission`](crate::admission::Admission) stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A pod or a job, by its unique number.
    Item(String),
    /// A group of pods, by its namespace and name.
    Group(String, String),
}

/// A group of pods of which some wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The unique numbers of its pods that wait.
    pub(super) members: BTreeSet<String>,
    /// The number of the workload, while all are there.
    pub(super) workload: Option<u64>,
}

/// The standing of a pod or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It neither waits nor uses anything that counts.
    Nothing,
    /// It uses something of a node, and has no tenant.
    Foreign {
        /// The node.
        node: String,
        /// Amounts that it uses.
        needs: Vec<u64>,
    },
    /// It waits by itself.
    Waits {
        /// Number of its workload.
        workload: u64,
    },
    /// It waits with its group, which may not be complete.
    Member {
        /// Name of the group.
        group: String,
    },
    /// It holds what it needs.
    Holds {
        /// Number of its workload.
        workload: u64,
        /// When it was admitted, if the controller opens it; the API server may not know that yet.
        opening: Option<Opening>,
    },
    /// It belongs to a job that is managed as a whole, and is to be opened without a look at what it needs.
    Passes {
        /// The admission that is to be written.
        opening: Opening,
    },
}

/// An admission that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// When it was admitted.
    pub(super) at: Nanos,
    /// Whether it was admitted with its whole group.
    pub(super) with_group: bool,
    /// Number of times that writing has failed.
    pub(super) failures: u32,
    /// Number of times that the API server did not allow it.
    pub(super) refusals: u32,
}

impl Opening {
    pub(super) fn new(at: Nanos, with_group: bool) -> Self {
        Self { at, with_group, failures: 0, refusals: 0 }
    }
}

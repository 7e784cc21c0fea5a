//! What outlives the process: who has had how much. What tenants hold and wait for is in the cluster itself.

use std::collections::BTreeMap;

use trueplane_fair::{Nanos, SnapshotError};

/// The memory of an [`Admission`](super::Admission): the usage of all tenants as it is remembered, without their workloads. Its size is bounded by tenants and
/// resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The names of tenants with their numbers in the snapshot.
    pub tenants: BTreeMap<String, u32>,
    /// When tenants last got something, by name. What is missing got nothing.
    pub got: BTreeMap<String, Nanos>,
    /// The [snapshot](trueplane_fair::SdrfScheduler::snapshot) of a scheduler without tasks.
    pub scheduler: Vec<u8>,
}

/// Why nothing can be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// The bytes are no snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The snapshot is of other resources.
    #[error("expected a state for {expected} resources, found one for {found}")]
    Resources {
        /// Number of resources that are configured.
        expected: usize,
        /// Number of resources in the snapshot.
        found: usize,
    },
    /// The names do not fit the snapshot.
    #[error("expected a name for each tenant of the snapshot, found other names or numbers")]
    Names,
    /// The snapshot has tasks.
    #[error("expected a state without tasks, found some")]
    Tasks,
}

//! A workload.

use trueplane_fair::Nanos;

use super::tenant::Place;

/// A unit of admission: a pod, a group of pods or a job, which is admitted as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Tenant that it belongs to.
    pub tenant: String,
    /// Amounts that it needs of the resources, in units.
    pub needs: Vec<u64>,
    /// Priority within its tenant; the higher one is first.
    pub priority: i32,
    /// Time of its creation, which has whole seconds in Kubernetes.
    pub created: Nanos,
    /// Name that no other workload has. It decides among those of one second.
    pub name: String,
}

impl Workload {
    /// Its place among those of its tenant, as number `id`.
    pub(super) fn place(&self, id: u64) -> Place {
        Place {
            priority: std::cmp::Reverse(self.priority),
            created: self.created,
            name: self.name.clone(),
            id,
        }
    }

    /// Decides between tenants that are equal: the second of its creation, and within that a hash of its name, the same in every process.
    pub(super) fn ticket(&self) -> u64 {
        const HASH_BITS: u32 = 28;
        const SECONDS: u64 = (1 << 34) - 1;
        let second = (self.created.0 / 1_000_000_000).min(SECONDS);
        second << HASH_BITS | u64::from(crc32fast::hash(self.name.as_bytes()) >> (32 - HASH_BITS))
    }
}

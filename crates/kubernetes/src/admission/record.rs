//! What happened to an admission, in its order: somebody else can then be asked who would have been next.

use std::sync::mpsc::Sender;

use trueplane_fair::Nanos;

use super::saved::Saved;
use super::workload::Workload;

/// Something that happened. Workloads have the numbers that the caller gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A recording begins: this is remembered, nobody holds or waits for anything, and all numbers are free. Of several recordings in a row, each
    /// replaces what was before it.
    Began(Saved),
    /// The cluster has this capacity, in units.
    Capacity(Vec<u64>),
    /// There is a tenant, with this weight.
    Tenant(String, u32),
    /// There is no such tenant any more.
    TenantGone(String),
    /// A workload waits.
    Submitted(u64, Workload),
    /// A workload holds what it needs although it was not its turn.
    Adopted(u64, Workload),
    /// A workload has ended, or does not wait any more.
    Removed(u64),
    /// It was the turn of this workload; or of none, and none has its turn until something else happens.
    Next(Option<u64>),
}

/// Whoever is told what happens, and when.
pub type Record = Sender<(Nanos, Step)>;

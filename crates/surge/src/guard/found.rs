//! The rows of `surge guard`.

use trueplane_units::BitsPerSec;

use crate::compare::found::{Row, WorkloadFacts};
use crate::theory::Limits;
use crate::workload::arrivals::Arrivals;

/// Everything that is found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Packets of users.
    pub workload: WorkloadFacts,
    /// Limits of the packets that are planned for the attacker.
    pub limits: Limits,
    /// Rate at which users send.
    pub innocent_rate: BitsPerSec,
    /// Times at which packets of users come: those of the file, or even ones.
    pub arrivals: Arrivals,
    /// The worst steady attack today.
    pub today: Row,
    /// The worst steady attack under WSJF.
    pub guarded: Row,
}

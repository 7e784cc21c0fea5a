//! The rows of `surge guard`.

use trueplane_units::BitsPerSec;

use crate::compare::found::{Row, WorkloadFacts};
use crate::policy::PolicyName;
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
    /// The worst steady attack under WSJF that drops the worst; none if that is what there is today.
    pub guarded: Option<Row>,
}

impl Found {
    /// Today's row, and that under WSJF if it is another.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        [&self.today].into_iter().chain(&self.guarded)
    }

    /// WSJF as it would be, in words that tell it from today's.
    pub(super) fn guard(&self) -> &'static str {
        if self.today.policy == PolicyName::Wsjf { "wsjf that drops the worst packet" } else { "wsjf" }
    }
}

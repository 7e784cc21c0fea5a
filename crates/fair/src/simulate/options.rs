//! The parameters of `fair simulate`.

use trueplane_units::{Choices, parameters};

use crate::Memory;
use crate::capacity::Capacity;
use crate::delta::DeltaPerSecond;
use crate::options::Scenario;
use crate::policy::PolicyName;
use crate::span::Span;
use crate::workload::JobsSource;

parameters! {
    /// Parameters of `fair simulate`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Log of tasks: a CSV file with the columns submit, duration or finish, user, and one for every resource; a list of Alibaba's pods
        /// or instances; a directory of Google's task_events; - for standard input; or generate:… (see --help).
        pub jobs: JobsSource => { value: "JOBS", positional: true, required: true },
        /// Size of the cluster: a part of what would be used on average if nobody ever waited, such as 70%, or cpu=96,mem=512 in the units
        /// of the log.
        pub capacity: Capacity => { value: "SIZE", default: "70%" },
        /// Orders of users to compare.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "drf,sdrf" },
        /// Part of a commitment that is left after a second (δ), for all policies with a half-life.
        pub delta: Option<DeltaPerSecond> => { value: "DELTA", default_words: "1-1e-6" },
        /// Time after which half is forgotten, such as 8d, instead of --delta.
        pub half_life: Option<Span> => { value: "TIME", conflicts: "delta" },
    }
    including {
        /// Options of the cluster that runs the tasks.
        pub scenario: Scenario,
    }
}

impl Options {
    /// Memory of the policies that have a half-life.
    pub fn memory(&self) -> Memory {
        let half_life = self.half_life.and_then(|span| Memory::half_life(span.get()).ok());
        half_life.or(self.delta.map(|delta| delta.0)).unwrap_or_default()
    }

    /// The policy that the others are compared with: drf, or the first of all.
    pub(super) fn baseline(&self) -> Option<PolicyName> {
        self.policies
            .iter()
            .copied()
            .find(|&policy| policy == PolicyName::Drf)
            .or(self.policies.first().copied())
    }
}

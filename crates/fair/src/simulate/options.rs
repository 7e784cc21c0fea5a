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
        /// Log of tasks, in a format that --format lists, or generate:… for a synthetic log. A CSV file has the columns submit, duration or
        /// finish, user, and one for each resource. For google2011, give a directory of task_events. A dash (-) is standard input. See trueplane
        /// fair simulate --help for generate:….
        pub jobs: JobsSource => { value: "JOBS", positional: true, required: true },
        /// Size of the cluster: peak, a part of the mean use such as 70%, or amounts such as cpu=96,memory=512 in the units of the log. The peak is
        /// the most that the log records in use at one time. The mean use is what the log would use on average if nobody ever waited.
        pub capacity: Option<Capacity> =>
            { value: "SIZE", default_words: "peak if the log records when tasks started, else 70%" },
        /// Policies to compare, which decide whose task starts next.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "drf,sdrf" },
        /// Part of a commitment that is left after a second (δ). It applies to all policies with a half-life.
        pub delta: Option<DeltaPerSecond> => { value: "DELTA", default_words: "1-1e-6" },
        /// Half-life of what policies remember, such as 8d. Give this or --delta.
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

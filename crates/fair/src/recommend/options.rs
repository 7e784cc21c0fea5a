//! The parameters of `fair recommend`.

use trueplane_units::{Choices, List, parameters};

use crate::capacity::Capacity;
use crate::options::Scenario;
use crate::policy::PolicyName;
use crate::span::Span;
use crate::workload::JobsSource;

parameters! {
    /// Parameters of `fair recommend`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Log of tasks, as for trueplane fair simulate.
        pub jobs: JobsSource => { value: "JOBS", positional: true, required: true },
        /// Size of the cluster, as for trueplane fair simulate.
        pub capacity: Option<Capacity> =>
            { value: "SIZE", default_words: "peak if the log records when tasks started, else 70%" },
        /// Half-lives to try.
        pub half_life: List<Span> => { value: "LIST", default: "1h,6h,1d,2d,4d,7d,14d,30d" },
        /// Schedulers to try the half-lives with: policies with a half-life. drf and fifo, which have none, are always run.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "sdrf,kueue,slurm" },
    }
    including {
        /// Options of the cluster that runs the tasks.
        pub scenario: Scenario,
    }
}

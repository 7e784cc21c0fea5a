//! The parameters of `fair sweep`.

use trueplane_units::{List, parameters};

use crate::capacity::Part;
use crate::delta::DeltaPerSecond;
use crate::options::Scenario;
use crate::workload::JobsSource;

parameters! {
    /// Parameters of `fair sweep`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Log of tasks, as for trueplane fair simulate.
        pub jobs: JobsSource => { value: "JOBS", positional: true, required: true },
        /// Sizes of the cluster, as parts of the mean use. The mean use is what the log would use on average if nobody ever waited.
        pub capacity: List<Part> => { value: "LIST", default: "50%,60%,70%,80%,90%,100%" },
        /// Values of δ, the part of a commitment that is left after a second.
        pub delta: List<DeltaPerSecond> =>
            { value: "LIST", default: "1-1e-1,1-1e-2,1-1e-3,1-1e-4,1-1e-5,1-1e-6,1-1e-7" },
    }
    including {
        /// Options of the cluster that runs the tasks.
        pub scenario: Scenario,
    }
}

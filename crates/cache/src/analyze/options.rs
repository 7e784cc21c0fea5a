//! The parameters of `cache analyze`.

use trueplane_units::{List, Nanos, parameters};

use crate::source::Source;

parameters! {
    /// Parameters of `cache analyze`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Latencies for which to show Z and the possible number of delayed hits. Those of the default that are below the resolution of the
        /// timestamps are left out.
        pub latency: List<Nanos> => { value: "LIST", default: "1ms,10ms,100ms" },
    }
    including {
        /// The trace.
        pub source: Source,
    }
}

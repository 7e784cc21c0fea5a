//! The parameters of `cache analyze`.

use trueplane_units::{List, Nanos, parameters};

use crate::source::Source;

parameters! {
    /// Parameters of `cache analyze`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Latencies whose Z (mean number of requests that arrive during one) to print.
        pub latency: List<Nanos> => { value: "LIST", default: "1ms,10ms,100ms" },
    }
    including {
        /// The trace.
        pub source: Source,
    }
}

//! The parameters of `cache analyze`.

use trueplane_units::{List, Nanos, parameters};

use crate::source::Source;

parameters! {
    /// Parameters of `cache analyze`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Latencies of which to tell Z and how many delayed hits there can be; of the defaults those that the timestamps can tell.
        pub latency: List<Nanos> => { value: "LIST", default: "1ms,10ms,100ms" },
    }
    including {
        /// The trace.
        pub source: Source,
    }
}

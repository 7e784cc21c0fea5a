//! The parameters of `spray concurrency`.

use std::path::PathBuf;

use trueplane_trace::Order;
use trueplane_units::{Bytes, List, Nanos, Positive, Within, parameters};

use crate::machine::MOST_CORES;

parameters! {
    /// Parameters of `spray concurrency`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Capture in which to count flows (pcap or pcapng). It is plain or compressed with gzip, zstd or xz. A dash (-) is standard input.
        pub capture: PathBuf => { value: "CAPTURE", required: true, positional: true },
        /// Length of a window. It should be longer than any packet stays in a middlebox.
        pub window: Positive<Nanos> => { value: "TIME", default: "150us" },
        /// Size above which a flow counts as large. Large flows are also counted separately.
        pub large: Bytes => { value: "BYTES", default: "10MB" },
        /// Numbers of cores for which to show the effect of hashing.
        pub cores: List<Within<usize, 1, MOST_CORES>> => { value: "LIST", default: "2,4,8,16" },
        /// Count flows of all protocols. Without this flag, only TCP flows count.
        pub all_protocols: bool => {},
    }
    including {
        /// Treatment of a capture that is out of order.
        pub order: Order,
    }
}

impl Options {
    /// Numbers of cores, each once.
    pub(super) fn cores(&self) -> Vec<usize> {
        self.cores.distinct().into_iter().map(Within::get).collect()
    }
}

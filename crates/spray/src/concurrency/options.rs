//! The parameters of `spray concurrency`.

use std::path::PathBuf;

use trueplane_trace::Order;
use trueplane_units::{Bytes, List, Nanos, Positive, Within, parameters};

use crate::machine::MOST_CORES;

parameters! {
    /// Parameters of `spray concurrency`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Capture to count flows in: pcap or pcapng, plain or as gzip, zstd or xz; - is standard input.
        pub capture: PathBuf => { value: "CAPTURE", required: true, positional: true },
        /// Length of a window: longer than any packet stays in a middlebox.
        pub window: Positive<Nanos> => { value: "TIME", default: "150us" },
        /// Size from which on flows are large, and counted once more for themselves: they have more bytes than this.
        pub large: Bytes => { value: "BYTES", default: "10MB" },
        /// Numbers of cores to tell about.
        pub cores: List<Within<usize, 1, MOST_CORES>> => { value: "LIST", default: "2,4,8,16" },
        /// Count flows of all protocols, and not of TCP alone.
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

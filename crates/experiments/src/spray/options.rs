//! The parameters of `spray experiment`.

use trueplane_linux::testnet::Requirement;
use trueplane_spray::dispatch::{DispatchName, Kernel, On};
use trueplane_spray::live::busy::MOST_CYCLES;
use trueplane_spray::live::io::IoBackend;
use trueplane_spray::steering::BUCKETS;
use trueplane_units::{Choices, List, Within, choices, parameters};

/// The most cores that a function has.
const MOST_CORES: u64 = BUCKETS as u64;

choices! {
    /// An experiment by name.
    pub enum ExperimentName {
        /// Goodput of one flow, for each number of --cycles (figure 3.6b).
        Cycles = "cycles",
        /// Goodput of several flows, and how evenly they share it (figures 3.7b and 3.9).
        Flows = "flows",
        /// Time that a request waits for its answer, alone and beside a flow (after figure 3.8).
        Latency = "latency",
    }
}

impl ExperimentName {
    /// Requirements of all experiments on the machine; see [`trueplane_linux::testnet::check`].
    pub const REQUIREMENTS: [Requirement; 3] = [Requirement::Bpf, Requirement::Ethtool, Requirement::Iperf3];
}

parameters! {
    /// Parameters of `spray experiment`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Experiments to run.
        pub experiments: Choices<ExperimentName> => { value: "NAME", default: "all", positional: true },
        /// Policies to compare.
        pub policies: Choices<On<Kernel>> => { value: "LIST", default: "rss,spray,adaptive" },
        /// Additional cycles for each packet. The experiments flows and latency use the last number.
        pub cycles: List<Within<u64, 0, MOST_CYCLES>> => { value: "LIST", default: "0,2000,5000,10000" },
        /// Number of cores of the function.
        pub cores: Within<usize, 1, MOST_CORES> => { value: "N", default: "2" },
        /// Type of the sockets that receive and send packets.
        pub backend: IoBackend => { value: "NAME", default: "packet" },
        /// Run the threads with real-time priority (SCHED_FIFO). If other threads use the same processors, a thread that waits for its turn
        /// reorders the packets that are sprayed. This flag avoids that.
        pub realtime: bool => {},
        /// Number of measurements of each variant. The variants take turns.
        pub rounds: Within<u32, 1, 100> => { value: "N", default: "3" },
        /// Length of each measurement, in seconds.
        pub seconds: Within<u32, 1, 60> => { value: "SECONDS", default: "2" },
    }
}

impl Options {
    /// The policies to compare, by name.
    pub(super) fn dispatches(&self) -> Vec<DispatchName> {
        self.policies.iter().map(|on| on.name()).collect()
    }
}

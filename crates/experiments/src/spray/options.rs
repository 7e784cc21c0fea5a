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
        /// Goodput of one flow, by the cycles that each packet costs (figure 3.6b).
        Cycles = "cycles",
        /// Goodput of several flows, and how evenly they share it (figures 3.7b and 3.9).
        Flows = "flows",
        /// Time that a question waits, alone and beside a flow (after figure 3.8).
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
        /// Busy cycles for each packet; the last number is that of flows and latency.
        pub cycles: List<Within<u64, 0, MOST_CYCLES>> => { value: "LIST", default: "0,2000,5000,10000" },
        /// Cores of the function.
        pub cores: Within<usize, 1, MOST_CORES> => { value: "N", default: "2" },
        /// Sockets by which packets come to the function and go.
        pub backend: IoBackend => { value: "NAME", default: "packet" },
        /// Have threads go before all else on their processors (SCHED_FIFO): where others use these, a thread that waits for its turn reorders
        /// what is sprayed.
        pub realtime: bool => {},
        /// Measurements of each variant, in turns.
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

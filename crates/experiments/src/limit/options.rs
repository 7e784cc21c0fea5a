//! The parameters of `limit experiment`.

use trueplane_linux::testnet::Requirement;
use trueplane_units::{Choices, Nanos, Within, choices, parameters};

choices! {
    /// An experiment by name.
    pub enum ExperimentName {
        /// The rate that passes, beside `tc`'s own limiters.
        Precision = "precision",
        /// Ten flows of one tenant against a hundred of another, without and with limits.
        Isolation = "isolation",
        /// The time that a quiet tenant waits beside a hundred flows.
        Latency = "latency",
        /// Bytes that a limiter holds, with marks and without.
        Occupancy = "occupancy",
        /// The level from which to mark so that DCTCP uses the rate and loses nothing.
        Marking = "marking",
    }
}

impl ExperimentName {
    /// Requirements on the machine beyond root, `ip` and network namespaces; see [`trueplane_linux::testnet::check`].
    pub fn requirements(self) -> &'static [Requirement] {
        use Requirement::{Bpf, Ethtool, Iperf3, StructOps, Tc, Tun};
        match self {
            Self::Precision => &[Iperf3, Tc, Ethtool, Bpf, StructOps, Tun],
            Self::Isolation | Self::Latency => &[Tc, Ethtool, Bpf],
            Self::Occupancy | Self::Marking => &[Iperf3, Ethtool, Bpf, StructOps, Tun],
        }
    }
}

parameters! {
    /// Parameters of `limit experiment`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Experiments to run; all of them take about a minute.
        pub experiments: Choices<ExperimentName> => { value: "NAME", default: "all", positional: true },
        /// Time to measure for, each time.
        pub duration: Within<Nanos, 100_000_000, 60_000_000_000> => { value: "TIME", default: "400ms" },
    }
}

//! The parameters of `limit experiment`.

use trueplane_linux::testnet::Requirement;
use trueplane_units::{Choices, Nanos, Within, choices, parameters};

choices! {
    /// An experiment by name.
    pub enum ExperimentName {
        /// Rate that passes, in comparison with the limiters of `tc`.
        Precision = "precision",
        /// Ten flows of one tenant against a hundred flows of another, without and with limits.
        Isolation = "isolation",
        /// Latency of a quiet tenant beside a hundred flows.
        Latency = "latency",
        /// Bytes in a limiter, with and without marking.
        Occupancy = "occupancy",
        /// Lowest marking threshold at which DCTCP uses the whole rate without loss.
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
        /// Experiments to run. All of them together take about a minute.
        pub experiments: Choices<ExperimentName> => { value: "NAME", default: "all", positional: true },
        /// Length of each measurement.
        pub duration: Within<Nanos, 100_000_000, 60_000_000_000> => { value: "TIME", default: "400ms" },
    }
}

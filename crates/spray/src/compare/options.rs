//! The parameters of `spray compare`.

use std::path::PathBuf;

use trueplane_link::LinkOptions;
use trueplane_study::Error;
use trueplane_trace::Strictness;
use trueplane_units::{Choices, List, Parameters as _, Value as _, Within, parameters};

use crate::Fit;
use crate::dispatch::{DispatchName, PolicyName};
use crate::machine::{MOST_CORES, MOST_CYCLES, MachineOptions};
use crate::nf::{FunctionName, FunctionParameters};
use crate::system::SystemName;
use crate::traffic::TrafficOptions;

/// The most packets of a run: those of a flow are counted with 32 bits.
const MOST_PACKETS: u64 = 1_000_000_000;

/// The most flows at a time.
const MOST_FLOWS: u64 = 1 << 20;

const HEADING: &str = "Simulation";

parameters! {
    /// Parameters of `spray compare`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Capture to use instead of generated flows (pcap or pcapng). Its packets are repeated, and their times are scaled to the rate. The
        /// capture is plain or compressed with gzip, zstd or xz. A dash (-) is standard input.
        pub capture: PathBuf => { value: "CAPTURE", positional: true, conflicts: "flows sizes arrivals" },
        /// Network functions that process the packets.
        pub nf: Choices<FunctionName> => { value: "LIST", default: "synthetic" },
        /// Policies to compare.
        pub policies: Choices<SystemName> => { value: "LIST", default: "rss,spray,adaptive" },
        /// Number of flows at the same time. A capture has its own flows.
        pub flows: List<Within<u64, 1, MOST_FLOWS>> => { value: "LIST", default: "1,8,64" },
        /// Numbers of cores.
        pub cores: List<Within<usize, 1, MOST_CORES>> => { value: "LIST", default: "8" },
        /// Cycles of work for each packet, in addition to --costs.
        pub cycles: List<Within<u64, 0, MOST_CYCLES>> => { value: "LIST", default: "0,2500,5000,10000" },
        /// Number of runs, each with other flows. The results are means and extremes over the runs.
        pub runs: Within<u32, 1, 10_000> => { value: "N", default: "10", heading: HEADING },
        /// Number of packets in each run that finds the rate. A run that measures latency has a fifth of them.
        pub packets: Within<u64, 1, MOST_PACKETS> => { value: "N", default: "100K", heading: HEADING },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1", heading: HEADING },
    }
    including {
        /// Parameters of the traffic.
        pub traffic: TrafficOptions,
        /// Link over which packets come to the machine.
        pub link: LinkOptions,
        /// Parameters of the cores.
        pub machine: MachineOptions,
        /// Parameters of the network functions.
        pub function: FunctionParameters,
        /// Strictness in reading a capture.
        pub reading: Strictness,
    }
}

impl Options {
    /// Whether packets are those of a capture.
    pub(super) fn has_capture(&self) -> bool {
        !self.capture.as_os_str().is_empty()
    }

    /// Numbers of cores, each once.
    pub(super) fn cores(&self) -> Vec<usize> {
        self.cores.distinct().into_iter().map(Within::get).collect()
    }

    /// Numbers of flows at a time, each once.
    pub(super) fn flows(&self) -> Vec<u64> {
        self.flows.distinct().into_iter().map(Within::get).collect()
    }

    /// Cycles of work, each number once.
    pub(super) fn cycles(&self) -> Vec<u64> {
        self.cycles.distinct().into_iter().map(Within::get).collect()
    }

    /// Refuses parameters of dispatch policies that are not among the systems.
    fn check_dispatch(&self) -> Result<(), Error> {
        let default = MachineOptions::default();
        let has = |wanted: &dyn Fn(DispatchName) -> bool| {
            let named = |system: &SystemName| matches!(system, SystemName::Dispatch(name) if wanted(*name));
            self.policies.0.iter().any(named)
        };
        let idle = [
            (
                "--gap",
                "flowlet",
                self.machine.gap != default.gap && !has(&|name| name.policy() == PolicyName::Flowlet),
            ),
            (
                "--card-limit",
                "spray, adaptive or subset:K with K above 1",
                self.machine.card_limit.is_some() && !has(&|name| name.properties().by_checksum),
            ),
        ];
        match idle.iter().find(|(.., is_idle)| *is_idle) {
            None => Ok(()),
            Some((flag, policies, _)) => Err(Error::Parameters(format!(
                "{flag} is for --policies {policies}, got --policies {}",
                self.policies.show()
            ))),
        }
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let (false, Some(flag)) = (self.has_capture(), self.reading.first_given()) {
            return Err(Error::Parameters(format!("{flag} is for captures, and there is none")));
        }
        self.function.check(&self.nf).map_err(Error::Parameters)?;
        self.link.check().map_err(Error::Parameters)?;
        self.check_dispatch()?;
        for &function in self.nf.iter() {
            let Fit::WholeFlows(why) = function.properties().fit else { continue };
            for cores in self.cores().into_iter().filter(|&cores| cores > 1) {
                let unfit = |system: &&SystemName| !system.suits_whole_flows(cores);
                if let Some(system) = self.policies.0.iter().find(unfit) {
                    return Err(Error::Parameters(format!(
                        "--nf {function} cannot run under --policies {system}: {why}"
                    )));
                }
            }
        }
        Ok(())
    }
}

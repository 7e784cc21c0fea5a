//! `trueplane spray experiment`

use trueplane_experiments::spray::{Error, Experiment, Observer, Settings, conduct, report};
use trueplane_linux::testnet;
use trueplane_spray::dispatch::{Kernel, On};
use trueplane_spray::live::io::IoBackend;
use trueplane_spray::live::memory::busy::MOST_CYCLES;
use trueplane_study::Observer as _;
use trueplane_units::parameter::settings as settings_of;
use trueplane_units::{Choices, List, Within, distinct, parameters};

use super::values::MOST_CORES;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::OutputArgs;
use crate::watch::Watch;

/// Try spraying on real connections, on this machine, in network namespaces that come and go with the command.
///
/// cycles: what one flow of iperf3 gets, by the work that each packet costs. flows: what several get together, and how evenly. latency: what
/// questions wait, alone and beside a flow. Senders and receivers share the machine's cores with the function.
///
/// No device of this machine is touched. Needs root, and iperf3 and ethtool.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray experiment --report out
  trueplane spray experiment cycles --cycles 0,10000 --dispatch rss,spray --rounds 5 --json")]
pub(crate) struct Args {
    /// Experiments [default: all]
    #[arg(value_name = "NAME")]
    experiments: Vec<Experiment>,

    #[command(flatten)]
    flags: Flags<Options>,

    #[command(flatten)]
    output: OutputArgs,
}

parameters! {
    /// Parameters of `spray experiment`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Policies to compare.
        dispatch: Choices<On<Kernel>> => { value: "LIST", default: "rss,spray,adaptive" },
        /// Busy cycles for each packet; the last number is that of flows and latency.
        cycles: List<Within<u64, 0, MOST_CYCLES>> => { value: "LIST", default: "0,2000,5000,10000" },
        /// Cores of the function.
        cores: Within<usize, 1, MOST_CORES> => { value: "N", default: "2" },
        /// Sockets by which packets come to the function and go.
        backend: IoBackend => { value: "NAME", default: "packet" },
        /// Have threads go before all else on their processors (SCHED_FIFO): where others use these, a thread that waits for its turn reorders
        /// what is sprayed.
        realtime: bool => {},
        /// Measurements of each variant, in turns.
        rounds: Within<u32, 1, 100> => { value: "N", default: "3" },
        /// Length of each measurement, in seconds.
        seconds: Within<u32, 1, 60> => { value: "SECONDS", default: "2" },
    }
}

/// A bar that says what is being measured.
struct Bar<'a>(&'a Watch);

impl Observer for Bar<'_> {
    fn step(&self, what: &str) -> bool {
        self.0.stage(what, 0);
        !self.0.interrupted()
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        testnet::check(&Experiment::REQUIREMENTS)
            .map_err(|reason| Failure::other(format!("spray experiment: {reason}")))?;
        let Flags(options) = &self.flags;
        let settings = Settings {
            dispatches: options.dispatch.iter().map(|on| on.name()).collect(),
            cycles: options.cycles.distinct().into_iter().map(Within::get).collect(),
            rounds: *options.rounds,
            seconds: *options.seconds,
            cores: *options.cores,
            backend: options.backend,
            realtime: options.realtime,
            ..Settings::default()
        };
        let chosen = match &self.experiments[..] {
            [] => Experiment::ALL.to_vec(),
            some => distinct(some.iter().copied()),
        };
        let watch = Watch::start()?;
        watch.waits_for_cleaning_up();
        let _alone = testnet::alone();
        testnet::sweep().map_err(|error| Failure::other(error.to_string()))?;
        let mut points = Vec::new();
        for experiment in chosen {
            let found = conduct(experiment, &settings, &Bar(&watch));
            points.extend(found.map_err(|error| failure(error, &watch))?);
        }
        watch.finish();
        self.output.emit(&report(&points, &settings, &settings_of(options)))
    }
}

fn failure(error: Error, watch: &Watch) -> Failure {
    // Ctrl-C also reaches iperf3, whose end is then the first thing that is noticed.
    if watch.interrupted() {
        return trueplane_study::Error::Interrupted.into();
    }
    match error {
        Error::Run(error) => error.into(),
        Error::Interrupted | Error::Network(_) | Error::Lost(_) => Failure::other(error.to_string()),
    }
}

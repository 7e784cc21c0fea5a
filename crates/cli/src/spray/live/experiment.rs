//! `trueplane spray experiment`

use trueplane_experiments::spray::{Error, Experiment, Observer, Settings, conduct, report};
use trueplane_linux::testnet;
use trueplane_spray::dispatch::DispatchName;
use trueplane_spray::live::io::IoBackend;
use trueplane_study::Observer as _;

use super::values::busy_cycles;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::values::{Named, named};
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
    /// Experiments: cycles, flows, latency [default: all]
    #[arg(value_name = "NAME", value_parser = named::<Experiment>)]
    experiments: Vec<Experiment>,

    /// Policies to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "rss,spray,adaptive")]
    dispatch: Vec<DispatchName>,

    /// Busy cycles for each packet; the last number is that of flows and latency
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,2000,5000,10000", value_parser = busy_cycles)]
    cycles: Vec<u64>,

    /// Cores of the function
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=128))]
    cores: u16,

    /// How packets come to the function and go: packet (AF_PACKET) or xdp (AF_XDP)
    #[arg(long, value_name = "NAME", default_value_t = IoBackend::Packet)]
    backend: IoBackend,

    /// Have threads go before all else on their processors (SCHED_FIFO): where others use these, a thread that waits for its turn reorders what
    /// is sprayed
    #[arg(long)]
    realtime: bool,

    /// How often each variant is measured, in turns
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// How long, each time
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,

    #[command(flatten)]
    output: OutputArgs,
}

impl Named for Experiment {
    const WHAT: &'static str = "experiment";
    const NAMES: &'static [(&'static str, Self)] = &Experiment::NAMES;
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
        let settings = Settings {
            dispatches: trueplane_units::distinct(self.dispatch.iter().copied()),
            cycles: trueplane_units::distinct(self.cycles.iter().copied()),
            rounds: self.rounds,
            seconds: self.seconds,
            cores: self.cores.into(),
            backend: self.backend,
            realtime: self.realtime,
            ..Settings::default()
        };
        let all = || Experiment::NAMES.map(|(_, experiment)| experiment).to_vec();
        let chosen = if self.experiments.is_empty() {
            all()
        } else {
            trueplane_units::distinct(self.experiments.iter().copied())
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
        self.output.emit(&report(&points, &settings))
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

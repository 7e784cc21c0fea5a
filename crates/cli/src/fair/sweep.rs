//! `trueplane fair sweep`

use trueplane_fair::Memory;
use trueplane_fair::sweep::{SweepOptions, sweep};
use trueplane_fair::workload::JobsSource;
use trueplane_units::Nanos;

use super::log::LogArgs;
use super::values::{WeightsArg, delta, long_time, part, weights};
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::values::without_repetitions;
use crate::watch::Watch;

/// Show how long a scheduler should remember: SDRF against DRF on clusters of several sizes.
///
/// Figures 4.9 and 4.11 of the thesis: what of the mean wait of users is saved, and how often they change places in the live tree.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane fair sweep JOBS [OPTIONS]",
    next_help_heading = "Simulation",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// The log, as for trueplane fair simulate
    #[arg(value_name = "JOBS", help_heading = None)]
    jobs: JobsSource,

    /// Sizes of the cluster, as parts of what would be used on average if nobody ever waited
    #[arg(
        long, value_name = "LIST", value_delimiter = ',', default_value = "50%,60%,70%,80%,90%,100%", value_parser = part
    )]
    capacities: Vec<u64>,

    /// Values of δ, what is left of a commitment after a second
    #[arg(
        long, value_name = "LIST", value_delimiter = ',', default_value = "1-1e-1,1-1e-2,1-1e-3,1-1e-4,1-1e-5,1-1e-6,1-1e-7",
        value_parser = delta
    )]
    deltas: Vec<Memory>,

    /// What users have a right to: ann=2,bob=3, or a CSV file with the columns user and weight [default: 1]
    #[arg(long, value_name = "WEIGHTS", value_parser = weights)]
    weights: Option<WeightsArg>,

    /// Let tasks that fit pass one that is next and does not
    #[arg(long)]
    backfill: bool,

    /// How long after the first submission a task must have ended to count as completed by the horizon [default: when the log would
    /// end if nobody ever waited]
    #[arg(long, value_name = "TIME", value_parser = long_time)]
    horizon: Option<Nanos>,

    /// Threads to run on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    log: LogArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane fair sweep examples/jobs.csv --report out
  trueplane fair sweep generate:users=100,tasks=100K --capacities 50%,70% --deltas 1-1e-4,1-1e-6";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        self.log.check(&self.jobs, self.weights.as_ref())?;
        let options = SweepOptions {
            capacities: without_repetitions(&self.capacities),
            memories: without_repetitions(&self.deltas),
            weights: self.weights.map(|weights| weights.read()).transpose()?.unwrap_or_default(),
            backfill: self.backfill,
            horizon: self.horizon,
        };
        let threads = pool(self.threads)?;
        let watch = Watch::start()?;
        let log = self.log.load(&self.jobs, &watch);
        let found = log.and_then(|log| threads.install(|| sweep(&log, &options, &watch)));
        watch.finish();
        self.output.emit(&found?.report())
    }
}

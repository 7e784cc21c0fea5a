//! `trueplane fair simulate`

use std::path::PathBuf;

use trueplane_fair::Memory;
use trueplane_fair::document::Simulation;
use trueplane_fair::options::{Capacity, Options};
use trueplane_fair::policy::PolicyName;
use trueplane_fair::simulate::simulate;
use trueplane_fair::tally::Sink;
use trueplane_fair::workload::{JobLog, JobsSource};
use trueplane_study::Error;
use trueplane_units::{Choices, Nanos};

use super::log::LogArgs;
use super::schedule::Schedule;
use super::values::{WeightsArg, capacity, delta, half_life, long_time, weights};
use crate::failure::Failure;
use crate::flags::value;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::watch::Watch;

/// Show who waits for a shared cluster because its scheduler forgets.
///
/// The tasks of a log run on one pooled cluster, under every policy: whenever a task comes or ends, the next task of the user who is first
/// starts, until one does not fit. The run goes on until all tasks have ended.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane fair simulate JOBS [OPTIONS]",
    next_help_heading = "Simulation",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// The log: a CSV file with the columns submit, duration or finish, user, and one for every resource; a list of Alibaba's pods or
    /// instances; a directory of Google's task_events; - for standard input; or generate:… (see below)
    #[arg(value_name = "JOBS", help_heading = None)]
    jobs: JobsSource,

    /// The size of the cluster: a part of what would be used on average if nobody ever waited, such as 70%, or cpu=96,mem=512 in the
    /// units of the log
    #[arg(long, value_name = "SIZE", default_value = "70%", value_parser = capacity)]
    capacity: Capacity,

    /// Orders of users: fifo, drf, sdrf, kueue, kueue-milli (usage cut to thousandths of a unit), slurm (bills the first resource), karma, or all
    #[arg(long, value_name = "LIST", default_value = "drf,sdrf", value_parser = value::<Choices<PolicyName>>)]
    policies: Choices<PolicyName>,

    /// δ, what is left of a commitment after a second; for kueue and slurm too
    #[arg(long, value_name = "DELTA", default_value = "1-1e-6", value_parser = delta)]
    delta: Memory,

    /// Instead of --delta: after which half is forgotten, such as 8d
    #[arg(long, value_name = "TIME", value_parser = half_life, conflicts_with = "delta")]
    half_life: Option<Memory>,

    /// What users have a right to: ann=2,bob=3, or a CSV file with the columns user and weight [default: 1]
    #[arg(long, value_name = "WEIGHTS", value_parser = weights)]
    weights: Option<WeightsArg>,

    /// Let tasks that fit pass one that is next and does not
    #[arg(long)]
    backfill: bool,

    /// How long after the first submission a task must have ended to count as completed by the horizon, such as 30d [default: when the
    /// log would end if nobody ever waited]
    #[arg(long, value_name = "TIME", value_parser = long_time)]
    horizon: Option<Nanos>,

    /// Threads to run on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    log: LogArgs,

    /// Write every task's start and finish as CSV, policy by policy in the order of starting, times as in the log; the column task has the
    /// row of JOBS (1 is the first after the header; of google2011 the event that submits the task, counted over all parts). {policy} in
    /// the name makes it a file for every policy
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    schedule: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Generated logs:
  generate:users=600,tasks=1M,resources=2,zipf=1.1,span=24h,burst=50,gap=1s,duration=5min,spread=1.5,correlation=0.5
      users by Zipf's law who come and go; what is left out is as here

Examples:
  trueplane fair simulate examples/jobs.csv --report out
  trueplane fair simulate jobs.csv --capacity cpu=96,mem=512 --policies all --half-life 7d
  trueplane fair simulate jobs.csv --schedule started.csv --json
  trueplane fair simulate generate:users=100,tasks=200K --capacity 50%";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        self.log.check(&self.jobs, self.weights.as_ref())?;
        let policies = self.policies.0;
        let mut schedules = match &self.schedule {
            Some(path) => Schedule::create(path, &policies)?,
            None => Vec::new(),
        };
        let options = Options {
            capacity: self.capacity,
            policies,
            memory: self.half_life.unwrap_or(self.delta),
            weights: self.weights.map(|weights| weights.read()).transpose()?.unwrap_or_default(),
            backfill: self.backfill,
            horizon: self.horizon,
        };
        let threads = pool(self.threads)?;
        let watch = Watch::start()?;
        let log = self.log.load(&self.jobs, &watch);
        let found = log.and_then(|log| threads.install(|| study(&log, &options, &watch, &mut schedules)));
        watch.finish();
        let report = found?.report();
        Schedule::finish(schedules)?;
        self.output.emit(&report)
    }
}

fn study(
    log: &JobLog,
    options: &Options,
    watch: &Watch,
    schedules: &mut [Schedule],
) -> Result<Simulation, Error> {
    let sink = |schedule| {
        let schedule: &mut Schedule = schedule;
        let sink: Sink<'_> = Box::new(|started| schedule.add(started, log));
        sink
    };
    simulate(log, options, watch, schedules.iter_mut().map(sink).collect())
}

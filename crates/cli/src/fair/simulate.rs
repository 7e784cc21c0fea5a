//! `trueplane fair simulate`: the study, and the file of what starts when.

use std::path::PathBuf;

use trueplane_fair::simulate::{Simulate, run::on_log};
use trueplane_fair::tally::Sink;
use trueplane_study::study::report;

use super::schedule::Schedule;
use crate::failure::Failure;
use crate::study::Run;

// What it does is said by the study.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    study: Run<Simulate>,

    /// Write every task's start and finish as CSV, policy by policy in the order of starting, times as in the log; the column task has the
    /// row of JOBS (1 is the first after the header; of google2011 the event that submits the task, counted over all parts). {policy} in
    /// the name makes it a file for every policy
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    schedule: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(path) = self.schedule else { return self.study.run() };
        self.study.run_by(|options, watch| {
            let mut schedules = Schedule::create(&path, &options.policies)?;
            let (log, weights) = options.scenario.read(&options.jobs, watch)?;
            let sinks = schedules.iter_mut().map(|schedule| {
                let sink: Sink<'_> = Box::new(|started| schedule.add(started, &log));
                sink
            });
            let found = on_log(&log, &weights, options, watch, sinks.collect())?;
            Schedule::finish(schedules)?;
            Ok(report::<Simulate>(options, &found))
        })
    }
}

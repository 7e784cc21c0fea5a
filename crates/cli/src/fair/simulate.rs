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

    /// Write the start and the finish of each task to this file, as CSV.
    ///
    /// The rows are sorted by policy, then by start. Times are as in the log. The column task has the row in JOBS: 1 is the first row after the
    /// header. For google2011, it has the number of the event that submits the task, counted over all parts. With {policy} in its name, there is
    /// one file for each policy.
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

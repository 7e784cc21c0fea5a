//! The flags that say how to read a log of jobs.

use std::path::Path;

use trueplane_fair::workload::{JobLog, JobsSource, LogFormat, LogOptions, load};
use trueplane_study::{Error, Observer};
use trueplane_trace::TimeUnit;

use super::values::WeightsArg;
use crate::failure::Failure;

/// How to read a log.
#[derive(clap::Args)]
#[command(next_help_heading = "Log")]
pub(super) struct LogArgs {
    /// The format: csv, google2011, alibaba2023 or alibaba2025 [default: found out]
    #[arg(long, value_name = "FORMAT")]
    format: Option<LogFormat>,

    /// Only for csv: the unit of plain numbers that are times: s, ms, us or ns [default: the column name's suffix, else s]
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,

    /// The column that says whose a task is [default: user; of alibaba2023 qos, of alibaba2025 app_name]; not for google2011
    #[arg(long, value_name = "COLUMN")]
    user: Option<String>,

    /// What counts as a resource, such as cpu,memory [default: of csv every column but times, user, and usual names of what is no amount,
    /// such as job_id, priority or status; of google2011 cpu,memory, disk being the third; of the others all that they have]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    resources: Option<Vec<String>>,

    /// Only for generate:…: where random draws begin [default: 1]
    #[arg(long)]
    seed: Option<u64>,
}

impl LogArgs {
    /// Refuses what means nothing for `source`, and standard input for two things.
    pub(super) fn check(&self, source: &JobsSource, weights: Option<&WeightsArg>) -> Result<(), Failure> {
        let stdin = Path::new("-");
        let JobsSource::Path(path) = source else { return Ok(()) };
        if self.seed.is_some() {
            return Err(Failure::input("--seed is for generate:…, and nothing is drawn for a log"));
        }
        match weights {
            Some(WeightsArg::File(file)) if file == stdin && path == stdin => {
                Err(Failure::input("the log and --weights cannot both be standard input"))
            }
            _ => Ok(()),
        }
    }

    /// Reads or draws the log.
    pub(super) fn load(self, source: &JobsSource, observer: &dyn Observer) -> Result<JobLog, Error> {
        let options = LogOptions {
            format: self.format,
            time_unit: self.time_unit,
            user: self.user,
            resources: self.resources,
        };
        let mut source = source.clone();
        if let (JobsSource::Generated(generate), Some(seed)) = (&mut source, self.seed) {
            generate.seed = seed;
        }
        load(&source, &options, observer)
    }
}

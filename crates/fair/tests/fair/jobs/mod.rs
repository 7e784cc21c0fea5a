//! Logs of tasks: what is read, what is refused, what is left out, and that what is written can be read.

mod alibaba;
mod csv;
mod google;
mod kubernetes;
mod seeds;
mod slurm;
mod swf;
mod written;

use std::fmt::Display;

use trueplane_fair::workload::{BILLION, Counted, JobLog, LogFormat, LogOptions, from_bytes};

/// Nanoseconds of a second.
const S: u64 = 1_000_000_000;

fn usual() -> LogOptions {
    LogOptions::default()
}

fn of_format(format: LogFormat) -> LogOptions {
    LogOptions { format: Some(format), ..usual() }
}

fn resources(names: &[&str]) -> LogOptions {
    LogOptions { resources: Some(names.iter().map(|&name| name.to_owned()).collect()), ..usual() }
}

fn read(text: &str, options: &LogOptions) -> Result<JobLog, String> {
    from_bytes("jobs.csv", text.as_bytes().to_vec(), options, &()).map_err(|error| {
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    })
}

/// Its tasks: when submitted, how long, whose, and what they need in billionths.
fn tasks(log: &JobLog) -> Vec<(u64, u64, &str, Vec<u128>)> {
    let task = |task: &trueplane_fair::workload::Task| {
        let needs = log.demands[task.demand as usize].to_vec();
        (task.submitted.0, task.duration.0, log.users[task.user as usize].as_str(), needs)
    };
    log.tasks.iter().map(task).collect()
}

/// `2 runs that were lost`.
fn said<W: Display>(counts: &[Counted<W>]) -> Vec<String> {
    counts.iter().map(|left_out| format!("{} {}", left_out.count, left_out.what)).collect()
}

/// So many units.
fn units(number: u128) -> u128 {
    number * BILLION
}

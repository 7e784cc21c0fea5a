//! The jobs of a real log, faster than they were.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use trueplane_fair::workload::{BILLION, JobsSource, LogOptions, load};

use super::number;

/// The resources that count: cores and GiB of memory, in whole numbers. They are extended resources of a group of which the scheduler of the test cluster
/// counts nothing, so that the cluster is one sum for whoever admits, and no piece of a node is too small for a pod.
pub(crate) const RESOURCES: [&str; 2] = ["trueplane.test/core", "trueplane.test/gib"];

/// Tenants: applications of the log are theirs by turns.
const TENANTS: u32 = 20;

/// A job.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// A name that no other has, in the order in which they come.
    pub(crate) name: String,
    pub(crate) tenant: String,
    /// When it comes, since the first one came.
    pub(crate) comes: Duration,
    /// How long it runs.
    pub(crate) runs: Duration,
    /// Amounts that it needs of [`RESOURCES`].
    pub(crate) needs: [u64; 2],
}

/// The jobs of a log.
#[derive(Clone, Debug)]
pub(crate) struct JobLog {
    /// Jobs in the order in which they come.
    pub(crate) jobs: Vec<Job>,
    /// How many times faster than in the log they come and end.
    pub(crate) speed: f64,
    /// Mean amounts that they would use while they come if nobody waited.
    pub(crate) mean_use: [f64; 2],
}

impl JobLog {
    /// So many jobs of the log, evenly chosen, so fast that they come within `SPAN` seconds; `None` if this machine does not have the log. Only jobs
    /// that were created and deleted within the log are taken. If it has fewer, each comes several times.
    pub(crate) fn read(count: usize) -> Option<Self> {
        let usual =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/cluster/alibaba-dlrm-2025.csv.zst");
        let path = PathBuf::from(env::var("JOBS").unwrap_or_else(|_| usual.to_owned()));
        if !path.exists() {
            eprintln!("skipped: the log {} is not there", path.display());
            return None;
        }
        let resources = Some(vec!["cpu".to_owned(), "memory".to_owned()]);
        let log =
            load(&JobsSource::Path(path), &LogOptions { resources, ..LogOptions::default() }, &()).unwrap();
        let is_whole = |(index, task): &(u32, &trueplane_fair::workload::Task)| {
            task.submitted.0 > 0 && log.censored.binary_search(index).is_err()
        };
        let whole: Vec<_> = (0..).zip(&log.tasks).filter(is_whole).map(|(_, task)| task).collect();
        let tasks: Vec<_> = (0..count).map(|place| whole[place * whole.len() / count]).collect();
        let (first, last) = (tasks.first()?.submitted, tasks.last()?.submitted);
        let span = number("SPAN", 300) as f64;
        let speed = last.since(first).0 as f64 / 1e9 / span;
        let faster = |nanos: u64| Duration::from_secs_f64(nanos as f64 / 1e9 / speed);
        let jobs: Vec<Job> = (0..)
            .zip(&tasks)
            .map(|(place, task): (u32, _)| {
                let demand = &log.demands[task.demand as usize];
                let amount = |resource: usize| u64::try_from(demand[resource].div_ceil(BILLION)).unwrap();
                Job {
                    name: format!("job-{place:06}"),
                    tenant: format!("tenant-{:02}", task.user % TENANTS),
                    comes: faster(task.submitted.since(first).0),
                    runs: faster(task.duration.0).max(Duration::from_millis(1)),
                    needs: [amount(0), amount(1)],
                }
            })
            .collect();
        let mean = |resource: usize| {
            let within = |job: &Job| job.runs.as_secs_f64().min(span - job.comes.as_secs_f64());
            jobs.iter().map(|job| job.needs[resource] as f64 * within(job)).sum::<f64>() / span
        };
        let mean_use = [mean(0), mean(1)];
        Some(Self { jobs, speed, mean_use })
    }

    /// The names of all tenants.
    pub(crate) fn tenants() -> impl Iterator<Item = String> {
        (0..TENANTS).map(|tenant| format!("tenant-{tenant:02}"))
    }

    /// What each of so many nodes has, so that all have `percent` of the mean use, and no job needs more than there is.
    pub(crate) fn node(&self, nodes: usize, percent: usize) -> [u64; 2] {
        std::array::from_fn(|resource| {
            let largest = self.jobs.iter().map(|job| job.needs[resource]).max().unwrap_or(0) as f64;
            let all = (self.mean_use[resource] * percent as f64 / 100.0).max(largest);
            (all / nodes as f64).ceil() as u64
        })
    }
}

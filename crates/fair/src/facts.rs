//! What is known of a log and of its cluster without running them, and how pages show it.

use trueplane_study::Page;
use trueplane_units::Nanos;

use crate::setup::Setup;
use crate::words::long;
use crate::workload::{BILLION, Cut, JobLog, LeftOut, Unhindered};

/// A log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogFacts {
    /// Name of the log: its file, or how it was drawn.
    pub name: String,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of users who have submitted them.
    pub users: u64,
    /// Names of what tasks need.
    pub resources: Vec<String>,
    /// Time from the first submission to the end of the last task if nobody ever waited.
    pub span: Nanos,
    /// Things in the log that are not among its tasks, with their counts.
    pub left_out: Vec<LeftOut>,
    /// Tasks of which the log has but a part, the part that they are taken for.
    pub cut: Vec<Cut>,
    /// Number of tasks that outlast the log. When they end is not known, so that completion ratios leave them out.
    pub censored: u64,
}

/// A resource of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceFacts {
    /// Name of the resource.
    pub resource: String,
    /// Amount that the cluster has, in the unit of the log.
    pub capacity: f64,
    /// Amount that would be used in the mean if nobody ever waited.
    pub mean_use: f64,
}

impl LogFacts {
    pub(crate) fn of(log: &JobLog, unhindered: &Unhindered) -> Self {
        let start = log.tasks.first().map(|task| task.submitted).unwrap_or_default();
        Self {
            name: log.name.clone(),
            tasks: log.tasks.len() as u64,
            users: log.users.len() as u64,
            resources: log.resources.clone(),
            span: unhindered.end.since(start),
            left_out: log.left_out.clone(),
            cut: log.cut.clone(),
            censored: log.censored.len() as u64,
        }
    }

    /// Facts of a page.
    pub(crate) fn present(&self, page: &mut Page) {
        page.fact("log", "log", self.name.as_str());
        page.fact("tasks", "tasks", self.tasks);
        page.fact("users", "users", self.users);
        page.fact("time if nobody ever waited", "span_ns", long(self.span));
        if self.censored > 0 {
            page.fact("tasks that outlast the log", "censored", self.censored);
        }
    }

    /// The tables of what is not read, and of what is read only in part; none if there is nothing of the kind.
    pub(crate) fn present_odd_tasks(&self, page: &mut Page) {
        page.left_out("log", self.left_out.iter().map(|of| (&of.what, of.count)));
        page.counts(
            "cut",
            "Tasks of which the log has only a part",
            self.cut.iter().map(|of| (&of.what, of.count)),
        );
    }
}

impl ResourceFacts {
    /// The table of a cluster's resources.
    pub(crate) fn present(cluster: &[Self], page: &mut Page) {
        page.table("cluster", "The cluster, in the units of the log", cluster)
            .col("resource", "resource", |of| of.resource.as_str())
            .col("capacity", "capacity", |of| of.capacity)
            .col("mean use if nobody waited", "mean_use", |of| of.mean_use);
    }

    pub(crate) fn of(setup: &Setup<'_>) -> Vec<Self> {
        let (pool, log) = (&setup.pool, setup.pool.log());
        let capacity = pool.capacity.iter().zip(&pool.scale).map(|(&amount, scale)| amount as f64 / scale);
        let mean = setup.unhindered.mean_use.iter().map(|&mean| mean as f64 / BILLION as f64);
        log.resources
            .iter()
            .zip(capacity.zip(mean))
            .map(|(resource, (capacity, mean_use))| Self { resource: resource.clone(), capacity, mean_use })
            .collect()
    }
}

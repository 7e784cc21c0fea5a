//! What the runs of a study have in common: the cluster, the tasks, and up to when some things are counted.

use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::capacity::Capacity;
use crate::engine::run;
use crate::shares::SharesOverTime;
use crate::tally::{Bounds, Sink, Tally};
use crate::weights::UserWeights;
use crate::workload::{JobLog, Pool, Unhindered};
use crate::{Cluster, Policy};

/// Shares over time are kept for so many users at most, from whom those are chosen later who are drawn.
const TRACKED: usize = 1024;

/// Bins of the shares over time.
const BINS: usize = 240;

/// A cluster and the log that it is to run.
pub(super) struct Setup<'a> {
    /// The tasks.
    pub pool: Pool<'a>,
    /// The cluster.
    pub cluster: Cluster,
    /// The first submission.
    pub start: Nanos,
    /// The horizon.
    pub horizon: Nanos,
    /// The log if nobody ever waited.
    pub unhindered: &'a Unhindered,
    /// The users whose shares over time are kept.
    pub tracked: Vec<u32>,
    backfill: bool,
}

/// Outcome of a run.
pub(super) struct Outcome<'a> {
    /// Counts of the run.
    pub tally: Tally<'a>,
    /// Changes of order as time passed, if the policy counts them.
    pub events: Option<u64>,
}

impl<'a> Setup<'a> {
    /// The cluster of `capacity` for `log`, which is `unhindered` if nobody ever waited. Nobody's shares over time are kept.
    ///
    /// # Errors
    ///
    /// The log is empty, or does not fit the capacity, the weights or the horizon.
    pub(super) fn new(
        log: &'a JobLog,
        unhindered: &'a Unhindered,
        capacity: &Capacity,
        weights: &UserWeights,
        horizon: Option<Nanos>,
        backfill: bool,
    ) -> Result<Self, Error> {
        let Some(first) = log.tasks.first() else {
            return Err(Error::Parameters(format!("{}: expected at least one task, found none", log.name)));
        };
        let pool = Pool::new(log, &capacity.amounts(log, &unhindered.mean_use)?);
        let cluster = Cluster::new(pool.capacity.clone(), weights.of(log)?)
            .map_err(|error| Error::Parameters(format!("{}: {error}", log.name)))?;
        let start = first.submitted;
        let end = horizon.map_or(unhindered.end, |horizon| start.after(horizon));
        // A log whose tasks all take no time, at one instant.
        let horizon = end.max(start.after(Nanos(1)));
        Ok(Self { pool, cluster, start, horizon, unhindered, tracked: Vec::new(), backfill })
    }

    /// Keeps the shares over time of the users who would use most, the greediest first: whose dominant resource, times the time, is the
    /// largest part of all. O(tasks).
    pub(super) fn track(&mut self) {
        self.tracked = greediest(&self.pool);
    }

    /// From the first submission to the horizon.
    pub(super) fn span(&self) -> Nanos {
        self.horizon.since(self.start)
    }

    /// Runs all tasks in the order of `policy`.
    ///
    /// # Errors
    ///
    /// The observer interrupts, or the sink refuses a task.
    pub(super) fn run<'s>(
        &self,
        policy: Box<dyn Policy + Send>,
        sink: Option<Sink<'s>>,
        observer: &dyn Observer,
    ) -> Result<Outcome<'s>, Error>
    where
        'a: 's,
    {
        let users = self.cluster.users();
        let over_time = SharesOverTime::new(&self.tracked, users, self.start, self.horizon, BINS);
        let bounds = Bounds { start: self.start, horizon: self.horizon, censored: &self.pool.log().censored };
        let mut tally = Tally::new(&self.cluster, bounds, over_time, sink);
        let events = run(&self.pool, self.cluster.clone(), policy, self.backfill, &mut tally, observer)?;
        Ok(Outcome { tally, events })
    }
}

/// The users who would use most of their dominant resource over time, the first [`TRACKED`] of them.
fn greediest(pool: &Pool<'_>) -> Vec<u32> {
    let log = pool.log();
    let resources = pool.capacity.len();
    let mut wanted = vec![0.0; log.users.len() * resources];
    for (index, task) in (0u32..).zip(&log.tasks) {
        if pool.is_too_large(index) {
            continue;
        }
        let row = &mut wanted[task.user as usize * resources..][..resources];
        let demand = &log.demands[task.demand as usize];
        for ((wanted, &amount), (&capacity, scale)) in
            row.iter_mut().zip(demand).zip(pool.capacity.iter().zip(&pool.scale))
        {
            *wanted += amount as f64 * scale * task.duration.0 as f64 / capacity as f64;
        }
    }
    let most = |user: u32| {
        let row = &wanted[user as usize * resources..][..resources];
        row.iter().copied().fold(0.0, f64::max)
    };
    let mut users: Vec<u32> = (0..log.users.len() as u32).filter(|&user| most(user) > 0.0).collect();
    users.sort_by(|&a, &b| most(b).total_cmp(&most(a)).then(a.cmp(&b)));
    users.truncate(TRACKED);
    users
}

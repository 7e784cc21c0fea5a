//! The rows of `fair sweep`.

use trueplane_units::{LongTime, Nanos};

use crate::capacity::Part;
use crate::delta::DeltaPerSecond;
use crate::facts::{LogFacts, ResourceFacts};

/// Findings on one log.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Log that was run.
    pub log: LogFacts,
    /// Time after the first submission by which a task must have ended to count as completed by the horizon.
    pub horizon: Nanos,
    /// DRF on every size of the cluster.
    pub sizes: Vec<Size>,
    /// SDRF on every size of the cluster, with every memory.
    pub rows: Vec<Row>,
}

/// DRF on one size of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// Size as a part of the mean use.
    pub capacity: Part,
    /// Amounts of every resource.
    pub resources: Vec<ResourceFacts>,
    /// Tasks that are larger than the cluster.
    pub skipped: u64,
    /// Tasks that wait under DRF.
    pub waited: u64,
    /// Mean wait of all tasks.
    pub wait_mean: LongTime,
    /// Mean over users of the mean wait of their tasks.
    pub users_wait_mean: LongTime,
}

/// SDRF against DRF.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Size as a part of the mean use.
    pub capacity: Part,
    /// δ of SDRF.
    pub delta: DeltaPerSecond,
    /// Mean wait of all tasks.
    pub wait_mean: LongTime,
    /// Change of it against DRF; none if nobody waits there.
    pub wait_mean_change: Option<f64>,
    /// Mean over users of the mean wait of their tasks.
    pub users_wait_mean: LongTime,
    /// Change of it against DRF: figure 4.9.
    pub users_wait_mean_change: Option<f64>,
    /// Users who wait less, by 1% or more.
    pub users_wait_less: u64,
    /// Users who wait longer, by 1% or more.
    pub users_wait_more: u64,
    /// Change of the number of tasks that have ended by the horizon.
    pub completed_by_horizon_change: i64,
    /// Changes of the order of two users who wait as time passed: figure 4.11.
    pub live_tree_events: u64,
    /// Changes of the order of two users who wait as time passed, for every task that ran.
    pub events_per_task: f64,
}

impl Found {
    /// The row of this size with the shortest mean wait of users, if anybody waits; of equal ones the first.
    pub(super) fn best(&self, capacity: Part) -> Option<&Row> {
        let rows = self.rows.iter().filter(|row| row.capacity == capacity);
        let known = rows.filter_map(|row| Some((row, row.users_wait_mean_change?)));
        // Of equals the first, whose memory is the shortest.
        known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
    }
}

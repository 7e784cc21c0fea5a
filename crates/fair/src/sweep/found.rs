//! What a sweep finds.

use serde::Serialize;

use crate::document::{LogFacts, ResourceFacts};

/// The result of `fair sweep`; serialised, it is what `--json` prints. Times are in seconds of the log.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// `fair.sweep`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// What was run.
    pub log: LogFacts,
    /// Whether smaller tasks may pass one that does not fit.
    pub backfill: bool,
    /// How long after the first submission a task must have ended to count as completed by the horizon.
    pub horizon_s: f64,
    /// DRF on every size of the cluster.
    pub sizes: Vec<Size>,
    /// SDRF on every size of the cluster, with every memory.
    pub rows: Vec<Row>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// DRF on one size of the cluster.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// The part of the mean use.
    pub capacity: f64,
    /// Which is so much of every resource.
    pub resources: Vec<ResourceFacts>,
    /// Tasks that are larger than it.
    pub skipped: u64,
    /// Tasks that wait under DRF.
    pub waited: u64,
    /// The mean wait of all tasks.
    pub mean_wait_s: f64,
    /// The mean over users of the mean wait of their tasks.
    pub users_mean_wait_s: f64,
}

/// SDRF against DRF.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The part of the mean use.
    pub capacity: f64,
    /// δ per second.
    pub delta: f64,
    /// In all its digits: `1-1e-6`.
    pub delta_text: String,
    /// 1 − δ.
    pub forgotten: f64,
    /// After which half is forgotten.
    pub half_life_s: f64,
    /// The mean wait of all tasks.
    pub mean_wait_s: f64,
    /// What part of it under DRF is saved; negative if it is longer, none if nobody waits there.
    pub wait_reduction: Option<f64>,
    /// The mean over users of the mean wait of their tasks.
    pub users_mean_wait_s: f64,
    /// What part of it under DRF is saved: figure 4.9.
    pub users_wait_reduction: Option<f64>,
    /// Users who wait less, by 1 % or more.
    pub users_wait_less: u64,
    /// Users who wait longer, by 1 % or more.
    pub users_wait_more: u64,
    /// How many more tasks have ended by the horizon.
    pub completed_by_horizon_change: i64,
    /// How often the order of two users who wait changed by itself: figure 4.11.
    pub live_tree_events: u64,
    /// That for every task that ran.
    pub events_per_task: f64,
}

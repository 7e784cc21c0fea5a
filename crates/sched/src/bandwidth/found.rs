//! The rows of `sched bandwidth`.

use trueplane_units::BitsPerSec;

use super::options::Options;
use crate::policy::SchedulerName;

/// Rates of all flows under one scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerRun {
    /// Scheduler that was simulated.
    pub scheduler: SchedulerName,
    /// Flows in the order in which they start.
    pub flows: Vec<FlowRun>,
}

/// One flow under one scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRun {
    /// Number of the flow in the order of starts, from 0.
    pub flow: u32,
    /// Rank of the flow's packets: the later the flow starts, the smaller.
    pub rank: u64,
    /// Packets that came: departures + drops.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Rate that the flow gets in every step; in step 0 only flow 0 sends.
    pub by_step: Vec<BitsPerSec>,
    /// Rate in every one of [`BINS_PER_STEP`](super::options::BINS_PER_STEP) parts of every step.
    pub over_time: Vec<BitsPerSec>,
}

impl SchedulerRun {
    /// The share of the line that a flow gets in a step.
    pub(super) fn share(&self, options: &Options, flow: usize, step: usize) -> f64 {
        let rate = self.flows.get(flow).and_then(|flow| flow.by_step.get(step)).map_or(0, |rate| rate.0);
        rate as f64 / options.rate.0 as f64
    }

    /// Packets of all flows that came: departures + drops.
    pub fn arrivals(&self) -> u64 {
        self.flows.iter().map(|flow| flow.arrivals).sum()
    }

    /// Packets of all flows that left.
    pub fn departures(&self) -> u64 {
        self.flows.iter().map(|flow| flow.departures).sum()
    }

    /// Packets of all flows that were dropped.
    pub fn drops(&self) -> u64 {
        self.flows.iter().map(|flow| flow.drops).sum()
    }
}

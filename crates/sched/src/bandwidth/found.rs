//! Who got the line.

use serde::Serialize;

/// Rates over time are those of so many parts of a step.
pub const BINS_PER_STEP: u64 = 20;

/// The result of `sched bandwidth`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Bandwidth {
    /// `sched.bandwidth`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// How many flows there are.
    pub flows: u32,
    /// What each sends.
    pub flow_rate_bps: u64,
    /// How fast the line sends.
    pub rate_bps: u64,
    /// Number of queues.
    pub queues: u64,
    /// Packets that a queue holds.
    pub depth_packets: u64,
    /// How long after each flow the next one starts.
    pub step_ns: u64,
    /// The length of a packet.
    pub packet_bytes: u32,
    /// Bytes of every flow that AFQ sends in a round.
    pub bytes_per_round: u32,
    /// How SP-PIFO pushes down.
    pub push_down: &'static str,
    /// Where draws began.
    pub seed: u64,
    /// The length of a bin of `over_time_bps`.
    pub bin_ns: u64,
    /// The schedulers.
    pub schedulers: Vec<SchedulerRun>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// One scheduler.
#[derive(Clone, Debug, Serialize)]
pub struct SchedulerRun {
    /// Which.
    pub scheduler: &'static str,
    /// Packets that came: departures + drops.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// The flows in the order in which they start.
    pub flows: Vec<FlowRun>,
}

/// One flow under one scheduler.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRun {
    /// Its number in the order of starts, from 0.
    pub flow: u32,
    /// The rank of its packets: the later it starts, the smaller.
    pub rank: u64,
    /// Packets that came: departures + drops.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// What it gets of the line in every step; in step 0 only flow 0 sends.
    pub by_step_bps: Vec<u64>,
    /// The same, bin by bin.
    pub over_time_bps: Vec<u64>,
}

//! What an attack costs.

use serde::Serialize;

use crate::document::{Row, WorkloadFacts};

/// The result of `surge guard`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Guard {
    /// `surge.guard`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The packets of users.
    pub workload: WorkloadFacts,
    /// How fast users send.
    pub innocent_bps: u64,
    /// When packets of users come: `trace`, as their times say, or `even`.
    pub arrivals: &'static str,
    /// The smallest packet that the attacker can send.
    pub attack_smallest_packet_bits: u32,
    /// The largest job that he can cause.
    pub attack_largest_job_ns: u64,
    /// Packets that may wait; none: all, or `capacity_bits`.
    pub capacity_packets: Option<u64>,
    /// Bits that may wait.
    pub capacity_bits: Option<u64>,
    /// The worst steady attack today.
    pub today: Row,
    /// What goes today when the buffer is full.
    pub overflow_today: &'static str,
    /// The worst steady attack under WSJF.
    pub guarded: Row,
    /// The answers.
    pub verdict: Vec<String>,
}

//! What limits would have done.

use serde::Serialize;

use crate::tally::{Counts, Series};

/// What packets of no class are called; no class can be, for its brackets.
pub const UNCLASSIFIED: &str = "(unclassified)";

/// The result of `limit replay`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// `limit.replay`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The capture's name.
    pub trace: String,
    /// What of the capture could not be read, and how often.
    pub skipped: Vec<(String, u64)>,
    /// The limiters.
    pub policy: &'static str,
    /// `exact`, or the maximum error of the table that drains them.
    pub drain: String,
    /// How many times faster than captured.
    pub speedup: f64,
    /// From the first packet to the last, after the speedup.
    pub span_ns: u64,
    /// The longest time between two packets.
    pub longest_silence_ns: u64,
    /// The length of a bin.
    pub bin_ns: u64,
    /// All packets.
    #[serde(flatten)]
    pub counts: Counts,
    /// Distinct flows of all classes.
    pub flows: u64,
    /// The classes in the order of their file, then the packets of none.
    pub classes: Vec<ClassRun>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// One class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRun {
    /// Its name.
    pub class: String,
    /// The class that it is charged to as well.
    pub inside: Option<String>,
    /// The rate of each of its limiters; none for packets of no class.
    pub rate_bps: Option<u64>,
    /// What each of them holds.
    pub burst_bytes: Option<u64>,
    /// Above which they mark.
    pub mark_bytes: Option<u64>,
    /// Distinct flows: 5-tuples, each direction its own.
    pub flows: u64,
    /// What became of its packets; those of classes inside it count there.
    #[serde(flatten)]
    pub counts: Counts,
    /// Of the dropped packets those that only the class around it refused.
    pub dropped_by_outer_packets: u64,
    /// Of the passed packets those that would have been marked if they were ECN-capable.
    pub unmarkable_packets: u64,
    /// Mean of what arrived, over the whole span; none if that is no time at all.
    pub offered_mean_bps: Option<u64>,
    /// The most that arrived in one bin.
    pub offered_peak_bps: u64,
    /// Mean of what was let through.
    pub admitted_mean_bps: Option<u64>,
    /// The most that was let through in one bin.
    pub admitted_peak_bps: u64,
    /// Its share of all bytes that arrived.
    pub share_offered: f64,
    /// Its share of all bytes that were let through.
    pub share_admitted: f64,
    /// The classical number: its share if TCP shared fairly between the flows that were seen, flows of the class / all flows.
    pub share_by_flows: f64,
    /// The most that was in its fullest bucket, if the policy can tell.
    pub occupancy_max_bytes: Option<u64>,
    /// Its limiters that met a packet, if it has several.
    pub limiters: Vec<LimiterRun>,
    /// The bins in which something happened.
    pub over_time: Series,
}

/// One limiter of a class that has several.
#[derive(Clone, Debug, Serialize)]
pub struct LimiterRun {
    /// Class and prefix.
    pub limiter: String,
    /// What became of its packets.
    #[serde(flatten)]
    pub counts: Counts,
    /// The most that was in the bucket, if the policy can tell.
    pub occupancy_max_bytes: Option<u64>,
}

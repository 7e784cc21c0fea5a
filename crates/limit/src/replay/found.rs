//! The rows of `limit replay`.

use trueplane_link::Counts as LinkCounts;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::limiter::Settings;
use crate::tally::{Counts, Series};

/// The name of packets of no class; no class can have it, for its brackets.
pub const UNCLASSIFIED: &str = "(unclassified)";

/// Everything that became of a capture.
#[derive(Clone, Debug)]
pub struct Found {
    /// Parts of the capture that could not be read, and how many there were of each.
    pub left_out: Vec<(String, u64)>,
    /// Time from the first packet to the last, after the speedup.
    pub span: Nanos,
    /// Longest time between two packets.
    pub longest_silence: Nanos,
    /// Packets on the link between capture and limits; all zero without one. Identity: sent + duplicated = lost + the packets of `counts`.
    pub link: LinkCounts,
    /// All packets that came to the limits.
    pub counts: Counts,
    /// Distinct flows of all classes.
    pub flows: u64,
    /// Classes in the order of their file, then the packets of none.
    pub classes: Vec<ClassRun>,
}

/// One class.
#[derive(Clone, Debug)]
pub struct ClassRun {
    /// Name of the class.
    pub class: String,
    /// Class to which its packets are charged as well.
    pub inside: Option<String>,
    /// Settings of each of its limiters; none for packets of no class.
    pub limit: Option<Settings>,
    /// Distinct flows: 5-tuples, each direction its own.
    pub flows: u64,
    /// Packets of the class, by what became of them; those of classes inside it count there.
    pub counts: Counts,
    /// Dropped packets that only the class around it refused.
    pub dropped_by_outer: u64,
    /// Passed packets that would have been marked if they were ECN-capable.
    pub unmarkable: u64,
    /// Mean rate that arrived, over the whole span; none if that is no time at all.
    pub offered_mean: Option<BitsPerSec>,
    /// Highest rate that arrived in one bin.
    pub offered_peak: BitsPerSec,
    /// Mean rate that was let through.
    pub admitted_mean: Option<BitsPerSec>,
    /// Highest rate that was let through in one bin.
    pub admitted_peak: BitsPerSec,
    /// Share of all bytes that arrived.
    pub share_offered: f64,
    /// Share of all bytes that were let through.
    pub share_admitted: f64,
    /// Share by the classical model, in which TCP shares fairly between the flows that were seen: flows of the class / all flows.
    pub share_by_flows: f64,
    /// Highest occupancy of its fullest bucket, if the policy can tell.
    pub occupancy_max: Option<Bytes>,
    /// Limiters that met a packet, if the class has several.
    pub limiters: Vec<LimiterRun>,
    /// Bins in which something happened.
    pub over_time: Series,
}

impl ClassRun {
    /// Whether this is a class of the file, and not the packets of none.
    pub fn is_class(&self) -> bool {
        self.limit.is_some()
    }
}

/// One limiter of a class that has several.
#[derive(Clone, Debug)]
pub struct LimiterRun {
    /// Class and prefix.
    pub limiter: String,
    /// Packets that met it, by what became of them.
    pub counts: Counts,
    /// Highest occupancy of the bucket, if the policy can tell.
    pub occupancy_max: Option<Bytes>,
}

//! What precision is found.

use serde::Serialize;

/// The result of `limit precision`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Precision {
    /// `limit.precision`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// Packet sizes in bytes: one, `64..1500` or a list.
    pub packet_bytes: String,
    /// What is offered, as a multiple of the configured rate.
    pub load: f64,
    /// What the limiters hold.
    pub burst_bytes: u64,
    /// Above which they mark.
    pub mark_bytes: u64,
    /// Where draws began.
    pub seed: u64,
    /// One for every rate, source, policy and drain.
    pub points: Vec<Point>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// One limiter against one source.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The limiter.
    pub policy: &'static str,
    /// `exact`, or the maximum error of the table that drains it, such as `6%`.
    pub drain: String,
    /// The same as a ratio; zero for exact.
    pub drain_error_max: f64,
    /// The source.
    pub source: &'static str,
    /// The rate that was asked for.
    pub rate_configured_bps: u64,
    /// What the source offered while it was measured; the classical model has nobody to stop it.
    pub rate_offered_bps: f64,
    /// What passed.
    pub rate_achieved_bps: f64,
    /// Achieved / configured.
    pub achieved_to_configured: f64,
    /// Achieved / configured − 1.
    pub error: f64,
    /// How long was measured.
    pub duration_ns: u64,
    /// Packets while it was measured: passed + marked + dropped.
    pub arrived_packets: u64,
    /// Of these, within the limit.
    pub passed_packets: u64,
    /// Let through and marked (yellow, of the meters).
    pub marked_packets: u64,
    /// Beyond the limit.
    pub dropped_packets: u64,
}

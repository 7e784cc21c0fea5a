//! The rows of `spray experiment`.

use trueplane_spray::dispatch::DispatchName;
use trueplane_units::{BitsPerSec, Nanos};

use super::options::ExperimentName;

/// One measurement.
#[derive(Clone, Debug)]
pub struct Point {
    /// Experiment that it belongs to.
    pub experiment: ExperimentName,
    /// Policy by which packets were shared out.
    pub dispatch: DispatchName,
    /// Busy cycles for each packet.
    pub cycles: u64,
    /// Flows of TCP that sent as much as they could.
    pub flows: u32,
    /// Number of the repetition, from 0.
    pub round: u32,
    /// Goodput of all flows together.
    pub goodput: BitsPerSec,
    /// Segments that were sent again.
    pub retransmits: u64,
    /// Jain's index over them: 1 if all got the same.
    pub jain: f64,
    /// Round trip that 99% of questions do not exceed.
    pub rtt_p99: Option<Nanos>,
    /// Packets for which rings had no room.
    pub kernel_drops: u64,
    /// Share of the time in which each core had packets.
    pub busy: Vec<f64>,
    /// Load of the machine in the minute before.
    pub load: f64,
}

/// The median of these values; none if there are none.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| trueplane_study::metrics::median(values))
}

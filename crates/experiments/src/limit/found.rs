//! What `limit experiment` finds.

use super::{isolation, latency, marking, occupancy, precision};
use crate::conduct::LeftOut;

/// Results of all experiments that ran.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Results, in the order of the experiments.
    pub results: Vec<Results>,
    /// Experiments that the machine lacks something for.
    pub left_out: Vec<LeftOut>,
}

/// Results of one experiment.
#[derive(Clone, Debug)]
pub enum Results {
    /// Results of the precision experiment.
    Precision(precision::Found),
    /// Results of the isolation experiment.
    Isolation(isolation::Found),
    /// Results of the latency experiment.
    Latency(Box<latency::Found>),
    /// Results of the occupancy experiment.
    Occupancy(occupancy::Found),
    /// Results of the marking experiment.
    Marking(marking::Found),
}

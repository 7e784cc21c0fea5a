//! What one experiment found, whichever it is.

use super::{isolation, latency, marking, occupancy, precision};

/// Results of one experiment.
#[derive(Clone, Debug)]
pub enum Found {
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

//! What has happened.

use serde::{Deserialize, Serialize};

/// Numbers of what has happened since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Writes that have opened a pod or a job.
    pub opened: u64,
    /// Pods and jobs that somebody else opened while they waited.
    pub opened_by_hand: u64,
    /// Writes that failed, as the server was away or had too much to do, and were tried again.
    pub tried_again: u64,
    /// Writes that met a change of somebody else, and were tried again.
    pub conflicts: u64,
    /// Writes that met a pod or a job that was gone.
    pub gone: u64,
    /// Writes that the server did not allow.
    pub refused: u64,
    /// Objects with something wrong.
    pub problems: u64,
    /// Times at which the clock was found to have gone back.
    pub clock_jumps: u64,
}

//! Why a study could not be done.

use trueplane_trace::TraceError;

/// Why a study could not be done. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The parameters do not fit each other or the trace.
    #[error("{0}")]
    Parameters(String),
    /// Two computations that must agree do not: trueplane is wrong, not its user.
    #[error("{0}")]
    Internal(String),
    /// The work came to no result in its time, for its solver or on this machine, although nothing is wrong with what was asked for.
    #[error("{0}")]
    Unfinished(String),
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

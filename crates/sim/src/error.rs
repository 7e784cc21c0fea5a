//! Why a study could not be done.

use crate::trace::TraceError;

/// Why a study could not be done. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The parameters do not fit each other or the trace.
    #[error("{0}")]
    Parameters(String),
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

//! The processor under attack, as a program that really runs: packets by the clock, a scheduler, and a worker on another core.
//!
//! 1. [`pipeline`]: the threads, what passes between them, and what is counted.
//! 2. [`rivals`]: the queues that the find-first-set queue is compared with; [`queue`]: all of them by name.
//!
//! `cargo bench -p trueplane-surge --features live --bench pipeline` measures goodput over the attack rate: figure 3.20 of the thesis.
//!
//! Source: Atre, *Taming Model Incongruities in Networked Systems*, 2025, §3.6.3.

pub mod pipeline;
pub mod queue;
pub mod rivals;

/// Error of a pipeline. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid, or threads cannot be started.
    #[error(transparent)]
    Live(#[from] trueplane_linux::Error),
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Error for an invalid request.
    pub(crate) fn request(problem: impl Into<String>) -> Self {
        Self::Live(trueplane_linux::Error::Request(problem.into()))
    }
}

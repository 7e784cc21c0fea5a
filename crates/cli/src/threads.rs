//! The threads of a study.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// So many threads, or one for each core.
pub(crate) fn pool(threads: Option<u16>) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0).into())
        .build()
        .map_err(|error| Failure::other(format!("cannot start threads: {error}")))
}

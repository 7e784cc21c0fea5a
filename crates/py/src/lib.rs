//! The compiled part of the Python package `trueplane`.
//!
//! Python code in `python/trueplane` makes functions out of what is declared here: `Study` runs a study, `Report` holds what
//! comes of it. Both take and give plain values; data frames, progress bars and names are Python's. The policies and queues are classes here,
//! which take and give arrays of NumPy; `python/trueplane` has the classes that people use.

mod arrays;
mod cache;
mod callback;
mod errors;
mod fair;
mod limit;
mod offload;
mod pqueue;
mod report;
mod sched;
mod study;
mod surge;
mod watch;

#[pyo3::pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use super::arrays::nanos_of;
    #[pymodule_export]
    use super::cache::{RequestSource, RequestTable, SimulatedCache, key_of, request_sources};
    #[pymodule_export]
    use super::fair::{Sdrf, schedule};
    #[pymodule_export]
    use super::limit::{Limiter, RequestLimiter};
    #[pymodule_export]
    use super::offload::Dyso;
    #[pymodule_export]
    use super::pqueue::Queue;
    #[pymodule_export]
    use super::report::Report;
    #[pymodule_export]
    use super::sched::{SpPifo, serve_port};
    #[pymodule_export]
    use super::study::{Study, studies};
    #[pymodule_export]
    use super::surge::serve_packets;

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

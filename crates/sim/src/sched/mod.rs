//! The order of packets: what schedulers on a few FIFOs make of the ranks that a PIFO would serve exactly.
//!
//! 1. [`distribution`]: how often which rank comes; [`traffic`]: packets, drawn or from a trace, and their ranks.
//! 2. [`port`]: one output port, event by event; [`waiting`]: the ranks that wait there; [`tally`]: what is counted;
//!    [`batch_means`]: how far chance may have moved it.
//! 3. [`scheduler`]: the schedulers of `trueplane-core` by name.
//! 4. [`choice`], [`options`], [`workload`]: what is simulated; [`inversions`]: the study of the order, which runs every
//!    `scenario`, and [`document`] its result.
//! 5. [`bandwidth`]: the study of who gets the line while flows of increasing priority join.
//! 6. [`report`] shows both, [`verdict`] says them in sentences.

pub mod bandwidth;
pub mod batch_means;
pub mod choice;
pub mod distribution;
pub mod document;
pub mod inversions;
pub mod options;
pub mod port;
pub mod report;
mod scenario;
pub mod scheduler;
pub mod tally;
pub mod traffic;
pub mod verdict;
pub mod waiting;
pub mod workload;

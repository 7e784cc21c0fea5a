//! Logs of tasks, read and generated.
//!
//! [`JobLog`] has them in memory, 24 bytes each: what they need is kept once for all that need the same.

mod log;

pub use log::{BILLION, Demand, JobLog, LeftOut, Pool, Task};

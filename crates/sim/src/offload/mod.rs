//! Offload: what a table in a switch answers while its control loop is behind.
//!
//! Time is in slots of one lookup each; [`timing`] turns them into seconds.
//!
//! 1. [`options`]: what to compare; [`comparison`]: what came of it.
//! 2. [`timing`], [`tally`]: time, and misses over time.
//! 3. [`engine`]: drives a system through a workload.
//! 4. [`dyso`]: DySO with the network between controller and switch, of which `channel` is one way.
//! 5. [`workload`]: what is looked up.
//! 6. [`ideal`]: the classical belief, and Bélády, without a control loop.
//! 7. [`optimal`]: the least number of misses that a controller with a control loop could have had.
//! 8. [`study`] compares all of them, cell by cell of a `grid`; `checks`: what it refuses and warns of; [`recovery`]: how long one
//!    takes to get over a change.
//! 9. [`verdict`], [`document`], [`report`]: what a comparison says, to people and to machines; [`size`]: what DySO's registers take.

mod channel;
mod checks;
pub mod comparison;
pub mod document;
pub mod dyso;
pub mod engine;
mod grid;
pub mod ideal;
pub mod optimal;
pub mod options;
pub mod recovery;
pub mod report;
pub mod size;
pub mod study;
pub mod tally;
pub mod timing;
pub mod verdict;
pub mod workload;

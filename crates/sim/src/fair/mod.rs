//! A shared cluster on a user's own log of jobs.
//!
//! 1. [`workload`]: logs of tasks, read and generated.
//! 2. [`options`], [`policy`]: how large the cluster is, and whose order it follows.
//! 3. [`engine`]: submissions and ends, one after the other, and who starts in between; [`tally`] and [`shares`] count.
//! 4. [`simulate`]: one log under several orders; [`document`] has what is found, [`comparison`] who gains and who loses by it,
//!    [`verdict`] the sentences, `report` the tables and pictures.
//! 5. [`sweep`]: SDRF against DRF for several sizes of the cluster and several memories.

pub mod allocate;
pub mod comparison;
pub mod document;
pub mod engine;
pub mod options;
pub mod policy;
mod report;
mod setup;
pub mod shares;
pub mod simulate;
pub mod sweep;
pub mod tally;
pub mod verdict;
mod weights;
pub mod workload;

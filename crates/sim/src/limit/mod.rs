//! Rate limits: how exact they are, how small, and what they would have done to real traffic.
//!
//! 1. [`source`]: senders that keep to no limit.
//! 2. [`policy`]: the limiters of `trueplane-core` by name.
//! 3. [`precision`]: achieved against configured rates.
//! 4. [`replay`]: the packets of a capture through the limiters of a classes file; [`tally`] counts.
//! 5. [`size`]: how many limiters fit into a memory.
//! 6. [`report`] shows all three, [`verdict`] says it in sentences.

pub mod policy;
pub mod precision;
pub mod replay;
pub mod report;
pub mod size;
pub mod source;
pub mod tally;
pub mod verdict;

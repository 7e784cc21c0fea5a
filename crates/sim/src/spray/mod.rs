//! Network functions on many cores, in simulated time.
//!
//! 1. [`options`]: what to compare; [`sizes`]: how long flows are.
//! 2. [`source`]: where packets come from: [`generated`] flows, or a [capture](captured).
//! 3. `engine`: cores as servers, which drive `team`, the workers of `trueplane-core`; `tally`: what is counted.
//! 4. [`belief`]: what is believed of hashing, and what is to be expected of it.
//! 5. [`mod@compare`]: the study; [`report`]: what it tells.
//! 6. [`mod@concurrency`]: how many flows a capture has at a time.

pub mod belief;
pub mod captured;
pub mod compare;
pub mod concurrency;
mod engine;
pub mod generated;
pub mod options;
pub mod report;
pub mod sizes;
pub mod source;
mod tally;
mod team;

pub use self::team::fit;

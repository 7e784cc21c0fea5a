//! What every study shares, whatever it studies.
//!
//! 1. [`report`]: what every study returns: facts, tables, plots, a verdict and a document.
//! 2. `render` (feature `render`): the report as people and programs read it.
//! 3. [`observer`] and [`error`]: what every study tells while it runs, and if it cannot.
//! 4. [`metrics`]: distributions and their quantiles.
//! 5. [`prose`]: words that verdicts share; [`rounded`]: bounds that stay true when they are rounded.
//! 6. [`ascent`]: prices that prove bounds; `programme` (feature `lp`): linear programmes, solved by HiGHS.
//! 7. [`compress`]: files that are compressed as their names say.
#![forbid(unsafe_code)]

pub mod ascent;
pub mod compress;
pub mod error;
pub mod metrics;
pub mod observer;
#[cfg(feature = "lp")]
pub mod programme;
pub mod prose;
#[cfg(feature = "render")]
pub mod render;
pub mod report;
pub mod rounded;

pub use error::Error;
pub use observer::Observer;

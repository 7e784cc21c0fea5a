//! The shape of every study.
//!
//! 1. [`Study`]: parameters, a run that finds rows, and a page that shows them; [`cases`] runs on all threads.
//! 2. [`page`]: facts, tables (a column is one line) and plots; [`numbers`]: classical, refined, measured.
//! 3. [`report`](mod@report): what comes of it; [`document`] and [`schema`]: the same for programs; `render` (feature `render`): as text, page and CSV.
//! 4. [`observer`] and [`error`]: what every study tells while it runs, and if it cannot.
//! 5. [`metrics`]: distributions and their quantiles.
//! 6. [`prose`]: words that verdicts share; [`rounded`]: bounds that stay true when they are rounded.
//! 7. [`dual`]: prices that prove bounds; `programme` (feature `lp`): linear programmes, solved by HiGHS.
//! 8. [`compress`]: files that are compressed as their names say; [`whole_file`]: files that are there once they are whole; [`json`]: errors of documents
//!    in our own words.
#![forbid(unsafe_code)]

pub mod cases;
#[cfg(feature = "render")]
mod column;
pub mod compress;
pub mod document;
pub mod dual;
pub mod error;
mod format;
pub mod json;
pub mod metrics;
pub mod numbers;
pub mod observer;
pub mod page;
#[cfg(feature = "lp")]
pub mod programme;
pub mod prose;
#[cfg(feature = "render")]
pub mod render;
pub mod report;
pub mod rounded;
pub mod schema;
pub mod study;
pub mod whole_file;

pub use error::Error;
pub use numbers::Measured;
pub use observer::Observer;
pub use page::Page;
pub use study::{Study, Threads};

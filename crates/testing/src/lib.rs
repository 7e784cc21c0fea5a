//! What tests share.
//!
//! 1. [`page`]: tables of `docs/concepts` that tests compute again.
#![forbid(unsafe_code)]

pub mod page;

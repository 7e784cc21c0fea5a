//! What tests share.
//!
//! 1. [`page`]: tables of `docs` that tests compute again.
//! 2. [`schema`]: holds JSON documents to their schemas.
#![forbid(unsafe_code)]

pub mod page;
pub mod schema;

//! Tests of the whole study.

mod page;
mod run;

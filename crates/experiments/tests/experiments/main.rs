//! Experiments, made small.
#![cfg(target_os = "linux")]

mod dctcp;
mod limit;
mod spray;

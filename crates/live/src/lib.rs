//! Policies on real packets: eBPF programs, their loader, and experiments with them.
//!
//! 1. [`spray`]: network functions on many cores.
#![cfg(target_os = "linux")]

pub mod spray;

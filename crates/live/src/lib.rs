//! Policies on real packets: eBPF programs, their loader, and experiments with them.
//!
//! 1. [`limit`]: rate limits in the kernel.
//! 2. [`surge`]: a processor of packets over threads, under attack.
//! 3. [`spray`]: network functions on many cores.
#![cfg(target_os = "linux")]

pub mod limit;
pub mod spray;
pub mod surge;

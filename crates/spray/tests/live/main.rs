//! Real packets, real programs in the kernel and real threads.
//!
//! All tests share this process and this machine. A test that measures, or that keeps every core busy, holds `testnet::alone()`; every
//! other test that does more than a little holds `testnet::together()`. So nothing disturbs a measurement, and a test that looks for what
//! was left behind finds nothing of a test beside it.
#![cfg(target_os = "linux")]

mod memory;
mod traffic;
mod vectors;

//! Policies on real packets: eBPF programs, their loader, and the network to test them in.
//!
//! 1. [`device`]: network devices, in whatever namespace.
//! 2. [`limit`]: rate limits in the kernel.
//! 3. [`dctcp`]: DCTCP as a congestion control that can be loaded.
//! 4. [`surge`]: a processor of packets over threads, under attack.
//! 5. [`spray`]: network functions on many cores.
//! 6. [`testnet`]: network namespaces for live tests.
//! 7. [`cores`], [`clock`]: where threads may run, and when.
//! 8. [`error`]: what can go wrong.
//!
//! This is the only crate with `unsafe` code, for what only the operating system's own interface offers.
#![cfg(target_os = "linux")]

mod bpffs;
pub mod clock;
pub mod cores;
pub mod dctcp;
pub mod device;
pub mod error;
pub mod limit;
mod privileges;
pub mod spray;
pub mod surge;
pub mod testnet;
mod traffic_control;

pub use device::Device;
pub use error::Error;

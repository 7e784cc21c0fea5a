//! What live subsystems need of Linux.
//!
//! 1. [`device`]: network devices, in whatever namespace; [`traffic_control`]: what is attached to them.
//! 2. [`bpffs`]: where eBPF objects stay when a process ends.
//! 3. [`privileges`]: what a process may do.
//! 4. [`cores`], [`clock`]: where threads may run, and when; [`mapping`]: memory that the kernel shares.
//! 5. [`testnet`]: network namespaces for live tests.
//! 6. [`error`]: what can go wrong.
//!
//! Unsafe code stays here and in the `live` modules of subsystems, for what only the operating system's own interface offers.
#![cfg(target_os = "linux")]

pub mod bpffs;
pub mod clock;
pub mod cores;
pub mod device;
pub mod error;
pub mod mapping;
pub mod privileges;
pub mod testnet;
pub mod traffic_control;

pub use device::Device;
pub use error::Error;

//! Live networks in namespaces, and what is measured in them.
//!
//! 1. [`limit`]: what rate limits in the kernel do to real connections.
//! 2. [`dctcp`]: DCTCP as a congestion control that can be loaded.
//! 3. [`spray`]: real connections through the synthetic network function.
//! 4. [`forward`]: how many small packets one core forwards.
//! 5. [`conduct`]: what all experiments share.
#![cfg(target_os = "linux")]

pub mod cache;
pub mod conduct;
pub mod dctcp;
pub mod forward;
pub mod limit;
pub mod spray;

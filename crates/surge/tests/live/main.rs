//! The processor under attack, over threads.
#![cfg(target_os = "linux")]

mod pipeline;

//! The network of live tests, tested.
#![cfg(target_os = "linux")]

mod testnet;

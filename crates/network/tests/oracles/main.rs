//! Our transport beside that of others, on the same path.
#![cfg(target_os = "linux")]

mod compare;
mod dctcp;
mod linux;
mod ns3;
mod path;
mod seen;
mod trace;
mod validation;
mod watched;

//! Our transport beside that of others, on the same path.
#![cfg(target_os = "linux")]

mod linux;
mod path;
mod trace;

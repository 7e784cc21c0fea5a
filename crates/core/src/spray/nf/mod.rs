//! Network functions.
//!
//! 1. [`synthetic`]: a lookup, an edit, and as much work as is asked for (§3.4).

pub mod synthetic;

pub use self::synthetic::{Busy, Idle, Synthetic};

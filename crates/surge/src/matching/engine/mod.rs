//! What tries a regular expression on a payload.
//!
//! 1. [`Backtracking`]: as Perl does it, step by step, so that it can blow up, and counts its steps.
//! 2. [`Linear`]: the `regex` crate, which reads every byte once.
//! 3. `Pcre2` (feature `pcre2`): what intrusion detectors use; it does not tell its steps, so it is for those who hold a clock.
//!
//! No well-kept crate has a backtracking engine that counts: `pcre2` keeps its count to itself (it could be found by
//! bisection with `(*LIMIT_MATCH=…)`, compiling again every time), and `fancy-regex` hands what has no look-around to a
//! linear engine.

mod backtracking;
mod linear;
#[cfg(feature = "pcre2")]
mod pcre2;
mod program;

use std::fmt;

use trueplane_units::choices;

pub use backtracking::{Backtracking, Found, Verdict};
pub use linear::Linear;
#[cfg(feature = "pcre2")]
pub use pcre2::Pcre2;

use super::pattern::Pattern;

/// Steps after which [`Backtracking`] and `Pcre2` give up, unless told otherwise.
///
/// PCRE2's own default is ten million (of what it counts); Suricata's is 3500.
pub const STEP_LIMIT: u32 = 1_000_000;

choices! {
    /// An engine that counts its steps, by name.
    pub enum EngineName {
        /// Backtracking, as in most engines.
        Backtracking = "backtracking",
        /// Runs in time linear in the length of the text.
        Linear = "linear",
    }
}

/// A regular expression, made ready.
pub trait Engine: Sized + fmt::Debug + Send + Sync {
    /// Memory that a search needs and leaves for the next; its contents mean nothing.
    type Scratch: Default + Send;

    /// Makes `pattern` ready; engines that can blow up give up after `limit` steps.
    ///
    /// # Errors
    ///
    /// If it would become too large, with the reason.
    fn compile(pattern: &Pattern, limit: u32) -> Result<Self, String>;

    /// Whether the pattern matches somewhere in the payload. An engine that gives up says no.
    fn matches(&self, payload: &[u8], scratch: &mut Self::Scratch) -> bool;
}

/// An engine that counts what it does: the same pattern and payload, the same count, on every machine.
pub trait Counting: Engine {
    /// Searches the payload and counts the steps.
    fn count(&self, payload: &[u8], scratch: &mut Self::Scratch) -> Count;
}

/// Outcome of a search, with its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// True if it matched.
    pub matched: bool,
    /// Number of steps that it took; the engine says what a step is.
    pub steps: u64,
}

//! The rows of `limit size`.

use trueplane_units::Bytes;

use crate::policy::PolicyName;

/// Everything that was counted.
#[derive(Clone, Debug)]
pub struct Found {
    /// Forms of limiters; the first is Nimble as it is deployed.
    pub layouts: Vec<Layout>,
    /// Tables to drain by, one for all limiters.
    pub drain_tables: Vec<TableSize>,
    /// Tables for more errors, for the picture.
    pub drawn_tables: Vec<TableSize>,
}

/// One form of a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Limiter that has this form.
    pub policy: PolicyName,
    /// Form in which it is kept.
    pub form: Form,
    /// Bytes that one limiter takes.
    pub bytes: u64,
    /// Limiters that fit into the memory.
    pub limiters_in_memory: u64,
    /// Bytes that as many limiters take as are wanted.
    pub limiters_bytes: Bytes,
}

/// A form in which a limiter is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Form in which the kernel has it.
    Deployed,
    /// The same, with credit for each of so many cores.
    Credit(u64),
    /// A word of 32 bits for each parameter and variable that the algorithm's source names.
    Words,
    /// Sums of 128 bits, so that nothing is ever rounded: what this program keeps.
    Reference,
}

/// The size of a table that limiters drain by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// Maximum error in millionths.
    pub error_ppm: u32,
    /// Lines, where a line holds a range of times.
    pub ranges: u64,
    /// Lines, where a line holds a value and a mask (TCAM).
    pub prefixes: u64,
    /// Two words for each range: its end, and the time to drain for.
    pub ranges_bytes: Bytes,
    /// Three words for each prefix: value, mask, and the time to drain for.
    pub prefixes_bytes: Bytes,
}

impl TableSize {
    /// The maximum error, as a ratio.
    pub fn error_max(&self) -> f64 {
        f64::from(self.error_ppm) / 1e6
    }
}

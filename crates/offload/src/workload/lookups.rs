//! One reading of a workload.

use trueplane_study::Error;

use crate::Key;

/// About so many lookups are handed over at once.
pub const CHUNK: usize = 1 << 20;

/// Facts about a workload's keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// Different keys, if they were counted.
    pub distinct: Option<u64>,
    /// Keys that share their 64-bit hash with another, if that could be found out: hashed texts and packets.
    pub collided: Option<u64>,
    /// The two numbers above are estimates from every so many hashes.
    pub one_in: u64,
}

/// One reading of a workload.
pub trait Lookups: Send {
    /// Replaces the contents of `out` by the keys of the next [`CHUNK`] lookups or a few more, or by as many as are
    /// left. `false`, with `out` empty, when there are none left.
    ///
    /// # Errors
    ///
    /// The trace is not what it should be, or cannot be read.
    fn next_chunk(&mut self, out: &mut Vec<Key>) -> Result<bool, Error>;

    /// Position in the workload; see [`Workload::extent`](super::Workload::extent).
    fn position(&self) -> u64;

    /// Facts about the keys so far.
    fn keys(&self) -> Keys;

    /// Things in a trace so far that are no lookups, such as `packets that are not IP`, with their counts.
    fn skipped(&self) -> &[(String, u64)] {
        &[]
    }
}

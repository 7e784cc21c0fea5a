//! What limiters take.

use serde::Serialize;
use trueplane_study::Error;

use crate::drain::DrainTable;

/// The result of `limit size`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// `limit.size`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// How many limiters are wanted.
    pub limiters: u64,
    /// The memory that there is.
    pub memory_bytes: u64,
    /// What a limiter may look like.
    pub layouts: Vec<Layout>,
    /// Tables to drain by, one for all limiters.
    pub drain_tables: Vec<TableSize>,
    /// The same for more errors, for the picture.
    #[serde(skip)]
    pub drawn_tables: Vec<TableSize>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// What a limiter looks like.
#[derive(Clone, Debug, Serialize)]
pub struct Layout {
    /// Its name.
    pub layout: String,
    /// What is in it.
    pub state: String,
    /// How large it is.
    pub bytes: u64,
    /// How many fit into the memory.
    pub limiters_in_memory: u64,
    /// What as many as are wanted take.
    pub limiters_bytes: u64,
}

/// How large a table is that limiters drain by.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TableSize {
    /// The maximum error, as a ratio.
    pub error_max: f64,
    /// Lines, where a line holds a range of times.
    pub ranges: u64,
    /// Lines, where a line holds a value and a mask (TCAM).
    pub prefixes: u64,
    /// Two words for each range: its end, and what to drain for.
    pub ranges_bytes: u64,
    /// Three words for each prefix: value, mask, and what to drain for.
    pub prefixes_bytes: u64,
}

impl TableSize {
    pub(super) fn of(error_ppm: u32) -> Result<Self, Error> {
        let table = DrainTable::new(error_ppm).map_err(|error| Error::Parameters(error.to_string()))?;
        let (ranges, prefixes) = (table.len() as u64, table.prefixes());
        Ok(Self {
            error_max: f64::from(error_ppm) / 1e6,
            ranges,
            prefixes,
            ranges_bytes: 2 * WORD * ranges,
            prefixes_bytes: 3 * WORD * prefixes,
        })
    }
}

/// A word of the layouts that are counted in words.
pub(super) const WORD: u64 = 4;

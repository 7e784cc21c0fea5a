//! The parameters of `offload size`.

use trueplane_study::Error;
use trueplane_units::{List, PerSecond, Positive, Within, distinct, parameters};

use crate::policy::dyso::Shape;
use crate::value::History;

/// The most entries of a row.
const LONGEST_CHAIN: u64 = Shape::LONGEST_CHAIN as u64;
/// The most bits of a key or a value.
const MOST_BITS: u64 = 1 << 16;

parameters! {
    /// Parameters of `offload size`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Number of entries of the table, a multiple of every --chain. K and M are powers of ten, Ki and Mi powers of two.
        pub entries: u64 => { value: "N", default: "64Ki" },
        /// Number of rows of the table, for any --chain. Give this or --entries.
        pub rows: Option<u64> => { value: "N", conflicts: "entries" },
        /// Number of entries in each row (k). A list gives one layout for each.
        pub chain: List<Within<u32, 1, LONGEST_CHAIN>> => { value: "LIST", default: "4" },
        /// Bits of a key.
        pub key_bits: Within<u32, 1, MOST_BITS> => { value: "N", default: "64" },
        /// Bits of a value.
        pub value_bits: Within<u32, 0, MOST_BITS> => { value: "N", default: "64" },
        /// Bits of the version of a row, which shows that an update is out of date.
        pub version_bits: Within<u32, 0, 64> => { value: "N", default: "16" },
        /// Size of the history buffer: rows x keys in a row.
        pub history: History => { value: "ROWSxSLOTS", default: "256x8" },
        /// Control packets per second, for which the bandwidth is shown.
        pub control_rate: List<Positive<PerSecond>> => { value: "LIST", default: "1Mpps,5Mpps" },
    }
}

impl Options {
    /// The lengths of chains, each once.
    pub(super) fn chains(&self) -> Vec<u32> {
        distinct(self.chain.iter().map(|chain| chain.get()))
    }

    /// The rates of control packets, each once.
    pub(super) fn control_rates(&self) -> Vec<PerSecond> {
        distinct(self.control_rate.iter().map(|rate| rate.get()))
    }

    /// The table with chains of this length.
    pub(super) fn shape(&self, chain: u32) -> Result<Shape, Error> {
        let rows = match self.rows {
            Some(rows) => rows,
            None if self.entries.is_multiple_of(chain.into()) => self.entries / u64::from(chain),
            None => {
                return Err(Error::Parameters(format!(
                    "--entries {}: expected a multiple of the entries in a row, {chain}",
                    self.entries
                )));
            }
        };
        let rows = u32::try_from(rows).map_err(|_| {
            Error::Parameters(format!(
                "expected at most {} rows of {chain}, got {rows}: give fewer --rows or --entries",
                u32::MAX
            ))
        })?;
        Shape::new(rows, chain, self.history.rows, self.history.slots)
            .map_err(|error| Error::Parameters(format!("{error}, with --chain {chain}")))
    }
}

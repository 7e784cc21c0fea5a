//! `trueplane offload size`

use trueplane_offload::size::{Extent, Options, size};

use super::values::{History, history, rate};
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::values::{count, without_repetitions};

/// Tell what the registers of a DySO table take, and its control packets.
///
/// A row of k entries is spread over k register arrays of keys and k of values, so that a packet on its way through the pipeline reads
/// one place of each; a version for every row, and the history buffer, come on top. A control packet carries a row there and a row of
/// the history back.
#[derive(clap::Args)]
#[command(next_help_heading = "The table", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Entries of the table: a multiple of every --chain; K and M are powers of ten, Ki and Mi of two
    #[arg(long, value_name = "N", default_value = "64Ki", value_parser = count)]
    entries: u64,

    /// Instead of --entries: rows of the table, whatever the chain
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "entries")]
    rows: Option<u64>,

    /// Entries in a row, k; a list makes a layout for each
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "4",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    chain: Vec<u32>,

    /// Bits of a key
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    key_bits: u32,

    /// Bits of a value
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(0..=65_536))]
    value_bits: u32,

    /// Bits of the version of a row, by which an update that comes late is known
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=64))]
    version_bits: u32,

    /// History buffer: rows x keys in a row
    #[arg(long, value_name = "ROWSxSLOTS", default_value = "256x8", value_parser = history)]
    history: History,

    /// Control packets a second whose bandwidth to tell
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1Mpps,5Mpps", value_parser = rate)]
    control_rate: Vec<u64>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane offload size
  trueplane offload size --chain 1,2,4,8,16 --report out
  trueplane offload size --rows 16Ki --chain 4 --key-bits 104 --value-bits 48 --control-rate 1Mpps,80Mpps --json";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options = Options {
            extent: self.rows.map_or(Extent::Entries(self.entries), Extent::Rows),
            chains: without_repetitions(&self.chain),
            key_bits: self.key_bits,
            value_bits: self.value_bits,
            version_bits: self.version_bits,
            history_rows: self.history.rows,
            history_slots: self.history.slots,
            control_rates: without_repetitions(&self.control_rate),
        };
        self.output.emit(&size(&options)?.report())
    }
}

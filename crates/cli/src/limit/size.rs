//! `trueplane limit size`

use trueplane_limit::size::{Options, size};
use trueplane_units::Bytes;

use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::values::{count, without_repetitions};

/// Tell how many limiters fit into a memory, by layout.
///
/// Layouts in 32-bit words have one for each parameter and variable of the algorithm, as hardware would; references are what this
/// program keeps. Tables to drain by are shared by all limiters of a switch that cannot multiply.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many limiters are wanted: 65536, 64K (thousands), 1M
    #[arg(long, value_name = "N", default_value = "65536", value_parser = count)]
    limiters: u64,

    /// The memory that there is
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    memory: Bytes,

    /// Numbers of cores that share a limiter and hold credit of their own
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "2,8",
          value_parser = clap::value_parser!(u64).range(1..=65_536))]
    cores: Vec<u64>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane limit size
  trueplane limit size --limiters 1M --memory 22MiB --report out";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options =
            Options { limiters: self.limiters, memory: self.memory, cores: without_repetitions(&self.cores) };
        self.output.emit(&size(&options)?.report())
    }
}

//! `trueplane spray concurrency`

use std::path::PathBuf;

use trueplane_spray::concurrency::{Options, concurrency};
use trueplane_trace::Trace;
use trueplane_units::{Bytes, Nanos};

use super::values::cores;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::reading::OrderArgs;
use crate::values::time;
use crate::watch::Watch;

/// Count how many flows a capture has at a time, and tell what that means for hashing to cores (figure 3.2).
///
/// Very many connections may be open; few have packets in the short time that a middlebox works on one. Counted are windows with any packet; both
/// directions of a connection are one flow.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray concurrency capture.pcap.zst
  trueplane spray concurrency capture.pcap --window 1ms --large 1MB --all-protocols --report out")]
pub(crate) struct Args {
    /// A capture: pcap or pcapng, plain or as gzip, zstd or xz; - is standard input
    #[arg(value_name = "CAPTURE")]
    capture: PathBuf,

    /// How long a window is
    #[arg(long, value_name = "TIME", default_value = "150us", value_parser = time)]
    window: Nanos,

    /// Flows with more bytes than this are large, and counted once more for themselves
    #[arg(long, value_name = "BYTES", default_value = "10MB")]
    large: Bytes,

    /// Numbers of cores to tell about
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "2,4,8,16", value_parser = cores)]
    cores: Vec<usize>,

    /// Flows of all protocols, and not of TCP alone
    #[arg(long)]
    all_protocols: bool,

    #[command(flatten)]
    order: OrderArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let trace =
            Trace::open(&self.capture, &self.order.capture()).map_err(trueplane_study::Error::from)?;
        let options = Options {
            window: self.window,
            large: self.large,
            cores: trueplane_units::distinct(self.cores.iter().copied()),
            all_protocols: self.all_protocols,
        };
        let watch = Watch::start()?;
        let found = concurrency(&trace, &options, &watch);
        watch.finish();
        self.output.emit(&found?.report())
    }
}

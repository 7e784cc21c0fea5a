//! `trueplane cache analyze`

use trueplane_cache::analyze::analyze;
use trueplane_units::Nanos;

use super::trace::TraceArgs;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::watch::Watch;

/// Tell what a request log is like: objects, concurrency, burstiness, and how many requests arrive during a fetch (Z).
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    trace: TraceArgs,

    /// Latencies whose Z (mean number of requests that arrive during one) to print
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1ms,10ms,100ms")]
    latency: Vec<Nanos>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane cache analyze access.log.gz --latency 50ms,200ms
  trueplane cache analyze trace.csv --columns time=2,key=5,size=4 --time-unit ms";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let trace = self.trace.open()?;
        let watch = Watch::start()?;
        let analysis = analyze(&trace, &self.latency, &watch);
        watch.finish();
        self.output.emit(&analysis?.report())
    }
}

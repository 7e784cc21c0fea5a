//! `trueplane limit precision`

use trueplane_limit::drain::Drain;
use trueplane_limit::policy::PolicyName;
use trueplane_limit::precision::{Options, precision};
use trueplane_limit::source::{Pace, PacketSizes};
use trueplane_units::{BitsPerSec, Bytes, Choices, Nanos};

use crate::failure::Failure;
use crate::flags::value;
use crate::output::OutputArgs;
use crate::values::{ratio, without_repetitions};
use crate::watch::Watch;

/// Measure how exactly limiters enforce their rates against senders that take no notice of them.
///
/// Every limiter is offered more than its rate by every source, and what passes once its bucket is full is held against the
/// configured rate. Nimble drains by multiplication (exact) or, as a switch must, from tables with a chosen maximum error; the
/// other limiters are references in wide words, of which the two-rate meter has the rate as its peak rate.
#[derive(clap::Args)]
#[command(next_help_heading = "Simulation", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Configured rates
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "1Gbps,10Gbps,20Gbps,40Gbps,60Gbps,80Gbps,100Gbps"
    )]
    rates: Vec<BitsPerSec>,

    /// Packet sizes in bytes: one (1500), a range (64..1500) or a list (64,512,1500), all equally frequent
    #[arg(long, value_name = "SIZES", default_value = "64..1500")]
    packet: PacketSizes,

    /// Sources: cbr (even), poisson (exponential gaps), bursty (on at four times the offered rate, then off), or all
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = value::<Choices<Pace>>)]
    source: Choices<Pace>,

    /// What is offered, as a multiple of the configured rate
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = ratio)]
    load: u64,

    /// How Nimble drains: exact, or from a table with this maximum error, 0.1% to 50%
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "exact,1%,6%,12%,50%")]
    drain: Vec<Drain>,

    /// Limiters: nimble, token-bucket, gcra, srtcm (RFC 2697), trtcm (RFC 2698), or all
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = value::<Choices<PolicyName>>)]
    policy: Choices<PolicyName>,

    /// What every limiter holds
    #[arg(long, value_name = "SIZE", default_value = "150kB")]
    burst: Bytes,

    /// How long to measure, once the bucket is full [default: until 256 MB have passed]
    #[arg(long, value_name = "TIME")]
    duration: Option<Nanos>,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane limit precision --report out
  trueplane limit precision --rates 10Gbps,40Gbps,80Gbps --packet 1500 --source cbr --policy nimble --drain exact,6%
  trueplane limit precision --rates 1Mbps,100Mbps --packet 64,1500 --load 1.2 --duration 60s --json";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options = Options {
            rates: without_repetitions(&self.rates),
            sizes: self.packet,
            paces: self.source.0,
            load: self.load,
            drains: without_repetitions(&self.drain),
            policies: self.policy.0,
            burst: self.burst,
            duration: self.duration,
            seed: self.seed,
        };
        let watch = Watch::start()?;
        let found = precision(&options, &watch);
        watch.finish();
        self.output.emit(&found?.report())
    }
}

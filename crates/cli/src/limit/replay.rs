//! `trueplane limit replay`

use std::path::{Path, PathBuf};

use trueplane_limit::drain::Drain;
use trueplane_limit::policy::PolicyName;
use trueplane_limit::replay::{Options, replay};
use trueplane_study::Error;
use trueplane_trace::Trace;
use trueplane_units::Nanos;

use super::classes;
use crate::failure::Failure;
use crate::flags::value;
use crate::output::OutputArgs;
use crate::reading::OrderArgs;
use crate::values::{ratio, time};
use crate::watch::Watch;

/// Tell what limits would have done to the traffic of a capture: passed, marked and dropped, per class and over time.
///
/// A packet counts with the length that its frame had on the wire, whatever of it was captured, and meets the limiter that it
/// would meet live (see the classes file); rules by the kernel's mark match nothing, as captures do not hold it. Packets of no
/// class pass. The replay is open-loop: packets come when they came.
#[derive(clap::Args)]
#[command(next_help_heading = "Simulation", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The capture: pcap or pcapng, plain or as gzip, zstd or xz; - is standard input
    #[arg(value_name = "CAPTURE", help_heading = None)]
    path: PathBuf,

    /// Who is limited, and to what: a TOML file, see examples/classes.toml; - is standard input
    #[arg(long, value_name = "FILE")]
    classes: PathBuf,

    /// The limiter: nimble, token-bucket, gcra, srtcm (RFC 2697) or trtcm (RFC 2698)
    #[arg(long, value_name = "NAME", default_value = "nimble", value_parser = value::<PolicyName>)]
    policy: PolicyName,

    /// How Nimble drains: exact, or from a table with this maximum error, 0.1% to 50%
    #[arg(long, value_name = "HOW", default_value = "exact")]
    drain: Drain,

    /// Rates over time, and their peaks, are those of so much time
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = time)]
    bin: Nanos,

    /// Replay so many times as fast as it was captured
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = ratio)]
    speedup: u64,

    #[command(flatten)]
    order: OrderArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane limit replay capture.pcap --classes examples/classes.toml --report out
  trueplane limit replay capture.pcapng.zst --classes classes.toml --speedup 10 --bin 1s
  tcpdump -i eth0 -c 100000 -w - | trueplane limit replay - --classes classes.toml --json";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        if self.policy != PolicyName::Nimble && self.drain != Drain::Exact {
            let message = format!("--drain {} is for nimble; {} computes", self.drain, self.policy.name());
            return Err(Failure::input(message));
        }
        if self.path == self.classes && self.path == Path::new("-") {
            return Err(Failure::input("standard input cannot be both the capture and --classes"));
        }
        let classes = classes::read(&self.classes)?;
        let trace = Trace::open(&self.path, &self.order.capture()).map_err(Error::from)?;
        let options =
            Options { policy: self.policy, drain: self.drain, bin: self.bin, speedup: self.speedup };
        let watch = Watch::start()?;
        let replayed = replay(&trace, &classes, &options, &watch);
        watch.finish();
        self.output.emit(&replayed?.report())
    }
}

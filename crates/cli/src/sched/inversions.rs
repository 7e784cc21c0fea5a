//! `trueplane sched inversions`

use std::path::PathBuf;
use std::str::FromStr;

use trueplane_sched::choice::{Arrivals, RankChoice};
use trueplane_sched::distribution::{Distribution, Shape};
use trueplane_sched::inversions::inversions;
use trueplane_sched::options::{Options, USUAL_BYTES_PER_ROUND};
use trueplane_sched::policy::SchedulerName;
use trueplane_sched::policy::{Adaptation, PushDown};
use trueplane_study::Error;
use trueplane_trace::{Columns, Format, TimeUnit, Trace, TraceOptions};
use trueplane_units::{BitsPerSec, Bytes, Choices, Nanos, scale_share};

use crate::failure::Failure;
use crate::flags::value;
use crate::output::OutputArgs;
use crate::reading::OrderArgs;
use crate::threads::pool;
use crate::values::{count, named, ratio, without_repetitions};
use crate::watch::Watch;

/// Count how often packets leave an output port in the wrong order, under every scheduler.
///
/// Packets with ranks come to one port, are taken in or dropped by its scheduler, and leave at line rate. Whenever one leaves while
/// a packet of lower rank waits, that is an inversion of its rank. Of --ranks, --queues, --push-down and --load the first value is
/// the base; every further value varies that one thing with the others at their base (a star, not a product).
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane sched inversions [TRACE] [OPTIONS]",
    next_help_heading = "Simulation",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// For --ranks trace or --arrivals trace: a capture, or a request log whose key is the rank (CSV and others), plain or as gzip,
    /// zstd or xz; - is standard input
    #[arg(value_name = "TRACE", help_heading = None)]
    trace: Option<PathBuf>,

    /// Ranks: drawn from uniform, exponential (mean: a quarter of the span), inverse-exponential, poisson (mean: half of it) or
    /// convex (parabola), each as NAME:SPAN or of 100 ranks; trace: the keys of TRACE; or by policy: fifo, fifo+, class, pfabric,
    /// srpt, stfq, lstf, edf; a list varies [default: uniform:100]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ranks: Option<Vec<RankChoice>>,

    /// Arrivals: poisson, on-off (flows that start at random and send at --access-rate), or trace (at the times of TRACE)
    #[arg(long, value_name = "HOW", default_value = "poisson", value_parser = value::<Arrivals>)]
    arrivals: Arrivals,

    /// Number of queues in strict priority; a list varies [default: 8]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::number)]
    queues: Option<Vec<u64>>,

    /// Packets that each queue holds; FIFO, AIFO and PIFO have one queue of the same memory
    #[arg(long, value_name = "PACKETS", default_value_t = 10, value_parser = super::number)]
    depth: u64,

    /// What comes, as a multiple of what the line can send, also 1 and more; a list varies [default: 0.9]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = load)]
    load: Option<Vec<u64>>,

    /// Schedulers: fifo, sp-pifo, gradient, fixed, optimal, aifo, packs, afq, pifo, or all of these (that can work with the ranks);
    /// beside them variants, which all leaves out: sp-pifo-arrivals (whose
    /// bounds follow every packet that comes, also what is dropped), gradient-authors (from the smallest ranks), aifo-at-most and
    /// packs-past (other quantiles), and afq-strict (drops more at the end of its calendar)
    #[arg(long, value_name = "LIST", default_value = "all")]
    schedulers: Schedulers,

    /// Only for sp-pifo and sp-pifo-arrivals: how they lower their bounds after an inversion: cost, queue-bound (as the authors'
    /// program has it), rank, one, queue-bound-text (as the paper can be read), or all; a list varies [default: cost]
    #[arg(long, value_name = "LIST", value_parser = value::<Choices<PushDown>>)]
    push_down: Option<Choices<PushDown>>,

    /// Vary what the paper's figures 5b, 5c, 5d and 6 vary, as far as it is not given: 8, 16 and 32 queues, the push-downs cost,
    /// queue-bound, rank and one, loads from 0.5 to 1.1, every distribution
    #[arg(long)]
    figures: bool,

    /// How many packets come [default: 1M, or all of TRACE; ranks of a shorter trace start again]
    #[arg(long, value_name = "N", value_parser = packets)]
    packets: Option<u64>,

    /// How fast the line sends [default: 10Gbps; with --arrivals trace what makes the load]
    #[arg(long, value_name = "RATE", value_parser = super::rate)]
    rate: Option<BitsPerSec>,

    /// The length of packets that have none of their own, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    packet_size: u32,

    /// Only for afq: bytes of every flow that it sends in a round
    #[arg(long, value_name = "BYTES", default_value_t = USUAL_BYTES_PER_ROUND, value_parser = clap::value_parser!(u32).range(1..))]
    bytes_per_round: u32,

    /// Only for gradient, aifo and packs: packets after which the gradient adapts, and over which the others take their quantiles
    #[arg(long, value_name = "PACKETS", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    window: u32,

    /// Only for gradient: how far it goes after a window: one-step, or converge
    #[arg(long, value_name = "HOW", default_value = "one-step", value_parser = named::<Adaptation>)]
    adaptation: Adaptation,

    /// Only for --arrivals poisson: flows among which packets are drawn, which matters to afq and to ranks by policy
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    flows: u32,

    /// Only for --arrivals on-off: the size of a flow
    #[arg(long, value_name = "SIZE", default_value = "1MB", value_parser = flow_size)]
    flow_size: Bytes,

    /// Only for --arrivals on-off: what a flow sends while it does [default: a tenth of the line]
    #[arg(long, value_name = "RATE", value_parser = super::rate)]
    access_rate: Option<BitsPerSec>,

    /// Only for --ranks lstf, edf and fifo+: how long packets may wait at most; flows draw theirs below it
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    slack: Nanos,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Threads to run on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    output: OutputArgs,
}

/// How to read TRACE.
#[derive(clap::Args)]
#[command(next_help_heading = "Reading the trace")]
struct Reading {
    /// Format: csv, oracleGeneral, twitter, lis, pcap, access-log, json-log or cloudfront
    /// [default: by name and content]
    #[arg(long, requires = "trace")]
    format: Option<Format>,

    /// CSV columns by number from 1 or by header name, such as time=2,key=5,size=4; the key is the rank
    #[arg(long, requires = "trace")]
    columns: Option<Columns>,

    /// Unit of plain numbers in the time column: s, ms, us or ns [default: the column name's suffix, else s]
    #[arg(long, value_name = "UNIT", requires = "trace")]
    time_unit: Option<TimeUnit>,

    #[command(flatten)]
    order: OrderArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane sched inversions --report out
  trueplane sched inversions --figures --report out
  trueplane sched inversions --ranks convex:1000 --queues 8,32 --load 1.1 --schedulers fifo,sp-pifo,packs,pifo
  trueplane sched inversions --ranks stfq --arrivals on-off --json
  trueplane sched inversions capture.pcap --ranks pfabric --arrivals trace --load 0.95
  trueplane sched inversions ranks.csv --ranks trace --columns key=rank";

/// A list of schedulers, and whether it says `all`, of which those that cannot work with the ranks are left out.
#[derive(Clone)]
struct Schedulers {
    list: Vec<SchedulerName>,
    lenient: bool,
}

impl FromStr for Schedulers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Choices(list) = value(text)?;
        Ok(Self { list, lenient: text.split(',').any(|name| name.trim() == "all") })
    }
}

/// A number of packets above zero.
fn packets(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("expected at least one packet, got \"0\"".to_owned()),
        packets => Ok(packets),
    }
}

/// A load, in millionths.
fn load(text: &str) -> Result<u64, String> {
    let expected = "a load of 0.000001 to 1000000 such as 0.9 or 90%";
    let share = scale_share(text, 1_000_000).filter(|share| (1..=1_000_000_000_000).contains(share));
    share.map_or_else(|| ratio(text), Ok).map_err(|_| format!("expected {expected}, got \"{text}\""))
}

/// A size above zero.
fn flow_size(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err(format!("expected a size above zero such as 1MB, got \"{text}\"")),
        Ok(size) => Ok(size),
        Err(error) => Err(error.to_string()),
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let options = self.options()?;
        options.check(self.trace.is_some())?;
        let trace = self.open()?;
        let watch = Watch::start()?;
        let found = pool(self.threads)?.install(|| inversions(trace.as_ref(), &options, &watch));
        watch.finish();
        self.output.emit(&found?.report())
    }

    fn open(&self) -> Result<Option<Trace>, Failure> {
        let Some(path) = &self.trace else {
            return match self.reading.order.given() {
                Some(flag) => {
                    Err(Failure::input(format!("{flag} says how to read a TRACE, and there is none")))
                }
                None => Ok(None),
            };
        };
        let options = TraceOptions {
            format: self.reading.format,
            columns: self.reading.columns.clone(),
            time_unit: self.reading.time_unit,
            ..self.reading.order.capture()
        };
        Ok(Some(Trace::open(path, &options).map_err(Error::from)?))
    }

    fn options(&self) -> Result<Options, Failure> {
        let has_own_load = self.arrivals == Arrivals::Trace && self.rate.is_some();
        if has_own_load && self.load.is_some() {
            return Err(Failure::input(
                "--arrivals trace has the load that it has on a line of --rate: give --rate or --load",
            ));
        }
        let drawn = |shape| RankChoice::Drawn(Distribution::usual(shape));
        let ranks = listed(self.ranks.as_deref(), self.figures, || {
            Shape::NAMES.map(|(_, shape)| drawn(shape)).to_vec()
        });
        let loads = listed(self.load.as_deref(), self.figures && !has_own_load, || {
            [9, 5, 6, 7, 8, 10, 11].map(|tenths| tenths * 100_000).to_vec()
        });
        let push_down = self.push_down.as_ref().map(|list| list.0.as_slice());
        let usual = Options::default();
        Ok(Options {
            ranks: ranks.unwrap_or(usual.ranks),
            arrivals: self.arrivals,
            queues: listed(self.queues.as_deref(), self.figures, || vec![8, 16, 32]).unwrap_or(usual.queues),
            depth: self.depth,
            loads: loads.unwrap_or(usual.loads),
            schedulers: self.schedulers.list.clone(),
            lenient: self.schedulers.lenient,
            push_downs: listed(push_down, self.figures, || PushDown::PAPER.to_vec())
                .unwrap_or(usual.push_downs),
            packets: self.packets,
            rate: self.rate,
            packet_bytes: self.packet_size,
            bytes_per_round: self.bytes_per_round,
            window: self.window as usize,
            adaptation: self.adaptation,
            flows: self.flows,
            flow_size: self.flow_size,
            access: self.access_rate,
            slack: self.slack,
            seed: self.seed,
        })
    }
}

/// The list that was given, or with `figures` that of the paper.
fn listed<T: Clone + PartialEq>(
    given: Option<&[T]>,
    figures: bool,
    paper: impl FnOnce() -> Vec<T>,
) -> Option<Vec<T>> {
    match given {
        Some(given) => Some(without_repetitions(given)),
        None => figures.then(paper),
    }
}

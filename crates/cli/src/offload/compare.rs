//! `trueplane offload compare`

use trueplane_offload::compare::compare;
use trueplane_offload::options::{BoundLimits, Dyso, Options, Reports};
use trueplane_offload::timing::Timing;
use trueplane_offload::workload::Workload;
use trueplane_units::Nanos;

use super::values::{History, Period, Systems, Warmup, history, load, loss, period, rate};
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::reading::ReadingArgs;
use crate::threads::pool;
use crate::values::{above_zero, count, gap, time, without_repetitions};
use crate::watch::Watch;

/// Show what a slow control loop costs the table of hot items in a switch, and what DySO makes of it.
///
/// Keys are looked up one by one at --rate. A table that is updated at once (ideal-lru, ideal-lfu) is what the classical model believes
/// in; the others wait until an entry has been noticed, decided on and installed: in batches at --update-rate, or row by row with
/// the control packets of DySO. Lists make a grid, run on all cores.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane offload compare WORKLOAD [OPTIONS]",
    next_help_heading = "Simulation",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// A generator such as zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3 (see below), or a trace: CSV, oracleGeneral, Twitter, ARC .lis,
    /// pcap or a web server's log, plain or as gzip, zstd or xz; - is standard input
    #[arg(value_name = "WORKLOAD", help_heading = None)]
    workload: String,

    /// Systems: a list of names, or online (all but the last two), or all [known: ideal-lru, ideal-lfu, recency, frequency, netcache,
    /// tea, dyso, belady, optimal]. belady and optimal hold the workload in memory, 8 B a lookup or more; without them memory
    /// does not grow
    #[arg(long, value_name = "LIST", default_value = "online,belady")]
    systems: Systems,

    /// Entries of the table: a multiple of every --chain; K and M are powers of ten, Ki and Mi of two
    #[arg(long, value_name = "N", default_value = "64Ki", value_parser = above_zero)]
    entries: u64,

    /// Lookups a second; the times of a trace do not matter
    #[arg(long, value_name = "RATE", default_value = "80Mpps", value_parser = rate)]
    rate: u64,

    /// Lookups at the start that are not counted: a time such as 1s, or a number such as 10M
    #[arg(long, value_name = "TIME|N", default_value = "0")]
    warmup: Warmup,

    /// How many keys are moved at every change, instead of the number in the workload's hot-in or shift; a list makes a sweep
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    hot_in: Vec<u64>,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Threads to run the grid on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    batches: BatchArgs,

    #[command(flatten)]
    dyso: DysoArgs,

    #[command(flatten)]
    bound: BoundArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Generated workloads:
  zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3   keys by Zipf's law; every second the 1000 least popular become the most popular
  zipf:0.99,keys=1M,shift=1000/1s,lookups=10M  every second the 1000 most popular become the least popular

Examples:
  trueplane offload compare zipf:0.99,keys=1M,hot-in=1000/1s,seconds=3 --warmup 1s --report out
  trueplane offload compare zipf:0.99,keys=1M,hot-in=0/1s,seconds=3 --hot-in 0,10,100,1000 --systems netcache,dyso
  trueplane offload compare capture.pcap.zst --key dst --entries 64Ki --systems dyso,netcache --control-rate 1Mpps,5Mpps,80Mpps
  trueplane offload compare cluster44.csv.gz --format twitter --systems all --update-rate 20K,1.25M --best-config --json";

/// Tables whose entries are replaced in batches.
#[derive(clap::Args)]
#[command(next_help_heading = "Updates in batches (recency, frequency, netcache, tea, optimal)")]
struct BatchArgs {
    /// Entries replaced a second; a list makes a sweep
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "20K,80K,1.25M", value_parser = rate)]
    update_rate: Vec<u64>,

    /// Entries of a batch
    #[arg(long, value_name = "N", default_value = "256", value_parser = above_zero)]
    batch: u64,

    /// How often frequency halves its counters
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    ageing: Nanos,

    /// Lookups of a key within an interval that make it worth an entry (netcache, tea)
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    threshold: u32,

    /// After how long statistics are cleared (netcache, tea)
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    interval: Nanos,

    /// How long a report takes from the switch to the controller (netcache)
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    report_delay: Nanos,

    /// Counters of entries that are read for each batch (netcache, tea)
    #[arg(long, value_name = "N", default_value = "4Ki", value_parser = above_zero)]
    sample: u64,

    /// The share of the table that is used, so that insertions do not fail (netcache, tea)
    #[arg(long, value_name = "PERCENT", default_value = "90%", value_parser = load)]
    load: u32,

    /// Also look for the best ageing period (frequency) and threshold (netcache, tea), at every rate
    #[arg(long)]
    best_config: bool,
}

/// DySO.
#[derive(clap::Args)]
#[command(next_help_heading = "Control packets (dyso)")]
struct DysoArgs {
    /// Control packets a second; a list makes a sweep
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1Mpps,5Mpps", value_parser = rate)]
    control_rate: Vec<u64>,

    /// Entries in a row of the table, k; a list makes a sweep
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "4",
          value_parser = clap::value_parser!(u64).range(1..=64))]
    chain: Vec<u64>,

    /// History buffer: rows x keys in a row
    #[arg(long, value_name = "ROWSxSLOTS", default_value = "256x8", value_parser = history)]
    history: History,

    /// How long a control packet takes from the controller to the switch and back
    #[arg(long, value_name = "TIME", default_value = "10us", value_parser = time)]
    rtt: Nanos,

    /// Up to how much longer, at random, on each of the two ways
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    jitter: Nanos,

    /// How likely a control packet is lost, on each of the two ways
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = loss)]
    loss: u32,

    /// After how long an update that was not acknowledged is sent again [default: three times --rtt and --jitter]
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Nanos>,

    /// The ageing period that dyso begins with
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = time)]
    dyso_ageing: Nanos,

    /// How often dyso tunes it, or never
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = period)]
    tuning: Period,
}

/// The bound of the offline optimum.
#[derive(clap::Args)]
#[command(next_help_heading = "The search for a bound (optimal)")]
struct BoundArgs {
    /// Stop after so many steps
    #[arg(long, value_name = "N", default_value = "400", value_parser = above_zero)]
    iterations: u64,

    /// Stop once the two bounds are this close, in percent of the lower one
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", value_parser = gap)]
    gap: f64,

    /// Solve it exactly instead, as a linear programme by HiGHS, if that was built in with --features lp: for small workloads, up to
    /// 100,000 keys in batches
    #[arg(long, conflicts_with_all = ["iterations", "gap"])]
    exact: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let workload = self.open()?;
        let (options, levels) = (self.options(), without_repetitions(&self.hot_in));
        let threads = pool(self.threads)?;
        let watch = Watch::start()?;
        let comparison = threads.install(|| compare(&workload, &levels, &options, &watch));
        watch.finish();
        self.output.emit(&comparison?.report())
    }

    /// The workload; flags that say how to read a trace are for traces only.
    fn open(&self) -> Result<Workload, Failure> {
        let workload = Workload::open(&self.workload, &self.reading.options())?;
        match self.reading.given() {
            Some(flag) if workload.zipf().is_some() => Err(Failure::input(format!(
                "{flag}: it says how to read a trace, and {} is no trace",
                self.workload
            ))),
            _ => Ok(workload),
        }
    }

    fn options(&self) -> Options {
        let (batches, dyso) = (&self.batches, &self.dyso);
        Options {
            systems: self.systems.0.clone(),
            entries: self.entries,
            rate: self.rate,
            update_rates: without_repetitions(&batches.update_rate),
            batch: batches.batch,
            control_rates: without_repetitions(&dyso.control_rate),
            chains: without_repetitions(&dyso.chain),
            warmup: self.warmup.lookups(Timing { rate: self.rate }),
            ageing: batches.ageing,
            reports: Reports {
                threshold: batches.threshold,
                interval: batches.interval,
                delay: batches.report_delay,
                sample: batches.sample,
                load_percent: batches.load,
            },
            dyso: Dyso {
                history_rows: dyso.history.rows,
                history_slots: dyso.history.slots,
                round_trip: dyso.rtt,
                jitter: dyso.jitter,
                loss_ppm: dyso.loss,
                timeout: dyso.timeout,
                ageing: dyso.dyso_ageing,
                tuning: dyso.tuning.0,
            },
            best_config: batches.best_config,
            bound: BoundLimits { iterations: self.bound.iterations, gap: self.bound.gap },
            exact: self.bound.exact,
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn the_defaults_are_those_of_the_study() {
        let mut given = Only::parse_from(["compare", "zipf:0.99,keys=1M,seconds=3"]).args.options();
        let of_study = Options::default();
        assert!(given.systems.iter().all(|system| of_study.systems.contains(system)));
        assert_eq!(given.systems.len(), of_study.systems.len());
        given.systems.clone_from(&of_study.systems);
        assert_eq!(format!("{given:?}"), format!("{of_study:?}"));
    }
}

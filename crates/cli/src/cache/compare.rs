//! `trueplane cache compare`

use clap::ValueEnum;
use trueplane_core::cache::policy::{MadMemory, PolicyName, Search, UnknownPolicy};
use trueplane_core::units::Nanos;
use trueplane_sim::cache::compare::compare;
use trueplane_sim::cache::grid::{Capacity, Options};
use trueplane_sim::cache::latency::Latency;
use trueplane_sim::trace::{Clock, Trace};

use super::trace::TraceArgs;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::values::{LatencyArg, LatencyList, count, without_repetitions};
use crate::watch::Watch;

/// Run caching policies over a request log, and hold the classical prediction against what happens.
///
/// Every policy is simulated twice: with fetches that take no time, from which the classical model predicts
/// hit rate × hit latency + miss rate × miss latency, and with fetches that take as long as they do, during which
/// further requests for the object wait (delayed hits). Lists of latencies and capacities make a grid, run on all cores.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane cache compare <TRACE> --latency <LIST> [OPTIONS]",
    next_help_heading = "Simulation",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// How long a fetch takes: 100ms, 1000steps (slotted), lognormal:MEDIAN,SIGMA, or trace (its fetch column);
    /// a list makes a sweep
    #[arg(long, value_name = "LIST", required_unless_present = "origins")]
    latency: Option<LatencyList>,

    /// Spread objects by hash over origins with these latencies, such as 68ms,103ms,226ms; beside --latency it is one
    /// more point of the sweep
    #[arg(long, value_name = "LIST")]
    origins: Option<LatencyList>,

    /// Cache size: objects (5000), share of the peak of concurrently active objects (5%) or bytes (256MiB);
    /// a list makes a sweep
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "5%")]
    capacity: Vec<Capacity>,

    /// Policies: a list of names, or online, or all [known: lru, lfu, arc, lhd, sieve, s3-fifo, w-tinylfu, random,
    /// lru-mad, lfu-mad, arc-mad, lhd-mad, belady, belady-ad]
    #[arg(long, value_name = "LIST", default_value = "all")]
    policies: Policies,

    /// What time is: continuous (timestamps), slotted (a line is a step), or auto: continuous if there are timestamps
    #[arg(long, value_enum, default_value_t = Time::Auto)]
    time: Time,

    /// Requests at the start that are simulated but not counted
    #[arg(long, value_name = "N", default_value = "0", value_parser = count)]
    warmup: u64,

    /// What a hit takes
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    hit_latency: LatencyArg,

    /// Objects in a set of a set-associative cache [default: fully associative]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ways: Option<u64>,

    /// For which objects MAD keeps counters: those in the cache (32 B each), or all ever seen
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Memory::Cached)]
    mad_memory: Memory,

    /// How LHD finds its victim: among 64 sampled objects, as it is defined, or the exact one; all others are exact
    #[arg(long, value_enum, default_value_t = Eviction::Sampled)]
    eviction: Eviction,

    /// Let objects larger than the cache pass it by instead of refusing the trace
    #[arg(long)]
    bypass_oversized: bool,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Threads to run the grid on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  trueplane cache compare access.log.gz --latency 80ms --capacity 10GiB --policies online --report out
  trueplane cache compare trace.oracleGeneral.zst --latency 1ms,10ms,100ms --capacity 1%,5%,10% --report out
  trueplane cache compare trace.csv --columns time=1,key=2 --time-unit us --latency 5ms --json
  trueplane cache compare pages.lis --latency 1000steps --capacity 4096 --policies lru,arc,lru-mad";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Time {
    Auto,
    Continuous,
    Slotted,
}

#[derive(Clone, Copy, ValueEnum)]
enum Memory {
    Cached,
    All,
}

#[derive(Clone, Copy, ValueEnum)]
enum Eviction {
    Sampled,
    Exact,
}

/// A list of policies without repetitions.
#[derive(Clone)]
struct Policies(Vec<PolicyName>);

impl std::str::FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut policies = Vec::new();
        for name in text.split(',').map(str::trim) {
            match name {
                "all" => policies.extend(PolicyName::ALL),
                "online" => {
                    policies.extend(PolicyName::ALL.into_iter().filter(|policy| !policy.is_offline()));
                }
                name => policies.push(name.parse().map_err(|error: UnknownPolicy| error.to_string())?),
            }
        }
        Ok(Self(without_repetitions(&policies)))
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let trace = self.trace.open()?;
        let options = self.options(&trace)?;
        let watch = Watch::start()?;
        let comparison = pool(self.threads)?.install(|| compare(&trace, &options, &watch));
        watch.finish();
        self.output.emit(&comparison?.report())
    }

    fn options(&self, trace: &Trace) -> Result<Options, Failure> {
        let clock = self.clock(trace)?;
        let mut latencies = Vec::new();
        for latency in self.latency.iter().flat_map(|list| &list.0) {
            latencies.push(match latency {
                LatencyArg::Trace if !trace.fields().fetch => {
                    let message =
                        "--latency trace needs the fetch times in a column; name it with --columns fetch=N";
                    return Err(Failure::input(format!("{}: {message}", trace.name())));
                }
                LatencyArg::Trace if clock == Clock::Steps => {
                    return Err(Failure::input("--latency trace is in time, and --time slotted takes steps"));
                }
                LatencyArg::Trace => Latency::Trace,
                LatencyArg::LogNormal(median, sigma) => {
                    let median = units("--latency", &LatencyArg::Time(*median), clock)?;
                    Latency::LogNormal { median, sigma: *sigma, seed: self.seed }
                }
                constant => Latency::Constant(units("--latency", constant, clock)?),
            });
        }
        if let Some(origins) = &self.origins {
            let origins =
                origins.0.iter().map(|origin| units("--origins", origin, clock)).collect::<Result<_, _>>()?;
            latencies.push(Latency::Origins(origins));
        }
        let latencies = without_repetitions(&latencies);
        // A hit that takes no time takes none in any unit.
        let free = self.hit_latency == LatencyArg::Time(Nanos(0));
        Ok(Options {
            policies: self.policies.0.clone(),
            latencies,
            capacities: without_repetitions(&self.capacity),
            clock,
            hit_latency: if free { Nanos(0) } else { units("--hit-latency", &self.hit_latency, clock)? },
            warmup: self.warmup,
            ways: self.ways,
            mad_memory: match self.mad_memory {
                Memory::Cached => MadMemory::Cached,
                Memory::All => MadMemory::All,
            },
            search: match self.eviction {
                Eviction::Sampled => Search::Sampled,
                Eviction::Exact => Search::Exact,
            },
            seed: self.seed,
            bypass_oversized: self.bypass_oversized,
        })
    }

    /// What the clock counts: as asked for, or steps if latencies are in steps, or what the trace has.
    fn clock(&self, trace: &Trace) -> Result<Clock, Failure> {
        let mut latencies = self.latency.iter().chain(&self.origins).flat_map(|list| &list.0);
        let in_steps = latencies.any(|latency| matches!(latency, LatencyArg::Steps(_)));
        match self.time {
            Time::Continuous => Ok(Clock::Timestamps),
            Time::Slotted => Ok(Clock::Steps),
            Time::Auto if in_steps => Ok(Clock::Steps),
            Time::Auto if trace.fields().time => Ok(Clock::Timestamps),
            Time::Auto => Err(Failure::input(format!(
                "{}: the trace has no timestamps; give latencies in steps, such as --latency 1000steps, or name the column with --columns time=N",
                trace.name()
            ))),
        }
    }
}

/// A constant latency in the unit of the clock.
fn units(flag: &str, latency: &LatencyArg, clock: Clock) -> Result<Nanos, Failure> {
    match (latency, clock) {
        (LatencyArg::Time(time), Clock::Timestamps) => Ok(*time),
        (LatencyArg::Steps(steps), Clock::Steps) => Ok(Nanos(*steps)),
        (LatencyArg::Time(time), Clock::Steps) => Err(Failure::input(format!(
            "{flag}: slotted time counts steps: expected a latency such as 1000steps, got {time} (or choose --time continuous)"
        ))),
        (LatencyArg::Steps(steps), Clock::Timestamps) => Err(Failure::input(format!(
            "{flag}: continuous time counts seconds: expected a latency such as 100ms, got {steps}steps (or choose --time slotted)"
        ))),
        (LatencyArg::LogNormal(..) | LatencyArg::Trace, _) => {
            Err(Failure::input(format!("{flag}: expected a plain latency such as 100ms or 1000steps")))
        }
    }
}

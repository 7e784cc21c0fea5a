//! `trueplane cache compare`

use std::time::Duration;

use clap::ValueEnum;
use trueplane_cache::bound::Limits;
use trueplane_cache::bound::column::compare_bounded;
use trueplane_cache::compare::compare;
use trueplane_cache::grid::{Capacity, Options};
use trueplane_cache::policy;
use trueplane_cache::policy::{MadMemory, Search};
use trueplane_trace::Trace;
use trueplane_units::{Nanos, distinct};

use super::terms::{Policies, Service, Terms};
use super::trace::TraceArgs;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::values::{LatencyList, above_zero, gap, time};
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

    #[command(flatten)]
    service: Service,

    /// Objects in a set of a set-associative cache [default: fully associative]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ways: Option<u64>,

    /// For which objects MAD keeps counters: those in the cache (32 B each), or all ever seen
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Memory::Cached)]
    mad_memory: Memory,

    /// How LHD finds its victim: among 64 sampled objects, as it is defined, or the exact one; all others are exact
    #[arg(long, value_enum, default_value_t = Eviction::Sampled)]
    eviction: Eviction,

    /// How large the window of W-TinyLFU is: it adapts to the trace as in Caffeine, or is fixed at 1 % of the capacity
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Window::Adaptive)]
    tinylfu_window: Window,

    /// Threads to run the grid on [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    #[command(flatten)]
    bound: BoundArgs,

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
  trueplane cache compare pages.lis --latency 1000steps --capacity 4096 --policies lru,arc,lru-mad
  trueplane cache compare trace.csv --latency 1ms,10ms --capacity 1%,5% --bound --bound-time 30s --report out";

/// How far above the optimum the policies are.
#[derive(clap::Args)]
#[command(next_help_heading = "Distance from the optimum")]
struct BoundArgs {
    /// Also say how far above the least possible latency every policy is, at every point (see trueplane cache bound); holds
    /// the trace in memory. Ctrl-C ends a comparison without a result, with bounds as without
    #[arg(long)]
    bound: bool,

    /// Look for the bound of one point so long at most
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time, requires = "bound")]
    bound_time: Nanos,

    /// Stop once a lower and an upper bound are this close
    #[arg(long, value_name = "PERCENT", default_value = "0.1%", value_parser = gap, requires = "bound")]
    bound_gap: f64,

    /// Stop after so many iterations of the search, however long they take: the result is then the same on any machine
    #[arg(long, value_name = "N", value_parser = above_zero, requires = "bound", conflicts_with = "bound_time")]
    bound_iterations: Option<u64>,
}

impl BoundArgs {
    /// The limits of each search, if there are to be any.
    fn limits(&self) -> Option<Limits> {
        let time = self.bound_iterations.is_none().then(|| Duration::from_nanos(self.bound_time.0));
        let iterations = self.bound_iterations.unwrap_or(u64::MAX);
        self.bound.then_some(Limits { gap: self.bound_gap, time, iterations })
    }
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

#[derive(Clone, Copy, ValueEnum)]
enum Window {
    Adaptive,
    Fixed,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let trace = self.trace.open()?;
        let options = self.options(&trace)?;
        let watch = Watch::start()?;
        let limits = self.bound.limits();
        let study = || match &limits {
            Some(limits) => compare_bounded(&trace, &options, limits, &watch),
            None => compare(&trace, &options, &watch),
        };
        let comparison = pool(self.threads)?.install(study);
        watch.finish();
        self.output.emit(&comparison?.report())
    }

    fn options(&self, trace: &Trace) -> Result<Options, Failure> {
        let terms =
            Terms { latency: self.latency.as_ref(), origins: self.origins.as_ref(), service: &self.service };
        let clock = terms.clock(trace)?;
        Ok(Options {
            policies: self.policies.0.clone(),
            latencies: terms.latencies(trace, clock)?,
            capacities: distinct(self.capacity.iter().copied()),
            clock,
            hit_latency: terms.hit_latency(clock)?,
            warmup: self.service.warmup,
            ways: self.ways,
            mad_memory: match self.mad_memory {
                Memory::Cached => MadMemory::Cached,
                Memory::All => MadMemory::All,
            },
            search: match self.eviction {
                Eviction::Sampled => Search::Sampled,
                Eviction::Exact => Search::Exact,
            },
            window: match self.tinylfu_window {
                Window::Adaptive => policy::Window::Adaptive,
                Window::Fixed => policy::Window::Fixed,
            },
            seed: self.service.seed,
            bypass_oversized: self.service.bypass_oversized,
        })
    }
}

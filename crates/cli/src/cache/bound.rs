//! `trueplane cache bound`

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use trueplane_cache::bound::study::{Finding, Method, Plan, bound};
use trueplane_cache::bound::{Limits, Options, certificate, export};
use trueplane_cache::grid::Capacity;
use trueplane_study::compress::compressed;
use trueplane_trace::{Clock, Trace};
use trueplane_units::Nanos;

use super::terms::{Policies, Service, Terms, policies_or_none};
use super::trace::TraceArgs;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::threads::pool;
use crate::values::{LatencyList, above_zero, gap, time};
use crate::watch::Watch;
use crate::written::Written;

/// Bound how little the requests of a log could wait, and tell how far above that every policy is.
///
/// Looks for two numbers that close in on the optimum (BELATEDLY, thesis section 2.4): a total latency that no schedule of the
/// cache can undercut, not even one that knows the future, proved by a price for the cache's room at every instant;
/// and the total latency of a schedule that there is. Ctrl-C ends the search and prints the best bounds so far.
/// The log, or its start (--requests), is held in memory: about 240 B a request.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane cache bound <TRACE> --latency <LATENCY> [OPTIONS]",
    next_help_heading = "The cache",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// How long a fetch takes: 100ms, 1000steps (slotted), lognormal:MEDIAN,SIGMA, or trace (its fetch column)
    #[arg(long, value_name = "LATENCY", required_unless_present = "origins", conflicts_with = "origins")]
    latency: Option<LatencyList>,

    /// Spread objects by hash over origins with these latencies, such as 68ms,103ms,226ms
    #[arg(long, value_name = "LIST")]
    origins: Option<LatencyList>,

    /// Cache size: objects (5000), share of the peak of concurrently active objects (5%) or bytes (256MiB)
    #[arg(long, value_name = "SIZE", value_delimiter = ',', default_value = "5%")]
    capacity: Vec<Capacity>,

    #[command(flatten)]
    service: Service,

    /// Bound caches that admit whatever they fetch, as online policies do. Without it, a fetched object may pass the cache
    /// by. Slotted time only
    #[arg(long)]
    no_bypass: bool,

    /// Only the first N requests of the trace; what lies behind them is not read
    #[arg(long, value_name = "N", value_parser = above_zero)]
    requests: Option<u64>,

    /// Policies whose distance to tell: a list of names, or online, all, or none, which leaves out the look at bursts as well
    /// [known: lru, lfu, arc, lhd, sieve, s3-fifo, w-tinylfu, random, lru-mad, lfu-mad, arc-mad, lhd-mad, belady, belady-ad]
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = policies_or_none)]
    policies: Policies,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Ctrl-C ends the search, and what comes after it, and prints the best bounds so far; the second time it ends at once.
The log, or its start (--requests), is held in memory: about 240 B a request.

Examples:
  trueplane cache bound pages.lis --latency 1000steps --capacity 250
  trueplane cache bound trace.csv --latency 10ms --capacity 5% --gap 0.5% --report out
  trueplane cache bound access.log.gz --latency 80ms --capacity 10GiB --bypass-oversized --requests 250K
  trueplane cache bound trace.csv --latency 10ms --certificate proof.json.zst --schedule schedule.csv.zst
  trueplane cache bound trace.csv --latency 10ms --iterations 200 --policies none --json";

/// When the search ends, and what is kept of it.
#[derive(clap::Args)]
#[command(next_help_heading = "The search")]
struct SearchArgs {
    /// Search so long at most; reading the trace and running the policies come on top [default: 60s, or none with --iterations]
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_limit: Option<Nanos>,

    /// Stop once the two bounds are this close, in percent of the lower one; 0% goes on for the optimum
    #[arg(long, value_name = "PERCENT", default_value = "0.1%", value_parser = gap)]
    gap: f64,

    /// Stop after so many iterations; without --time-limit, the result of --method prices is then the same on any machine
    #[arg(long, value_name = "N", value_parser = above_zero)]
    iterations: Option<u64>,

    /// How to look: prices (fast, close), or lp (the linear programme by HiGHS, up to 100,000 requests, if it was built in with
    /// --features lp; until it is solved only --time-limit or a second Ctrl-C ends it, without a result)
    #[arg(long, value_enum, default_value_t = By::Prices)]
    method: By,

    /// Write both bounds with all that proves them, for trueplane cache check; compressed if the name ends in .gz, .zst or .xz
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// Write what becomes of every request under the schedule found, as CSV; compressed by its name as well
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,

    /// Threads to search and simulate on [default: all cores]; where iterations end the search, the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// `--method`.
#[derive(Clone, Copy, ValueEnum)]
enum By {
    Prices,
    Lp,
}

/// A search has this much time unless it is told otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        let trace = self.trace.open()?;
        let plan = self.plan(&trace)?;
        // A wrong path is to be known before the search.
        let certificate = File::begin("--certificate", self.search.certificate.as_deref())?;
        let schedule = File::begin("--schedule", self.search.schedule.as_deref())?;
        apart(&self.trace, [certificate.as_ref(), schedule.as_ref()])?;
        let watch = Watch::start()?;
        let finding = pool(self.search.threads)?.install(|| bound(&trace, &plan, &watch));
        watch.finish();
        let Finding { problem, solution, bound } = finding?;
        // One that cannot be written must not cost the others, which took minutes.
        let (name, options) = (trace.name(), &plan.options);
        let certified = certificate.map_or(Ok(()), |file| {
            file.write(|out| certificate::write(name, &problem, options, &solution, out))
        });
        let scheduled = schedule.map_or(Ok(()), |file| {
            file.write(|out| export::write_schedule(&problem, options, &solution, out))
        });
        let reported = self.output.emit(&bound.report());
        certified.and(scheduled).and(reported)?;
        if bound.interrupted { Err(Failure::interrupted()) } else { Ok(()) }
    }

    fn plan(&self, trace: &Trace) -> Result<Plan, Failure> {
        let terms =
            Terms { latency: self.latency.as_ref(), origins: self.origins.as_ref(), service: &self.service };
        let clock = terms.clock(trace)?;
        if self.no_bypass && clock == Clock::Timestamps {
            return Err(Failure::input(
                "--no-bypass: expected slotted time: with timestamps several fetches can end between two requests, and the model does not say which of them then stays",
            ));
        }
        let latencies = terms.latencies(trace, clock)?;
        let options = Options {
            latency: one("--latency", "latency such as 100ms or 1000steps", &latencies)?,
            capacity: one("--capacity", "capacity such as 5000, 5% or 256MiB", &self.capacity)?,
            clock,
            hit_latency: terms.hit_latency(clock)?,
            warmup: self.service.warmup,
            bypass: !self.no_bypass,
            bypass_oversized: self.service.bypass_oversized,
            requests: self.requests,
        };
        let method = match self.search.method {
            By::Prices => Method::Prices,
            By::Lp => Method::Lp,
        };
        let policies = self.policies.0.clone();
        Ok(Plan { options, limits: self.search.limits(), method, policies, seed: self.service.seed })
    }
}

/// The only one of a list.
fn one<T: Clone>(flag: &str, what: &str, list: &[T]) -> Result<T, Failure> {
    match list {
        [only] => Ok(only.clone()),
        _ => Err(Failure::input(format!(
            "{flag}: expected one {what}, got {}; trueplane cache compare --bound sweeps",
            list.len()
        ))),
    }
}

impl SearchArgs {
    fn limits(&self) -> Limits {
        let time = match (self.time_limit, self.iterations) {
            (Some(limit), _) => Some(Duration::from_nanos(limit.0)),
            (None, Some(_)) => None,
            (None, None) => Some(TIME_LIMIT),
        };
        Limits { gap: self.gap, time, iterations: self.iterations.unwrap_or(u64::MAX) }
    }
}

/// Refuses files that would replace each other or the trace.
fn apart(trace: &TraceArgs, files: [Option<&File<'_>>; 2]) -> Result<(), Failure> {
    let places = files.map(|file| file.and_then(|file| Some((file.written.name(), file.written.place()?))));
    if let [Some((one, place)), Some((other, same))] = &places
        && place == same
    {
        return Err(Failure::input(format!("{one} and {other}: expected two files, got the same one")));
    }
    let trace = if trace.is_stdin() { None } else { fs::canonicalize(trace.path()).ok() };
    match places.iter().flatten().find(|(_, place)| trace.as_ref() == Some(place)) {
        Some((name, _)) => Err(Failure::input(format!("{name}: it is the trace, which it would replace"))),
        None => Ok(()),
    }
}

/// A file that is written after the search, compressed if its name says so.
struct File<'a> {
    path: &'a Path,
    written: Written,
}

impl<'a> File<'a> {
    /// Begins the file at `path`, if there is to be one.
    fn begin(flag: &str, path: Option<&'a Path>) -> Result<Option<Self>, Failure> {
        path.map(|path| Ok(Self { path, written: Written::begin(flag, path)? })).transpose()
    }

    /// Writes all of it and puts it where it belongs.
    fn write(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let outcome = compressed(self.path, &mut self.written, write);
        outcome.map_err(|error| self.written.broken(&error))?;
        self.written.finish()
    }
}

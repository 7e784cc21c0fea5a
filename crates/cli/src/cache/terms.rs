//! What time and latency are, as `cache compare` and `cache bound` take them.

use clap::ValueEnum;
use trueplane_cache::latency::Latency;
use trueplane_cache::policy::PolicyName;
use trueplane_trace::{Clock, Trace};
use trueplane_units::{Nanos, UnknownName};

use crate::failure::Failure;
use crate::values::{LatencyArg, LatencyList, count, without_repetitions};

/// `--time`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Time {
    Auto,
    Continuous,
    Slotted,
}

/// How requests are served and counted.
#[derive(clap::Args)]
pub(super) struct Service {
    /// What time is: continuous (timestamps), slotted (a line is a step), or auto: continuous if there are timestamps
    #[arg(long, value_enum, default_value_t = Time::Auto)]
    time: Time,

    /// Requests at the start that are served but not counted
    #[arg(long, value_name = "N", default_value = "0", value_parser = count)]
    pub(super) warmup: u64,

    /// What a hit takes
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    hit_latency: LatencyArg,

    /// Let objects larger than the cache pass it by instead of refusing the trace
    #[arg(long)]
    pub(super) bypass_oversized: bool,

    /// Where the draws of policies and of lognormal latencies begin
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

/// The flags about time.
pub(super) struct Terms<'a> {
    /// `--latency`.
    pub(super) latency: Option<&'a LatencyList>,
    /// `--origins`.
    pub(super) origins: Option<&'a LatencyList>,
    /// The others.
    pub(super) service: &'a Service,
}

impl Terms<'_> {
    /// What the clock counts: as asked for, or steps if latencies are in steps, or what the trace has.
    pub(super) fn clock(&self, trace: &Trace) -> Result<Clock, Failure> {
        let clock = self.clock_of(trace)?;
        if clock == Clock::Steps && trace.is_to_be_sorted() {
            return Err(Failure::input(format!(
                "{}: --sort orders requests by their times, and steps count them in the order of the trace; leave --sort out, or give latencies in time",
                trace.name()
            )));
        }
        Ok(clock)
    }

    fn clock_of(&self, trace: &Trace) -> Result<Clock, Failure> {
        let mut latencies = self.latency.iter().chain(&self.origins).flat_map(|list| &list.0);
        let in_steps = latencies.any(|latency| matches!(latency, LatencyArg::Steps(_)));
        match self.service.time {
            Time::Continuous => Ok(Clock::Timestamps),
            Time::Slotted => Ok(Clock::Steps),
            Time::Auto if in_steps => Ok(Clock::Steps),
            Time::Auto if trace.fields().time => Ok(Clock::Timestamps),
            Time::Auto if trace.counts_steps() => Err(Failure::input(format!(
                "{}: a column counts steps, which are no time; give latencies in steps, such as --latency 1000steps, or say with --time-unit how long a step is",
                trace.name()
            ))),
            Time::Auto => Err(Failure::input(format!(
                "{}: the trace has no timestamps; give latencies in steps, such as --latency 1000steps, or name the column with --columns time=N",
                trace.name()
            ))),
        }
    }

    /// All latencies without repetitions, the origins together as the last one.
    pub(super) fn latencies(&self, trace: &Trace, clock: Clock) -> Result<Vec<Latency>, Failure> {
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
                    Latency::LogNormal { median, sigma: *sigma, seed: self.service.seed }
                }
                constant => Latency::Constant(units("--latency", constant, clock)?),
            });
        }
        if let Some(origins) = self.origins {
            let origins =
                origins.0.iter().map(|origin| units("--origins", origin, clock)).collect::<Result<_, _>>()?;
            latencies.push(Latency::Origins(origins));
        }
        Ok(without_repetitions(&latencies))
    }

    /// What a hit takes.
    pub(super) fn hit_latency(&self, clock: Clock) -> Result<Nanos, Failure> {
        // A hit that takes no time takes none in any unit.
        if self.service.hit_latency == LatencyArg::Time(Nanos(0)) {
            return Ok(Nanos(0));
        }
        units("--hit-latency", &self.service.hit_latency, clock)
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

/// A list of policies without repetitions.
#[derive(Clone)]
pub(super) struct Policies(pub(super) Vec<PolicyName>);

impl std::str::FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut policies = Vec::new();
        for name in text.split(',').map(str::trim) {
            match name {
                "all" => policies.extend(PolicyName::ALL.iter().copied()),
                "online" => {
                    policies.extend(
                        PolicyName::ALL.iter().copied().filter(|policy| !policy.properties().offline),
                    );
                }
                name => policies.push(name.parse().map_err(|error: UnknownName| error.to_string())?),
            }
        }
        Ok(Self(without_repetitions(&policies)))
    }
}

/// The same, or `none`.
pub(super) fn policies_or_none(text: &str) -> Result<Policies, String> {
    if text == "none" { Ok(Policies(Vec::new())) } else { text.parse() }
}

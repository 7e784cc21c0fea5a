//! How requests are served and counted: what time is, and what a fetch and a hit take.

use trueplane_study::Error;
use trueplane_trace::{Clock, Trace};
use trueplane_units::{List, Nanos, choices, parameters};

use crate::fetch_time::FetchTime;
use crate::latency::Latency;

choices! {
    /// The time of a simulation.
    pub enum TimeModel {
        /// Continuous if there are timestamps, or slotted if latencies are in steps.
        Auto = "auto",
        /// The trace's timestamps.
        Continuous = "continuous",
        /// A line is a step.
        Slotted = "slotted",
    }
}

parameters! {
    /// Service and counting of requests.
    #[derive(Clone, Debug)]
    pub struct Service {
        /// Time model of the simulation.
        pub time: TimeModel => { value: "TIME", default: "auto" },
        /// Requests at the start that are served but not counted.
        pub warmup: u64 => { value: "N", default: "0" },
        /// Time that a hit takes.
        pub hit_latency: FetchTime => { value: "TIME", default: "0ns" },
        /// Let objects larger than the cache pass it by instead of refusing the trace.
        pub bypass_oversized: bool => {},
        /// Number from which the draws of policies and of lognormal latencies begin.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

/// Everything that is asked about time, before the trace is known.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Fetch times, the values of `--latency`.
    pub latency: &'a [FetchTime],
    /// Fetch times of the origins, the values of `--origins`; empty: there are none.
    pub origins: &'a [FetchTime],
    /// All else.
    pub service: &'a Service,
}

/// Everything that was asked about time, on a trace.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Meaning of the times of requests.
    pub clock: Clock,
    /// The fetch times without repetitions, the origins together as the last one.
    pub latencies: Vec<Latency>,
    /// The time that a hit takes.
    pub hit_latency: Nanos,
}

impl Asked<'_> {
    /// Refuses a question without any latency, before the trace is opened.
    ///
    /// # Errors
    /// If there is none.
    pub fn check(&self) -> Result<(), Error> {
        if self.latency.is_empty() && self.origins.is_empty() {
            let message =
                "--latency: expected a latency such as 100ms, 1000steps or trace (or give --origins)";
            return Err(Error::Parameters(message.to_owned()));
        }
        Ok(())
    }

    /// Times of the service on a trace.
    ///
    /// # Errors
    /// If the trace has no such times, or the units do not fit each other.
    pub fn on(&self, trace: &Trace) -> Result<Timing, Error> {
        let clock = self.clock(trace)?;
        Ok(Timing { clock, latencies: self.latencies(trace, clock)?, hit_latency: self.hit_latency(clock)? })
    }

    /// Meaning of the clock: as asked for, or steps if latencies are in steps, or the trace's own.
    fn clock(&self, trace: &Trace) -> Result<Clock, Error> {
        let clock = self.clock_of(trace)?;
        if clock == Clock::Steps && trace.is_to_be_sorted() {
            return Err(refuse(format!(
                "{}: --sort orders requests by their times, and steps count them in the order of the trace; leave --sort out, or give latencies in time",
                trace.name()
            )));
        }
        Ok(clock)
    }

    fn clock_of(&self, trace: &Trace) -> Result<Clock, Error> {
        let mut latencies = self.latency.iter().chain(self.origins);
        let in_steps = latencies.any(|latency| matches!(latency, FetchTime::Steps(_)));
        match self.service.time {
            TimeModel::Continuous => Ok(Clock::Timestamps),
            TimeModel::Slotted => Ok(Clock::Steps),
            TimeModel::Auto if in_steps => Ok(Clock::Steps),
            TimeModel::Auto if trace.fields().time => Ok(Clock::Timestamps),
            TimeModel::Auto if trace.counts_steps() => Err(refuse(format!(
                "{}: a column counts steps, which are no time; give latencies in steps, such as --latency 1000steps, or say with --time-unit how long a step is",
                trace.name()
            ))),
            TimeModel::Auto => {
                let remedy = trace.column_remedy("time").map(|remedy| format!(", or {remedy}"));
                Err(refuse(format!(
                    "{}: the trace has no timestamps; give latencies in steps, such as --latency 1000steps{}",
                    trace.name(),
                    remedy.unwrap_or_default()
                )))
            }
        }
    }

    fn latencies(&self, trace: &Trace, clock: Clock) -> Result<Vec<Latency>, Error> {
        let mut latencies = Vec::new();
        for latency in self.latency {
            latencies.push(match latency {
                FetchTime::Trace if !trace.fields().fetch => {
                    let remedy =
                        trace.column_remedy("fetch").unwrap_or_else(|| "the trace has none".to_owned());
                    return Err(refuse(format!(
                        "{}: --latency trace needs the fetch times in a column; {remedy}",
                        trace.name()
                    )));
                }
                FetchTime::Trace if clock == Clock::Steps => {
                    return Err(refuse("--latency trace is in time, and --time slotted takes steps"));
                }
                FetchTime::Trace => Latency::Trace,
                FetchTime::LogNormal(median, sigma) => {
                    let median = units("--latency", &FetchTime::Time(*median), clock)?;
                    Latency::LogNormal { median, sigma: *sigma, seed: self.service.seed }
                }
                constant => Latency::Constant(units("--latency", constant, clock)?),
            });
        }
        if !self.origins.is_empty() {
            let origins = self
                .origins
                .iter()
                .map(|origin| units("--origins", origin, clock))
                .collect::<Result<_, _>>()?;
            latencies.push(Latency::Origins(origins));
        }
        Ok(List(latencies).distinct())
    }

    fn hit_latency(&self, clock: Clock) -> Result<Nanos, Error> {
        // A hit that takes no time takes none in any unit.
        if self.service.hit_latency == FetchTime::Time(Nanos(0)) {
            return Ok(Nanos(0));
        }
        units("--hit-latency", &self.service.hit_latency, clock)
    }
}

fn refuse(message: impl Into<String>) -> Error {
    Error::Parameters(message.into())
}

/// A constant latency in the unit of the clock.
fn units(flag: &str, latency: &FetchTime, clock: Clock) -> Result<Nanos, Error> {
    match (latency, clock) {
        (FetchTime::Time(time), Clock::Timestamps) => Ok(*time),
        (FetchTime::Steps(steps), Clock::Steps) => Ok(Nanos(*steps)),
        (FetchTime::Time(time), Clock::Steps) => Err(refuse(format!(
            "{flag}: slotted time counts steps: expected a latency such as 1000steps, got {time} (or choose --time continuous)"
        ))),
        (FetchTime::Steps(steps), Clock::Timestamps) => Err(refuse(format!(
            "{flag}: continuous time counts seconds: expected a latency such as 100ms, got {steps}steps (or choose --time slotted)"
        ))),
        (FetchTime::LogNormal(..) | FetchTime::Trace, _) => {
            Err(refuse(format!("{flag}: expected a plain latency such as 100ms or 1000steps")))
        }
    }
}

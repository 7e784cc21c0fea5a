//! How requests are served and counted: what time is, and what a fetch and a hit take.

use trueplane_study::Error;
use trueplane_trace::{Clock, Trace};
use trueplane_units::{List, Nanos, Warmup, choices, parameters};

use crate::capacity::Capacity;
use crate::fetch_time::FetchTime;
use crate::latency::Latency;

choices! {
    /// The time of a simulation.
    pub enum TimeModel {
        /// Slotted if latencies are in steps, otherwise continuous.
        Auto = "auto",
        /// Time passes as the trace's timestamps say.
        Continuous = "continuous",
        /// Each request is one step of time.
        Slotted = "slotted",
    }
}

/// Heading of help texts for what the simulated cache does.
const MODEL: &str = "The simulated cache";

parameters! {
    /// Service and counting of requests.
    #[derive(Clone, Debug)]
    pub struct Service {
        /// Time model of the simulation.
        pub time: TimeModel => { value: "TIME", default: "auto", heading: MODEL },
        /// Requests at the start that are not counted, such as 10K, 1h or 10%. The cache serves them, so that it is full when counting begins.
        /// Give a number of requests, a time or a share of all requests.
        pub warmup: Warmup => { value: "WARMUP", default: "0" },
        /// Time that a hit takes.
        pub hit_latency: FetchTime => { value: "TIME", default: "0ns", heading: MODEL },
        /// Serve objects that are larger than the cache without storing them. Without this flag, a trace with such objects is refused.
        pub bypass_oversized: bool => { heading: MODEL },
        /// Seed for the random draws of policies and of lognormal latencies.
        pub seed: u64 => { value: "SEED", default: "1", heading: MODEL },
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
    /// Times of the service, as far as they are known before the trace is opened: its clock and fetch times may not fit them.
    ///
    /// # Errors
    /// If there is no latency, or the units do not fit each other.
    pub fn check(&self) -> Result<Timing, Error> {
        if self.latency.is_empty() && self.origins.is_empty() {
            return Err(refuse(
                "--latency: expected a latency such as 100ms, 1000steps or trace (or give --origins)",
            ));
        }
        let clock = self.clock();
        if let (Clock::Steps, Warmup::Time(time)) = (clock, self.service.warmup) {
            return Err(refuse(format!(
                "--warmup: slotted time counts steps: expected a number such as 10K or a share such as 10%, got {time}"
            )));
        }
        Ok(Timing { clock, latencies: self.latencies(clock)?, hit_latency: self.hit_latency(clock)? })
    }

    /// Times of the service on a trace.
    ///
    /// # Errors
    /// As [`check`](Asked::check), and if the trace has no such times.
    pub fn on(&self, trace: &Trace) -> Result<Timing, Error> {
        let timing = self.check()?;
        let (name, fields) = (trace.name(), trace.fields());
        let problem = match timing.clock {
            Clock::Steps if trace.is_to_be_sorted() => {
                "--sort orders requests by their times, and steps count them in the order of the trace; leave --sort out, or give latencies in time".to_owned()
            }
            Clock::Timestamps if self.service.time != TimeModel::Auto || fields.time => String::new(),
            Clock::Timestamps if trace.counts_steps() => {
                "a column counts steps, which are no time; give latencies in steps, such as --latency 1000steps, or say with --time-unit how long a step is".to_owned()
            }
            Clock::Timestamps => {
                let remedy = trace.column_remedy("time").map(|remedy| format!(", or {remedy}"));
                format!(
                    "the trace has no timestamps; give latencies in steps, such as --latency 1000steps{}{}",
                    self.in_steps().unwrap_or_default(),
                    remedy.unwrap_or_default()
                )
            }
            Clock::Steps => String::new(),
        };
        if !problem.is_empty() {
            return Err(refuse(format!("{name}: {problem}")));
        }
        if timing.latencies.contains(&Latency::Trace) && !fields.fetch {
            let remedy = trace.column_remedy("fetch").unwrap_or_else(|| {
                "the trace has none (nginx tells them as upstream_response_time, in lines of JSON)".to_owned()
            });
            return Err(refuse(format!(
                "{name}: --latency trace needs the fetch times in a column; {remedy}"
            )));
        }
        Ok(timing)
    }

    /// An example of steps for the first latency that is a time, in words.
    fn in_steps(&self) -> Option<String> {
        /// Requests a second.
        const RATE: u64 = 10_000;
        let time = self.latency.iter().find_map(|latency| match latency {
            FetchTime::Time(time) => Some(*time),
            _ => None,
        })?;
        let steps = (u128::from(time.0) * u128::from(RATE) / 1_000_000_000).max(1);
        Some(format!(" (at {RATE} requests a second, {time} is {steps}steps)"))
    }

    /// Meaning of the clock: as asked for, or steps if latencies are in steps, or time.
    fn clock(&self) -> Clock {
        let mut latencies = self.latency.iter().chain(self.origins);
        let in_steps = latencies.any(|latency| matches!(latency, FetchTime::Steps(_)));
        match self.service.time {
            TimeModel::Continuous => Clock::Timestamps,
            TimeModel::Slotted => Clock::Steps,
            TimeModel::Auto if in_steps => Clock::Steps,
            TimeModel::Auto => Clock::Timestamps,
        }
    }

    fn latencies(&self, clock: Clock) -> Result<Vec<Latency>, Error> {
        let mut latencies = Vec::new();
        for latency in self.latency {
            latencies.push(match latency {
                FetchTime::Trace if clock == Clock::Steps => {
                    return Err(refuse("--latency trace is in time, and slotted time takes steps"));
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

impl Service {
    /// Refuses what has no effect on caches of these capacities.
    pub(crate) fn check(&self, capacities: &[Capacity]) -> Result<(), Error> {
        let in_bytes = |capacity: &Capacity| matches!(capacity, Capacity::Bytes(_));
        if self.bypass_oversized && !capacities.iter().any(in_bytes) {
            return Err(refuse(
                "--bypass-oversized is for a --capacity in bytes such as 256MiB: in a cache of objects none is too large",
            ));
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_before_there_is_a_trace() {
        let (plain, steps) = (FetchTime::Time(Nanos(5)), FetchTime::Steps(5));
        let slotted = Service { time: TimeModel::Slotted, ..Service::default() };
        let hit =
            |hit_latency: &FetchTime| Service { hit_latency: hit_latency.clone(), ..Service::default() };
        let usual = Service::default();
        let warm = Service { warmup: Warmup::Time(Nanos(5)), ..Service::default() };
        for (latency, origins, service, said) in [
            (vec![], vec![], &usual, "--latency: expected a latency"),
            (vec![plain.clone()], vec![FetchTime::Trace], &usual, "--origins: expected a plain latency"),
            (vec![plain.clone()], vec![steps.clone()], &usual, "--latency: slotted time counts steps"),
            (vec![plain.clone()], vec![], &hit(&FetchTime::Trace), "--hit-latency: expected a plain latency"),
            (vec![plain.clone()], vec![], &hit(&steps), "--hit-latency: continuous time counts seconds"),
            (vec![steps.clone()], vec![], &warm, "--warmup: slotted time counts steps"),
            (vec![steps], vec![], &hit(&plain), "--hit-latency: slotted time counts steps"),
            (vec![FetchTime::Trace], vec![], &slotted, "--latency trace is in time"),
        ] {
            let error =
                Asked { latency: &latency, origins: &origins, service }.check().unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn only_a_cache_in_bytes_has_oversized_objects() {
        let service = Service { bypass_oversized: true, ..Service::default() };
        let of = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Capacity>>();
        assert!(service.check(&of(&["5%", "64KiB"])).is_ok());
        let error = service.check(&of(&["5%", "100"])).unwrap_err().to_string();
        assert!(error.starts_with("--bypass-oversized is for a --capacity in bytes"), "{error}");
    }
}

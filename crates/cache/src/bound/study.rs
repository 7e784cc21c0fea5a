//! The study: how little requests could wait at one latency and capacity, and how far from that every policy is.

use serde::Serialize;
use trueplane_study::metrics::ratio;
use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;

use super::burstiness::{Correlation, correlate};
use super::problem::{Options, Problem};
use super::replay::{Replayed, confirm};
use super::search::{Limits, Milestone, Solution, search};
use crate::belatedly::Instance;
use crate::compare::compare_held;
use crate::compare::found::{Comparison, Effort, LatencyFact, PolicyRun, TraceFacts};
use crate::grid;
use crate::policy::{MadMemory, PolicyName, Search, Window};

/// What to bound, how, and what to hold against the bound.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cache and its trace.
    pub options: Options,
    /// When the search ends.
    pub limits: Limits,
    /// How bounds are looked for.
    pub method: Method,
    /// The policies whose distance from the optimum is to be told, in the order of the report; without any, burstiness is
    /// left out too, which takes a simulation of Bélády.
    pub policies: Vec<PolicyName>,
    /// Where their draws begin.
    pub seed: u64,
}

/// How bounds are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By prices for the cache's room at every instant: [`search`].
    Prices,
    /// By solving the linear programme, for up to 100,000 requests.
    Lp,
}

impl Method {
    /// The name that people type.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Prices => "prices",
            Method::Lp => "lp",
        }
    }
}

/// All that came of a [`Plan`].
#[derive(Debug)]
pub struct Finding {
    /// The trace as an instance of the model.
    pub problem: Problem,
    /// The prices and the schedule.
    pub solution: Solution,
    /// What they say.
    pub bound: Bound,
}

/// The result of `cache bound`; serialised, it is what `--json` prints.
///
/// Latencies are in ns, or in steps when slotted.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// `cache.bound`.
    pub study: &'static str,
    /// The trace, or as much of it as was asked for.
    pub trace: TraceFacts,
    /// What of it makes the results doubtful, in plain sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// `continuous` or `slotted`.
    pub time: &'static str,
    /// The unit of all latencies: `ns` or `steps`.
    pub unit: &'static str,
    /// What else the study was made with.
    pub settings: Settings,
    /// The latency if it is the same for all misses, and how it was asked for otherwise.
    pub latency: LatencyFact,
    /// The capacity.
    pub capacity: u64,
    /// `objects` or `bytes`.
    pub capacity_unit: &'static str,
    /// How the capacity was asked for.
    pub capacity_asked: String,
    /// Requests that count.
    pub requests: u64,
    /// No schedule has a smaller total latency.
    pub lower: u64,
    /// The total latency of the schedule found.
    pub upper: u64,
    /// (upper − lower) / lower; none if only the lower bound is zero.
    pub gap: f64,
    /// How long the search took; none without a clock. Not in the JSON, which is the same for the same search.
    #[serde(skip)]
    pub seconds: Option<f64>,
    /// Its steps.
    pub iterations: u64,
    /// Whether it was stopped before a limit was reached.
    pub interrupted: bool,
    /// The lower bound for a request that counts, on average.
    pub lower_mean: f64,
    /// The same for the schedule found.
    pub upper_mean: f64,
    /// What becomes of the requests under the schedule found.
    pub schedule: Outcomes,
    /// How the bounds came closer.
    pub milestones: Vec<MilestoneFact>,
    /// The policies, in the order of the plan; none if they were not run to the end.
    pub policies: Vec<PolicyRun>,
    /// Whether bursty objects are those that the schedule found treats better than Bélády; none if that was not looked at:
    /// without policies, without bypass, or interrupted.
    pub burstiness: Option<Correlation>,
    /// What an operator should know, in plain sentences.
    pub verdict: Vec<String>,
    /// Whether the observer interrupted while policies were run, so that none is told of.
    pub policies_skipped: bool,
    /// Whether there were to be policies to compare with.
    #[serde(skip)]
    pub(super) compares: bool,
    /// The policies as `cache compare` has them, for the report.
    #[serde(skip)]
    pub(super) comparison: Comparison,
}

/// The options of a study.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The version of trueplane.
    pub version: &'static str,
    /// Where draws began.
    pub seed: u64,
    /// Requests at the start that did not count.
    pub warmup: u64,
    /// What a hit takes, in the unit of all latencies.
    pub hit_latency: u64,
    /// Whether a fetched object could pass the cache by.
    pub bypass: bool,
    /// Whether objects larger than the cache passed it by.
    pub bypass_oversized: bool,
    /// So many requests at the start of the trace were all that was read; none: the whole trace.
    pub prefix: Option<u64>,
    /// How bounds were looked for: `prices` or `lp`.
    pub method: &'static str,
    /// When the search was to end.
    pub limits: Effort,
}

/// What becomes of the requests that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// Requests for resident objects.
    pub hits: u64,
    /// Requests for objects on their way.
    pub delayed_hits: u64,
    /// Requests that begin a fetch.
    pub misses: u64,
}

/// A [`Milestone`] in a document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MilestoneFact {
    /// Since the search began; none without a clock. Not in the JSON.
    #[serde(skip)]
    pub seconds: Option<f64>,
    /// Steps made.
    pub iterations: u64,
    /// The lower bound.
    pub lower: u64,
    /// The upper bound.
    pub upper: u64,
}

/// Said where the linear programme is asked for and cannot be solved.
#[cfg(not(feature = "lp"))]
const NO_LP: &str = "--method lp: built without HiGHS; rebuild with: cargo build --release --features lp";

/// Bounds the total latency of a trace, and runs the policies beside it. The trace is read once and held in memory.
///
/// If the observer interrupts once the search has begun, this returns the best bounds so far, without the policies.
///
/// # Errors
/// If the trace cannot be read or does not fit the options, or the model; if the observer interrupts before the search; if
/// the bounds contradict each other, or the simulator does not find the total that the schedule is said to have.
pub fn bound(trace: &Trace, plan: &Plan, observer: &dyn Observer) -> Result<Finding, Error> {
    #[cfg(not(feature = "lp"))]
    if plan.method == Method::Lp {
        return Err(Error::Parameters(NO_LP.to_owned()));
    }
    let problem = Problem::read(trace, &plan.options, observer)?;
    // What would only be refused after all the work.
    grid::capacities(trace, &problem.summary, &plan.grid(&[]))?;
    let began = observer.elapsed();
    let solution = solve(&problem.instance, plan, observer)?;
    let took = observer.elapsed().zip(began).map(|(now, began)| now.saturating_sub(began));
    let interrupted = observer.interrupted();
    let replayed = verified(&problem, &plan.options, &solution)?;
    let mut comparison = plan.simulate(trace, &problem, observer)?;
    comparison
        .runs
        .iter_mut()
        .for_each(|run| run.enter_bounds(solution.lower, solution.upper, plan.options.bypass));
    let correlation = plan.correlate(&problem, &solution, observer)?;
    let mut bound = plan.document(&problem, &solution, comparison);
    (bound.seconds, bound.interrupted) = (took.map(|took| took.as_secs_f64()), interrupted);
    (bound.schedule, bound.burstiness) = (Outcomes::of(&replayed), correlation);
    bound.verdict = bound.sentences();
    Ok(Finding { problem, solution, bound })
}

/// What the simulator says of a solution, before anybody believes it.
///
/// # Errors
/// If the simulator does not find the total that the schedule is said to have, or the lower bound is above it.
pub(super) fn verified(problem: &Problem, options: &Options, solution: &Solution) -> Result<Replayed, Error> {
    let Solution { lower, upper, ref schedule, .. } = *solution;
    if lower > upper {
        let message = format!("internal error: the lower bound {lower} is above the upper bound {upper}");
        return Err(Error::Internal(message));
    }
    confirm(problem, options, schedule, upper).map_err(|mismatch| Error::Internal(mismatch.to_string()))
}

fn solve(instance: &Instance, plan: &Plan, observer: &dyn Observer) -> Result<Solution, Error> {
    match plan.method {
        Method::Prices => Ok(search(instance, &plan.limits, observer)),
        #[cfg(feature = "lp")]
        Method::Lp => super::lp::search(instance, &plan.limits, observer),
        #[cfg(not(feature = "lp"))]
        Method::Lp => Err(Error::Parameters(NO_LP.to_owned())),
    }
}

impl Plan {
    /// The plan as a grid of one point, with these policies.
    fn grid(&self, policies: &[PolicyName]) -> grid::Options {
        grid::Options {
            policies: policies.to_vec(),
            latencies: vec![self.options.latency.clone()],
            capacities: vec![self.options.capacity],
            clock: self.options.clock,
            hit_latency: self.options.hit_latency,
            warmup: self.options.warmup,
            ways: None,
            mad_memory: MadMemory::Cached,
            search: Search::Sampled,
            window: Window::Adaptive,
            seed: self.seed,
            bypass_oversized: self.options.bypass_oversized,
        }
    }

    /// Runs the policies; none of them, if the observer interrupts.
    fn simulate(
        &self,
        trace: &Trace,
        problem: &Problem,
        observer: &dyn Observer,
    ) -> Result<Comparison, Error> {
        let without = || compare_held(trace, problem.held(), &self.grid(&[]), &());
        if observer.interrupted() {
            return without();
        }
        match compare_held(trace, problem.held(), &self.grid(&self.policies), observer) {
            Err(Error::Interrupted) => without(),
            other => other,
        }
    }

    /// Looks at burstiness, if there is a Bélády of the same model to compare with and time to do so.
    fn correlate(
        &self,
        problem: &Problem,
        solution: &Solution,
        observer: &dyn Observer,
    ) -> Result<Option<Correlation>, Error> {
        // Bélády lets what it does not need pass by.
        if self.policies.is_empty() || !self.options.bypass || observer.interrupted() {
            return Ok(None);
        }
        match correlate(problem, &self.options, solution, observer) {
            Err(Error::Interrupted) => Ok(None),
            correlation => correlation.map(Some),
        }
    }

    fn document(&self, problem: &Problem, solution: &Solution, comparison: Comparison) -> Bound {
        let Solution { lower, upper, iterations, .. } = *solution;
        // One latency and one capacity make one run.
        let run = &comparison.runs[0];
        let requests = problem.summary.requests - self.options.warmup;
        Bound {
            study: "cache.bound",
            trace: comparison.trace.clone(),
            warnings: comparison.warnings.clone(),
            time: comparison.time,
            unit: comparison.unit,
            settings: self.settings(),
            latency: run.latency.clone(),
            capacity: run.capacity,
            capacity_unit: run.capacity_unit,
            capacity_asked: run.capacity_asked.clone(),
            requests,
            lower,
            upper,
            gap: solution.gap(),
            seconds: None,
            iterations,
            interrupted: false,
            lower_mean: ratio(lower.into(), requests),
            upper_mean: ratio(upper.into(), requests),
            schedule: Outcomes::default(),
            milestones: solution.history.iter().map(MilestoneFact::of).collect(),
            policies: run.policies.clone(),
            policies_skipped: run.policies.len() < self.policies.len(),
            compares: !self.policies.is_empty(),
            burstiness: None,
            verdict: Vec::new(),
            comparison,
        }
    }

    fn settings(&self) -> Settings {
        let Options { warmup, hit_latency, bypass, bypass_oversized, requests, .. } = self.options;
        Settings {
            version: env!("CARGO_PKG_VERSION"),
            seed: self.seed,
            warmup,
            hit_latency: hit_latency.0,
            bypass,
            bypass_oversized,
            prefix: requests,
            method: self.method.as_str(),
            limits: Effort::of(&self.limits),
        }
    }
}

impl Outcomes {
    fn of(replayed: &Replayed) -> Self {
        let Replayed { hits, delayed_hits, misses, .. } = *replayed;
        Self { hits, delayed_hits, misses }
    }
}

impl MilestoneFact {
    fn of(milestone: &Milestone) -> Self {
        let Milestone { time, iterations, lower, upper } = *milestone;
        Self { seconds: time.map(|time| time.as_secs_f64()), iterations, lower, upper }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    use trueplane_trace::{Clock, TraceOptions};
    use trueplane_units::Nanos;

    use super::*;
    use crate::grid::Capacity;
    use crate::latency::Latency;

    /// Interrupts as soon as a stage begins.
    struct StopAt(&'static str, AtomicBool);

    impl Observer for StopAt {
        fn stage(&self, name: &str, _: u64) {
            self.1.fetch_or(name == self.0, Ordering::Relaxed);
        }

        fn interrupted(&self) -> bool {
            self.1.load(Ordering::Relaxed)
        }
    }

    fn study(stop_at: &'static str) -> Result<Bound, Error> {
        let mut text = "key\n".to_owned();
        for index in 0..600u64 {
            writeln!(text, "{}", index * index % 23).unwrap();
        }
        let trace = Trace::from_bytes("squares.csv", text.into(), &TraceOptions::default()).unwrap();
        let options = Options {
            latency: Latency::Constant(Nanos(5)),
            capacity: Capacity::Objects(3),
            clock: Clock::Steps,
            hit_latency: Nanos(0),
            warmup: 0,
            bypass: true,
            bypass_oversized: false,
            requests: Some(500),
        };
        let limits = Limits { gap: 0.0, time: None, iterations: 40 };
        let policies = vec![PolicyName::Lru, PolicyName::Belady];
        let plan = Plan { options, limits, method: Method::Prices, policies, seed: 1 };
        let observer = StopAt(stop_at, AtomicBool::new(false));
        bound(&trace, &plan, &observer).map(|finding| finding.bound)
    }

    #[test]
    fn an_interrupted_search_tells_what_it_has() {
        assert!(matches!(study("reading"), Err(Error::Interrupted)));
        let searching = study("searching").unwrap();
        assert!(searching.interrupted && searching.policies_skipped && searching.policies.is_empty());
        assert!(searching.burstiness.is_none());
        assert!(searching.lower <= searching.upper && searching.requests == 500);
        let said = searching.verdict.join(" ");
        assert!(said.contains("The search was interrupted") && said.contains("were not run"), "{said}");
        let simulating = study("simulating").unwrap();
        assert!(!simulating.interrupted && simulating.policies_skipped && simulating.policies.is_empty());
        let said = simulating.verdict.join(" ");
        assert!(!said.contains("The search was interrupted") && said.contains("were not run"), "{said}");
        let whole = study("never").unwrap();
        assert!(whole.policies.len() == 2 && !whole.policies_skipped);
        assert!(!whole.verdict.join(" ").contains("interrupted"));
        assert!(whole.policies.iter().all(|run| run.latency_total >= u128::from(whole.lower)));
    }

    #[test]
    fn the_report_has_a_row_for_everything() {
        let report = study("never").unwrap().report();
        let rows: Vec<(&str, usize)> =
            report.tables.iter().map(|table| (table.id.as_str(), table.rows.len())).collect();
        assert_eq!(rows[..2], [("bounds", 2), ("policies", 2)]);
        for table in &report.tables {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.id);
        }
        assert!(report.plots.iter().any(|plot| plot.id == "above-optimum"));
    }
}

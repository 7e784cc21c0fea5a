//! Looks for bounds, and runs the policies beside them.

use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;

use super::burstiness::{Correlation, correlate};
use super::found::Found;
use super::options::Options;
use super::problem::{Problem, Scenario};
use super::replay::verified;
use super::search::{Solution, search};
use crate::belatedly::Instance;
use crate::bounds::Bounds;
use crate::grid::{Plan, Points, capacities, simulate_held};
use crate::policy::{MadMemory, PolicyName, Search, Window};
use crate::service::Timing;

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let trace = open(options)?;
    bound(&trace, options, observer)
}

/// Opens the trace of the options, once these are known to make sense.
///
/// # Errors
/// If they make none, or the trace cannot be read.
pub fn open(options: &Options) -> Result<Trace, Error> {
    options.check()?;
    options.source.open()
}

/// Bounds the total latency of `trace`, whatever file the options name, and runs the policies beside it. The trace is read once and held in
/// memory.
///
/// If the observer interrupts once the search has begun, this returns the best bounds so far, without the policies.
///
/// # Errors
/// If the trace cannot be read or does not fit the options, or the model; if the observer interrupts before the search; if
/// the bounds contradict each other, or the simulator does not find the total that the schedule is said to have.
pub fn bound(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let scenario = scenario(options, trace)?;
    let problem = Problem::read(trace, &scenario, observer)?;
    let beside = |policies: &[PolicyName]| plan(&scenario, policies, options.service.seed);
    // What would only be refused after all the work.
    capacities(trace, &problem.summary, &beside(&[]), problem.instance.terms.warmup)?;
    let began = observer.elapsed();
    let solution = solve(&problem.instance, options, observer)?;
    let took = observer.elapsed().zip(began).map(|(now, began)| now.saturating_sub(began));
    let interrupted = observer.interrupted();
    let replayed = verified(&problem, &scenario, &solution)?;
    let mut grid = match policies(trace, &problem, &beside(&options.policies), observer) {
        Err(Error::Interrupted) => simulate_held(trace, problem.held(), &beside(&[]), &())?,
        run => run?,
    };
    let policies_skipped = grid.points[0].policies.len() < options.policies.len();
    let burstiness = burstiness(&problem, &scenario, &solution, options, observer)?;
    let Solution { lower, upper, .. } = solution;
    grid.points[0].enter_bounds(Bounds { lower, upper }, scenario.bypass);
    Ok(Found { grid, scenario, problem, solution, replayed, took, interrupted, policies_skipped, burstiness })
}

/// The scenario that the options describe on a trace.
fn scenario(options: &Options, trace: &Trace) -> Result<Scenario, Error> {
    let Timing { clock, mut latencies, hit_latency } = options.asked().on(trace)?;
    let latency = latencies.pop().ok_or_else(|| Error::Internal("there is no latency".to_owned()))?;
    Ok(Scenario {
        latency,
        capacity: *options.capacity,
        clock,
        hit_latency,
        warmup: options.service.warmup,
        bypass: !options.no_bypass,
        bypass_oversized: options.service.bypass_oversized,
        requests: options.requests.map(|requests| *requests),
    })
}

fn solve(instance: &Instance, options: &Options, observer: &dyn Observer) -> Result<Solution, Error> {
    let limits = options.limits();
    #[cfg(feature = "lp")]
    if options.method == super::options::Method::Lp {
        return super::lp::search(instance, &limits, observer);
    }
    Ok(search(instance, &limits, observer))
}

/// The scenario as a grid of one point, with these policies.
fn plan(scenario: &Scenario, policies: &[PolicyName], seed: u64) -> Plan {
    Plan {
        policies: policies.to_vec(),
        latencies: vec![scenario.latency.clone()],
        capacities: vec![scenario.capacity],
        clock: scenario.clock,
        hit_latency: scenario.hit_latency,
        warmup: scenario.warmup,
        ways: None,
        mad_memory: MadMemory::Cached,
        search: Search::Sampled,
        window: Window::Adaptive,
        seed,
        bypass_oversized: scenario.bypass_oversized,
    }
}

/// Runs the policies.
fn policies(trace: &Trace, problem: &Problem, plan: &Plan, observer: &dyn Observer) -> Result<Points, Error> {
    observer.go_on()?;
    simulate_held(trace, problem.held(), plan, observer)
}

/// Looks at burstiness, if there is a Bélády of the same model to compare with and time to do so.
fn burstiness(
    problem: &Problem,
    scenario: &Scenario,
    solution: &Solution,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Option<Correlation>, Error> {
    // Bélády lets what it does not need pass by.
    if options.policies.is_empty() || !scenario.bypass || observer.interrupted() {
        return Ok(None);
    }
    match correlate(problem, scenario, solution, observer) {
        Err(Error::Interrupted) => Ok(None),
        correlation => correlation.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    use trueplane_study::study::report;
    use trueplane_trace::TraceOptions;
    use trueplane_units::Parameters as _;

    use super::super::Bound;
    use super::*;

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

    fn options() -> Options {
        let given = [
            ("latency", "5steps"),
            ("capacity", "3"),
            ("requests", "500"),
            ("gap", "0%"),
            ("iterations", "40"),
            ("policies", "lru,belady"),
        ];
        Options::given(&given).unwrap()
    }

    fn study(stop_at: &'static str) -> Result<(Found, String), Error> {
        let mut text = "key\n".to_owned();
        for index in 0..600u64 {
            writeln!(text, "{}", index * index % 23).unwrap();
        }
        let trace = Trace::from_bytes("squares.csv", text.into(), &TraceOptions::default()).unwrap();
        let found = bound(&trace, &options(), &StopAt(stop_at, AtomicBool::new(false)))?;
        let said = report::<Bound>(&options(), &found).warnings.join(" ");
        Ok((found, said))
    }

    #[test]
    fn an_interrupted_search_tells_what_it_has() {
        assert!(matches!(study("reading"), Err(Error::Interrupted)));
        let (searching, said) = study("searching").unwrap();
        assert!(searching.interrupted && searching.policies_skipped && searching.point().policies.is_empty());
        assert!(searching.burstiness.is_none());
        assert!(searching.solution.lower <= searching.solution.upper && searching.requests() == 500);
        assert!(said.contains("The search was interrupted") && said.contains("were not run"), "{said}");
        let (simulating, said) = study("simulating").unwrap();
        assert!(!simulating.interrupted && simulating.policies_skipped);
        assert!(simulating.point().policies.is_empty());
        assert!(!said.contains("The search was interrupted") && said.contains("were not run"), "{said}");
        let (whole, said) = study("never").unwrap();
        assert!(whole.point().policies.len() == 2 && !whole.policies_skipped);
        assert!(!said.contains("interrupted"));
        let lower = u128::from(whole.solution.lower);
        assert!(whole.point().policies.iter().all(|run| run.latency_total >= lower));
    }

    #[test]
    fn the_report_has_a_row_for_everything() {
        let (found, _) = study("never").unwrap();
        let report = report::<Bound>(&options(), &found);
        let rows = |id: &str| report.tables.iter().find(|table| table.id == id).unwrap().rows.len();
        assert_eq!(["bounds", "policies"].map(rows), [2, 2]);
        assert!(report.plots.iter().any(|plot| plot.id == "above-optimum"));
    }
}

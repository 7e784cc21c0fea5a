//! The study: how often packets leave in the wrong order under every scheduler, and what that has to do with the load, the number of
//! queues, the distribution of ranks and the way in which SP-PIFO pushes down.

pub mod document;
mod plots;
mod report;
mod scenario;
pub mod verdict;

use rayon::prelude::*;
use trueplane_study::metrics::ratio;
use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;

use crate::choice::{Arrivals, RankChoice};
use crate::inversions::document::{Inversions, Parameters, SchedulerRun, TraceFacts, Variation};
use crate::inversions::scenario::{Scenario, Scenarios};
use crate::options::Options;
use crate::policy::SchedulerName;
use crate::port::{Port, go_on};
use crate::scheduler::{Examined, Settings, Visitor, with_scheduler};
use crate::tally::ByRank;
use crate::waiting::{Map, Tree};
use crate::workload::Workload;
use document::adaptation_name;

/// Runs every scheduler at the base, and at every variation of it.
///
/// Deterministic, whatever the number of threads: every run draws its own packets from the seed.
///
/// # Errors
/// If the options make no sense ([`Options::check`]), a scheduler cannot work with the ranks and that is not to be passed over, the
/// trace cannot be read, or the observer interrupts.
pub fn inversions(
    trace: Option<&Trace>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Inversions, Error> {
    options.check(trace.is_some())?;
    let workload = Workload::new(trace, options, observer)?;
    let Scenarios { list: scenarios, left_out, .. } = Scenarios::new(&workload, options, observer)?;
    let cases: Vec<(&Scenario, SchedulerName)> = (scenarios.iter())
        .flat_map(|scenario| scenario.schedulers.iter().map(move |&scheduler| (scenario, scheduler)))
        .collect();
    observer.stage("simulating", cases.len() as u64 * workload.packets());
    let runs: Vec<(SchedulerRun, Option<f64>)> = (cases.par_iter())
        .map(|&(scenario, scheduler)| measure(&workload, options, scenario, scheduler, observer))
        .collect::<Result<_, _>>()?;
    let mut runs = runs.into_iter();
    let mut points = scenarios.iter().map(|scenario| -> (Vec<SchedulerRun>, Vec<Option<f64>>) {
        runs.by_ref().take(scenario.schedulers.len()).unzip()
    });
    // The schedulers of a scenario see the same packets.
    let offered = |loads: &[Option<f64>]| loads.first().copied().flatten();
    let (schedulers, base_loads) = points.next().unwrap_or_default();
    let variations = (scenarios.iter().skip(1).zip(points))
        .filter_map(|(scenario, (schedulers, loads))| {
            let (varied, value) = scenario.varied.clone()?;
            let rate = workload.rate(scenario.load);
            Some(Variation { varied, value, rate_bps: rate.0, offered_load: offered(&loads), schedulers })
        })
        .collect();
    let mut found = Inversions {
        study: "sched.inversions",
        version: env!("CARGO_PKG_VERSION"),
        parameters: parameters(&workload, options, &scenarios[0], offered(&base_loads)),
        trace: workload.recording.as_ref().map(|recording| TraceFacts {
            name: recording.name.clone(),
            packets: recording.packets.len() as u64,
            span_ns: recording.span().0,
            packets_without_length: recording.without_length,
            skipped: recording.skipped.clone(),
        }),
        left_out,
        schedulers,
        variations,
        verdict: Vec::new(),
    };
    found.verdict = verdict::on_inversions(&found);
    Ok(found)
}

fn parameters(
    workload: &Workload<'_>,
    options: &Options,
    base: &Scenario,
    offered_load: Option<f64>,
) -> Parameters {
    let is = |arrivals| options.arrivals == arrivals;
    Parameters {
        ranks: base.known.choice.to_string(),
        span: base.known.counts.as_ref().map(|counts| counts.len() as u64),
        arrivals: options.arrivals.name(),
        packets: workload.packets(),
        packet_bytes: options.packet_bytes,
        bytes_per_round: options.bytes_per_round,
        rate_bps: workload.rate(base.load).0,
        load: workload.load(base.load),
        offered_load,
        queues: base.queues,
        depth_packets: options.depth,
        push_down: base.push_down.name(),
        window_packets: options.window,
        adaptation: adaptation_name(options.adaptation),
        flows: is(Arrivals::Poisson).then_some(options.flows),
        flow_size_bytes: is(Arrivals::OnOff).then_some(options.flow_size.0),
        access_bps: is(Arrivals::OnOff).then(|| workload.access(base.load).0),
        slack_ns: options
            .ranks
            .iter()
            .any(|choice| matches!(choice, RankChoice::Policy(_)))
            .then_some(options.slack.0),
        seed: options.seed,
    }
}

/// Runs the packets of a scenario through a scheduler.
struct Measuring<'a> {
    workload: &'a Workload<'a>,
    scenario: &'a Scenario,
    observer: &'a dyn Observer,
}

impl Visitor for Measuring<'_> {
    /// What was counted, and the bounds at the end, if there are any.
    type Output = (ByRank, Option<Vec<u64>>);

    fn visit<S: Examined>(self, scheduler: S) -> Result<Self::Output, Error> {
        let Self { workload, scenario: Scenario { known, load, .. }, observer } = self;
        let counts = known.counts.as_deref();
        let (rate, tally) = (workload.rate(*load), known.tally());
        let tree = counts.map(|counts| Tree::new(counts.len() as u64));
        let is_poisson = workload.is_poisson();
        let (tally, scheduler) = match (tree, workload.drawn(known)) {
            // The common case, without a call that the compiler cannot see through.
            (Some(tree), Some(drawn)) if is_poisson => {
                let traffic = workload.poisson(*load, false);
                Port::new(rate, scheduler, tree, tally).run(traffic, drawn, observer)?
            }
            (Some(tree), _) => {
                let port = Port::new(rate, scheduler, tree, tally);
                port.run(workload.traffic(*load), workload.ranks(known), observer)?
            }
            (None, _) => {
                let port = Port::new(rate, scheduler, Map::default(), tally);
                port.run(workload.traffic(*load), workload.ranks(known), observer)?
            }
        };
        let bounds = counts.and(scheduler.bounds()).map(<[u64]>::to_vec);
        Ok((tally, bounds))
    }
}

fn measure(
    workload: &Workload<'_>,
    options: &Options,
    scenario: &Scenario,
    scheduler: SchedulerName,
    observer: &dyn Observer,
) -> Result<(SchedulerRun, Option<f64>), Error> {
    let settings = Settings {
        queues: scenario.queues as usize,
        depth: options.depth as usize,
        push_down: scenario.push_down,
        window: options.window,
        adaptation: options.adaptation,
        bytes_per_round: options.bytes_per_round,
        counts: scenario.known.counts.as_deref(),
        optimum: scenario.optimum.as_deref(),
    };
    go_on(observer)?;
    let (tally, bounds) = with_scheduler(scheduler, &settings, Measuring { workload, scenario, observer })?;
    let (total, errors) = (tally.total(), tally.errors());
    // A PIFO is a queue for every rank, which eq. 5 expects nothing of.
    let is_exact = scheduler == SchedulerName::Pifo && scenario.known.counts.is_some();
    let offered = tally.offered_load(workload.rate(scenario.load));
    let run = SchedulerRun {
        scheduler: scheduler.name(),
        arrivals: total.arrivals,
        departures: total.departures,
        drops: total.drops,
        inversions: total.inversions,
        inversion_share: ratio(total.inversions.into(), total.departures),
        inversion_share_error: errors.inversion_share,
        drop_share: ratio(total.drops.into(), total.arrivals),
        unpifoness: total.unpifoness,
        unpifoness_mean: ratio(total.unpifoness, total.departures),
        unpifoness_mean_error: errors.unpifoness_mean,
        expected_unpifoness: if is_exact { Some(0.0) } else { tally.expected_unpifoness() },
        expected_unpifoness_error: if is_exact { Some(0.0) } else { errors.expected_unpifoness },
        mean_delay_ns: total.mean_delay_ns(),
        bounds,
        by_rank: if scenario.by_rank { tally.bins() } else { Vec::new() },
    };
    Ok((run, offered))
}

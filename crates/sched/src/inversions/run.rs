//! Runs every scheduler at the base, and at every variation of it.

use trueplane_study::metrics::ratio;
use trueplane_study::{Error, Observer, cases};
use trueplane_trace::Trace;

use super::found::{Base, Found, SchedulerRun, TraceFacts, Variation};
use super::options::Options;
use super::scenario::{Scenario, Scenarios};
use super::workload::Workload;
use crate::bounds::uniform;
use crate::choice::Arrivals;
use crate::policy::{Order, SchedulerName};
use crate::port::Port;
use crate::scheduler::{Examined, Settings, Visitor, with_scheduler};
use crate::tally::ByRank;
use crate::waiting::{Map, Tree};

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    // What makes no sense is refused before a file is opened.
    options.check(options.has_trace())?;
    simulate(options.open()?.as_ref(), options, observer)
}

/// Runs the study on a trace that is open already, or on none.
///
/// # Errors
/// If the options do not fit each other or the trace, a scheduler cannot work with the ranks and was named, the trace cannot be read, or
/// the observer interrupts.
pub fn run_on(trace: Option<&Trace>, options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check(trace.is_some())?;
    simulate(trace, options, observer)
}

/// Deterministic, whatever the number of threads: every run draws its own packets from the seed.
fn simulate(trace: Option<&Trace>, options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let workload = Workload::new(trace, options, observer)?;
    let Scenarios { list: scenarios, left_out, .. } = Scenarios::new(&workload, options, observer)?;
    let cases: Vec<(&Scenario, SchedulerName)> = (scenarios.iter())
        .flat_map(|scenario| scenario.schedulers.iter().map(move |&scheduler| (scenario, scheduler)))
        .collect();
    observer.stage("simulating", cases.len() as u64 * workload.packets());
    let runs = cases::over(&cases, observer, |&(scenario, scheduler)| {
        measure(&workload, options, scenario, scheduler, observer)
    })?;
    let mut runs = runs.into_iter();
    let mut points = scenarios.iter().map(|scenario| -> (Vec<SchedulerRun>, Vec<Option<f64>>) {
        runs.by_ref().take(scenario.schedulers.len()).unzip()
    });
    // The schedulers of a scenario see the same packets.
    let offered = |loads: &[Option<f64>]| loads.first().copied().flatten();
    let (schedulers, base_loads) = points.next().unwrap_or_default();
    let variations = (scenarios.iter().skip(1).zip(points))
        .filter_map(|(scenario, (schedulers, loads))| {
            let (varied, rate) = (scenario.varied?, workload.rate(scenario.load));
            Some(Variation { varied, rate, offered_load: offered(&loads), schedulers })
        })
        .collect();
    let base = &scenarios[0];
    Ok(Found {
        base: Base {
            ranks: base.known.choice,
            span: base.known.counts.as_ref().map(|counts| counts.len() as u64),
            packets: workload.packets(),
            rate: workload.rate(base.load),
            load: workload.load(base.load),
            offered_load: offered(&base_loads),
            queues: base.queues,
            push_down: base.push_down,
            access_rate: (options.arrivals == Arrivals::OnOff).then(|| workload.access(base.load)),
        },
        trace: workload.recording.as_ref().map(|recording| TraceFacts {
            name: recording.name.clone(),
            packets: recording.packets.len() as u64,
            span: recording.span(),
            packets_without_length: recording.without_length,
            skipped: recording.skipped.clone(),
        }),
        left_out,
        schedulers,
        variations,
    })
}

/// Runs the packets of a scenario through a scheduler.
struct Measuring<'a> {
    workload: &'a Workload<'a>,
    scenario: &'a Scenario,
    observer: &'a dyn Observer,
}

impl Visitor for Measuring<'_> {
    /// Counts, and the bounds at the end, if there are any.
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

/// The run of a scheduler, and the load that came.
fn measure(
    workload: &Workload<'_>,
    options: &Options,
    scenario: &Scenario,
    scheduler: SchedulerName,
    observer: &dyn Observer,
) -> Result<(SchedulerRun, Option<f64>), Error> {
    let counts = scenario.known.counts.as_deref();
    let settings = Settings {
        queues: scenario.queues as usize,
        depth: *options.depth as usize,
        push_down: scenario.push_down,
        window: *options.window as usize,
        adaptation: options.adaptation.into(),
        bytes_per_round: *options.bytes_per_round,
        counts,
        optimum: scenario.optimum.as_deref(),
    };
    let (tally, bounds) = with_scheduler(scheduler, &settings, Measuring { workload, scenario, observer })?;
    let (total, errors) = (tally.total(), tally.errors());
    // A PIFO is a queue for every rank, which eq. 5 expects nothing of.
    let is_exact = scheduler.properties().order == Order::Exact && counts.is_some();
    let offered = tally.offered_load(workload.rate(scenario.load));
    let run = SchedulerRun {
        scheduler,
        arrivals: total.arrivals,
        departures: total.departures,
        drops: total.drops,
        inversions: total.inversions,
        inversion_share: ratio(total.inversions.into(), total.departures),
        inversion_share_error: errors.inversion_share,
        classical_share: classical_share(scheduler, counts, scenario.queues),
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

/// Inversions / departures that the classical model expects ([`SchedulerRun::classical_share`]).
fn classical_share(scheduler: SchedulerName, counts: Option<&[u64]>, queues: u64) -> Option<f64> {
    let bounds = match (scheduler.properties().order, counts) {
        (Order::Exact, _) => return Some(0.0),
        (Order::None, _) => vec![0],
        (Order::Queues, counts) => uniform(counts?.len() as u64, queues as usize),
    };
    let counts = counts?;
    let all: f64 = counts.iter().map(|&count| count as f64).sum();
    let ends = bounds.iter().skip(1).copied().chain([counts.len() as u64]);
    // Of two packets in one queue whose ranks differ, the first has the larger one as often as not.
    let inverted = |(&start, end): (&u64, u64)| {
        let together = &counts[start as usize..end.max(start) as usize];
        let sum: f64 = together.iter().map(|&count| count as f64).sum();
        let same: f64 = together.iter().map(|&count| (count as f64).powi(2)).sum();
        (sum.powi(2) - same) / 2.0
    };
    Some(bounds.iter().zip(ends).map(inverted).sum::<f64>() / all.powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classical_share_counts_pairs_that_share_a_queue() {
        let share = |scheduler, counts: &[u64], queues| classical_share(scheduler, Some(counts), queues);
        let even = [1; 8];
        // Of 64 pairs of ranks the first is the larger in 28; two queues of four have six such pairs each.
        assert_eq!(share(SchedulerName::Fifo, &even, 2), Some(28.0 / 64.0));
        assert_eq!(share(SchedulerName::SpPifo, &even, 2), Some(12.0 / 64.0));
        assert_eq!(share(SchedulerName::SpPifo, &even, 8), Some(0.0));
        assert_eq!(share(SchedulerName::SpPifo, &[3, 1], 1), Some(3.0 / 16.0));
        assert_eq!(share(SchedulerName::SpPifo, &[3, 1], 4), Some(0.0), "more queues than ranks");
        assert_eq!(classical_share(SchedulerName::Pifo, None, 8), Some(0.0));
        assert_eq!(classical_share(SchedulerName::SpPifo, None, 8), None);
        assert_eq!(classical_share(SchedulerName::Fifo, None, 8), None);
    }
}

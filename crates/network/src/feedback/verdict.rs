//! The verdict of `sched feedback`.

use trueplane_sched::policy::{Order, SchedulerName};
use trueplane_study::prose::join;
use trueplane_units::{Percent, digits};

use super::found::{Found, SchedulerRun};

/// Ratios that are no further from 1 are called equal.
const EQUAL: f64 = 0.05;

/// From fewer inversions no ratio is told.
const TELLING: u64 = 1_000;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let mut sentences = Vec::new();
    if found.base().all(|run| run.total().arrivals == 0) {
        return vec!["No flow came: raise --duration or --flow-starts.".to_owned()];
    }
    let shares: Vec<String> =
        found.base().map(|run| format!("{} under {}", Percent(run.share()), run.scheduler)).collect();
    sentences.push(format!(
        "With TCP senders, these shares of the packets leave while one of lower rank waits: {}.",
        join(&shares)
    ));
    sentences.extend(on_open_loop(found));
    sentences.extend(on_order(found));
    sentences
}

/// Inversions / departures of the open loop at the nominal load, if there are enough inversions to compare.
fn open(run: &SchedulerRun) -> Option<f64> {
    let open = run.open?.inversion_share;
    (open > 0.0 && run.total().inversions >= TELLING).then_some(open)
}

/// Sentences on the scheduler that the open loop is most wrong about, and why.
fn on_open_loop(found: &Found) -> Vec<String> {
    let ratio = |run: &SchedulerRun| Some(run.share() / open(run)?);
    let all = found.base().filter_map(|run| Some((ratio(run)?, run)));
    let most = all.max_by(|one, other| one.0.ln().abs().total_cmp(&other.0.ln().abs()));
    let Some((ratio, run)) = most else { return Vec::new() };
    if (ratio - 1.0).abs() <= EQUAL {
        return vec!["Packets that come at random times show nearly the same.".to_owned()];
    }
    let (times, what) = if ratio > 1.0 { (ratio, "more") } else { (1.0 / ratio, "fewer") };
    let open = Percent(open(run).unwrap_or_default());
    let mut sentences = vec![format!(
        "If the packets of these flows come at random times, {} has {open}: senders that react cause {} times {what} inversions.",
        run.scheduler,
        digits(times, 3)
    )];
    if let Some(at_offered) = run.open_at_offered {
        sentences.push(format!(
            "What they send again raises the load from {} to {}, at which random times give {}.",
            digits(run.nominal_load, 3),
            digits(run.offered_load, 3),
            Percent(at_offered.inversion_share)
        ));
    }
    sentences
}

/// Schedulers by their inversions, the fewest first.
fn order(found: &Found, share: impl Fn(&SchedulerRun) -> Option<f64>) -> Option<Vec<SchedulerName>> {
    let mut all: Vec<(f64, SchedulerName)> =
        found.base().map(|run| Some((share(run)?, run.scheduler))).collect::<Option<_>>()?;
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(all.into_iter().map(|(_, scheduler)| scheduler).collect())
}

/// Whether the open loop has the schedulers in the same order.
fn on_order(found: &Found) -> Option<String> {
    let closed = order(found, |run| Some(run.share()))?;
    let open = order(found, |run| run.open.map(|open| open.inversion_share))?;
    (closed.len() > 1).then(|| {
        if closed == open {
            return "Both loops have the schedulers in the same order.".to_owned();
        }
        let names =
            |all: &[SchedulerName]| all.iter().map(SchedulerName::to_string).collect::<Vec<_>>().join(", ");
        format!(
            "The order changes: with reacting senders it is {}, without {}, from the fewest inversions on.",
            names(&closed),
            names(&open)
        )
    })
}

/// The scheduler to deploy, in words.
pub(super) fn advice(found: &Found) -> String {
    let deployable = || found.base().filter(|run| run.scheduler.properties().order != Order::Exact);
    let best = deployable().min_by(|one, other| one.share().total_cmp(&other.share()));
    let others = |best: &SchedulerRun| {
        let others = deployable().filter(|run| run.scheduler != best.scheduler);
        others.map(SchedulerRun::share).fold(f64::INFINITY, f64::min)
    };
    // Without a clear winner there is nothing to advise.
    match best.filter(|best| deployable().count() > 1 && best.share() * (1.0 + EQUAL) < others(best)) {
        Some(best) => format!(
            "Deploy {}: of the schedulers that need no exact order, it has the fewest inversions with TCP senders.",
            best.scheduler
        ),
        None => String::new(),
    }
}
